"""The options of the protocols as command-line parameters, for every command that evaluates.

Owns their names, help and first checks; what a protocol makes of them is in ``evaluation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Group, Parameter

from evaluator.cli.arguments import assignment, names, need_ratio, size, thresholds, weight
from evaluator.cli.program import UsageError
from evaluator.evaluation import Options
from evaluator.protocols import PROTOCOLS

_boxes = Group("Boxes", sort_key=1)
_own = Group("Options of one protocol", sort_key=2)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ProtocolOptions:
    """What can be chosen about an evaluation.

    Attributes
    ----------
    iou
        IoU threshold in (0, 1], or a range "0.50:0.95:0.05"; repeat it for more.
    min_score
        Leave out predictions below this score before matching.
    min_area
        Leave out predictions below this share of the page (0.008 for the published World Bank numbers).
    labels
        Score these labels only, separated by commas.
    map_label
        Rename a label in all files, "fig=Figure"; repeat it for more.
    as_reference
        Allow --gt to be a prediction file.
    format
        Format of the files, when it should not be told by content.
    polygons
        Compare outlines instead of boxes, where a file has them.
    class_weight
        snapshot: weight of a label in the mean over labels, Table=2; repeat it for more.
    ap
        pod: how average precision is read off the curve.
    small_px
        pod: objects of at most this width and height are not counted.
    line_px
        pod: regions of at most this width or height count as lines and are left out.
    lenient
        pod: repair what the format allows, with a warning each.
    classes
        pixel: whether both sides have the same classes.
    missing_page
        pixel: a page that one side lacks counts as background, or is left out.
    page_size
        pixel: width and height, "612x792", of pages whose size neither file nor PDF gives.
    pdfs
        pixel: folder of the PDFs that give the sizes of the pages.
    exact
        pixel: add the integer counts of label sets to the JSON.
    parity
        fields: reproduce the pairing of the reference program.
    recall_grid
        fields: how the 101 recall points are computed.
    schema
        fields: JSON file that says how values are compared.
    profile
        posters: the text of the specification, or what reproduces the published table.
    page_ranges
        coco: read and match a range of pages at a time: the twelve numbers alone, in a fraction of the memory.
    """

    iou: Annotated[tuple[str, ...], Parameter(group=_boxes, negative="")] = ()
    min_score: Annotated[float | None, Parameter(group=_boxes)] = None
    min_area: Annotated[float | None, Parameter(group=_boxes)] = None
    labels: Annotated[str | None, Parameter(group=_boxes)] = None
    map_label: Annotated[tuple[str, ...], Parameter(group=_boxes, negative="")] = ()
    as_reference: Annotated[bool, Parameter(group=_boxes, negative="")] = False
    format: Annotated[str | None, Parameter(group=_boxes)] = None
    polygons: Annotated[bool, Parameter(group=_boxes, negative="")] = False
    class_weight: Annotated[tuple[str, ...], Parameter(group=_own, negative="")] = ()
    ap: Annotated[Literal["11-point", "all-point"] | None, Parameter(group=_own)] = None
    small_px: Annotated[float | None, Parameter(group=_own)] = None
    line_px: Annotated[float | None, Parameter(group=_own)] = None
    lenient: Annotated[bool, Parameter(group=_own, negative="")] = False
    classes: Annotated[Literal["auto", "same", "different"] | None, Parameter(group=_own)] = None
    missing_page: Annotated[Literal["penalize", "ignore"] | None, Parameter(group=_own)] = None
    page_size: Annotated[str | None, Parameter(group=_own)] = None
    pdfs: Annotated[Path | None, Parameter(group=_own)] = None
    exact: Annotated[bool, Parameter(group=_own, negative="")] = False
    parity: Annotated[Literal["none", "stickler"] | None, Parameter(group=_own)] = None
    recall_grid: Annotated[Literal["linspace", "decimal"] | None, Parameter(group=_own)] = None
    schema: Annotated[Path | None, Parameter(group=_own)] = None
    profile: Annotated[Literal["documented", "published"] | None, Parameter(group=_own)] = None
    page_ranges: Annotated[bool, Parameter(group=_own, negative="")] = False

    def checked(self) -> Options:
        """The options as `evaluation` takes them; UsageError for one that is not written as it should be."""
        need_ratio("--min-score", self.min_score)
        need_ratio("--min-area", self.min_area)
        weights = (assignment("--class-weight", text) for text in self.class_weight)
        return Options(
            iou=tuple(value for text in self.iou for value in thresholds(text)) or None,
            min_score=self.min_score,
            min_area=self.min_area,
            labels=names(self.labels),
            map_label=dict(assignment("--map-label", text) for text in self.map_label) or None,
            as_reference=self.as_reference or None,
            format=self.format,
            polygons=self.polygons or None,
            class_weight={name: weight(name, value) for name, value in weights} or None,
            ap=self.ap,
            small_px=self.small_px,
            line_px=self.line_px,
            lenient=self.lenient or None,
            classes=self.classes,
            missing_page=self.missing_page,
            page_size=size(self.page_size),
            pdfs=self.pdfs,
            exact=self.exact or None,
            parity=self.parity,
            recall_grid=self.recall_grid,
            schema=self.schema,
            profile=self.profile,
            page_ranges=self.page_ranges or None,
        )


DEFAULT: Final = ProtocolOptions()
"""Nothing chosen."""


def need_protocol(protocol: str) -> None:
    """Refuse a protocol that does not exist."""
    if protocol not in PROTOCOLS:
        raise UsageError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}.")
