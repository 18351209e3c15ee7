"""The entry point for scripts and notebooks: files are opened once, and evaluated as tables, figures or a dashboard."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evaluator import project
from evaluator.data.boxes import AnyArray, FloatArray
from evaluator.data.dataset import JoinedBoxes, Side
from evaluator.data.issues import Issue
from evaluator.formats.registry import format_of
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, NONE
from evaluator.metrics.results import JsonObject
from evaluator.protocols import AnyProtocol
from evaluator.protocols.base import BoxEvaluation, Evaluation

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]

    from evaluator.charts.result import Figure
    from evaluator.charts.vega import AltairChart
    from evaluator.matching.box_results import AnyBoxResult
    from evaluator.notebook.panes import ComparedPages
    from evaluator.notebook.viewer import PageViewer

PathLike = str | os.PathLike[str]
_ADDRESS = re.compile(r"https?://\S+")
_SIDES: tuple[Side, ...] = ("ground_truth", "prediction")


def open_files(
    ground_truth: PathLike, predictions: PathLike | Sequence[PathLike], *, pdfs: PathLike | None = None
) -> OpenFiles:
    """Return a ground truth and the predictions of one or more models, to evaluate and to show.

    Parameters
    ----------
    ground_truth, predictions : path, or sequence of paths for several models
        Files or folders in any format that LayoutScope reads.
    pdfs : path, optional
        Folder of the PDFs or page images, for their sizes and for the dashboard.

    Raises
    ------
    FileNotFoundError
        One of them is not there.

    Examples
    --------
    >>> import evaluator
    >>> files = evaluator.open("sample_data/ground_truth.json", ["sample_data/lines.json", "sample_data/blocks.json"])
    >>> lines, blocks = files.evaluate("snapshot")
    >>> scores = lines.flat()  # one dict, as trackers of experiments take it
    >>> print(f"{lines.name}: F1 {scores['f1']:.3f}, recall of tables {scores['recall_by_label/Table']:.2f}")
    lines.json: F1 0.696, recall of tables 0.50
    >>> boxes = lines.boxes()  # a pandas frame: every box of both sides, and what became of it
    >>> wrong = boxes[boxes["status"] != "TP"]
    >>> print(wrong["mistake"].value_counts().head(2).to_dict())
    {'invented': 138, 'merged': 47}
    >>> chart = lines.chart("precision_recall", "Table")  # a chart of Altair
    >>> # lines.viewer() shows its pages in a notebook,
    >>> # files.serve() opens the dashboard on these files.
    """
    models = [predictions] if isinstance(predictions, str | os.PathLike) else [*predictions]
    paths = [Path(ground_truth), *map(Path, models), *([] if pdfs is None else [Path(pdfs)])]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there.")
    return OpenFiles(paths[0], tuple(paths[1 : 1 + len(models)]), None if pdfs is None else paths[-1])


@dataclass(frozen=True)
class OpenFiles:
    """A ground truth and the predictions of one or more models; `pdfs` is the folder of their pages."""

    ground_truth: Path
    predictions: tuple[Path, ...]
    pdfs: Path | None = None

    def evaluate(self, protocol: str = "snapshot", **options: Any) -> list[ModelResult]:  # noqa: ANN401
        """Return the results of a protocol, one for each model; the options are those of `project.evaluate`.

        Raises
        ------
        BadInput
            With all issues of the files and of the pair.
        OptionError
            An option does not belong to the protocol, or its value makes no sense.
        """
        system = project.protocol_named(protocol)
        if self.pdfs is not None and "pdfs" in system.options.__struct_fields__:
            options = {"pdfs": self.pdfs, **options}
        evaluations = project.evaluate(protocol, self.ground_truth, self.predictions, **options)
        names = project.model_names(self.predictions)
        return [ModelResult(name, system, each, self.pdfs) for name, each in zip(names, evaluations, strict=True)]

    def serve(self, *, port: int | None = None, browser: bool = True) -> Dashboard:
        """Start the dashboard on exactly these files, in a process of its own, and return it.

        Raises
        ------
        RuntimeError
            The dashboard did not start; with what it said.
        """
        words = ["open", "--gt", str(self.ground_truth), *(f"--pred={path}" for path in self.predictions)]
        words += [] if self.pdfs is None else ["--pdfs", str(self.pdfs)]
        words += [] if port is None else ["--port", str(port)]
        words += [] if browser else ["--no-browser"]
        return Dashboard([sys.executable, "-m", "evaluator.cli", *words])


@dataclass(frozen=True)
class ModelResult:
    """The result of one model under one protocol."""

    name: str
    protocol: AnyProtocol
    evaluation: Evaluation
    pdfs: Path | None = None

    @property
    def signature(self) -> str:
        """Return what made the numbers: protocol, version, thresholds, options."""
        return str(self.evaluation.result.signature.line)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Return the warnings of the files and of the pair."""
        return self.evaluation.issues

    def to_json(self) -> JsonObject:
        """Return the values of ``layoutscope evaluate --json``; undefined is None."""
        return self.evaluation.to_json()

    def flat(self) -> dict[str, float]:
        """Return every measure under one name: ``f1`` and, of a label, ``f1_by_label/Table``; not what is undefined.

        No name is the beginning of another one: trackers keep what is before a slash as a folder.
        """
        measures = self.protocol.measures(self.evaluation.result)
        named = zip(measures.keys, measures.values.tolist(), strict=True)
        names = (
            (key.metric if key.label == measures.overall else f"{key.metric}_by_label/{key.label}", value)
            for key, value in named
        )
        return {name: value for name, value in names if not np.isnan(value)}

    def table(self) -> pd.DataFrame:
        """Return the numbers as ``result.csv`` has them, one row for each label, document or page of the protocol."""
        import pandas as pd

        table = self.evaluation.result.csv_table()
        return pd.DataFrame(table.rows, columns=[*table.columns])

    def boxes(self, iou: float | None = None) -> pd.DataFrame:
        """Return every box of both sides with what became of it, as a frame; see `boxes_table`."""
        import pandas as pd
        import pyarrow as pa

        # Rows of partners are whole numbers also where there are none.
        frame: pd.DataFrame = self.boxes_table(iou).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
        return frame

    def boxes_table(self, iou: float | None = None) -> pa.Table:
        """Return every box of both sides with what became of it.

        Parameters
        ----------
        iou : float, optional
            The threshold at which boxes match; the first of the evaluation if not given.

        Returns
        -------
        pyarrow.Table
            The ground truth in file order, then the predictions. ``side`` ground_truth or prediction; ``row`` in it;
            ``document``; ``page`` from 0; ``label``; ``score``, null without; ``x1 y1 x2 y2`` in the unit of the
            files; ``status`` TP, FP, FN, or ignored for what does not take part; ``partner``, the row of the match on
            the other side, and its ``iou``, null without; ``mistake`` and ``cause``, the names of what is wrong, null
            for nothing; ``file`` and ``place``, where the box is stated.

        Raises
        ------
        ValueError
            The protocol matches no boxes, or the threshold is below the lowest that was evaluated.
        """
        import pyarrow as pa

        evaluated = self._matched
        result = evaluated.first if iou is None else evaluated.matching.at(iou)
        sides = (evaluated.evaluated.ground_truth, evaluated.matching.prediction)
        tables = [pa.table(_columns(result, name, side)) for name, side in zip(_SIDES, sides, strict=True)]
        return pa.concat_tables(tables)

    def chart(self, figure: Figure, label: str | None = None, *, dark: bool = False) -> AltairChart:
        """Return a figure of the result at its first IoU threshold, as a chart of Altair.

        Parameters
        ----------
        figure : str
            ``scores`` and ``precision_recall``: what each score threshold reaches; ``iou``, ``coverage``, ``purity``
            and ``coverage_purity``: how well boxes fit; ``labels`` and ``causes``: the wrong boxes; ``confusion``:
            labels of the ground truth against those of the predictions, coloured by the share of the row.
        label : str, optional
            The label of the two figures of scores; all labels if not given.

        Raises
        ------
        ValueError
            The protocol matches no boxes, or there is no such figure.
        """
        from evaluator.charts.result import draw

        return draw(figure, self.name, self._matched.first, label=label, dark=dark).to_altair()

    def viewer(self) -> PageViewer:
        """Return the page viewer of the dashboard as a widget of a notebook.

        Its `selected` is the row of `boxes()` of the chosen box, None for none; ``observe(act, "selected")`` calls
        ``act`` when another one is chosen.

        Raises
        ------
        ModuleNotFoundError
            The extra ``notebook`` is not installed.
        ValueError
            The protocol matches no boxes.
        """
        from evaluator.notebook.viewer import PageViewer

        return PageViewer(self.name, self._matched.first, self.boxes_table(), self.pdfs, self.signature)

    def compare(self, other: ModelResult) -> ComparedPages:
        """Return the comparison with another model on the page as a widget of a notebook.

        Its `selected` has the rows of the chosen box under ``A``, this model, and ``B``. It raises what `viewer` does,
        and ValueError for results of other files, protocols or thresholds.
        """
        from evaluator.notebook.panes import ComparedPages

        return ComparedPages(
            (self.name, other.name),
            (self._matched.first, other._matched.first),
            (self.boxes_table(), other.boxes_table()),
            self.pdfs,
        )

    @property
    def _matched(self) -> BoxEvaluation:
        evaluated = self.evaluation.result
        if not isinstance(evaluated, BoxEvaluation):
            raise ValueError(f"{self.protocol.name} matches no boxes; table() has its numbers")
        return evaluated


def _columns(result: AnyBoxResult, name: Side, side: JoinedBoxes) -> dict[str, Any]:
    import pyarrow as pa

    dataset, source = result.matching.dataset, side.source
    rows = np.arange(len(side))
    partner = result.partners(name, rows)
    matched = partner >= 0
    if name == "ground_truth":
        wrong, missing, mistakes = result.false_negatives, "FN", result.mistakes.of_truth
    else:
        wrong, missing, mistakes = result.false_positives, "FP", result.mistakes.of_prediction
    status = np.full(len(side), "ignored", dtype=object)
    status[wrong], status[matched] = missing, "TP"
    causes = result.causes
    named = mistakes != NONE
    kinds = [ERROR_TYPES["document"][each].name for each in DOCUMENT]
    kind, cause = result.mistakes.kind[mistakes[named]], causes.of_mistake[mistakes[named]]
    titles = {each: causes.title(each) for each in np.unique(cause).tolist()}
    format_ = format_of(source)
    place = partial(format_.place_in_file, source) if format_ else lambda _row: None
    iou: FloatArray = np.full(len(side), np.nan)
    own = result.matches.ground_truth if name == "ground_truth" else result.matches.prediction
    iou[own] = result.matches.iou

    def of_named(values: Sequence[str]) -> Any:  # noqa: ANN401 - Arrow has no types
        column = np.full(len(side), None, dtype=object)
        column[named] = values
        return pa.array(column, pa.string())

    corners = zip(("x1", "y1", "x2", "y2"), side.xyxy.T, strict=True)
    return {
        "side": pa.array([name] * len(side), pa.string()),
        "row": rows,
        "document": pa.array(_taken(dataset.document_ids, side.document), pa.string()),
        "page": dataset.page_index[side.page],
        "label": pa.array(_taken(dataset.labels, side.label), pa.string()),
        "score": pa.array(side.score, from_pandas=True),
        **{corner: np.ascontiguousarray(values) for corner, values in corners},
        "status": pa.array(status, pa.string()),
        "partner": pa.array(partner, mask=~matched),
        "iou": pa.array(iou, from_pandas=True),
        "mistake": of_named([kinds[each] for each in kind.tolist()]),
        "cause": of_named([titles[each] for each in cause.tolist()]),
        "file": pa.array([source.source_of(row)[0] for row in rows.tolist()], pa.string()),
        "place": pa.array(map(place, rows.tolist()), pa.string()),
    }


def _taken(names: Sequence[str], codes: AnyArray) -> list[str]:
    return [names[code] for code in codes.tolist()]


class Dashboard:
    """A running dashboard: its `url`; `stop` ends it, and so does leaving it as a context manager."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        output, said = self._process.stdout, []
        for line in output:
            said.append(line)
            if address := _ADDRESS.search(line):
                self.url = address[0]
                break
        else:
            self._process.communicate()
            raise RuntimeError("The dashboard did not start.\n" + "".join(said).strip())
        # What it says later is read, or it would wait for a reader.
        self._reads = threading.Thread(target=output.read, daemon=True)
        self._reads.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the dashboard and wait until it has ended."""
        atexit.unregister(self.stop)
        self._process.terminate()
        self._reads.join()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
