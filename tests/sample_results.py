"""What the core says of the sample data, the way the command line gets it."""

from functools import cache

from evaluator.formats.fields import FORMAT as FIELD_FORMAT
from evaluator.project import evaluate
from evaluator.protocols import fields, pixel, snapshot
from tests.dashboard import SAMPLE_DATA
from tests.sample_part import sample_dataset as sample

MODELS = ("lines", "blocks")


def place_of(page: int) -> tuple[str, int]:
    """Document and number, from 1, of a page of the sample data."""
    dataset = sample()
    return dataset.documents[dataset.page_document[page]].doc_id, int(dataset.page_index[page]) + 1


@cache
def box_result(model: int = 0, iou: float = 0.5, min_score: float = 0.0) -> snapshot.ThresholdResult:
    return snapshot.pair(sample(), model, iou_floor=snapshot.IOU_FLOOR).match(min_score=min_score).at(iou)


@cache
def pixel_result(model: str, min_score: float | None = None) -> pixel.PixelResult:
    """The pixels of a model, by its name."""
    sides = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / f"{model}.json"]
    (evaluated,) = evaluate("pixel", *sides, pdfs=SAMPLE_DATA / "pdf", min_score=min_score)
    assert isinstance(evaluated.result, pixel.PixelResult)
    return evaluated.result


@cache
def field_results() -> dict[str, fields.FieldsResult]:
    """The fields of both models, by letter."""
    truth, *sides = (
        FIELD_FORMAT.read_path(SAMPLE_DATA / "fields" / name) for name in ("ground_truth", "anchors", "rules")
    )
    return {letter: fields.evaluate(truth, side) for letter, side in zip("AB", sides, strict=True)}
