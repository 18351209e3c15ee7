"""What the page viewer is sent, and what it sends: boxes, mistakes, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec

from evaluator.components.payload import (
    BlockItem,
    BoxStatus,
    CountedStatus,
    EmptyItem,
    Event,
    Events,
    LimitItem,
    ModelItem,
    Payload,
    Rect,
    Side,
    ViewedPageItem,
)


class NearestItem(Payload, frozen=True):
    """The box of the other side that an unmatched box overlaps most; a filter may hide it."""

    key: str
    iou: float


class BoxItem(Payload, frozen=True, omit_defaults=False):
    """A box on the page."""

    key: str
    side: Side
    status: BoxStatus
    label: str
    xyxy: Rect
    name: str | None = None
    """what it is in words, where that does not follow from its status"""
    score: float | None = None
    iou: float | None = None
    coverage: float | None = None
    purity: float | None = None
    partner: str | None = None
    """key of its match"""
    nearest: NearestItem | None = None
    """what an unmatched box overlaps most"""
    mistake: int | None = None
    """number of its mistake"""
    faded: bool = False
    """its mistake is hidden by a filter: drawn pale, without a chip"""
    other: bool = False
    """the other half of a listed mistake, which the filter does not ask for: drawn muted, with a chip"""
    cause: str | None = None
    """the words of the chip on the whole cause of its mistake; empty when another box of the cause has that chip"""
    source: str | None = None
    """file and place"""
    outline: str | None = None
    """what it encloses, where that is not the box: an SVG path in ten-thousandths of the page, filled by the even-odd
    rule"""


class CutItem(Payload, frozen=True):
    """What a prediction cuts off."""

    side: Literal["top", "right", "bottom", "left"]
    share: float
    """of the ground truth's height or width"""
    points: float | None


class OpinionItem(Payload, frozen=True, kw_only=True):
    """What one reviewer thinks of a mistake."""

    author: str
    verified: bool = False
    verdict: str | None
    note: str
    tags: Sequence[str] = ()
    time: str
    """ISO 8601"""


class JudgedItem(Payload, frozen=True):
    """What all reviewers think of a mistake."""

    agreed: str | None
    conflict: bool
    opinions: Sequence[OpinionItem]


class UnsavedItem(Payload, frozen=True):
    """A verdict that could not be stored, and why."""

    verdict: str | None
    note: str
    problem: str
    busy: bool = False
    """Others use the store now: it is tried again."""


PieceMark = Literal["", "out", "in", "was", "now", "gap"]
"""The same on both sides; in the ground truth or in the prediction alone; changed from, and to; left out here."""


class PieceItem(Payload, frozen=True):
    """A piece of two texts that are laid on each other."""

    text: str
    mark: PieceMark = ""


class GridCellItem(Payload, frozen=True, kw_only=True):
    """A cell of a table; rows and columns from 0."""

    row: int
    col: int
    row_span: int = 1
    col_span: int = 1
    header: bool = False
    text: str = ""
    mistakes: Sequence[int] = ()
    """numbers of the mistakes that concern it"""


class GridItem(Payload, frozen=True):
    """A table of one side, or the beginning of a large one."""

    rows: int
    columns: int
    cells: Sequence[GridCellItem]


class TableItem(Payload, frozen=True):
    """A table as both sides have it."""

    ground_truth: GridItem | None
    prediction: GridItem | None
    facts: str
    """its numbers in words"""


class OrderPathItem(Payload, frozen=True):
    """The order in which one side reads the items of a page that have a box."""

    side: Side
    keys: Sequence[str]
    """of the boxes, one after the other"""
    numbers: Sequence[int]
    """the place of each in the order, from 1"""
    wrong: Sequence[int] = ()
    """places in `keys`, from 0, to which the other side does not go on"""


class MistakeItem(Payload, frozen=True, kw_only=True):
    """An entry of the list of mistakes."""

    number: int
    """of the page, from 1"""
    name: str = ""
    """key of its kind, for instance "cut_off\""""
    status: str
    title: str
    label: str
    lines: Sequence[str]
    tags: Sequence[str]
    keys: Sequence[str]
    """of its boxes that are shown"""
    cut: CutItem | None = None
    """the side on which the prediction stops short"""
    lost_words: int | None = None
    foreign_words: int | None = None
    foreign: Sequence[Rect] = ()
    """words in its predictions that belong to no ground truth of their label"""
    row: int | None = None
    """row of a field in the compared columns"""
    target: str | None = None
    """the identity under which a verdict on it is stored; null when it cannot be judged"""
    verdict: JudgedItem | None = None
    unsaved: UnsavedItem | None = None
    alike: int = 0
    """how many more places there are like the one that it belongs to, on all pages"""
    family: tuple[str, str, str, str, str] | None = None
    """what those have in common; null without one"""
    pieces: Sequence[PieceItem] = ()
    """where texts differ"""
    table: int | None = None
    """place of its table among those of the page"""


class StripItem(Payload, frozen=True):
    """A page of the page strip."""

    document: str
    index: int
    """0-based"""
    mistakes: int
    blocks: Sequence[BlockItem]
    current: bool
    image: str = ""
    """a path on this server, of a small picture of the page; empty where it cannot be drawn"""


class CountsItem(Payload, frozen=True):
    """Counts of a page."""

    TP: int
    FP: int
    FN: int
    ground_truth: int
    predictions: int


NO_COUNTS: Final = CountsItem(TP=0, FP=0, FN=0, ground_truth=0, predictions=0)


class WalkItem(Payload, frozen=True):
    """Whether the next and the previous mistake lead on to other pages."""

    before: bool
    after: bool
    total: int
    """mistakes in the list of pages"""
    previous: int = 0
    """1-based place of the page before that has mistakes; 0 for none"""
    next: int = 0
    """1-based place of the next page that has mistakes; 0 for none"""


class CauseItem(Payload, frozen=True):
    """Mistakes of the list that have one reason; they are listed together in it."""

    title: str
    """in words, such as: Table read as 22 boxes"""
    numbers: Sequence[int]
    """of its mistakes that are listed, at least two"""
    boxes: int
    """wrong boxes of these mistakes"""
    alike: int
    """how many more causes there are like this one, on all pages"""
    family: tuple[str, str, str, str, str]
    """what those have in common"""


class PageLayers(Payload, frozen=True, kw_only=True):
    """What is drawn on one page of one model."""

    boxes: Sequence[BoxItem]
    mistakes: Sequence[MistakeItem]
    """in the order of the list"""
    noun: str = "mistake"
    """what the list has"""
    hidden_mistakes: int = 0
    """mistakes of this page that the filter hides"""
    counts: CountsItem
    labels: Sequence[str]
    """of this page"""
    limit: LimitItem | None
    notes: Sequence[str] = ()
    """sentences about boxes that are not where a reader would see them; a view shows them with those of the page"""
    statuses: Sequence[CountedStatus] = ()
    """which of the three toggles there are; all without it"""
    head: str = ""
    """facts behind the number of mistakes, instead of the numbers of boxes"""
    causes: Sequence[CauseItem] = ()
    """the groups of the list"""
    by_outline: bool = False
    """outlines are compared, not boxes"""
    paths: Sequence[OrderPathItem] = ()
    """the reading orders of both sides"""
    tables: Sequence[TableItem] = ()
    """the tables of the page"""
    status_words: tuple[str, str, str] | None = None
    """what the toggles of TP, FP and FN show and hide, where that is not matched, extra and missed boxes"""


NOTHING_DRAWN: Final = PageLayers(boxes=(), mistakes=(), counts=NO_COUNTS, labels=(), limit=None)


class PagePayload(PageLayers, frozen=True, kw_only=True):
    """The page viewer."""

    page: ViewedPageItem | None
    strip: Sequence[StripItem]
    strip_first: int = 0
    """position of the first page of the strip in the list, from 0"""
    model: ModelItem
    models: Sequence[ModelItem]
    selected: str | None
    """key of the chosen box"""
    empty: EmptyItem | None
    filtered: bool = False
    """whether a filter may hide mistakes of the pages in the strip"""
    walk: WalkItem | None = None
    verdicts: bool = False
    """whether mistakes can be judged"""
    reviewer: str | None = None
    """whose verdicts are one's own"""
    answered: str = ""
    """id of the last verdict that was handled, stored or not"""
    signature: str = ""
    """what made the numbers, for the print"""
    judged: Sequence[int] = ()
    """mistakes with a verdict on each page of the strip"""
    address: str = ""
    """the query that leads back here; written when the address bar has none"""
    height: int = 0
    """pixels; without it the viewer fills the window below its top"""
    visit: str = ""
    """changes when a number or a row outside of the viewer opens a page: the viewer is brought into the window"""
    at_boxes: bool = False
    """whether a page opens at the width of its boxes instead of whole: boxes of fields are small"""


class WindowLayer(Payload, frozen=True, kw_only=True):
    """The shown page of a list, of which only what the browser lacks is sent; it fetches the others by address."""

    listing: str
    """what decides which pages are listed and what they show; another one forgets every page"""
    pages: str = ""
    """how the addresses of the pages begin; empty where they have none"""
    version: int
    """of what was said about the pages: of two contents of a page the one of the later version counts"""
    position: int
    """1-based place in the list; 0 for a page that the filter hides"""
    name: str
    """of the content of the page"""
    image: str | None = None
    """its picture: data URL, or a path on this server"""
    image_width: int = 0
    """pixels; 0 without an image"""
    strip: str
    """name of what all pages of the list have in common"""
    turn: str
    """the last page turn that was received"""
    answered: str = ""
    """as in `PagePayload`"""
    selected: str | None
    address: str = ""


class WindowPayload(WindowLayer, frozen=True, kw_only=True):
    """A page of the page viewer."""

    content: PagePayload | None = None
    """without strip, chosen box and address; null where the browser has it"""
    items: Sequence[StripItem] | None = None
    """the strip, no page of it the current one; null where the browser has it"""
    strip_first: int
    judged: Sequence[int] = ()
    """as in `PagePayload`"""
    reviewer: str = ""
    visit: str = ""
    """as in `PagePayload`"""


def walk_item(before: int | None, after: int | None, total: int) -> WalkItem:
    """Return the way to the nearest pages with mistakes, by their places in the list from 0; None without one."""
    places = (0 if place is None else place + 1 for place in (before, after))
    return WalkItem(before is not None, after is not None, total, *places)


def without_page(model: ModelItem, models: Sequence[ModelItem], empty: EmptyItem | None) -> PagePayload:
    """Return the page viewer before a page is chosen: a view replaces what it has."""
    nothing = msgspec.structs.asdict(NOTHING_DRAWN)
    return PagePayload(**nothing, page=None, strip=(), model=model, models=models, selected=None, empty=empty)


def with_layers(payload: PagePayload, layers: PageLayers) -> PagePayload:
    """Return the page viewer with what is drawn on its page."""
    return msgspec.structs.replace(payload, **msgspec.structs.asdict(layers))


Index = Annotated[int, msgspec.Meta(ge=0)]
NOTE_LENGTH: Final = 2_000
"""A note of a verdict is cut at so many characters."""


class OfPageEvent(Event, frozen=True):
    """Base of what is about a page of a document."""

    document: str
    index: int
    """0-based"""


class GoEvent(OfPageEvent, frozen=True, repr_omit_defaults=True):
    """A page to open: `step` pages after this one in the order of the list."""

    step: int
    mistake: int = 0
    """1 for the next page that has a mistake, -1 for the one before"""
    turn: str = ""
    """made in the browser, one for each page turn that it made itself; empty for one that it asks for"""
    box: str | None = None
    """the box that is chosen on the page of such a turn"""
    held: tuple[str, ...] = ()
    """names of the page and of the strip that the browser shows"""


class SelectedEvent(OfPageEvent, frozen=True, repr_omit_defaults=True):
    """The chosen box of a page; without a key the reader let it go."""

    key: str | None
    held: tuple[str, ...] = ()
    """names of the page and of the strip that the browser shows"""


class SharperEvent(OfPageEvent, frozen=True):
    """A request for a page image of at least `width` pixels."""

    width: Annotated[int, msgspec.Meta(gt=0)]


class VerdictEvent(OfPageEvent, frozen=True, kw_only=True):
    """A verdict on a mistake."""

    id: str
    """made in the browser, one for each act of the reviewer: the same event may arrive twice"""
    number: int
    keys: tuple[str, ...]
    target: str | None
    verdict: str | None
    """null takes an earlier one back"""
    note: str
    name: str = ""
    """of the reviewer, when nobody had one and it was asked for with the verdict"""
    targets: tuple[str, ...] = ()
    """of all mistakes of a cause that is judged as a whole; empty for one mistake"""
    everywhere: bool = False
    """whether all places like this one are judged, on all pages"""
    letter: str = ""
    """of the model whose mistake it is, where two are shown"""
    held: tuple[str, ...] = ()
    """names of the page and of the strip that the browser shows"""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "note", self.note[:NOTE_LENGTH])


class ViewedEvents(Events, frozen=True):
    """What every component sends that shows a page of a list of pages."""

    go: GoEvent | None = None
    selected: SelectedEvent | None = None
    sharper: SharperEvent | None = None
    clear_filter: Literal[True] | None = None


class PageEvents(ViewedEvents, frozen=True):
    """What the page viewer sends. `selected` stays until another box or page is chosen; the others come once."""

    model: str | None = None
    """letter"""
    verdict: Sequence[VerdictEvent] | None = None
    """those that are not answered, in order"""
    alike: tuple[str, str, str, str, str] | None = None
    """the family of a cause whose other causes are wanted"""
