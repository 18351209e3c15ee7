"""CVAT for images 1.1: an image for each page with its boxes and polygons."""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled
from evaluator.formats.writers.markup import escaped, quoted

_TITLE = "CVAT"


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return one XML file."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<annotations>", "  <version>1.1</version>", "  <meta><task>"]
    lines += [f"    <size>{len(pages)}</size>", "    <labels>"]
    lines += [f"      <label><name>{escaped(label)}</name></label>" for label in source.labels]
    lines += ["    </labels>", "  </task></meta>"]
    several = 0
    for number, page in enumerate(pages):
        assert page.size is not None
        width, height = page.size
        name = quoted(page.image)
        lines.append(f'  <image id="{number}" name={name} width="{width:.12g}" height="{height:.12g}">')
        for row, (x1, y1, x2, y2) in scaled(source, page, "pixels"):
            label = quoted(source.labels[source.boxes.label[row]])
            rings = rings_of(source, page, row, "pixels")
            several += len(rings) > 1
            if len(rings) == 1:
                points = ";".join(f"{float(x)!r},{float(y)!r}" for x, y in rings[0])
                lines.append(f'    <polygon label={label} source="file" occluded="0" points="{points}" z_order="0"/>')
            else:
                corners = " ".join(
                    f'{key}="{float(value)!r}"'
                    for key, value in zip(("xtl", "ytl", "xbr", "ybr"), (x1, y1, x2, y2), strict=True)
                )
                lines.append(f'    <box label={label} source="file" occluded="0" {corners} z_order="0"/>')
        lines.append("  </image>")
    lines += ["</annotations>", ""]
    if several:
        rule = "a CVAT polygon is one ring"
        collector.warning("", rule, f"{count_of(several, 'box')} with several", "Their boxes alone are written.")
    return {"annotations.xml": "\n".join(lines).encode()}


WRITER = Writer(
    "cvat",
    "CVAT for images 1.1 (XML)",
    _TITLE,
    folder=False,
    unit="pixels",
    lacks=("scores", "documents", "crowds", "model"),
    write=write,
)
