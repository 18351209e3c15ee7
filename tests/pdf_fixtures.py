"""Small documents for the tests of page rendering, most of them hostile; made by code so that no file is needed."""

import struct
import zlib
from dataclasses import dataclass

# The red rectangle of every geometry page, in PDF user space (origin bottom left).
RED = (100.0, 100.0, 150.0, 180.0)
RED_CONTENT = b"1 0 0 rg 100 100 50 80 re f"
Rectangle = tuple[float, float, float, float]


def pdf(objects: list[bytes]) -> bytes:
    """A PDF of numbered objects; the first is the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n" % (len(content), entries) + content + b"\nendstream"


def page(
    content: bytes = RED_CONTENT,
    *,
    entries: bytes = b"/MediaBox [0 0 612 792]",
    inherited: bytes = b"",
    resources: bytes = b"",
    count: int = 1,
    catalogue: bytes = b"",
    others: tuple[bytes, ...] = (),
    packed: bool = False,
) -> bytes:
    """A PDF with one page; its own further objects start at number 5. `packed`: its content is compressed."""
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalogue,
            b"<< /Type /Pages /Kids [3 0 R] /Count %d %s >>" % (count, inherited),
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << %s >> %s >>" % (resources, entries),
            stream(content, b"/Filter /FlateDecode" if packed else b""),
            *others,
        ]
    )


def pages(count: int) -> bytes:
    """A PDF whose page i is 100 + i points wide and carries the word ``page<i>``."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % count,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index in range(count):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /Contents %d 0 R /MediaBox [0 0 %d 200] "
            b"/Resources << /Font << /F 3 0 R >> >> >>" % (5 + 2 * index, 100 + index)
        )
        objects.append(stream(b"BT /F 12 Tf 20 100 Td (page%d) Tj ET" % index))
    return pdf(objects)


def crossed_lines(width: int, height: int) -> bytes:
    """A page of any size with 200 long lines on it, which cost as much as the picture has pixels."""
    lines = b"".join(b"%d 0 m %d %d l S\n" % (10 * k % width, width, height - 20 * k % height) for k in range(200))
    return page(lines, entries=b"/MediaBox [0 0 %d %d]" % (width, height))


def form_bomb(depth: int = 11) -> bytes:
    """Forms that paint the next one ten times: 10^11 paints in 2 KB, a page that never ends."""
    forms = []
    for level in range(depth):
        last = level == depth - 1
        content = b"0 0 1 rg 0 0 600 700 re f" if last else b"/X Do " * 10
        inner = b"" if last else b"/Resources << /XObject << /X %d 0 R >> >>" % (6 + level)
        forms.append(stream(content, b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] " + inner))
    return page(b"/X Do", resources=b"/XObject << /X 5 0 R >>", others=tuple(forms))


def hidden_layer() -> bytes:
    """A page covered in green by an optional-content group that is off."""
    return page(
        b"/OC /A BDC 0 1 0 rg 0 0 612 792 re f EMC " + RED_CONTENT,
        resources=b"/Properties << /A 5 0 R >>",
        others=(b"<< /Type /OCG /Name (A) >>",),
        catalogue=b"/OCProperties << /OCGs [5 0 R] /D << /OFF [5 0 R] >> >>",
    )


def external_stream(file_name: str) -> bytes:
    """A page whose content is in another file."""
    body = b"<< /Length 0 /F << /Type /Filespec /F (%s) >> >>\nstream\n\nendstream" % file_name.encode()
    return page().replace(stream(RED_CONTENT), body)


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises any size and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@dataclass(frozen=True)
class Geometry:
    media: Rectangle
    crop: Rectangle | None = None
    rotate: int = 0
    unit: float = 1.0

    def document(self, content: bytes = RED_CONTENT, resources: bytes = b"", others: tuple[bytes, ...] = ()) -> bytes:
        entries = b"/MediaBox [%g %g %g %g] /Rotate %d /UserUnit %g" % (*self.media, self.rotate, self.unit)
        if self.crop is not None:
            entries += b" /CropBox [%g %g %g %g]" % self.crop
        return page(content, entries=entries, resources=resources, others=others)

    def displayed(self) -> Rectangle:
        """The visible part of user space: MediaBox and CropBox, or the MediaBox when they do not meet."""
        if self.crop is None:
            return self.media
        left, bottom = max(self.media[0], self.crop[0]), max(self.media[1], self.crop[1])
        right, top = min(self.media[2], self.crop[2]), min(self.media[3], self.crop[3])
        return (left, bottom, right, top) if left < right and bottom < top else self.media

    def size(self) -> tuple[float, float]:
        left, bottom, right, top = self.displayed()
        width, height = (right - left) * self.unit, (top - bottom) * self.unit
        return (width, height) if self.rotate % 180 == 0 else (height, width)

    def normalised(self, box: Rectangle) -> Rectangle:
        """A box of user space as x1, y1, x2, y2 in [0, 1] of the displayed page, origin top left (ISO 32000-1)."""
        left, bottom, right, top = self.displayed()
        x1, x2 = (box[0] - left) / (right - left), (box[2] - left) / (right - left)
        y1, y2 = (top - box[3]) / (top - bottom), (top - box[1]) / (top - bottom)
        for _ in range(self.rotate // 90 % 4):  # a quarter turn clockwise
            x1, y1, x2, y2 = 1 - y2, x1, 1 - y1, x2
        return x1, y1, x2, y2


LEGAL = {
    "plain": Geometry((0, 0, 240, 300)),
    "turned_90": Geometry((0, 0, 240, 300), rotate=90),
    "turned_back": Geometry((0, 0, 240, 300), rotate=-90),
    "turned_450": Geometry((0, 0, 240, 300), rotate=450),
    "media_shifted": Geometry((50, -20, 290, 310)),
    "cropped_180": Geometry((0, 0, 240, 300), (50, 60, 200, 250), 180),
    "crop_outside": Geometry((0, 0, 240, 300), (-100, -100, 5000, 5000)),
    "crop_disjoint": Geometry((0, 0, 240, 300), (1000, 1000, 1200, 1300)),
    "shifted_cropped_270": Geometry((50, -20, 290, 310), (80, 90, 200, 250), 270),
    "fractions": Geometry((0, 0, 245.276, 301.89), (10.3, 20.7, 200.45, 291.13), 90),
    "unit_2": Geometry((0, 0, 240, 300), unit=2),
    "unit_cropped_90": Geometry((0, 0, 240, 300), (50, 60, 200, 250), 90, 1.5),
    "unit_cropped_180": Geometry((0, 0, 240, 300), (50, 60, 200, 250), 180, 2),
    "unit_cropped_270": Geometry((0, 0, 240, 300), (50, 60, 200, 250), 270, 2),
}
