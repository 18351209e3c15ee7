"""What the tests of readers share: the sentences of issues, real samples, and spoilt copies of a file."""

import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput, Issue
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
HOSTILE = Path(__file__).with_name("hostile")
needs_shared = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/")
OWN = Path(__file__).parent / "oracles" / "formats"
"""Small samples that were made for these tests."""

_SPOILERS = (
    b"", b"<", b">", b'"', b"NaN", b"-", b"-1", b"1e999", b";", b",", b"\0", b"\xff", b"null", b"[]", b"{", b"true",
    b" ",
)  # fmt: skip


def real(*parts: str) -> Path:
    """A real sample by its path below real/."""
    return Path(SHARED, "real", *parts)


def real_samples(folder: str, pattern: str) -> list[Path]:
    """The real samples of a format, at least one; for tests with `needs_shared`, never while they are collected."""
    samples = sorted(real("formats", folder).glob(pattern))
    assert samples, f"no {pattern} in {folder}"
    return samples


def read(row: BoxFormat, content: bytes, name: str, **given: Any) -> Annotations:
    """A file as its reader sees it."""
    return row.read(content, name, Reading(**given))


def walked(row: BoxFormat, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
    """A file as the exact walk sees it, also one that the decoder can read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{type(row).__module__}.decode", lambda _content: None)
        return row.read(content, name, reading)


def refusal_issues(call: Callable[..., object], *values: Any, **given: Any) -> Sequence[Issue]:
    with pytest.raises(BadInput) as bad:
        call(*values, **given)
    return bad.value.issues


def refusal(call: Callable[..., object], *values: Any, **given: Any) -> list[str]:
    """The sentences of a call that refuses its input."""
    return [issue.sentence for issue in refusal_issues(call, *values, **given)]


def refused(row: BoxFormat, content: bytes, name: str, **given: Any) -> list[str]:
    """The sentences of a file that is refused."""
    return refusal(row.read, content, name, Reading(**given))


def warned(source: Annotations) -> list[str]:
    """The sentences of a file that was read; all are warnings."""
    assert all(issue.severity == "warning" for issue in source.issues)
    return [issue.sentence for issue in source.issues]


def rows(source: Annotations) -> list[tuple[str, int, str, list[float]]]:
    """Document, page, label and corners of each box, in file order."""
    boxes = source.boxes
    return [
        (source.documents[document].doc_id, page, source.labels[label], corners)
        for document, page, label, corners in zip(
            boxes.document.tolist(), boxes.page.tolist(), boxes.label.tolist(), boxes.xyxy.tolist(), strict=True
        )
    ]


def head(source: Annotations) -> tuple[object, ...]:
    sizes = None if source.page_size is None else source.page_size.tolist()
    documents = [document.doc_id for document in source.documents]
    return source.format, source.side, source.unit, documents, source.page_index.tolist(), sizes


def outlines(source: Annotations) -> dict[int, list[list[list[float]]]]:
    return {row: [ring.tolist() for ring in rings] for row, rings in source.boxes.polygons.items()}


def plain(value: object) -> object:
    """A value with all that it holds, as equal values of Python: arrays with their dtype, shape and bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(value[key]) for key in sorted(value)}
    # Ids and outlines may be sequences that are read when asked for.
    return [plain(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of files and their content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, content in entries:
            file.writestr(name, content)
    return out.getvalue()


def assert_survives(row: BoxFormat, content: bytes, name: str, data: st.DataObject) -> None:
    """A spoilt copy of a file is read with finite numbers, or refused with issues that say all there is to say."""
    spoilt = bytearray(content)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, max(len(spoilt) - 1, 0)))
        spoilt[at : at + data.draw(st.integers(0, 4))] = data.draw(st.sampled_from(_SPOILERS))
    issues: Sequence[Issue] = ()
    try:
        assert np.isfinite(read(row, bytes(spoilt), name).boxes.xyxy).all()
    except BadInput as bad:
        issues = bad.issues
    assert all(issue.file == name and issue.rule and issue.fix for issue in issues)
    assert not issues or any(issue.severity == "error" for issue in issues)


def cut_short(content: bytes) -> Sequence[bytes]:
    """A file cut off at a third, at half and before its last byte."""
    return content[: len(content) // 3], content[: len(content) // 2], content.rstrip()[:-1]
