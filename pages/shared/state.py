"""What one reader has open and has chosen: one typed object, and the only place that touches the session state.

A field of `State` is a value of the reader's session under the field's own name, which is also the key of the widget
that shows it. ``state.iou`` reads it, ``state.iou = 0.6`` writes it, and ``State.iou`` is the field itself: its key for
a widget, its start, and `Field.take` for what counts once. Which fields the address holds is said in `address`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, cast, overload

import streamlit as st

from evaluator.drawing.mistake_filter import WHOLE
from evaluator.protocols.fields.evaluation import IOU_THRESHOLDS as FIELD_IOU_THRESHOLDS
from evaluator.protocols.posters.profiles import DEFAULT_PROFILE, ProfileName

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from evaluator.compare.earlier import EarlierResult
    from evaluator.drawing.matrix import Colour, Shows
    from evaluator.drawing.payloads import CardItem, SharperEvent
    from evaluator.formats.posters import Posters
    from evaluator.metrics.box_items import Question
    from evaluator.model.dataset import Annotations
    from evaluator.model.fields import FieldDocuments, Schema
    from evaluator.model.issues import Issue
    from evaluator.pdf.folder import Folders, PdfFolder
    from evaluator.project import Project
    from evaluator.protocols.fields.evaluation import RecallGrid
    from evaluator.protocols.fields.rows import Parity
    from evaluator.protocols.pixel.sides import Classes, MissingPage
    from evaluator.review.problems import StoreProblem
    from evaluator.slices.pdf_pages import PdfAttributes
    from evaluator.suspects.listing import Suspects
    from evaluator.uploads import Dropped
    from evaluator.workspace_folder import Taken
    from pages.shared.browser.listing import PageOrder
    from pages.shared.browser.text_count import Count
    from pages.shared.findings.log import Unsaved
    from pages.shared.opened import AnyMember
    from pages.shared.pack import Job
    from pages.shared.pictures import PageNote
    from pages.shared.pixel.results import Scope, Sizes
    from pages.shared.reading import Reading
    from pages.shared.slices import ReadKey
    from pages.shared.suspects import Entry, SuspectKey

T = TypeVar("T")
# Of the browser's own values no more is known than their name; who reads one checks it.
Report = Mapping[str, Any]


class Field(Generic[T]):
    """One value of a reader's session.

    Parameters
    ----------
    start : T
        Its value until it is written.
    key : str
        Where it is kept; a field of a class has its own name.
    """

    def __init__(self, start: T, key: str = "") -> None:
        self.start, self.key = start, key

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = name

    @overload
    def __get__(self, instance: None, owner: type) -> Field[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Field[T] | T:
        return self if instance is None else self.get()

    def __set__(self, instance: object, value: T) -> None:
        self.set(value)

    def get(self) -> T:
        """The value of the moment."""
        return cast("T", st.session_state.get(self.key, self.start))

    def set(self, value: T) -> None:
        """Another value."""
        st.session_state[self.key] = value

    def take(self) -> T:
        """The value, which is at its start afterwards."""
        return cast("T", st.session_state.pop(self.key, self.start))

    def of(self, part: object) -> Field[T]:
        """The same kind of value for one of many things, such as the note on one finding."""
        return Field(self.start, f"{self.key}_{part}")


class ImportNote(NamedTuple):
    """What became of the last import of findings: its issues, the refusal of the store, and how many events."""

    issues: list[Issue]
    failed: bool
    refusal: StoreProblem | None
    added: int
    total: int


class State:
    """Every value of a reader's session, by the view that it belongs to."""

    # The reader, the view, and the address bar.
    access: Field[bool] = Field(False)
    view: Field[str] = Field("")
    addresses: Field[tuple[dict[str, str], ...]] = Field(())
    address_left: Field[bool] = Field(False)
    entered_bare: Field[bool] = Field(False)
    linked: Field[bool] = Field(False)
    refused: Field[tuple[str, ...]] = Field(())

    # What mends the predictions before they are compared, as on the command line with the file before it, and the
    # diagnoses that the reader does not want to see, by file.
    fixes: Field[tuple[str, ...]] = Field(())
    dismissed: Field[tuple[str, ...]] = Field(())

    # Files of boxes, fields and posters, and the two models of each that are shown side by side.
    files: Field[Project[Annotations] | None] = Field(None)
    field_files: Field[Project[FieldDocuments] | None] = Field(None)
    poster_files: Field[Project[Posters] | None] = Field(None)
    model_a: Field[int | None] = Field(None)
    model_b: Field[int | None] = Field(None)
    field_a: Field[int | None] = Field(None)
    field_b: Field[int | None] = Field(None)
    poster_a: Field[int | None] = Field(None)
    poster_b: Field[int | None] = Field(None)
    upload_folder: Field[tempfile.TemporaryDirectory[str] | None] = Field(None)
    pdf_folders: Field[Mapping[Folders, PdfFolder]] = Field({})
    rejected: Field[AnyMember | None] = Field(None)
    field_rejected: Field[AnyMember | None] = Field(None)
    # Large files whose reading was cancelled, by name.
    cancelled: Field[tuple[str, ...]] = Field(())
    # Why a recent project could not be opened again.
    project_issues: Field[tuple[Issue, ...]] = Field(())
    # Files that the reader took out of the comparison, with the name of their kind, and names of an upload's others.
    unused: Field[tuple[tuple[str, AnyMember], ...]] = Field(())
    passed_over: Field[tuple[str, ...]] = Field(())
    # Dropped tables whose columns have no known names, and the form of their boxes.
    tables: Field[tuple[tuple[str, bytes], ...]] = Field(())
    box_form: Field[str] = Field("Two corners")
    files_shown: Field[str] = Field("All")
    page_note: Field[PageNote | None] = Field(None)
    dropped: Field[Dropped | None] = Field(None)
    # Uploads that are open, the first one first, and what the workspace folder had or could not take.
    taken: Field[tuple[Taken, ...]] = Field(())
    restored: Field[bool] = Field(False)
    kept_issues: Field[tuple[Issue, ...]] = Field(())
    kept_problem: Field[str] = Field("")
    kept_filters: Field[Mapping[str, str] | None] = Field(None)

    # The operating point.
    protocol: Field[str] = Field("snapshot")
    # Outlines are compared instead of boxes.
    polygons: Field[bool] = Field(False)
    iou: Field[float] = Field(0.5)
    # Of each model: `score.of` its place.
    score: Field[float] = Field(0.0)
    model: Field[int] = Field(0)
    preset: Field[str | None] = Field(None)
    presets_of: Field[tuple[float, ...]] = Field(())
    best_f1_at: Field[tuple[float, ...]] = Field(())

    # Weights of labels in the mean over labels, where they are not 1.
    class_weights: Field[tuple[tuple[str, float], ...]] = Field(())

    # What the chosen protocol is known by, on the Overview.
    own_intervals: Field[bool] = Field(False)

    # The page that is shown, and the filter of mistakes.
    doc: Field[str | None] = Field(None)
    page: Field[int | None] = Field(None)
    box: Field[str | None] = Field(None)
    sharper: Field[SharperEvent | None] = Field(None)
    within: Field[str] = Field("")
    label: Field[str] = Field("")
    order: Field[str] = Field("worst")
    only: Field[bool] = Field(False)
    mistake_names: Field[list[str]] = Field([])
    score_range: Field[tuple[float, float]] = Field(WHOLE)
    fit_range: Field[tuple[float, float]] = Field(WHOLE)
    size_range: Field[tuple[float, float]] = Field(WHOLE)
    unjudged: Field[bool] = Field(False)
    # The box whose mistake, or cause, the reader judged last: its document, page and key. It stays listed while chosen.
    judged_here: Field[tuple[str, int, str] | None] = Field(None)
    poor: Field[bool] = Field(False)
    poor_coverage: Field[float] = Field(0.7)
    poor_purity: Field[float] = Field(0.7)
    saved_filters: Field[Mapping[str, tuple[object, ...]]] = Field({})
    filter_shown: Field[PageOrder | None] = Field(None)
    page_wanted: Field[int | None] = Field(None)
    # What the page viewer has in the browser, the last page turn that it made there, and where the reader is going.
    viewer_held: Field[tuple[str, ...]] = Field(())
    viewer_turn: Field[str] = Field("")
    viewer_toward: Field[int] = Field(1)
    whole_view: Field[bool] = Field(False)
    alike_asked: Field[bool] = Field(False)
    word_count: Field[Count | None] = Field(None)

    # Gallery.
    gallery_question: Field[Question | None] = Field(None)
    gallery_charts: Field[str] = Field("classes")
    gallery_sort: Field[str] = Field("costliest")
    gallery_third: Field[str] = Field("")
    gallery_sheet: Field[int] = Field(0)
    gallery_round: Field[int] = Field(0)
    gallery_wanted: Field[list[str]] = Field([])
    gallery_opened: Field[CardItem | None] = Field(None)

    # Compare.
    pair_show: Field[str] = Field("changed")
    pair_cause: Field[str] = Field("")
    pair_mode: Field[str] = Field("side")
    pair_part: Field[str] = Field("mistakes")
    pair_part_moved: Field[bool] = Field(False)
    pair_whole: Field[bool] = Field(False)
    pair_visits: Field[int] = Field(0)
    pair_mistakes: Field[str | None] = Field(None)
    # When B is to be shipped; differences in points.
    rule_measure: Field[str] = Field("f1")
    rule_least: Field[float] = Field(1.0)
    rule_loss: Field[float] = Field(5.0)
    rule_moved: Field[bool] = Field(False)

    # Models: the measure that ranks, others beside it, and results of earlier runs.
    rank_by: Field[str] = Field("f1")
    rank_more: Field[list[str]] = Field(["precision", "recall"])
    earlier: Field[tuple[EarlierResult, ...]] = Field(())
    earlier_rejected: Field[tuple[Issue, ...]] = Field(())
    # What the numbers of the view Models followed from when they were last shown with intervals.
    ranked_before: Field[tuple[object, ...]] = Field(())
    rank_pair: Field[tuple[int, int] | None] = Field(None)

    # Slices.
    slices_of: Field[str] = Field("A")
    slices_measure: Field[str] = Field("recall")
    slices_reading: Field[Reading[ReadKey, PdfAttributes] | None] = Field(None)
    slices_wanted: Field[list[str]] = Field([])

    # Pixel confusion.
    pixel_scope: Field[Scope] = Field("dataset")
    pixel_shows: Field[Shows] = Field("row")
    pixel_colour: Field[Colour] = Field("steps")
    pixel_of: Field[str] = Field("A")
    pixel_classes: Field[Classes] = Field("auto")
    pixel_missing: Field[MissingPage] = Field("penalize")
    pixel_size: Field[tuple[float, float] | None] = Field(None)
    pixel_row: Field[str | None] = Field(None)
    pixel_column: Field[str | None] = Field(None)
    pixel_sizes: Field[Sizes | None] = Field(None)
    pixel_follow: Field[bool] = Field(False)
    pixel_cell_of: Field[tuple[str, ...]] = Field(())
    pixel_document: Field[str | None] = Field(None)
    pixel_page: Field[int | None] = Field(None)
    pixel_page_means: Field[bool] = Field(False)

    # Fields.
    field_iou: Field[float] = Field(FIELD_IOU_THRESHOLDS[0])
    field_label: Field[str] = Field("")
    field_number: Field[str] = Field("problems")
    field_budget: Field[int] = Field(20)
    field_within: Field[str] = Field("")
    field_doc: Field[str | None] = Field(None)
    field_page: Field[int] = Field(1)
    field_box: Field[str | None] = Field(None)
    field_unit: Field[str] = Field("auto")
    field_parity: Field[Parity] = Field("none")
    field_recall_grid: Field[RecallGrid | Literal["auto"]] = Field("auto")
    # Uploaded, so not in the address.
    field_schema: Field[Schema | None] = Field(None)
    field_schema_issues: Field[tuple[Issue, ...]] = Field(())
    upload_field_schema: Field[UploadedFile | None] = Field(None)
    field_preset: Field[float | None] = Field(None)
    field_preset_of: Field[float | None] = Field(None)
    field_tab: Field[str] = Field("Fields of the document")

    # Posters.
    poster_profile: Field[ProfileName] = Field(DEFAULT_PROFILE)
    poster: Field[str | None] = Field(None)
    poster_part: Field[str] = Field("page")
    poster_of: Field[str] = Field("A")
    poster_text: Field[str] = Field("reference")
    poster_tree: Field[str] = Field("differences")
    poster_box: Field[str | None] = Field(None)
    # What a table or chart had marked in the last run, by its key: a mark stays while the reader goes on otherwise.
    poster_marked: Field[object] = Field(None)

    # Suspected ground truth.
    suspect_kind: Field[str] = Field("")
    suspect_least: Field[float] = Field(0.3)
    suspect_unjudged: Field[bool] = Field(True)
    suspect_margin: Field[float] = Field(0.03)
    suspect_at: Field[int] = Field(0)
    # The table forgets its mark when the reader answers, and shows the next one.
    suspect_round: Field[int] = Field(0)
    suspect_last: Field[Entry | None] = Field(None)
    # The correction that is being edited: of which suspect, its label and its box in the unit of the files.
    suspect_edited: Field[str] = Field("")
    suspect_label: Field[str | None] = Field(None)
    suspect_edge: Field[float] = Field(0.0)
    suspect_reading: Field[Reading[SuspectKey, Suspects] | None] = Field(None)
    # Whether the reader reviews the pages of the plan, so that the Page browser shows how far it is.
    reviewing: Field[bool] = Field(False)

    # Findings and the review pack.
    reviewer: Field[str] = Field("")
    # How often the name came from elsewhere than its field: each time the field is another one, see `ask_author`.
    reviewer_set: Field[int] = Field(0)
    unsaved_findings: Field[Mapping[str, Unsaved]] = Field({})
    # Id of the last message about a target that was handled, stored or not.
    answered_verdicts: Field[Mapping[str, str]] = Field({})
    finding_verdicts: Field[list[str]] = Field([])
    finding_author: Field[str] = Field("")
    finding_tag: Field[str] = Field("")
    finding_state: Field[str] = Field("")
    # What is written about each finding: `finding_note.of` its identity.
    finding_note: Field[str | None] = Field(None)
    finding_tags: Field[str | None] = Field(None)
    finding_owner: Field[str | None] = Field(None)
    finding_due: Field[date | None] = Field(None)
    finding_status: Field[str | None] = Field(None)
    # Which part of the queue is listed, and which finding of a group is judged alone; None for all of it.
    finding_sheet: Field[int] = Field(0)
    finding_single: Field[str | None] = Field(None)
    # In a meeting: whose mistakes the agenda has (A or B), the item, and which of its examples.
    meeting_open: Field[bool] = Field(False)
    meeting_of: Field[str] = Field("B")
    meeting_item: Field[str] = Field("")
    meeting_example: Field[int] = Field(0)
    meeting_minutes: Field[str] = Field("")
    meeting_problem: Field[str] = Field("")
    finding_import: Field[ImportNote | None] = Field(None)
    pack_job: Field[Job | None] = Field(None)


state: Final = State()


def go_to(document: str, index: int) -> None:
    """Show another page; the chosen box goes."""
    state.doc, state.page, state.box = document, index, None


def report(key: str) -> Report | None:
    """What the browser reports of a component, table or chart, by its key; None before it was shown."""
    return cast("Report | None", st.session_state.get(key))


def chosen_cells(key: str) -> list[tuple[int, Any]]:
    """The chosen cells of a table: row, and the name or number of the column."""
    reported = report(key)
    return list(reported["selection"].get("cells", [])) if reported else []


def chosen_points(key: str, name: str) -> list[dict[str, Any]]:
    """The chosen marks of a chart under a selection's name."""
    reported = report(key)
    points = reported["selection"].get(name) if reported else None
    return list(points) if isinstance(points, list) else []


def chosen_range(key: str, name: str) -> dict[str, list[float]]:
    """The selected ranges of a chart under a selection's name, by axis."""
    reported = report(key)
    ranges = reported["selection"].get(name) if reported else None
    return dict(ranges) if isinstance(ranges, Mapping) else {}
