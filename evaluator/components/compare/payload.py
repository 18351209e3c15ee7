"""What the comparison of two models is sent, and what it sends: pages side by side, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from evaluator.components.payload import EmptyItem, Event, Events, LimitItem, PageItem, PairKind, Payload, Rect
from evaluator.components.viewer.payload import BoxItem, CauseItem, MistakeItem, VerdictEvent, ViewedEvents, WindowLayer


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
    """"75 of A's 76, B's 21 wrong boxes on 9 pages\""""
    words: str
    """all of it in one sentence"""
    tone: Literal["gain", "loss", "unclear"]
    fails: bool = False
    """whether it makes the rule fail"""


class SaidItem(Payload, frozen=True):
    """What reviewers said of what is listed, each a sign and words, as "● Model wrong"; empty for nothing."""

    causes: Mapping[str, str] = {}
    """by key"""
    pages: Sequence[str] = ()
    """of the list, in order; none where nobody said anything"""


class PairListItem(Payload, frozen=True, kw_only=True):
    """What all pages of a list of the comparison have in common."""

    strip: Sequence[ListedPageItem]
    """the list of pages; sent apart from a page, none of it is the current one"""
    look: LookItem
    filters: Sequence[FilterItem]
    show: str
    """name of the filter"""
    causes: Sequence[ChangedCauseItem] = ()
    """of the boxes on which the models differ, most boxes first"""
    cause: str = ""
    """key of the one whose pages are listed; empty for a filter"""
    verdicts: bool = False
    """whether mistakes can be judged"""
    reviewer: str | None = None
    """whose verdicts are one's own"""
    opens: str = "Pages"
    """the view that shows the page of one model; empty for none"""
    scope: str = ""
    """the boxes that filters and causes count, as "boxes of Table in report.pdf"; empty for all"""


class ComparePayload(PairListItem, frozen=True, kw_only=True):
    """Filters, causes, list of pages and the two linked panes."""

    page: PageItem | None
    panes: Sequence[PaneItem]
    """two, or none without a page"""
    differences: Sequence[DifferenceItem]
    """those that the filter asks for, in reading order"""
    mode: str
    """side, flip or slider"""
    selected: str | None
    """key of the chosen box"""
    summoned: bool
    """a number opened this page: bring the panes into the window"""
    visit: str
    """changes with each opening"""
    empty: EmptyItem | None
    address: str = ""
    """the query that leads back here"""
    answered: str = ""
    """id of the last verdict that was handled, stored or not"""
    said: SaidItem = SaidItem()
    height: int = 0
    """as in `PagePayload`"""


class PairPageItem(Payload, frozen=True):
    """A page of the comparison; see `ComparePayload`."""

    page: PageItem
    panes: Sequence[PaneItem]
    differences: Sequence[DifferenceItem]


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
    said: SaidItem = SaidItem()


class OpenEvent(Event, frozen=True):
    """A page of one model to open in Pages."""

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
    verdict: Sequence[VerdictEvent] | None = None
    """those that are not answered, in order"""
    alike: AlikeEvent | None = None


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
