"""The command that evaluates predictions under one protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from evaluator import evaluation, report
from evaluator.cli.arguments import assignment, names, need_ratio, size, thresholds, weight
from evaluator.cli.findings import with_corrected
from evaluator.cli.program import OK, Bar, UsageError, app, progress
from evaluator.evaluation import Evaluation, OptionError, Options
from evaluator.protocols import PROTOCOLS

_options = Group("Boxes", sort_key=1)
_own = Group("Options of one protocol", sort_key=2)
_output = Group("Output", sort_key=3)


@app.command
def evaluate(
    protocol: str,
    /,
    *,
    gt: Path,
    pred: Annotated[list[Path], Parameter(negative="")],
    iou: Annotated[tuple[str, ...], Parameter(group=_options, negative="")] = (),
    min_score: Annotated[float | None, Parameter(group=_options)] = None,
    min_area: Annotated[float | None, Parameter(group=_options)] = None,
    labels: Annotated[str | None, Parameter(group=_options)] = None,
    map_label: Annotated[tuple[str, ...], Parameter(group=_options, negative="")] = (),
    as_reference: Annotated[bool, Parameter(group=_options, negative="")] = False,
    format: Annotated[str | None, Parameter(group=_options)] = None,
    polygons: Annotated[bool, Parameter(group=_options, negative="")] = False,
    class_weight: Annotated[tuple[str, ...], Parameter(group=_own, negative="")] = (),
    ap: Annotated[Literal["11-point", "all-point"] | None, Parameter(group=_own)] = None,
    small_px: Annotated[float | None, Parameter(group=_own)] = None,
    line_px: Annotated[float | None, Parameter(group=_own)] = None,
    lenient: Annotated[bool, Parameter(group=_own, negative="")] = False,
    classes: Annotated[Literal["auto", "same", "different"] | None, Parameter(group=_own)] = None,
    missing_page: Annotated[Literal["penalize", "ignore"] | None, Parameter(group=_own)] = None,
    page_size: Annotated[str | None, Parameter(group=_own)] = None,
    pdfs: Annotated[Path | None, Parameter(group=_own)] = None,
    exact: Annotated[bool, Parameter(group=_own, negative="")] = False,
    parity: Annotated[Literal["none", "stickler"] | None, Parameter(group=_own)] = None,
    recall_grid: Annotated[Literal["linspace", "decimal"] | None, Parameter(group=_own)] = None,
    schema: Annotated[Path | None, Parameter(group=_own)] = None,
    profile: Annotated[Literal["documented", "published"] | None, Parameter(group=_own)] = None,
    json: Annotated[bool, Parameter(group=_output, negative="")] = False,
    csv: Annotated[bool, Parameter(group=_output, negative="")] = False,
    markdown: Annotated[bool, Parameter(group=_output, negative="")] = False,
    out: Annotated[Path | None, Parameter(group=_output)] = None,
    findings: Annotated[str | None, Parameter(group=_output)] = None,
) -> int:
    """Evaluate predictions against a ground truth.

    Parameters
    ----------
    protocol
        The evaluation system; see the README for the list.
    gt
        Ground-truth file or folder.
    pred
        Prediction file or folder; repeat it for more models.
    iou
        IoU threshold in (0, 1], or a range "0.50:0.95:0.05"; repeat it for more.
    min_score
        Leave out predictions below this score before matching.
    min_area
        Leave out predictions below this share of the page (0.008 for the published World Bank numbers).
    labels
        Score these labels only, separated by commas.
    map_label
        Rename a label in both files, "fig=Figure"; repeat it for more.
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
    json
        Write JSON to standard output.
    csv
        Write CSV to standard output; for pixel every cell of every matrix.
    markdown
        Write Markdown to standard output.
    out
        Folder that gets result.json, result.csv and result.md, and for pixel one CSV per matrix.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}.")
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown.")
    need_ratio("--min-score", min_score)
    need_ratio("--min-area", min_area)
    weights = {name: weight(name, value) for name, value in (assignment("--class-weight", t) for t in class_weight)}
    options = Options(
        iou=tuple(value for text in iou for value in thresholds(text)) or None,
        min_score=min_score,
        min_area=min_area,
        labels=names(labels),
        map_label=dict(assignment("--map-label", text) for text in map_label) or None,
        as_reference=as_reference or None,
        format=format,
        polygons=polygons or None,
        class_weight=weights or None,
        ap=ap,
        small_px=small_px,
        line_px=line_px,
        lenient=lenient or None,
        classes=classes,
        missing_page=missing_page,
        page_size=size(page_size),
        pdfs=pdfs,
        exact=exact or None,
        parity=parity,
        recall_grid=recall_grid,
        schema=schema,
        profile=profile,
    )
    with progress("Reading") as say:
        try:
            results = evaluation.evaluate(protocol, gt, pred, options, say, count=say.count)
        except OptionError as problem:
            raise UsageError(f"{problem}.") from problem
        if findings:
            results = with_corrected(results, findings)
        chosen = "result.json" if json else "result.csv" if csv else "result.md" if markdown else None
        text = _written(results, chosen, out, say)
    sys.stdout.write(text)
    if not json:  # the JSON has them
        unique = {finding: None for evaluated in results for finding in evaluated.findings}
        sys.stderr.write(report.findings_text(list(unique)))
    return OK


def _written(results: Sequence[Evaluation], chosen: str | None, out: Path | None, say: Bar) -> str:
    """The results in the chosen form for standard output; all forms in the folder when one is given."""
    tables = [evaluated.result.table() for evaluated in results]
    # Made when it is wanted: the matrices of every page are dear, and most runs want a table.
    forms: dict[str, Callable[[], str]] = {
        "result.json": lambda: report.to_json(_values(results)) + "\n",
        "result.csv": lambda: report.to_csv([evaluated.csv_table() for evaluated in results]),
        "result.md": lambda: report.to_markdown(tables),
    }
    made: dict[str, str] = {}
    for name in forms if out is not None else [chosen] if chosen else []:
        say(f"Writing {name}")
        made[name] = forms[name]()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for model, evaluated in enumerate(results):
            files = evaluated.csv_files(model, len(results))
            made |= {name: report.to_csv([table]) for name, table in files.items()}
        for name, text in made.items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
    return made[chosen] if chosen else report.to_text(tables)


def _values(results: Sequence[Evaluation]) -> dict[str, Any] | list[dict[str, Any]]:
    """The result of one model, or a list of those of several."""
    values = [evaluated.to_json() for evaluated in results]
    return values[0] if len(values) == 1 else values
