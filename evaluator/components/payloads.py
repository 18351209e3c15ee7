"""What Python sends to each component of the browser and what each sends back: the one contract of both sides.

A struct is what JavaScript reads, key by key; `typescript` writes ``shared/payloads.d.ts`` from it.
A field of a payload that equals its default is left out on the way, so it is optional in JavaScript. Coordinates are
shares of the displayed page, origin top left, unless a field names pixels. Builders in this room make the structs, a
view adds its own part with ``msgspec.structs.replace``, and `plain_payload` turns the whole into plain values at the
edge. Nothing here draws or computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, TypeVar, get_type_hints

import msgspec

Rect = tuple[float, float, float, float]
"""x1, y1, x2, y2."""
Side = Literal["ground_truth", "prediction"]
BoxStatus = Literal["TP", "FP", "FN", "truth"]
"""`truth` is a matched ground truth."""
CountedStatus = Literal["TP", "FP", "FN"]
"""The statuses that a toggle shows and hides."""
BlockItem = tuple[float, float, float, float, str]
"""A box of a thumbnail, and its label."""
PairKind = Literal["both", "a_only", "b_only", "neither", "shared", "a_invents", "b_invents"]


class Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of everything that is sent to a component."""


class Event(msgspec.Struct, frozen=True):
    """Base of everything that a component sends."""


class Events(msgspec.Struct, frozen=True):
    """Base of what one component may send; each event is None when it was not sent."""


# ---- pages and models -----------------------------------------------------------------------------------------------


class ProblemItem(Payload, frozen=True):
    """Why a page has no picture."""

    title: str
    text: str
    fix: str
    in_files: bool = False
    """whether the view Files has what mends it"""
    again: bool = False
    """whether the picture comes by itself, so that asking again helps"""


class PictureItem(Payload, frozen=True, kw_only=True):
    """The picture of a page, or the reason why there is none."""

    width: float
    """points"""
    height: float
    """points"""
    image: str | None
    """data URL, or a path on this server"""
    image_width: int
    """pixels; 0 without an image"""
    problem: ProblemItem | None
    notes: Sequence[str]

    @property
    def points(self) -> tuple[float, float] | None:
        """Width and height in points; None where the page could not be measured."""
        return None if self.problem else (self.width, self.height)


class PageItem(PictureItem, frozen=True, kw_only=True):
    """A page of a list of pages."""

    document: str
    name: str = ""
    """as people read it"""
    index: int
    """0-based"""
    position: int
    """1-based place in the list; 0 for a page that the filter hides"""
    total: int
    """pages of the list"""


class ViewedPageItem(PageItem, frozen=True, kw_only=True):
    """A page of the page viewer."""

    count: int | None
    """pages of the document"""
    lost: Sequence[Rect] = ()
    """words, or inked stretches, that no prediction holds"""
    lost_words: int | None = None
    """how many; null or missing takes the toggle away"""
    lost_ink: float | None = None
    """share of the ink instead, for a page without a text layer"""


def with_notes(picture: PictureItem, notes: Sequence[str]) -> PictureItem:
    """The same page with more notes."""
    return msgspec.structs.replace(picture, notes=(*picture.notes, *notes))


class LostText(Payload, frozen=True):
    """What no prediction holds of a page, under the names of `ViewedPageItem`."""

    lost: Sequence[Rect] = ()
    lost_words: int | None = None
    lost_ink: float | None = None


class ModelItem(Payload, frozen=True):
    """A model as the reader knows it."""

    letter: str
    name: str


class LimitItem(Payload, frozen=True):
    """How many of how many boxes are drawn."""

    drawn: int
    total: int


class EmptyItem(Payload, frozen=True):
    """A sentence in place of what is missing, and the words of the one way out."""

    text: str
    action: str


# ---- boxes and mistakes ---------------------------------------------------------------------------------------------


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
    answered: str = ""
    """id of the last message about it that was handled"""


# ---- the page viewer ------------------------------------------------------------------------------------------------


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
    cost: int
    """boxes to put right"""
    alike: int
    """how many more causes there are like this one, on all pages"""
    family: tuple[str, str, str, str, str]
    """what those have in common"""


class PageLayers(Payload, frozen=True, kw_only=True):
    """What is drawn on one page of one model."""

    boxes: Sequence[BoxItem]
    mistakes: Sequence[MistakeItem]
    """in the order of the list"""
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
    signature: str = ""
    """what made the numbers, for the print"""
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
    selected: str | None
    address: str = ""


class WindowPayload(WindowLayer, frozen=True, kw_only=True):
    """A page of the page viewer."""

    content: PagePayload | None = None
    """without strip, chosen box and address; null where the browser has it"""
    items: Sequence[StripItem] | None = None
    """the strip, no page of it the current one; null where the browser has it"""
    strip_first: int
    reviewer: str = ""
    visit: str = ""
    """as in `PagePayload`"""


def without_page(model: ModelItem, models: Sequence[ModelItem], empty: EmptyItem | None) -> PagePayload:
    """The page viewer before a page is chosen: a view replaces what it has."""
    nothing = msgspec.structs.asdict(NOTHING_DRAWN)
    return PagePayload(**nothing, page=None, strip=(), model=model, models=models, selected=None, empty=empty)


def with_layers(payload: PagePayload, layers: PageLayers) -> PagePayload:
    """The page viewer with what is drawn on its page."""
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

    id: str = ""
    """made in the browser, one for each act of the reviewer: the same event may arrive twice"""
    number: int
    keys: tuple[str, ...]
    target: str | None
    verdict: str | None
    """null takes an earlier one back"""
    note: str
    again: bool = False
    """sent once more, because no answer came"""
    name: str = ""
    """of the reviewer, when nobody had one and it was asked for with the verdict"""
    targets: tuple[str, ...] = ()
    """of all mistakes of a cause that is judged as a whole; empty for one mistake"""
    letter: str = ""
    """of the model whose mistake it is, where two are shown"""
    held: tuple[str, ...] = ()
    """names of the page and of the strip that the browser shows"""


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
    verdict: VerdictEvent | None = None
    alike: tuple[str, str, str, str, str] | None = None
    """the family of a cause whose other causes are wanted"""


# ---- the comparison of two models on a page -------------------------------------------------------------------------


class PairBoxItem(BoxItem, frozen=True, kw_only=True):
    """A box of one of two models."""

    kind: PairKind
    full: bool
    """drawn in full, not faded"""
    chip: str | None
    """"TP Table 0.91\""""
    mate: str | None
    """key of the same false positive of the other model"""


class PaneItem(Payload, frozen=True):
    """The page of one of two models."""

    letter: str
    name: str
    words: str
    """"misses 4 boxes that B finds\""""
    boxes: Sequence[PairBoxItem]
    mistakes: Sequence[MistakeItem]
    limit: LimitItem | None
    by_outline: bool = False
    """outlines are compared, not boxes"""
    causes: Sequence[CauseItem] = ()
    """of two or more of these mistakes"""


class DifferenceItem(Payload, frozen=True):
    """A box on which two models differ."""

    key: str
    kind: PairKind
    xyxy: Rect
    words: str


class ListedPageItem(Payload, frozen=True):
    """A page of the list of the comparison."""

    document: str
    name: str
    """as people read it"""
    index: int
    """0-based"""
    lost: int
    """drawn to the left"""
    gained: int
    """drawn to the right"""
    number: str
    """"+2", "−5", "12\""""
    words: str
    """what the numbers mean"""
    above: str | None
    """a line before this page"""
    current: bool


class LookItem(Payload, frozen=True):
    """How the list of pages looks."""

    title: str
    words: str
    scale: int
    """the longest bar"""
    diverging: bool


class FilterItem(Payload, frozen=True):
    """A filter of the list, with its number of pages."""

    name: str
    title: str
    pages: int
    words: str


class ChangedCauseItem(Payload, frozen=True):
    """A kind of cause of which only one of the two models has some boxes."""

    key: str
    title: str
    """"Table read as several Text boxes\""""
    change: str
    """"Solved in B\""""
    boxes: str
    """"41 boxes on 6 pages\""""
    words: str
    """all of it in one sentence"""
    tone: Literal["gain", "loss", "unclear"]


class ComparePayload(Payload, frozen=True):
    """Filters, causes, list of pages and the two linked panes."""

    page: PageItem | None
    panes: Sequence[PaneItem]
    """two, or none without a page"""
    differences: Sequence[DifferenceItem]
    """those that the filter asks for, in reading order"""
    strip: Sequence[ListedPageItem]
    """the list of pages"""
    look: LookItem
    filters: Sequence[FilterItem]
    show: str
    """name of the filter"""
    mode: str
    """side, flip or slider"""
    selected: str | None
    """key of the chosen box"""
    summoned: bool
    """a number opened this page: bring the panes into the window"""
    visit: str
    """changes with each opening"""
    empty: EmptyItem | None
    causes: Sequence[ChangedCauseItem] = ()
    """of the boxes on which the models differ, most boxes first"""
    cause: str = ""
    """key of the one whose pages are listed; empty for a filter"""
    address: str = ""
    """the query that leads back here"""
    verdicts: bool = False
    """whether mistakes can be judged"""
    reviewer: str | None = None
    """whose verdicts are one's own"""
    opens: str = "Page browser"
    """the view that shows the page of one model"""
    scope: str = ""
    """the boxes that filters and causes count, as "boxes of Table in report.pdf"; empty for all"""


class PairPageItem(Payload, frozen=True):
    """A page of the comparison; see `ComparePayload`."""

    page: PageItem
    panes: Sequence[PaneItem]
    differences: Sequence[DifferenceItem]


class PairListItem(Payload, frozen=True, kw_only=True):
    """What all pages of a list of the comparison have in common; see `ComparePayload`."""

    strip: Sequence[ListedPageItem]
    """no page of it is the current one"""
    look: LookItem
    filters: Sequence[FilterItem]
    show: str
    causes: Sequence[ChangedCauseItem] = ()
    cause: str = ""
    verdicts: bool = False
    reviewer: str | None = None
    opens: str = "Page browser"
    scope: str = ""


class PairWindowPayload(WindowLayer, frozen=True, kw_only=True):
    """A page of the comparison."""

    content: PairPageItem | None = None
    """null where the browser has it"""
    items: PairListItem | None = None
    """null where the browser has it"""
    mode: str
    """side, flip or slider"""
    summoned: bool = False
    """a number opened this page: bring the panes into the window"""
    visit: str
    """changes with each opening"""


class OpenEvent(Event, frozen=True):
    """A page of one model to open in the Page browser."""

    letter: str
    key: str | None


class AlikeEvent(Payload, frozen=True):
    """The other causes like one of the page are wanted."""

    letter: str
    """of the model"""
    family: tuple[str, str, str, str, str]
    """what these causes have in common"""


class CompareEvents(ViewedEvents, frozen=True):
    """What the linked panes send; `selected` and `mode` stay until they change, the others come once."""

    show: str | None = None
    """name of a filter"""
    cause: str | None = None
    """key of a cause; empty lets it go"""
    mode: str | None = None
    """side, flip or slider"""
    open: OpenEvent | None = None
    verdict: VerdictEvent | None = None
    alike: AlikeEvent | None = None


# ---- the numbers of the comparison ----------------------------------------------------------------------------------


class LinkItem(Payload, frozen=True):
    """The pages behind a number: a filter of the list of pages, and a label or "" for all."""

    show: str
    label: str


class SentenceItem(Payload, frozen=True):
    """A part of the summary."""

    text: str
    strong: bool
    link: LinkItem | None


class DifferenceRowItem(Payload, frozen=True):
    """A difference with its interval, and in how many documents either model is better."""

    title: str
    """"Caption recall\""""
    points: str
    """"+5.7\""""
    value: float | None
    """place on the axis, 0 to 1"""
    low: float | None
    high: float | None
    interval: str
    """"+2.6 to +8.9\""""
    star: bool
    """the interval excludes 0"""
    tone: Literal["loss", "gain", "unclear"]
    better: str
    worse: str
    words: str
    link: LinkItem | None


class TickItem(Payload, frozen=True):
    """A tick of an axis."""

    at: float
    """place on the axis, 0 to 1"""
    text: str


class DifferenceTableItem(Payload, frozen=True):
    """Differences on an axis of their own."""

    rows: Sequence[DifferenceRowItem]
    zero: float
    """place on the axis, 0 to 1"""
    ticks: Sequence[TickItem]


class FalsePositivesItem(Payload, frozen=True):
    """Whose false positives, and how many."""

    title: str
    boxes: int
    link: LinkItem


class LabelCellItem(Payload, frozen=True):
    """A number of one label."""

    boxes: int
    words: str
    link: LinkItem


class LedgerCellItem(LabelCellItem, frozen=True):
    """One of the four outcomes of a ground truth under two models."""

    name: Literal["both", "a_only", "b_only", "neither"]
    title: str


class LabelRowItem(Payload, frozen=True):
    """The ledger of one label."""

    label: str
    name: str
    """as people read it"""
    cells: Sequence[LabelCellItem]
    net: str


class BoardPayload(Payload, frozen=True):
    """Sentence, differences, ledger and labels of the comparison."""

    sentence: Sequence[SentenceItem]
    tables: Sequence[DifferenceTableItem]
    """the few worth showing, and all"""
    reason: str
    """why there are no intervals, or what they are made of"""
    ledger: Sequence[LedgerCellItem]
    false_positives: Sequence[FalsePositivesItem]
    labels: Sequence[LabelRowItem]
    chosen: LinkItem
    """the pages that are listed now"""
    part: Literal["differences", "ledger"] = "differences"
    """what of it is shown: sentence and differences, or the ledger and the labels"""


class LinkEvent(Event, frozen=True):
    """A number of the comparison that was opened: the pages behind it."""

    show: str
    label: str
    at: float = 0
    """milliseconds since 1970, so that the same number can be opened twice"""


class BoardEvents(Events, frozen=True):
    """What the numbers of the comparison send."""

    link: LinkEvent | None = None


# ---- slices ---------------------------------------------------------------------------------------------------------


class SliceBarItem(Payload, frozen=True):
    """One model in a slice and elsewhere, on the scale from 0 to 1."""

    letter: str
    here: float | None
    rest: float | None
    lost: int
    """boxes; below 0 when the slice is better than elsewhere"""


class SliceRowItem(Payload, frozen=True):
    """A row of the table of a slice, in words."""

    letter: str
    """"" for the difference of two models"""
    name: str
    cells: Sequence[str]
    """slice, interval, elsewhere, points, interval"""


class SlicePointItem(Payload, frozen=True):
    """One model among the boxes of one combination of conditions."""

    letter: str
    value: float | None
    low: float | None
    high: float | None


class SliceCellItem(Payload, frozen=True):
    """The boxes of one combination of conditions."""

    name: str
    boxes: str
    """how many are right of how many, in words"""
    points: Sequence[SlicePointItem]
    chosen: bool
    """whether these are the boxes of the slice"""


class SlicePanelItem(Payload, frozen=True):
    """Combinations that differ in one condition."""

    title: str
    cells: Sequence[SliceCellItem]


class SlicePageItem(Payload, frozen=True):
    """A page with boxes of a slice."""

    document: str
    name: str
    """as people read it"""
    index: int
    """0-based"""
    boxes: int
    wrong: int


class SliceItem(Payload, frozen=True):
    """A slice: a set of boxes in which a model is worse than elsewhere."""

    title: str
    line: str
    """its numbers in words"""
    chips: Sequence[str]
    confirmed: bool | None
    """None while a search is under way that says it"""
    bars: Sequence[SliceBarItem]
    lead: str
    rows: Sequence[SliceRowItem]
    panels: Sequence[SlicePanelItem]
    split: str
    """which boxes the panels have"""
    alone: str
    """what each of two conditions does alone"""
    pages: Sequence[SlicePageItem]
    """those with most wrong boxes first, at most a hundred"""
    places: str
    """how many pages, in words; empty while they are not looked up"""
    paged: bool
    """whether they are pages of documents, else whole documents"""
    noun: str
    """what the slice is made of, as a plural"""
    boxes: str
    """how many, in words"""
    wrong: str
    """what a wrong box is called"""
    examples: Sequence[CardItem]
    """some of its wrong boxes"""
    examples_order: str
    """which boxes the examples are, and in which order"""
    gate: str
    """a condition of `layoutscope gate`, {name} where its name goes; empty without one"""
    conditions: str
    """JSON of its conditions"""


class SlicesPayload(Payload, frozen=True):
    """All slices of a search, most costly first."""

    measure: str
    """as people read it"""
    lost: str
    """what a slice costs, as the head of a column"""
    order: str
    """the head of the list: what is first"""
    file: str
    """name of the file of named slices"""
    slices: Sequence[SliceItem]
    crops: Mapping[str, CropItem]
    """of examples, those asked for last, by key of the card"""


class SlicePageEvent(Event, frozen=True):
    """A page of a slice that was opened."""

    document: str
    index: int


class SlicesEvents(Events, frozen=True):
    """What the slices send."""

    open: SlicePageEvent | None = None
    boxes: int | None = None
    """place of the slice whose boxes are wanted"""
    want: Sequence[str] | None = None
    """keys of the examples that need a crop"""


# ---- suspected ground truth -----------------------------------------------------------------------------------------


class SuspectModelItem(Payload, frozen=True):
    """What a model has at the place of a suspect."""

    letter: str
    label: str
    score: float | None
    xyxy: Rect


class SuspectItem(Payload, frozen=True, kw_only=True):
    """A place where the ground truth is likely wrong."""

    target: str
    """the identity of a verdict on it"""
    rank: int
    """place in the whole list, from 0"""
    document: str
    index: int
    place: str
    """document and page as people read them"""
    kind: str
    label: str
    score: float
    """probability that the ground truth is wrong there"""
    reason: str
    now: Rect | None
    """the ground truth box; null for a missing one, and where the size of the page is not known"""
    proposed: Rect | None
    """the box as it should be; null for one that should go, and where the size of the page is not known"""
    new_label: int | None
    """its label, as a place in the list of labels; null for one that should go"""
    scale: tuple[float, float]
    """by which shares of the page are multiplied for the reader, across and down"""
    models: Sequence[SuspectModelItem]
    fit: Sequence[tuple[str, str, str]]
    """evidence: what it is, for the ground truth now, for the proposal"""


class SuspectStateItem(Payload, frozen=True, kw_only=True):
    """What became of a suspect."""

    verdict: JudgedItem | None = None
    unsaved: UnsavedItem | None = None
    answered: str = ""
    """id of the last message about it that was answered"""


class SuspectsPayload(Payload, frozen=True, kw_only=True):
    """The suspects that pass the filter, most likely first."""

    set: str
    """what the suspects are; the same name is the same list"""
    suspects: Sequence[SuspectItem] | None
    """null when the browser has the list of this name"""
    more: int
    """how many more pass the filter and are not in the list"""
    states: Mapping[str, SuspectStateItem]
    """by target, of those about which something is known"""
    only_open: bool
    """whether those with a verdict are left out of the list"""
    pages: Mapping[str, PictureItem]
    """those asked for last, by index and document with a space between"""
    crops: Mapping[str, CropItem]
    """those asked for last, by target"""
    labels: Sequence[str]
    """as people read them"""
    unit: str
    """of the scaled coordinates"""
    models: Sequence[tuple[str, str]]
    """letter and name"""
    effects: Mapping[str, Sequence[str]]
    """what accepting changes in the corrected numbers, a line for each model, by target; of those asked for last"""
    reviewer: str | None
    """empty when nobody was named"""


class SuspectVerdictEvent(VerdictEvent, frozen=True, kw_only=True):
    """A verdict on a suspect; `number` is its rank."""

    label: int | None = None
    """of the correction as the reader edited it, as a place in the list of labels; null for the proposal as it is"""
    xyxy: Rect | None = None
    """the same"""


class SuspectWantEvent(Event, frozen=True):
    """What is needed, by rank: pages, crops, and the effect of accepting the chosen suspect and those beside it."""

    pages: tuple[int, ...]
    crops: tuple[int, ...]
    near: tuple[int, ...] = ()
    held: str = ""
    """name of the list that the browser has"""


class SuspectsEvents(Events, frozen=True):
    """What the view of suspects sends."""

    want: SuspectWantEvent | None = None
    verdict: SuspectVerdictEvent | None = None
    open: OfPageEvent | None = None


# ---- the gallery ----------------------------------------------------------------------------------------------------


class CardBoxItem(Payload, frozen=True):
    """A box on a card of the gallery."""

    key: str
    side: Side
    status: BoxStatus
    xyxy: Rect
    outline: str | None = None
    """as in `BoxItem`"""


class CardItem(Payload, frozen=True):
    """A card of the gallery."""

    key: str
    title: str
    label: str
    facts: Sequence[str]
    place: str
    tags: Sequence[str]
    document: str
    index: int
    box: str
    """key of the box that the page browser chooses"""
    boxes: Sequence[CardBoxItem]


class CropItem(Payload, frozen=True):
    """The part of a page that a card shows."""

    image: str | None
    """data URL; null when the page cannot be drawn"""
    region: Rect
    """the part of the page that it shows"""
    aspect: float
    """width over height"""
    problem: str | None
    """why there is no picture"""


class GalleryPayload(Payload, frozen=True):
    """The gallery of crops."""

    set: str
    """what the cards are of; another set forgets the crops"""
    cards: Sequence[CardItem]
    crops: Mapping[str, CropItem]
    """those asked for last, by key of the card"""
    empty: str | None
    """shown when there are no cards"""


class GalleryEvents(Events, frozen=True):
    """What the gallery sends."""

    want: Sequence[str] | None = None
    """keys of the cards that need a crop"""
    open: str | None = None
    """key of a card"""


# ---- the meeting ----------------------------------------------------------------------------------------------------


class AgendaRowItem(Payload, frozen=True):
    """An item of the agenda."""

    key: str
    title: str
    boxes: str
    """to correct; empty for a finding that costs none"""
    state: str
    """in words"""
    done: bool
    """whether all of it was judged"""


class MeetingPaneItem(Payload, frozen=True):
    """The page of one of the two models."""

    letter: str
    name: str
    words: str
    """what the model did here"""
    boxes: Sequence[CardBoxItem]
    chosen: Sequence[str]
    """keys of the boxes of the item; the others are drawn pale"""


class MeetingPageItem(Payload, frozen=True):
    """The page that both models are shown on."""

    place: str
    image: str | None
    """data URL"""
    aspect: float
    """width over height"""
    problem: str | None
    """why there is no picture"""
    zoom: Rect
    """the part of the page around the boxes of the item"""
    panes: Sequence[MeetingPaneItem]


class VoteItem(Payload, frozen=True):
    """The verdicts on the item."""

    name: str
    words: str


class MeetingNumberItem(Payload, frozen=True):
    """An official number beside the corrected one."""

    name: str
    official: str
    corrected: str


class DecidedItem(Payload, frozen=True):
    """What was decided of an item of the agenda."""

    title: str
    words: str
    task: str
    """owner and due date in words"""


class OpinionState(Payload, frozen=True):
    """What is held of an item by the reader, and who is to act on it."""

    verdict: str | None
    note: str
    owner: str
    due: str
    """2026-01-31, or empty"""
    status: str


class MeetingPayload(Payload, frozen=True, kw_only=True):
    """A meeting: the agenda, both models on one page, the verdict, and what was decided."""

    agenda: Sequence[AgendaRowItem]
    rest: str
    """what is in the data and not on the agenda, in words"""
    letter: str
    """whose mistakes the agenda has"""
    letters: Sequence[str]
    signature: str
    item: str
    """key of the item that is shown; empty without an agenda"""
    title: str
    sentence: str
    example: int
    """from 0"""
    examples: int
    mistakes: int
    """that a verdict on the whole item is for; 0 when it can be given on this example only"""
    here: int
    """mistakes of this example"""
    page: MeetingPageItem | None
    counts: Mapping[str, int]
    """reviewers by verdict"""
    held: OpinionState
    votes: Sequence[VoteItem]
    owners: Sequence[str]
    """names that are known"""
    decided: Sequence[DecidedItem]
    numbers: Sequence[MeetingNumberItem]
    minutes: str
    """Markdown"""
    reviewer: str
    """whose verdicts are one's own; empty when nobody was named"""
    verified: bool
    """whether a login vouches for the reviewer"""
    problem: str
    """why the last decision was not saved"""


class DecideEvent(Event, frozen=True):
    """A decision on an item of the agenda, or on one example of it."""

    id: str
    """made in the browser, one for each act of the reviewer: the same event may arrive twice"""
    item: str
    example: int
    whole: bool
    """for all examples of the item"""
    verdict: str | None
    note: str
    owner: str
    due: str
    status: str
    name: str
    """of the reviewer, when nobody had one"""
    onward: bool
    """show the next open item"""


class ShowItemEvent(Event, frozen=True):
    """An item of the agenda to show."""

    item: str
    example: int
    letter: str


class MeetingEvents(Events, frozen=True):
    """What the meeting sends."""

    decide: DecideEvent | None = None
    show: ShowItemEvent | None = None
    end: Literal[True] | None = None
    open: Literal[True] | None = None
    """show the page in the Page browser"""


class ReviewerPayload(Payload, frozen=True):
    """The name of the reviewer, which the browser remembers."""

    name: str
    """empty when nobody was named in this session"""


class ReviewerEvents(Events, frozen=True):
    """What the browser remembers."""

    name: str | None = None


class ThemePayload(Payload, frozen=True):
    """The theme in which the server drew the charts."""

    dark: bool


class ThemeEvents(Events, frozen=True):
    """That the reader chose the other theme."""

    changed: str | None = None
    """dark or light"""


# ---- the confusion matrix, and the page with the pixels of a cell ---------------------------------------------------


class ScaleItem(Payload, frozen=True):
    """The legend of a heatmap."""

    name: str
    swatches: Sequence[tuple[int, str]]
    """level and text"""


class MatrixLayer(Payload, frozen=True):
    """The cells of a heatmap."""

    classes: Sequence[str]
    """the background first"""
    kind: Literal["matrix", "difference"]
    shows: Literal["pixels", "row", "column", "f1"]
    text: Sequence[Sequence[str]]
    """row by row"""
    level: Sequence[Sequence[int]]
    """place in `ramp`; -1 has no colour"""
    ramp: Sequence[tuple[str, str, str, str]]
    """fill and text, light and dark"""
    facts: Mapping[str, Sequence[Sequence[float | None]]]
    """of a matrix: pixels, row, column and f1; of a difference: first, second and gain"""
    scale: ScaleItem
    unit: str = "pixels"
    """what the cells count; "pixels" when absent"""


class MatrixPayload(MatrixLayer, frozen=True, kw_only=True):
    """A heatmap and the chosen cell."""

    key: str
    """what the matrix is of; another key takes the reader back to the chosen cell"""
    rows: str
    """what the rows are, for instance "Ground truth\""""
    columns: str
    letters: tuple[str, str]
    """of the two models of a difference; empty for the matrix of one"""
    chosen: tuple[int, int] | None
    """row and column"""


def with_axes(
    layer: MatrixLayer,
    *,
    key: str,
    rows: str,
    columns: str,
    letters: tuple[str, str] = ("", ""),
    chosen: tuple[int, int] | None = None,
) -> MatrixPayload:
    """A heatmap with what its rows and columns are; see `MatrixPayload`."""
    cells = msgspec.structs.asdict(layer)
    return MatrixPayload(**cells, key=key, rows=rows, columns=columns, letters=letters, chosen=chosen)


class CellEvent(Event, frozen=True):
    """The chosen cell of a heatmap."""

    row: Index
    column: Index
    classes: int
    """of the matrix that was shown"""


class MatrixEvents(Events, frozen=True):
    """What a heatmap sends."""

    cell: CellEvent | None = None


class TintBoxItem(Payload, frozen=True):
    """A box beside the pixels of a cell."""

    xyxy: Rect
    side: Side
    text: str


class TintItem(Payload, frozen=True):
    """The pixels of a cell on one page."""

    raster: tuple[float, float]
    """width and height of the page in pixels, not rounded"""
    rectangles: Sequence[Rect]
    """pixels"""
    outline: Sequence[Rect]
    """lines in pixels"""
    pixels: int
    """how many are tinted"""
    boxes: Sequence[TintBoxItem]
    left_out: int
    """boxes that are not drawn"""


class TintPayload(Payload, frozen=True, kw_only=True):
    """A page with the pixels of a cell."""

    key: str
    """page and cell; another key brings the pixels into view again"""
    name: str
    """what a screen reader reads for the page"""
    caption: str
    """what the tinted pixels are"""
    height: int = 0
    """of the pane, pixels"""
    page: PictureItem
    tint: TintItem


class TintSharperEvent(Event, frozen=True):
    """A request for a picture of at least `width` pixels."""

    width: Annotated[int, msgspec.Meta(gt=0, le=8_000)]


class TintEvents(Events, frozen=True):
    """What the page with the pixels of a cell sends."""

    sharper: TintSharperEvent | None = None


# ---- the pages of a review pack -----------------------------------------------------------------------------------


class PackPageItem(Payload, frozen=True):
    """A page of the pack."""

    document: str
    name: str
    index: int
    """0-based"""
    position: int
    total: int
    width: float
    """points"""
    height: float
    """points"""
    image_width: int
    """pixels"""
    problem: ProblemItem | None


class PackModelItem(Payload, frozen=True):
    """What one model has on a page of the pack."""

    model: ModelItem
    data: PageLayers
    text: LostText = LostText()


class PackPagePayload(Payload, frozen=True):
    """One page of the pack, as JSON in the file."""

    page: PackPageItem
    models: Sequence[PackModelItem]


# ---- the edge -------------------------------------------------------------------------------------------------------

EventsT = TypeVar("EventsT", bound=Events)


def plain_payload(payload: Payload) -> dict[str, object]:
    """The plain values that a component is given; fields that equal their default are left out."""
    values: dict[str, object] = msgspec.to_builtins(payload)
    return values


def read_events(state: Mapping[str, object] | None, kind: type[EventsT]) -> EventsT:
    """What a component reports, checked: it comes from a browser.

    Parameters
    ----------
    state : mapping or None
        The component's result, or its entry in the session state inside a callback.
    kind : type of Events
        What this component may send.

    Returns
    -------
    Events
        An event that is malformed or was not sent is None.

    Examples
    --------
    >>> read_events({"go": {"document": "a.pdf", "index": 3, "step": 0}, "model": 7}, PageEvents).go
    GoEvent(document='a.pdf', index=3, step=0)
    >>> read_events({"cell": {"row": -1, "column": 0, "classes": 3}}, MatrixEvents)
    MatrixEvents(cell=None)
    """
    events = {}
    for name, form in get_type_hints(kind, include_extras=True).items():
        try:
            events[name] = msgspec.convert((state or {}).get(name), form)
        except msgspec.ValidationError:
            events[name] = None
    return kind(**events)
