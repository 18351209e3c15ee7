"""All that one reader has open and has chosen: typed fields, the only place of the session state.

``state.iou`` reads a field of `State`, ``state.iou = 0.6`` writes it, ``State.iou`` is the field itself. A value that
one module alone keeps is a field beside its type.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, Self, TypeVar, cast, get_args, overload

import streamlit as st

from evaluator.analysis.suspects.ranking import KINDS
from evaluator.compare.decision import FOUND
from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.matrix.matrix import COLOURS, SHOWS, Colour, Shows
from evaluator.components.viewer.fields import UNITS
from evaluator.components.viewer.mistake_filter import WHOLE
from evaluator.components.viewer.reading import READINGS
from evaluator.data.dataset import Level, LevelKey
from evaluator.data.plain_text import Normalisation
from evaluator.data.plain_text import WordRule as TextWords
from evaluator.matching.error_types import DOCUMENT
from evaluator.project import AnyMember
from evaluator.protocols.coco.matching import MOST_DETECTIONS
from evaluator.protocols.fields.drill_down import LINKS
from evaluator.protocols.fields.evaluation import IOU_THRESHOLDS as FIELD_IOU_THRESHOLDS
from evaluator.protocols.fields.evaluation import Parity, RecallGrid
from evaluator.protocols.fields.ledger import BY_BOX, BY_VALUE
from evaluator.protocols.items import DEFAULT_IOU, ItemProfile
from evaluator.protocols.pixel.inputs import Classes, MissingPage
from evaluator.protocols.pixel.ledger import BY_PIXELS
from evaluator.protocols.posters.ledger import BY_CRITERIA
from evaluator.protocols.posters.profiles import DEFAULT_PROFILE, DEFAULT_WORDS, PROFILES, ProfileName, WordRule
from evaluator.protocols.text.protocol import TrueText
from pages.app.codecs import RANGE, TEXT, YES, Codec, between, one_of, some_of, whole_number

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from evaluator.compare.stored_results import StoredResult
    from evaluator.components.gallery.payload import CardItem
    from evaluator.components.suspects.payload import SuspectWantEvent
    from evaluator.components.viewer.payload import SharperEvent
    from evaluator.data.dataset import Annotations, Side
    from evaluator.data.fields import FieldDocuments, Schema
    from evaluator.data.issues import Issue
    from evaluator.formats.posters import Posters
    from evaluator.matching.box_items import Query
    from evaluator.pdf.folder import Folders, PdfFolder
    from evaluator.project import Project, Upload
    from evaluator.review.meetings import Thresholds
    from evaluator.review.problems import StoreProblem
    from evaluator.workspace.store import OpenUpload

T = TypeVar("T")
# Of the browser's own values no more is known than their name; who reads one checks it.
Report = Mapping[str, Any]


View = Literal[
    "overview", "page_browser", "gallery", "compare", "models", "slices", "class_confusion", "pixel_confusion",
    "reading", "fields", "posters", "findings", "queue", "suspects", "review_pack", "files", "documentation",
    "plugin",
]  # fmt: skip
WORDS: Final[Mapping[str, Mapping[View, str]]] = {
    "Overview": {"overview": ""},
    "Pages": {"page_browser": "Page", "gallery": "Grid"},
    "Compare": {"compare": "Two models", "models": "All models"},
    "Confusion": {"class_confusion": "Boxes", "pixel_confusion": "Pixels"},
    "Reading": {"reading": ""},
    "Slices": {"slices": ""},
    "Fields": {"fields": ""},
    "Posters": {"posters": ""},
    "Review": {"findings": "Decisions", "queue": "Queue", "suspects": "Suspects", "review_pack": "Pack"},
    "Files": {"files": ""},
    "Help": {"documentation": ""},
}
"""The words of the navigation, in order: the views of each with the names of their modes; it leads to the first."""
BOXES_ALONE: Final[tuple[View, ...]] = ("models", "queue", "suspects")
"""Modes that have nothing to show without files of boxes, beside others that have."""
OF_BOXES: Final[tuple[View, ...]] = tuple(
    view for view in get_args(View) if view not in ("fields", "files", "documentation")
)
"""Views that show boxes at the operating point of the session; the view Fields has an IoU threshold of its own."""
_FILTERED: Final[tuple[View, ...]] = ("page_browser", "gallery", "queue")
_LISTS: Final[tuple[View, ...]] = (*_FILTERED, "compare", "suspects", "plugin")
_PAGE_VIEWS: Final[tuple[View, ...]] = ("page_browser", "compare", "pixel_confusion", "reading")
# What Compare shows while it writes a part of the address: files of boxes, or one kind alone.
RASTERED: Final = ("boxes", "pixels")
KINDS_COMPARED: Final = ("boxes", "pixels", "fields", "posters", *READINGS)
"""What the view Compare can show."""
_BOXES, _PIXELS, _FIELDS, _POSTERS = ((kind,) for kind in KINDS_COMPARED[:4])
_READINGS: Final = tuple(READINGS)
Scope = Literal["page", "document", "dataset"]
ITEM_IOU: Final = (0.05, 0.95)
"""How far the slider goes that pairs items."""
# Charts of Grid in old addresses: its chips and its rail have them now.
_FORMER_CHARTS: Final = ("names", "causes")
# What the ledgers of a kind go by.
LEDGERS: Final[Mapping[str, tuple[str, ...]]] = {
    "pixels": (BY_PIXELS,),
    "fields": (BY_BOX, BY_VALUE),
    "posters": (BY_CRITERIA,),
    "reading": tuple(f"{cost}s" for each in READINGS.values() for cost in (each.cost, each.published.cost)),
    **{name: (f"{each.cost}s", f"{each.published.cost}s") for name, each in READINGS.items()},
}

# Values of a session as they were, for what is made outside of its runs.
_AS_OF: Final[ContextVar[MutableMapping[str, Any] | None]] = ContextVar("_AS_OF", default=None)


def _values() -> MutableMapping[str, Any]:
    """Return the values of the session of this run, or those of `using_values`."""
    held = _AS_OF.get()
    return cast("MutableMapping[str, Any]", st.session_state) if held is None else held


def session_values() -> dict[str, Any]:
    """Return all values of the session of this run, for `using_values`."""
    return {str(key): value for key, value in st.session_state.to_dict().items()}


@contextlib.contextmanager
def using_values(values: Mapping[str, Any]) -> Iterator[None]:
    """Read the values of a session as they were, in a thread that has none; what is written is lost."""
    token = _AS_OF.set(dict(values))
    try:
        yield
    finally:
        _AS_OF.reset(token)


class Part:
    """A part of the address: its name there, the views that write it, and how it is read and written.

    Every view reads it, by the codec of its name unless one is given. It is written where `applies` says so, and by
    Compare for `kinds`. A step back to an address without it keeps it if it `stays`, else resets it.
    """

    def __init__(
        self,
        name: str,
        *views: View,
        codec: Codec[Any] | None = None,
        applies: Callable[[], bool] = lambda: True,
        stays: bool = False,
        kinds: tuple[str, ...] = KINDS_COMPARED,
    ) -> None:
        self.name, self.views, self.codec = name, frozenset(views), codec
        self.applies, self.stays, self.kinds = applies, stays, kinds


class Field(Generic[T]):
    """A value of the session: its start, name (in a class that of the attribute), and part of the address."""

    def __init__(self, start: T, name: str = "", part: Part | None = None) -> None:
        self.start, self.name, self.part = start, name, part

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        return self if instance is None else self.get()

    def __set__(self, instance: object, value: T) -> None:
        self.set(value)

    @property
    def key(self) -> str:
        """Return the key under which the session has the value."""
        return self.name

    def get(self) -> T:
        """Return the value of the moment."""
        return cast("T", _values().get(self.key, self.start))

    def set(self, value: T) -> None:
        """Another value."""
        _values()[self.key] = value

    def rewrite(self) -> None:
        """Write the value of the moment for a widget that a view draws for the first time."""
        value = self.get()
        if value is not None:
            _values()[self.key] = value

    def pop(self) -> T:
        """Return the value, which is at its start afterwards."""
        return cast("T", _values().pop(self.key, self.start))

    def of(self, part: object) -> Self:
        """Return the same kind of value for one of many things, such as the note on one finding."""
        return type(self)(self.start, f"{self.name}_{part}")


AnyField = Field[Any]


# How often our code wrote another value over the one that a widget showed, by the name of its field.
_REPLACED: Final[Field[Mapping[str, int]]] = Field({}, "replaced")


class WidgetField(Field[T]):
    """A value that a widget shows, and that our own code may write as well."""

    # The browser sends the values of all widgets, also old ones: a written value is shown by a widget of another key.

    @property
    def key(self) -> str:
        """Return the key of the widget: the name, and how often our code wrote over a shown value."""
        return self._key(_REPLACED.get().get(self.name, 0))

    def set(self, value: T) -> None:
        """Another value, in another widget if one may show what was there; the same value leaves all as it is."""
        if self.key in _values():
            if value == super().get():
                return
            replaced = _REPLACED.get()
            times = replaced.get(self.name, 0)
            _REPLACED.set({**replaced, self.name: times + 1})
            if times:
                # A message about the last widget may be on its way, and none about the one before it.
                _values().pop(self._key(times - 1), None)
        super().set(value)

    def _key(self, times: int) -> str:
        return f"{self.name}-{times}" if times else self.name

    def changed(self, act: Callable[[], object]) -> Callable[[], None]:
        """Return a callback for the widget of the moment; one that gave way to another calls nothing."""
        key = self.key

        def call() -> None:
            if key == self.key:
                act()

        return call


class PlaceField(WidgetField[T]):
    """One of several by its place in a widget's list; the start for a name that is no option any more."""

    def get(self) -> T:
        """Return the current value."""
        value = super().get()
        return self.start if isinstance(value, str) else value


class CorrectedFile(NamedTuple):
    """A corrected ground truth that was written: of which boxes, its name and bytes, or why there is none."""

    digest: str
    name: str
    content: bytes
    issues: Sequence[Issue]


class ImportNote(NamedTuple):
    """The last import of findings: its issues, the refusal of the store, and how many events."""

    issues: list[Issue]
    failed: bool
    refusal: StoreProblem | None
    added: int
    total: int


UploadedFiles = tuple[tuple[str, bytes], ...]
"""Names and content of chosen files."""


def _lists_ledger() -> bool:
    view, kind = State.view.get(), State.pair_kind.get()
    shown = kind if view == "compare" else "pixels" if view == "pixel_confusion" else view
    return State.ledger_of.get()[0] in LEDGERS.get(shown, ())


class State:
    """Every value of a session, by the view that it belongs to; an address has its parts in this order."""

    # The reader, the view, and the address bar.
    access: Field[bool] = Field(False)
    # The folder of this reader below those of the account; empty on this machine without a login: the account's own.
    reader_folder: Field[str] = Field("")
    # The name of this reader where a login or a trusted proxy vouches for it.
    vouched: Field[str] = Field("")
    # What is said of the findings above every view, and how often each store had been replaced at first.
    said_of_findings: Field[str] = Field("")
    findings_replaced: Field[Mapping[str, int]] = Field({})
    view: Field[str] = Field("")
    addresses: Field[tuple[dict[str, str], ...]] = Field(())
    address_left: Field[bool] = Field(False)
    # The view that a button leads to, until the next run goes there.
    next_view: Field[str] = Field("")
    # The step of the tour, from 1, and the page of the documentation.
    tour: Field[int] = Field(0)
    manual: WidgetField[str] = WidgetField("tour", part=Part("manual", "documentation", codec=TEXT))
    entered_bare: Field[bool] = Field(False)
    landed: Field[bool] = Field(False)
    linked: Field[bool] = Field(False)
    refused: Field[tuple[str, ...]] = Field(())

    # Which boxes are read where some lie in others, and which were when the files were read.
    level: WidgetField[LevelKey] = WidgetField(
        "", part=Part("level", *OF_BOXES, codec=one_of(get_args(Level)), stays=True, kinds=RASTERED)
    )
    level_read: Field[LevelKey] = Field("")

    # What mends the predictions before they are compared, as on the command line with the file before it, and the
    # diagnoses that the reader does not want to see, by file.
    fixes: Field[tuple[str, ...]] = Field((), part=Part("fix", *OF_BOXES, stays=True, kinds=RASTERED))
    dismissed: Field[tuple[str, ...]] = Field(())

    # The operating point: protocol, whether outlines are compared instead of boxes, thresholds, weights of labels in
    # the mean over labels where they are not 1.
    protocol: WidgetField[str] = WidgetField("snapshot", part=Part("protocol", *OF_BOXES, kinds=_BOXES))
    polygons: WidgetField[bool] = WidgetField(False, part=Part("polygons", *OF_BOXES, codec=YES, kinds=_BOXES))
    max_detections: WidgetField[int] = WidgetField(
        MOST_DETECTIONS,
        part=Part(
            "max_detections",
            *OF_BOXES,
            codec=whole_number(1, 1_000_000),
            kinds=_BOXES,
            applies=lambda: State.protocol.get() == "coco",
        ),
    )
    iou: WidgetField[float] = WidgetField(0.5, part=Part("iou", *OF_BOXES, kinds=_BOXES))
    class_weights: Field[tuple[tuple[str, float], ...]] = Field((), part=Part("weights", "overview"))
    # Of each model: `score.of` its place; `results.SCORES` are those of all models.
    score: WidgetField[float] = WidgetField(0.0)
    # Models by their place in the list: the shown one, and the two that a view shows side by side.
    model: PlaceField[int] = PlaceField(0, part=Part("model", *OF_BOXES, "fields", kinds=RASTERED))
    model_a: PlaceField[int | None] = PlaceField(None, part=Part("model_a", *OF_BOXES, kinds=RASTERED))
    model_b: PlaceField[int | None] = PlaceField(None, part=Part("model_b", *OF_BOXES, kinds=RASTERED))
    preset: WidgetField[str | None] = WidgetField(None)
    best_f1_at: Field[tuple[float, ...]] = Field(())

    # Files of boxes, fields and posters.
    files_shown: WidgetField[str] = WidgetField("All")
    files: Field[Project[Annotations] | None] = Field(None)
    field_files: Field[Project[FieldDocuments] | None] = Field(None)
    poster_files: Field[Project[Posters] | None] = Field(None)
    upload_folder: Field[tempfile.TemporaryDirectory[str] | None] = Field(None)
    pdf_folders: Field[Mapping[Folders, PdfFolder]] = Field({})
    # By the name of the file; in memory alone.
    pdf_passwords: Field[Mapping[str, str]] = Field({})
    # What was dropped or chosen, until it is read.
    arrived: Field[UploadedFiles | None] = Field(None)
    # Large files whose reading was cancelled, by name.
    cancelled: Field[tuple[str, ...]] = Field(())
    # Why a recent project could not be opened again.
    project_issues: Field[tuple[Issue, ...]] = Field(())
    # Files that the reader took out of the comparison, with the name of their kind.
    unused: Field[tuple[tuple[str, AnyMember], ...]] = Field(())
    # Of the last upload: why files were left out, and the names of those that are neither annotations nor pages.
    left_out: Field[tuple[Issue, ...]] = Field(())
    passed_over: Field[tuple[str, ...]] = Field(())
    # The form of the boxes of a table whose columns have no known names, and the columns and side that were chosen.
    box_form: WidgetField[str] = WidgetField("Two corners")
    table_asked: Field[tuple[Upload, Side] | None] = Field(None)
    # Whether the address is of uploads, which end with the session; whether they have ended.
    of_uploads: Field[bool] = Field(
        False, part=Part("uploads", *get_args(View), codec=YES, stays=True, applies=lambda: bool(State.taken.get()))
    )
    lost: Field[bool] = Field(False)
    # What became of saving the project: what was saved, whether it was, and the words for it.
    project_saved: Field[tuple[str, bool, str]] = Field(("", True, ""))
    # Uploads that are open, the first one first, and what the workspace folder had or could not take.
    taken: Field[tuple[OpenUpload, ...]] = Field(())
    restored: Field[bool] = Field(False)
    kept_issues: Field[tuple[Issue, ...]] = Field(())
    kept_problem: Field[str] = Field("")
    kept_filters: Field[Mapping[str, str] | None] = Field(None)

    # What the chosen protocol is known by, on the Overview.
    own_intervals: WidgetField[bool] = WidgetField(False)
    # What is open on the Overview, and how often what was marked on its curves has led to its boxes.
    sections: Field[list[str]] = Field(
        [],
        part=Part(
            "charts", "overview", codec=some_of(["labels", "scores", "fit", "means", "documents", *_FORMER_CHARTS])
        ),
    )
    curves_round: Field[int] = Field(0)

    # The page that is shown, and the filter of mistakes.
    doc: Field[str | None] = Field(None, part=Part("doc", *_PAGE_VIEWS, stays=True, kinds=RASTERED))
    page: Field[int | None] = Field(None, part=Part("page", *_PAGE_VIEWS, stays=True, kinds=RASTERED))
    box: Field[str | None] = Field(
        None, part=Part("box", "page_browser", "compare", "reading", codec=TEXT, kinds=_BOXES)
    )
    sharper: Field[SharperEvent | None] = Field(None)
    within: WidgetField[str] = WidgetField("", part=Part("within", *_LISTS, "reading", kinds=_BOXES))
    label: WidgetField[str] = WidgetField("", part=Part("label", *_LISTS, "models", kinds=_BOXES))
    order: WidgetField[str] = WidgetField(
        "worst", part=Part("order", "page_browser", "reading", codec=one_of(("worst", "page")))
    )
    only: WidgetField[bool] = WidgetField(False, part=Part("only", "page_browser", codec=YES))
    mistake_names: WidgetField[list[str]] = WidgetField(
        [], part=Part("mistakes", *_FILTERED, codec=some_of([*DOCUMENT]))
    )
    score_range: WidgetField[tuple[float, float]] = WidgetField(WHOLE, part=Part("score", *_FILTERED, codec=RANGE))
    fit_range: WidgetField[tuple[float, float]] = WidgetField(WHOLE, part=Part("fit", *_FILTERED, codec=RANGE))
    size_range: WidgetField[tuple[float, float]] = WidgetField(WHOLE, part=Part("size", *_FILTERED, codec=RANGE))
    unjudged: WidgetField[bool] = WidgetField(False, part=Part("unjudged", *_FILTERED, codec=YES))
    # The box whose mistake, or cause, the reader judged last: its document, page and key. It stays listed while chosen.
    judged_here: Field[tuple[str, int, str] | None] = Field(None)
    poor: WidgetField[bool] = WidgetField(False, part=Part("poor", *_FILTERED, codec=YES))
    poor_coverage: WidgetField[float] = WidgetField(
        0.7, part=Part("coverage", *_FILTERED, codec=between(0.0, 1.0), applies=poor.get)
    )
    poor_purity: WidgetField[float] = WidgetField(
        0.7, part=Part("purity", *_FILTERED, codec=between(0.0, 1.0), applies=poor.get)
    )
    # The name under which a filter could not be saved, and why.
    filter_refused: Field[tuple[str, str]] = Field(("", ""))
    saved_filters: Field[Mapping[str, tuple[object, ...]]] = Field({})
    cause_wanted: WidgetField[int | None] = WidgetField(None)
    slice_wanted: WidgetField[int | None] = WidgetField(None)
    # What the browser shows of a list, by name, and the last page turn that it made there.
    viewer_held: Field[tuple[str, ...]] = Field(())
    viewer_turn: Field[str] = Field("")
    whole_view: Field[bool] = Field(False)
    alike_asked: Field[bool] = Field(False)

    # Gallery.
    gallery_question: Field[Query | None] = Field(None, part=Part("question", *_FILTERED, "class_confusion"))
    gallery_sort: WidgetField[str] = WidgetField("costliest", part=Part("sort", "gallery", "queue"))
    gallery_third: WidgetField[str] = WidgetField("", part=Part("third", "gallery", "queue"))
    gallery_sheet: WidgetField[int] = WidgetField(
        0, part=Part("sheet", "gallery", "queue", codec=whole_number(1, 99_999, shift=1))
    )
    gallery_wanted: Field[list[str]] = Field([])
    # And the side of it that was pressed.
    gallery_opened: Field[tuple[CardItem, int] | None] = Field(None)

    # Compare: boxes, pixels, fields or posters, then what is listed and how it is looked at.
    pair_kind: WidgetField[str] = WidgetField("boxes", part=Part("compare", "compare", codec=one_of(KINDS_COMPARED)))
    pair_show: Field[str] = Field("changed", part=Part("show", "compare", codec=one_of([*PAGE_FILTERS])))
    pair_cause: Field[str] = Field("", part=Part("cause", "compare", codec=TEXT, kinds=_BOXES))
    # The chosen box where pixels, fields or posters are compared: its key in the panes, on the page that is shown.
    pair_box: Field[str | None] = Field(None, part=Part("chosen", "compare", codec=TEXT, kinds=KINDS_COMPARED[1:]))
    pair_mode: Field[str] = Field("side", part=Part("look", "compare"))
    pair_part: WidgetField[str] = WidgetField("mistakes", part=Part("below", "compare", kinds=_BOXES))
    pair_part_moved: Field[bool] = Field(False)
    pair_whole: Field[bool] = Field(False)
    pair_visits: Field[int] = Field(0)
    pair_mistakes: Field[str | None] = Field(None)
    # When B is to be shipped; differences in points.
    rule_measure: WidgetField[str] = WidgetField(
        "f1", part=Part("measure", "compare", codec=one_of(FOUND), kinds=_BOXES)
    )
    rule_least: WidgetField[float] = WidgetField(1.0, part=Part("least", "compare", kinds=_BOXES))
    rule_loss: WidgetField[float] = WidgetField(5.0, part=Part("loss", "compare", kinds=_BOXES))
    rule_moved: Field[bool] = Field(False)
    # What is open below the answer.
    pair_opened: Field[list[str]] = Field(
        [], part=Part("opened", "compare", codec=some_of(["rule", "differences"]), kinds=_BOXES)
    )

    # Models: the measure that ranks, others beside it, and results of earlier runs.
    rank_by: WidgetField[str] = WidgetField("f1", part=Part("rank_by", "models"))
    rank_more: WidgetField[list[str]] = WidgetField(["precision", "recall"])
    earlier: Field[tuple[StoredResult, ...]] = Field(())
    earlier_rejected: Field[tuple[Issue, ...]] = Field(())
    # What the numbers of the view Models followed from when they were last shown with intervals.
    ranked_before: Field[tuple[object, ...]] = Field(())
    rank_pair: Field[tuple[int, int] | None] = Field(None)

    # What "B against A" of pixels, fields or posters followed from when it was last shown with intervals.
    resampled_before: Field[tuple[str, ...]] = Field(())

    # Slices.
    slices_kind: WidgetField[str] = WidgetField("boxes", part=Part("slices", "slices", codec=one_of(KINDS_COMPARED)))
    slices_of: WidgetField[str] = WidgetField("A", part=Part("of_models", "slices", codec=one_of(("A", "B", "B-A"))))
    slices_measure: WidgetField[str] = WidgetField("recall", part=Part("slice_measure", "slices"))
    slices_wanted: Field[list[str]] = Field([])
    # Of fields, pixels and posters: which slice of the list has its things in a table.
    slices_listed: Field[int | None] = Field(None)
    slices_opens: Field[str] = Field("")

    # Pixel confusion.
    pixel_scope: WidgetField[Scope] = WidgetField(
        "dataset", part=Part("scope", "pixel_confusion", codec=one_of(get_args(Scope)))
    )
    pixel_shows: WidgetField[Shows] = WidgetField("row", part=Part("shows", "pixel_confusion", codec=one_of([*SHOWS])))
    pixel_colour: WidgetField[Colour] = WidgetField(
        "steps", part=Part("colour", "pixel_confusion", codec=one_of(COLOURS))
    )
    pixel_of: WidgetField[str] = WidgetField("A", part=Part("of", "class_confusion", "pixel_confusion"))
    pixel_classes: WidgetField[Classes] = WidgetField(
        "auto",
        part=Part("classes", "pixel_confusion", "compare", codec=one_of(get_args(Classes)), kinds=_PIXELS),
    )
    pixel_missing: WidgetField[MissingPage] = WidgetField(
        "penalize",
        part=Part("missing", "pixel_confusion", "compare", codec=one_of(get_args(MissingPage)), kinds=_PIXELS),
    )
    pixel_size: Field[tuple[float, float] | None] = Field(
        None, part=Part("page_size", "pixel_confusion", "compare", kinds=_PIXELS)
    )
    pixel_row: Field[str | None] = Field(None, part=Part("row", "pixel_confusion"))
    pixel_column: Field[str | None] = Field(None, part=Part("column", "pixel_confusion"))
    pixel_follow: Field[bool] = Field(False)
    pixel_cell_of: Field[tuple[str, ...]] = Field(())
    pixel_document: WidgetField[str | None] = WidgetField(None)
    pixel_page: WidgetField[int | None] = WidgetField(None)
    pixel_page_means: Field[bool] = Field(False)

    # Reading: what of items is compared, how, and the names of its mistakes that are listed.
    reading_of: WidgetField[str] = WidgetField("order", part=Part("reading", "reading", codec=one_of([*READINGS])))
    reading_look: WidgetField[str] = WidgetField(
        "page", part=Part("reading_look", "reading", codec=one_of(("page", "grid")))
    )
    reading_profile: WidgetField[ItemProfile | Literal["auto"]] = WidgetField(
        "auto",
        part=Part(
            "reading_profile", "reading", "compare", codec=one_of(("auto", *get_args(ItemProfile))), kinds=_READINGS
        ),
    )
    reading_iou: WidgetField[float] = WidgetField(
        DEFAULT_IOU, part=Part("reading_iou", "reading", "compare", codec=between(*ITEM_IOU), kinds=_READINGS)
    )
    reading_same_label: WidgetField[bool] = WidgetField(
        False, part=Part("same_label", "reading", "compare", codec=YES, kinds=_READINGS)
    )
    reading_normalisation: WidgetField[Normalisation] = WidgetField(
        "plain",
        part=Part("normalisation", "reading", "compare", codec=one_of(get_args(Normalisation)), kinds=_READINGS),
    )
    reading_words: WidgetField[TextWords] = WidgetField(
        "scripts", part=Part("text_words", "reading", "compare", codec=one_of(get_args(TextWords)), kinds=_READINGS)
    )
    reading_true_text: WidgetField[TrueText] = WidgetField(
        "stated", part=Part("true_text", "reading", "compare", codec=one_of(get_args(TrueText)), kinds=_READINGS)
    )
    reading_names: WidgetField[list[str]] = WidgetField(
        [], part=Part("named", "reading", codec=some_of([name for each in READINGS.values() for name in each.titles]))
    )

    # Suspected ground truth.
    suspect_kind: WidgetField[str] = WidgetField("", part=Part("suspected", "suspects", codec=one_of(KINDS)))
    suspect_least: WidgetField[float] = WidgetField(0.3, part=Part("evidence", "suspects", codec=between(0.0, 1.0)))
    suspect_unjudged: WidgetField[bool] = WidgetField(True)
    suspect_margin: WidgetField[float] = WidgetField(0.03, part=Part("margin", "queue", codec=between(0.001, 0.5)))
    # Pictures of suspects that the browser asked for, until they are sent.
    suspects_wanted: Field[SuspectWantEvent | None] = Field(None)
    # Places of the chosen suspect and of those beside it: the effect of accepting them is shown.
    suspects_near: Field[tuple[int, ...]] = Field(())
    # Name of the list that the browser has, for one run.
    suspects_held: Field[str] = Field("")
    # Whether the reader reviews the pages of the plan, so that Pages shows how far it is.
    reviewing: Field[bool] = Field(False)

    # Review. What Queue shows: "" for the places without a verdict, "sample" for the pages drawn at random.
    queued: WidgetField[str] = WidgetField("", part=Part("queue", "queue", codec=one_of(("sample",))))
    # In a meeting: the item of the agenda, and which of its examples. A reload goes on there.
    meeting_open: Field[bool] = Field(False, part=Part("meeting", "findings", codec=YES))
    meeting_example: Field[int] = Field(0)
    # The name of this session as the one who presents, or who follows, and when that was last written; whether it is
    # about to present, has followed, and looks around.
    meeting_session: Field[str] = Field("")
    meeting_follower: Field[str] = Field("")
    meeting_told: Field[float] = Field(0.0)
    meeting_begins: Field[bool] = Field(False)
    meeting_followed: Field[bool] = Field(False)
    meeting_looks: Field[bool] = Field(False)
    # The thresholds before those of a presenter, and why nobody can follow.
    meeting_own: Field[Thresholds | None] = Field(None)
    meeting_refused: Field[str] = Field("")
    meeting_minutes: Field[str] = Field("")
    # The target of the last decision that was not saved.
    meeting_unsaved: Field[str] = Field("")
    reviewer: WidgetField[str] = WidgetField("")
    # Id of the last verdict that was handled, stored or not, and whether what it was about is not there any more.
    answered: Field[str] = Field("")
    verdict_refused: Field[bool] = Field(False)
    # Which causes Decisions lists, and those whose pictures the browser asked for.
    decided: WidgetField[str] = WidgetField("", part=Part("decided", "findings", codec=one_of(("decided", "open"))))
    decisions_wanted: Field[Sequence[str]] = Field(())
    decision_unsaved: Field[str] = Field("")
    meeting_item: Field[str] = Field("", part=Part("item", "findings", codec=TEXT, applies=meeting_open.get))
    finding_refused: Field[str] = Field("")
    # The format for those who annotate, and the file that was written last.
    corrected_as: WidgetField[str] = WidgetField("snapshot")
    corrected_file: Field[CorrectedFile | None] = Field(None)
    finding_import: Field[ImportNote | None] = Field(None)

    # Fields, and the two models of them that are shown side by side.
    field_a: PlaceField[int | None] = PlaceField(None, part=Part("field_a", "fields", "compare", kinds=_FIELDS))
    field_b: PlaceField[int | None] = PlaceField(None, part=Part("field_b", "fields", "compare", kinds=_FIELDS))
    field_iou: WidgetField[float] = WidgetField(
        FIELD_IOU_THRESHOLDS[0], part=Part("field_iou", "fields", "compare", kinds=_FIELDS)
    )
    field_label: WidgetField[str] = WidgetField("", part=Part("field", "fields"))
    field_number: WidgetField[str] = WidgetField("problems", part=Part("behind", "fields", codec=one_of([*LINKS])))
    field_budget: WidgetField[int] = WidgetField(20, part=Part("budget", "fields"))
    field_within: WidgetField[str] = WidgetField("", part=Part("field_within", "fields"))
    field_doc: Field[str | None] = Field(None, part=Part("field_doc", "fields", "compare", kinds=_FIELDS))
    field_page: Field[int] = Field(
        1, part=Part("field_page", "fields", "compare", codec=whole_number(1, 10**9), kinds=_FIELDS)
    )
    field_box: Field[str | None] = Field(None, part=Part("field_box", "fields", codec=TEXT))
    field_visits: Field[int] = Field(0)
    # Whether the whole view is to be drawn anew.
    field_whole: Field[bool] = Field(False)
    field_unit: WidgetField[str] = WidgetField(
        "auto", part=Part("unit", "fields", "compare", codec=one_of(("auto", *UNITS)), kinds=_FIELDS)
    )
    field_parity: WidgetField[Parity] = WidgetField(
        "none", part=Part("parity", "fields", "compare", codec=one_of(get_args(Parity)), kinds=_FIELDS)
    )
    field_recall_grid: WidgetField[RecallGrid | Literal["auto"]] = WidgetField(
        "auto",
        part=Part("recall_grid", "fields", "compare", codec=one_of(("auto", *get_args(RecallGrid))), kinds=_FIELDS),
    )
    # Uploaded, so not in the address.
    field_schema: Field[Schema | None] = Field(None)
    field_schema_issues: Field[tuple[Issue, ...]] = Field(())
    upload_field_schema: WidgetField[UploadedFile | None] = WidgetField(None)
    field_preset: WidgetField[float | None] = WidgetField(None)
    field_tab: WidgetField[str] = WidgetField("Fields of the document")

    # The number of a ledger of pages, fields or posters that is listed: measure, row, outcome.
    ledger_of: Field[tuple[str, str, str]] = Field(
        ("", "", ""),
        part=Part("ledger", "pixel_confusion", "reading", "fields", "posters", "compare", applies=_lists_ledger),
    )

    # Posters, and the two models of them that are shown side by side.
    poster_a: PlaceField[int | None] = PlaceField(None, part=Part("poster_a", "posters", "compare", kinds=_POSTERS))
    poster_b: PlaceField[int | None] = PlaceField(None, part=Part("poster_b", "posters", "compare", kinds=_POSTERS))
    poster_profile: WidgetField[ProfileName] = WidgetField(
        DEFAULT_PROFILE, part=Part("profile", "posters", "compare", codec=one_of([*PROFILES]), kinds=_POSTERS)
    )
    poster_words: WidgetField[WordRule] = WidgetField(
        DEFAULT_WORDS,
        part=Part(
            "words",
            "posters",
            "compare",
            codec=one_of(get_args(WordRule)),
            kinds=_POSTERS,
            applies=lambda: State.poster_profile.get() == "documented",
        ),
    )
    poster: WidgetField[str | None] = WidgetField(None, part=Part("poster", "posters", "compare", kinds=_POSTERS))
    poster_part: WidgetField[str] = WidgetField("page", part=Part("part", "posters"))
    poster_of: WidgetField[str] = WidgetField("A", part=Part("poster_of", "posters"))
    poster_text: WidgetField[str] = WidgetField(
        "reference",
        part=Part(
            "text_of",
            "posters",
            codec=one_of(("reference", "generated")),
            applies=lambda: State.poster_part.get() == "text",
        ),
    )
    poster_tree: WidgetField[str] = WidgetField(
        "differences",
        part=Part(
            "tree",
            "posters",
            codec=one_of(("differences", "all")),
            applies=lambda: State.poster_part.get() == "fields",
        ),
    )
    poster_box: Field[str | None] = Field(None)
    # What a table or chart had marked in the last run, by its key: a mark stays while the reader goes on otherwise.
    poster_marked: Field[object] = Field(None)


FILTER: Final[tuple[AnyField, ...]] = (
    State.within,
    State.label,
    State.only,
    State.mistake_names,
    State.score_range,
    State.fit_range,
    State.size_range,
    State.unjudged,
    State.poor,
    State.poor_coverage,
    State.poor_purity,
)
"""What filters mistakes and pages: a saved filter has their values in this order."""

state: Final = State()


def modes_of(view: str) -> Mapping[View, str]:
    """Return the views of the word of a view, with the names of their modes; empty for a view without a word."""
    return next((views for views in WORDS.values() if view in views), {})


def is_narrowed(fields: Iterable[AnyField]) -> bool:
    """Return whether any part of a filter is not at its start."""
    return any(field.get() != field.start for field in fields)


def reset(fields: Iterable[AnyField]) -> None:
    """Put every part of a filter at its start."""
    for field in fields:
        field.set(field.start)


def go_to_page(document: str, index: int) -> None:
    """Show another page; the chosen box is dropped."""
    state.doc, state.page, state.box = document, index, None


def open_page(document: str, index: int, box: str | None = None) -> None:
    """Show a page that another view leads to, all of it: no filter that was left in Pages hides what is meant."""
    reset((*FILTER, State.gallery_question))
    go_to_page(document, index)
    state.box = box


def report(key: str) -> Report | None:
    """Return what the browser reports of a component, table or chart; None before it was shown."""
    return cast("Report | None", st.session_state.get(key))


def form_value(key: str) -> Any:  # noqa: ANN401 - whatever the widget holds
    """Return what a widget of a form holds when the form is sent; None before it was shown."""
    return st.session_state.get(key)


def chosen_cells(key: str) -> list[tuple[int, Any]]:
    """Return the chosen cells of a table: row, and the name or number of the column."""
    reported = report(key)
    return list(reported["selection"].get("cells", [])) if reported else []


def chart_key(key: str) -> str:
    """Return the key of a chart in the reader's theme: Streamlit draws one key in one theme only."""
    return f"{key}_dark" if st.context.theme.type == "dark" else key


def chosen_points(key: str, name: str) -> list[dict[str, Any]]:
    """Return the chosen marks of a chart under a selection's name."""
    reported = report(chart_key(key))
    points = reported["selection"].get(name) if reported else None
    return list(points) if isinstance(points, list) else []


def chosen_range(key: str, name: str) -> dict[str, list[float]]:
    """Return the selected ranges of a chart under a selection's name, by axis."""
    reported = report(chart_key(key))
    ranges = reported["selection"].get(name) if reported else None
    return dict(ranges) if isinstance(ranges, Mapping) else {}
