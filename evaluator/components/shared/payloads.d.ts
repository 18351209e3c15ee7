/**
 * What Python sends to each component and what each component sends back: the one contract of both sides.
 *
 * Written by `python -m evaluator.components.typescript` from the `payload.py` of each component; change it there. `?`
 * is a property that may be left out, `| null` one that may have no value. Coordinates are shares of the displayed
 * page, origin top left, unless a property names pixels. A component's events are one interface whose keys are the
 * names of the events; Streamlit calls `on_<name>_change` for each.
 */

/** x1, y1, x2, y2. */
export type Rect = [number, number, number, number];

export type Side = "ground_truth" | "prediction";

/** `truth` is a matched ground truth. */
export type BoxStatus = "TP" | "FP" | "FN" | "truth";

/** The statuses that a toggle shows and hides. */
export type CountedStatus = "TP" | "FP" | "FN";

/** A box of a thumbnail, and its label. */
export type BlockItem = [number, number, number, number, string];

export type PairKind = "both" | "a_only" | "b_only" | "neither" | "shared" | "a_invents" | "b_invents";

/** Why a page has no picture. */
export interface ProblemItem {
  title: string;
  text: string;
  fix: string;
  /** whether the view Files has what mends it */
  in_files?: boolean;
  /** whether the picture comes by itself, so that asking again helps */
  again?: boolean;
}

/** The picture of a page, or the reason why there is none. */
export interface PictureItem {
  /** points */
  width: number;
  /** points */
  height: number;
  /** data URL, or a path on this server */
  image: string | null;
  /** pixels; 0 without an image */
  image_width: number;
  problem: ProblemItem | null;
  notes: string[];
}

/** A page of a list of pages. */
export interface PageItem extends PictureItem {
  document: string;
  /** as people read it */
  name?: string;
  /** 0-based */
  index: number;
  /** 1-based place in the list; 0 for a page that the filter hides */
  position: number;
  /** pages of the list */
  total: number;
}

/** A page of the page viewer. */
export interface ViewedPageItem extends PageItem {
  /** pages of the document */
  count: number | null;
  /** words, or inked stretches, that no prediction holds */
  lost?: Rect[];
  /** how many; null or missing takes the toggle away */
  lost_words?: number | null;
  /** share of the ink instead, for a page without a text layer */
  lost_ink?: number | null;
}

/** What no prediction holds of a page, under the names of `ViewedPageItem`. */
export interface LostText {
  lost?: Rect[];
  lost_words?: number | null;
  lost_ink?: number | null;
}

/** A model as the reader knows it. */
export interface ModelItem {
  letter: string;
  name: string;
}

/** How many of how many boxes are drawn. */
export interface LimitItem {
  drawn: number;
  total: number;
}

/** A sentence in place of what is missing, and the words of the one way out. */
export interface EmptyItem {
  text: string;
  action: string;
}

/** The box of the other side that an unmatched box overlaps most; a filter may hide it. */
export interface NearestItem {
  key: string;
  iou: number;
}

/** A box on the page. */
export interface BoxItem {
  key: string;
  side: Side;
  status: BoxStatus;
  label: string;
  xyxy: Rect;
  /** what it is in words, where that does not follow from its status */
  name: string | null;
  score: number | null;
  iou: number | null;
  coverage: number | null;
  purity: number | null;
  /** key of its match */
  partner: string | null;
  /** what an unmatched box overlaps most */
  nearest: NearestItem | null;
  /** number of its mistake */
  mistake: number | null;
  /** its mistake is hidden by a filter: drawn pale, without a chip */
  faded: boolean;
  /** the other half of a listed mistake, which the filter does not ask for: drawn muted, with a chip */
  other: boolean;
  /** the words of the chip on the whole cause of its mistake; empty when another box of the cause has that chip */
  cause: string | null;
  /** file and place */
  source: string | null;
  /** what it encloses, where that is not the box: an SVG path in ten-thousandths of the page, filled by the even-odd rule */
  outline: string | null;
}

/** What a prediction cuts off. */
export interface CutItem {
  side: "top" | "right" | "bottom" | "left";
  /** of the ground truth's height or width */
  share: number;
  points: number | null;
}

/** What one reviewer thinks of a mistake. */
export interface OpinionItem {
  author: string;
  verified?: boolean;
  verdict: string | null;
  note: string;
  tags?: string[];
  /** ISO 8601 */
  time: string;
}

/** What all reviewers think of a mistake. */
export interface JudgedItem {
  agreed: string | null;
  conflict: boolean;
  opinions: OpinionItem[];
}

/** A verdict that could not be stored, and why. */
export interface UnsavedItem {
  verdict: string | null;
  note: string;
  problem: string;
  /** Others use the store now: it is tried again. */
  busy?: boolean;
}

/** A piece of two texts that are laid on each other. */
export interface PieceItem {
  text: string;
  mark?: "" | "out" | "in" | "was" | "now" | "gap";
}

/** A cell of a table; rows and columns from 0. */
export interface GridCellItem {
  row: number;
  col: number;
  row_span?: number;
  col_span?: number;
  header?: boolean;
  text?: string;
  /** numbers of the mistakes that concern it */
  mistakes?: number[];
}

/** A table of one side, or the beginning of a large one. */
export interface GridItem {
  rows: number;
  columns: number;
  cells: GridCellItem[];
}

/** A table as both sides have it. */
export interface TableItem {
  ground_truth: GridItem | null;
  prediction: GridItem | null;
  /** its numbers in words */
  facts: string;
}

/** The order in which one side reads the items of a page that have a box. */
export interface OrderPathItem {
  side: Side;
  /** of the boxes, one after the other */
  keys: string[];
  /** the place of each in the order, from 1 */
  numbers: number[];
  /** places in `keys`, from 0, to which the other side does not go on */
  wrong?: number[];
}

/** An entry of the list of mistakes. */
export interface MistakeItem {
  /** of the page, from 1 */
  number: number;
  /** key of its kind, for instance "cut_off" */
  name?: string;
  status: string;
  title: string;
  label: string;
  lines: string[];
  tags: string[];
  /** of its boxes that are shown */
  keys: string[];
  /** the side on which the prediction stops short */
  cut?: CutItem | null;
  lost_words?: number | null;
  foreign_words?: number | null;
  /** words in its predictions that belong to no ground truth of their label */
  foreign?: Rect[];
  /** row of a field in the compared columns */
  row?: number | null;
  /** the identity under which a verdict on it is stored; null when it cannot be judged */
  target?: string | null;
  verdict?: JudgedItem | null;
  unsaved?: UnsavedItem | null;
  /** how many more places there are like the one that it belongs to, on all pages */
  alike?: number;
  /** what those have in common; null without one */
  family?: [string, string, string, string, string] | null;
  /** where texts differ */
  pieces?: PieceItem[];
  /** place of its table among those of the page */
  table?: number | null;
}

/** A page of the page strip. */
export interface StripItem {
  document: string;
  /** 0-based */
  index: number;
  mistakes: number;
  blocks: BlockItem[];
  current: boolean;
  /** a path on this server, of a small picture of the page; empty where it cannot be drawn */
  image?: string;
}

/** Counts of a page. */
export interface CountsItem {
  TP: number;
  FP: number;
  FN: number;
  ground_truth: number;
  predictions: number;
}

/** Whether the next and the previous mistake lead on to other pages. */
export interface WalkItem {
  before: boolean;
  after: boolean;
  /** mistakes in the list of pages */
  total: number;
  /** 1-based place of the page before that has mistakes; 0 for none */
  previous?: number;
  /** 1-based place of the next page that has mistakes; 0 for none */
  next?: number;
}

/** Mistakes of the list that have one reason; they are listed together in it. */
export interface CauseItem {
  /** in words, such as: Table read as 22 boxes */
  title: string;
  /** of its mistakes that are listed, at least two */
  numbers: number[];
  /** wrong boxes of these mistakes */
  boxes: number;
  /** how many more causes there are like this one, on all pages */
  alike: number;
  /** what those have in common */
  family: [string, string, string, string, string];
}

/** What is drawn on one page of one model. */
export interface PageLayers {
  boxes: BoxItem[];
  /** in the order of the list */
  mistakes: MistakeItem[];
  /** what the list has */
  noun?: string;
  /** mistakes of this page that the filter hides */
  hidden_mistakes?: number;
  counts: CountsItem;
  /** of this page */
  labels: string[];
  limit: LimitItem | null;
  /** sentences about boxes that are not where a reader would see them; a view shows them with those of the page */
  notes?: string[];
  /** which of the three toggles there are; all without it */
  statuses?: CountedStatus[];
  /** facts behind the number of mistakes, instead of the numbers of boxes */
  head?: string;
  /** the groups of the list */
  causes?: CauseItem[];
  /** outlines are compared, not boxes */
  by_outline?: boolean;
  /** the reading orders of both sides */
  paths?: OrderPathItem[];
  /** the tables of the page */
  tables?: TableItem[];
  /** what the toggles of TP, FP and FN show and hide, where that is not matched, extra and missed boxes */
  status_words?: [string, string, string] | null;
}

/** The page viewer. */
export interface PagePayload extends PageLayers {
  page: ViewedPageItem | null;
  strip: StripItem[];
  /** position of the first page of the strip in the list, from 0 */
  strip_first?: number;
  model: ModelItem;
  models: ModelItem[];
  /** key of the chosen box */
  selected: string | null;
  empty: EmptyItem | null;
  /** whether a filter may hide mistakes of the pages in the strip */
  filtered?: boolean;
  walk?: WalkItem | null;
  /** whether mistakes can be judged */
  verdicts?: boolean;
  /** whose verdicts are one's own */
  reviewer?: string | null;
  /** id of the last verdict that was handled, stored or not */
  answered?: string;
  /** what made the numbers, for the print */
  signature?: string;
  /** mistakes with a verdict on each page of the strip */
  judged?: number[];
  /** the query that leads back here; written when the address bar has none */
  address?: string;
  /** pixels; without it the viewer fills the window below its top */
  height?: number;
  /** changes when a number or a row outside of the viewer opens a page: the viewer is brought into the window */
  visit?: string;
  /** whether a page opens at the width of its boxes instead of whole: boxes of fields are small */
  at_boxes?: boolean;
}

/** The shown page of a list, of which only what the browser lacks is sent; it fetches the others by address. */
export interface WindowLayer {
  /** what decides which pages are listed and what they show; another one forgets every page */
  listing: string;
  /** how the addresses of the pages begin; empty where they have none */
  pages?: string;
  /** of what was said about the pages: of two contents of a page the one of the later version counts */
  version: number;
  /** 1-based place in the list; 0 for a page that the filter hides */
  position: number;
  /** of the content of the page */
  name: string;
  /** its picture: data URL, or a path on this server */
  image?: string | null;
  /** pixels; 0 without an image */
  image_width?: number;
  /** name of what all pages of the list have in common */
  strip: string;
  /** the last page turn that was received */
  turn: string;
  /** as in `PagePayload` */
  answered?: string;
  selected: string | null;
  address?: string;
}

/** A page of the page viewer. */
export interface WindowPayload extends WindowLayer {
  /** without strip, chosen box and address; null where the browser has it */
  content?: PagePayload | null;
  /** the strip, no page of it the current one; null where the browser has it */
  items?: StripItem[] | null;
  strip_first: number;
  /** as in `PagePayload` */
  judged?: number[];
  reviewer?: string;
  /** as in `PagePayload` */
  visit?: string;
}

/** Base of what is about a page of a document. */
export interface OfPageEvent {
  document: string;
  /** 0-based */
  index: number;
}

/** A page to open: `step` pages after this one in the order of the list. */
export interface GoEvent extends OfPageEvent {
  step: number;
  /** 1 for the next page that has a mistake, -1 for the one before */
  mistake?: number;
  /** made in the browser, one for each page turn that it made itself; empty for one that it asks for */
  turn?: string;
  /** the box that is chosen on the page of such a turn */
  box?: string | null;
  /** names of the page and of the strip that the browser shows */
  held?: string[];
}

/** The chosen box of a page; without a key the reader let it go. */
export interface SelectedEvent extends OfPageEvent {
  key: string | null;
  /** names of the page and of the strip that the browser shows */
  held?: string[];
}

/** A request for a page image of at least `width` pixels. */
export interface SharperEvent extends OfPageEvent {
  width: number;
}

/** A verdict on a mistake. */
export interface VerdictEvent extends OfPageEvent {
  /** made in the browser, one for each act of the reviewer: the same event may arrive twice */
  id: string;
  number: number;
  keys: string[];
  target: string | null;
  /** null takes an earlier one back */
  verdict: string | null;
  note: string;
  /** of the reviewer, when nobody had one and it was asked for with the verdict */
  name?: string;
  /** of all mistakes of a cause that is judged as a whole; empty for one mistake */
  targets?: string[];
  /** whether all places like this one are judged, on all pages */
  everywhere?: boolean;
  /** of the model whose mistake it is, where two are shown */
  letter?: string;
  /** names of the page and of the strip that the browser shows */
  held?: string[];
}

/** What every component sends that shows a page of a list of pages. */
export interface ViewedEvents {
  go: GoEvent;
  selected: SelectedEvent;
  sharper: SharperEvent;
  clear_filter: true;
}

/** What the page viewer sends. `selected` stays until another box or page is chosen; the others come once. */
export interface PageEvents extends ViewedEvents {
  /** letter */
  model: string;
  /** those that are not answered, in order */
  verdict: VerdictEvent[];
  /** the family of a cause whose other causes are wanted */
  alike: [string, string, string, string, string];
}

/** A box of one of two models. */
export interface PairBoxItem extends BoxItem {
  kind: PairKind;
  /** drawn in full, not faded */
  full: boolean;
  /** "TP Table 0.91" */
  chip: string | null;
  /** key of the same false positive of the other model */
  mate: string | null;
}

/** The page of one of two models. */
export interface PaneItem {
  letter: string;
  name: string;
  /** "misses 4 boxes that B finds" */
  words: string;
  boxes: PairBoxItem[];
  mistakes: MistakeItem[];
  limit: LimitItem | null;
  /** outlines are compared, not boxes */
  by_outline?: boolean;
  /** of two or more of these mistakes */
  causes?: CauseItem[];
}

/** A box on which two models differ. */
export interface DifferenceItem {
  key: string;
  kind: PairKind;
  xyxy: Rect;
  words: string;
}

/** A page of the list of the comparison. */
export interface ListedPageItem {
  document: string;
  /** as people read it */
  name: string;
  /** 0-based */
  index: number;
  /** drawn to the left */
  lost: number;
  /** drawn to the right */
  gained: number;
  /** "+2", "−5", "12" */
  number: string;
  /** what the numbers mean */
  words: string;
  /** a line before this page */
  above: string | null;
  current: boolean;
}

/** How the list of pages looks. */
export interface LookItem {
  title: string;
  words: string;
  /** the longest bar */
  scale: number;
  diverging: boolean;
}

/** A filter of the list, with its number of pages. */
export interface FilterItem {
  name: string;
  title: string;
  pages: number;
  words: string;
}

/** A kind of cause of which only one of the two models has some boxes. */
export interface ChangedCauseItem {
  key: string;
  /** "Table read as several Text boxes" */
  title: string;
  /** "Solved in B" */
  change: string;
  /** "75 of A's 76, B's 21 wrong boxes on 9 pages" */
  boxes: string;
  /** all of it in one sentence */
  words: string;
  tone: "gain" | "loss" | "unclear";
  /** whether it makes the rule fail */
  fails?: boolean;
}

/** What reviewers said of what is listed, each a sign and words, as "● Model wrong"; empty for nothing. */
export interface SaidItem {
  /** by key */
  causes?: Record<string, string>;
  /** of the list, in order; none where nobody said anything */
  pages?: string[];
}

/** What all pages of a list of the comparison have in common. */
export interface PairListItem {
  /** the list of pages; sent apart from a page, none of it is the current one */
  strip: ListedPageItem[];
  look: LookItem;
  filters: FilterItem[];
  /** name of the filter */
  show: string;
  /** of the boxes on which the models differ, most boxes first */
  causes?: ChangedCauseItem[];
  /** key of the one whose pages are listed; empty for a filter */
  cause?: string;
  /** whether mistakes can be judged */
  verdicts?: boolean;
  /** whose verdicts are one's own */
  reviewer?: string | null;
  /** the view that shows the page of one model; empty for none */
  opens?: string;
  /** the boxes that filters and causes count, as "boxes of Table in report.pdf"; empty for all */
  scope?: string;
}

/** Filters, causes, list of pages and the two linked panes. */
export interface ComparePayload extends PairListItem {
  page: PageItem | null;
  /** two, or none without a page */
  panes: PaneItem[];
  /** those that the filter asks for, in reading order */
  differences: DifferenceItem[];
  /** side, flip or slider */
  mode: string;
  /** key of the chosen box */
  selected: string | null;
  /** a number opened this page: bring the panes into the window */
  summoned: boolean;
  /** changes with each opening */
  visit: string;
  empty: EmptyItem | null;
  /** the query that leads back here */
  address?: string;
  /** id of the last verdict that was handled, stored or not */
  answered?: string;
  said?: SaidItem;
  /** as in `PagePayload` */
  height?: number;
}

/** A page of the comparison; see `ComparePayload`. */
export interface PairPageItem {
  page: PageItem;
  panes: PaneItem[];
  differences: DifferenceItem[];
}

/** A page of the comparison. */
export interface PairWindowPayload extends WindowLayer {
  /** null where the browser has it */
  content?: PairPageItem | null;
  /** null where the browser has it */
  items?: PairListItem | null;
  /** side, flip or slider */
  mode: string;
  /** a number opened this page: bring the panes into the window */
  summoned?: boolean;
  /** changes with each opening */
  visit: string;
  said?: SaidItem;
}

/** A page of one model to open in Pages. */
export interface OpenEvent {
  letter: string;
  key: string | null;
}

/** The other causes like one of the page are wanted. */
export interface AlikeEvent {
  /** of the model */
  letter: string;
  /** what these causes have in common */
  family: [string, string, string, string, string];
}

/** What the linked panes send; `selected` and `mode` stay until they change, the others come once. */
export interface CompareEvents extends ViewedEvents {
  /** name of a filter */
  show: string;
  /** key of a cause; empty lets it go */
  cause: string;
  /** side, flip or slider */
  mode: string;
  open: OpenEvent;
  /** those that are not answered, in order */
  verdict: VerdictEvent[];
  alike: AlikeEvent;
}

/** The pages behind a number: a filter of the list of pages, and a label or "" for all. */
export interface LinkItem {
  show: string;
  label: string;
}

/** A part of the summary. */
export interface SentenceItem {
  text: string;
  strong: boolean;
  link: LinkItem | null;
}

/** A difference with its interval, and in how many documents either model is better. */
export interface DifferenceRowItem {
  /** "Caption recall" */
  title: string;
  /** "+5.7" */
  points: string;
  /** place on the axis, 0 to 1 */
  value: number | null;
  low: number | null;
  high: number | null;
  /** "+2.6 to +8.9" */
  interval: string;
  /** the interval excludes 0 */
  star: boolean;
  tone: "loss" | "gain" | "unclear";
  better: string;
  worse: string;
  words: string;
  link: LinkItem | null;
}

/** A tick of an axis. */
export interface TickItem {
  /** place on the axis, 0 to 1 */
  at: number;
  text: string;
}

/** Differences on an axis of their own. */
export interface DifferenceTableItem {
  rows: DifferenceRowItem[];
  /** place on the axis, 0 to 1 */
  zero: number;
  ticks: TickItem[];
}

/** Whose false positives, and how many. */
export interface FalsePositivesItem {
  title: string;
  boxes: number;
  link: LinkItem;
}

/** A number of one label. */
export interface LabelCellItem {
  boxes: number;
  words: string;
  link: LinkItem;
}

/** One of the four outcomes of a ground truth under two models. */
export interface LedgerCellItem extends LabelCellItem {
  name: "both" | "a_only" | "b_only" | "neither";
  title: string;
}

/** The ledger of one label. */
export interface LabelRowItem {
  label: string;
  /** as people read it */
  name: string;
  cells: LabelCellItem[];
  net: string;
}

/** Sentence, differences, ledger and labels of the comparison. */
export interface BoardPayload {
  sentence: SentenceItem[];
  /** the few worth showing, and all */
  tables: DifferenceTableItem[];
  /** why there are no intervals, or what they are made of */
  reason: string;
  ledger: LedgerCellItem[];
  false_positives: FalsePositivesItem[];
  labels: LabelRowItem[];
  /** the pages that are listed now */
  chosen: LinkItem;
  /** what of it is shown: sentence and differences, or the ledger and the labels */
  part?: "differences" | "ledger";
}

/** A number of the comparison that was opened: the pages behind it. */
export interface LinkEvent {
  show: string;
  label: string;
  /** milliseconds since 1970, so that the same number can be opened twice */
  at?: number;
}

/** What the numbers of the comparison send. */
export interface BoardEvents {
  link: LinkEvent;
}

/** One model in a slice and elsewhere, on the scale from 0 to 1. */
export interface SliceBarItem {
  letter: string;
  here: number | null;
  rest: number | null;
  /** boxes; below 0 when the slice is better than elsewhere */
  lost: number;
}

/** A row of the table of a slice, in words. */
export interface SliceRowItem {
  /** "" for the difference of two models */
  letter: string;
  name: string;
  /** slice, interval, elsewhere, points, interval */
  cells: string[];
}

/** One model among the boxes of one combination of conditions. */
export interface SlicePointItem {
  letter: string;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** The boxes of one combination of conditions. */
export interface SliceCellItem {
  name: string;
  /** how many are right of how many, in words */
  boxes: string;
  points: SlicePointItem[];
  /** whether these are the boxes of the slice */
  chosen: boolean;
}

/** Combinations that differ in one condition. */
export interface SlicePanelItem {
  title: string;
  cells: SliceCellItem[];
}

/** A page with boxes of a slice. */
export interface SlicePageItem {
  document: string;
  /** as people read it */
  name: string;
  /** 0-based */
  index: number;
  boxes: number;
  wrong: number;
}

/** A slice: a set of boxes in which a model is worse than elsewhere. */
export interface SliceItem {
  title: string;
  /** its numbers in words */
  line: string;
  chips: string[];
  /** None while a search is under way that says it */
  confirmed: boolean | null;
  bars: SliceBarItem[];
  lead: string;
  rows: SliceRowItem[];
  panels: SlicePanelItem[];
  /** which boxes the panels have */
  split: string;
  /** what each of two conditions does alone */
  alone: string;
  /** those with most wrong boxes first, at most a hundred */
  pages: SlicePageItem[];
  /** how many pages, in words; empty while they are not looked up */
  places: string;
  /** whether they are pages of documents, else whole documents */
  paged: boolean;
  /** what the slice is made of, as a plural */
  noun: string;
  /** how many, in words */
  boxes: string;
  /** what a wrong box is called */
  wrong: string;
  /** some of its wrong boxes */
  examples: CardItem[];
  /** which boxes the examples are, and in which order */
  examples_order: string;
  /** a condition of `layoutscope gate`, {name} where its name goes; empty without one */
  gate: string;
  /** JSON of its conditions */
  conditions: string;
}

/** All slices of a search, most costly first. */
export interface SlicesPayload {
  /** as people read it */
  measure: string;
  /** what a slice costs, as the head of a column */
  lost: string;
  /** the head of the list: what is first */
  order: string;
  /** name of the file of named slices */
  file: string;
  slices: SliceItem[];
  /** of examples, those asked for last, by key of the card */
  crops: Record<string, CropItem>;
}

/** A page of a slice that was opened. */
export interface SlicePageEvent {
  document: string;
  index: number;
}

/** What the slices send. */
export interface SlicesEvents {
  open: SlicePageEvent;
  /** place of the slice whose boxes are wanted */
  boxes: number;
  /** keys of the examples that need a crop */
  want: string[];
}

/** What a model has at the place of a suspect. */
export interface SuspectModelItem {
  letter: string;
  label: string;
  score: number | null;
  xyxy: Rect;
}

/** A place where the ground truth is likely wrong. */
export interface SuspectItem {
  /** the identity of a verdict on it */
  target: string;
  /** place in the whole list, from 0 */
  rank: number;
  document: string;
  index: number;
  /** document and page as people read them */
  place: string;
  kind: string;
  label: string;
  /** probability that the ground truth is wrong there */
  score: number;
  reason: string;
  /** the ground truth box; null for a missing one, and where the size of the page is not known */
  now: Rect | null;
  /** the box as it should be; null for one that should go, and where the size of the page is not known */
  proposed: Rect | null;
  /** its label, as a place in the list of labels; null for one that should go */
  new_label: number | null;
  /** by which shares of the page are multiplied for the reader, across and down */
  scale: [number, number];
  models: SuspectModelItem[];
  /** evidence: what it is, for the ground truth now, for the proposal */
  fit: [string, string, string][];
}

/** What became of a suspect. */
export interface SuspectStateItem {
  verdict?: JudgedItem | null;
  unsaved?: UnsavedItem | null;
}

/** The suspects that pass the filter, most likely first. */
export interface SuspectsPayload {
  /** what the suspects are; the same name is the same list */
  set: string;
  /** null when the browser has the list of this name */
  suspects: SuspectItem[] | null;
  /** how many more pass the filter and are not in the list */
  more: number;
  /** by target, of those about which something is known */
  states: Record<string, SuspectStateItem>;
  /** whether those with a verdict are left out of the list */
  only_open: boolean;
  /** those asked for last, by index and document with a space between */
  pages: Record<string, PictureItem>;
  /** those asked for last, by target */
  crops: Record<string, CropItem>;
  /** as people read them */
  labels: string[];
  /** of the scaled coordinates */
  unit: string;
  /** letter and name */
  models: [string, string][];
  /** what accepting changes in the corrected numbers, a line for each model, by target; of those asked for last */
  effects: Record<string, string[]>;
  /** empty when nobody was named */
  reviewer: string | null;
  /** id of the last answer that was handled, stored or not */
  answered?: string;
}

/** A verdict on a suspect; `number` is its rank. */
export interface SuspectVerdictEvent extends VerdictEvent {
  /** of the correction as the reader edited it, as a place in the list of labels; null for the proposal as it is */
  label?: number | null;
  /** the same */
  xyxy?: Rect | null;
}

/** What is needed, by rank: pages, crops, and the effect of accepting the chosen suspect and those beside it. */
export interface SuspectWantEvent {
  pages: number[];
  crops: number[];
  near?: number[];
  /** name of the list that the browser has */
  held?: string;
}

/** What the view of suspects sends. */
export interface SuspectsEvents {
  want: SuspectWantEvent;
  /** those that are not answered, in order */
  verdict: SuspectVerdictEvent[];
  open: OfPageEvent;
}

/** A box on a card of the gallery. */
export interface CardBoxItem {
  key: string;
  side: Side;
  status: BoxStatus;
  xyxy: Rect;
  /** as in `BoxItem` */
  outline?: string | null;
}

/** What one of two models has of the place of a card. */
export interface CardSideItem {
  key: string;
  letter: string;
  words: string;
  boxes: CardBoxItem[];
  /** whether the model has none of it */
  empty?: boolean;
}

/** A card of the gallery. */
export interface CardItem {
  key: string;
  title: string;
  label: string;
  facts: string[];
  place: string;
  tags: string[];
  document: string;
  index: number;
  /** key of the box that the page browser chooses */
  box: string;
  boxes: CardBoxItem[];
  /** the same for all places of one cause */
  family?: string;
  /** a picture for each model, and what opens its places; empty for a card of one picture */
  sides?: CardSideItem[];
}

/** Cards of Grid that stand together under a head. */
export interface GroupItem {
  title: string;
  /** what they hold */
  words: string;
  /** its first card among those that are shown, from 0 */
  first: number;
  /** on other sheets too */
  places: number;
  /** how many of them have only mistakes with a verdict */
  judged: number;
}

/** A cause in the rail of Grid. */
export interface GridCauseItem {
  title: string;
  /** wrong boxes */
  boxes: number;
  /** share of its places with a verdict, in [0, 1] */
  judged: number;
  chosen: boolean;
}

/** The part of a page that a card shows. */
export interface CropItem {
  /** data URL; null when the page cannot be drawn */
  image: string | null;
  /** the part of the page that it shows */
  region: Rect;
  /** width over height */
  aspect: number;
  /** why there is no picture */
  problem: string | null;
}

/** The gallery of crops. */
export interface GalleryPayload {
  /** what the cards are of; another set forgets the crops */
  set: string;
  cards: CardItem[];
  /** those asked for last, by key of the card */
  crops: Record<string, CropItem>;
  /** shown when there are no cards */
  empty: string | null;
  /** empty for cards without heads */
  groups?: GroupItem[];
  causes?: GridCauseItem[];
  /** whether a group is a cause, which takes one verdict */
  by_cause?: boolean;
  /** on the mistakes of each card, empty for a card without any; null where nothing is judged */
  verdicts?: (JudgedItem | null)[][] | null;
  /** whose verdicts are one's own; empty for nobody yet */
  reviewer?: string;
  /** id of the last act that was handled */
  answered?: string;
  /** why it is not saved */
  problem?: string;
}

/** An act of a reviewer in Grid: a verdict on some cards, or the last one taken back. */
export interface JudgeItem {
  id: string;
  /** of cards; with `everywhere` the first one says which cause */
  keys: string[];
  verdict: string | null;
  /** also all places of the cause that are not judged */
  everywhere?: boolean;
  undo?: boolean;
  /** of the reviewer, when nobody had one */
  name?: string;
}

/** What the gallery sends. */
export interface GalleryEvents {
  /** keys of the cards that need a crop */
  want: string[];
  /** key of a card, or of a side of one */
  open: string;
  /** those that are not answered, in order */
  judge: JudgeItem[];
  /** place of a cause in the rail; -1 for all */
  cause: number;
  /** the next model is asked for */
  model: boolean;
}

/** An item of the agenda. */
export interface AgendaRowItem {
  key: string;
  title: string;
  /** how much is, of each model; empty for a finding without a cause */
  wrong: string;
  /** what is counted */
  noun: string;
  /** in words */
  state: string;
  /** whether all of it was judged */
  done: boolean;
}

/** The page of one of the two models. */
export interface MeetingPaneItem {
  letter: string;
  name: string;
  /** what the model did here */
  words: string;
  boxes: CardBoxItem[];
  /** keys of the boxes of the item; the others are drawn pale */
  chosen: string[];
}

/** The page that both models are shown on. */
export interface MeetingPageItem {
  place: string;
  /** data URL */
  image: string | null;
  /** width over height */
  aspect: number;
  /** why there is no picture */
  problem: string | null;
  /** the part of the page around the boxes of the item */
  zoom: Rect;
  panes: MeetingPaneItem[];
}

/** The verdicts of a reviewer on the item. */
export interface VoteItem {
  name: string;
  words: string;
  /** in the live meeting, in words; empty for somebody who is not there */
  role?: string;
}

/** An official number beside the corrected one. */
export interface MeetingNumberItem {
  name: string;
  official: string;
  corrected: string;
}

/** What was decided of an item of the agenda. */
export interface DecidedItem {
  title: string;
  words: string;
  /** owner and due date in words */
  task: string;
}

/** The meeting as a live one. */
export interface LiveItem {
  role: "presents" | "follows" | "looks" | "alone";
  words: string;
  /** how many follow and have voted, in words */
  people?: string;
  /** address that answers what `seen` is now, and nothing when the findings do not answer; empty without one */
  asks?: string;
  /** changes with what is shown of the meeting */
  seen?: string;
}

/** What is held of an item by the reader, and who is to act on it. */
export interface OpinionState {
  verdict: string | null;
  note: string;
  owner: string;
  /** 2026-01-31, or empty */
  due: string;
  status: string;
}

/** A meeting: the agenda, both models on one page, the verdict, and what was decided. */
export interface MeetingPayload {
  agenda: AgendaRowItem[];
  /** what is in the data and not on the agenda, in words */
  rest: string;
  live: LiveItem;
  /** of the models */
  letters: string[];
  signature: string;
  /** key of the item that is shown; empty without an agenda */
  item: string;
  title: string;
  sentence: string;
  /** from 0 */
  example: number;
  examples: number;
  /** that a verdict on the whole item is for; 0 when it can be given on this example only */
  mistakes: number;
  /** mistakes of this example */
  here: number;
  page: MeetingPageItem | null;
  /** reviewers by verdict */
  counts: Record<string, number>;
  held: OpinionState;
  votes: VoteItem[];
  /** names that are known */
  owners: string[];
  decided: DecidedItem[];
  numbers: MeetingNumberItem[];
  /** Markdown */
  minutes: string;
  /** whose verdicts are one's own; empty when nobody was named */
  reviewer: string;
  /** whether a login vouches for the reviewer */
  verified: boolean;
  /** id of the last act that was handled */
  answered: string;
  /** that the last decision is not saved, and why */
  problem: string;
}

/** A decision on an item of the agenda, or on one example of it. */
export interface DecideEvent {
  /** made in the browser, one for each act of the reviewer: the same event may arrive twice */
  id: string;
  item: string;
  example: number;
  /** for all examples of the item */
  whole: boolean;
  verdict: string | null;
  note: string;
  owner: string;
  due: string;
  status: string;
  /** of the reviewer, when nobody had one */
  name: string;
  /** show the next open item */
  onward: boolean;
}

/** An item of the agenda to show. */
export interface ShowItemEvent {
  item: string;
  example: number;
}

/** What the meeting sends. */
export interface MeetingEvents {
  /** those that are not answered, in order */
  decide: DecideEvent[];
  show: ShowItemEvent;
  end: true;
  /** show the page in Pages */
  open: true;
  /** follow the presenter again */
  back: true;
  /** present instead */
  present: true;
  /** the meeting is not as it is shown */
  changed: true;
}

/** The name of the reviewer, which the browser remembers. */
export interface ReviewerPayload {
  /** empty when nobody was named in this session */
  name: string;
}

/** What the browser remembers. */
export interface ReviewerEvents {
  name: string;
}

/** A measure of one model before and after. */
export interface WorthItem {
  letter: string;
  words: string;
  after: string;
}

/** A cause, or a finding of none, with what was decided. */
export interface DecisionRowItem {
  key: string;
  title: string;
  tags?: string[];
  /** wrong boxes and places of each model, in words; empty for a finding */
  sides?: string[];
  /** the page of the example; empty without one in the open files */
  place?: string;
  pictured?: boolean;
  mark?: string;
  /** in words; empty when nobody said anything */
  verdict?: string;
  /** what most reviewers say where they disagree */
  split?: string;
  votes?: VoteItem[];
  notes?: string[];
  /** who decided, and when */
  people?: string;
  /** the reader's verdict, "several", or empty */
  own?: string;
  own_note?: string;
  owner?: string;
  /** 2026-01-31, or empty */
  due?: string;
  due_words?: string;
  status?: string;
  status_words: string;
  status_mark: string;
  /** what the effect is, in words; empty without a verdict */
  worth?: string;
  lines?: WorthItem[];
  worth_note?: string;
  /** why nothing can be said of all of it at once */
  refused?: string;
}

/** The place of a row, and the boxes of each model there. */
export interface DecisionPictureItem {
  crop: CropItem;
  boxes: CardBoxItem[][];
}

/** The list of decisions. */
export interface DecisionsPayload {
  /** what the rows are of; another set forgets the pictures */
  set: string;
  models: ModelItem[];
  rows: DecisionRowItem[];
  /** what is not listed, in words */
  rest: string;
  empty: string;
  /** those asked for last, by key of the row */
  pictures: Record<string, DecisionPictureItem>;
  /** names that are known */
  owners: string[];
  /** whose verdicts are one's own; empty when nobody was named */
  reviewer: string;
  /** whether a login vouches for the reviewer */
  verified: boolean;
  /** id of the last act that was handled */
  answered: string;
  /** that it is not saved, and why */
  problem: string;
}

/** Something said of a row: `field` is verdict, note, owner, due or status; "" takes it back, "undo" everything. */
export interface EditEvent {
  /** made in the browser, one for each act of the reviewer: the same event may arrive twice */
  id: string;
  row: string;
  field: string;
  value: string;
  /** of the reviewer, when nobody had one */
  name: string;
}

/** What the list of decisions sends. */
export interface DecisionsEvents {
  /** keys of the rows that need a picture */
  want: string[];
  /** those that are not answered, in order */
  edit: EditEvent[];
  /** key of a row whose example is to be opened */
  open: string;
  /** key of a row whose places are to be listed */
  alike: string;
}

/** What a model found, missed and drew besides, and its F1. */
export interface ModelBarItem {
  letter: string;
  name: string;
  matched: number;
  missed: number;
  extra: number;
  f1: string;
  recall: string;
  precision: string;
  /** of F1 on the axis, 0 to 1; null when undefined */
  place: number | null;
  /** of its interval on the axis */
  ends: [number, number] | null;
  /** in words, or why there is none */
  interval: string;
  /** F1 on the ground truth as reviewers correct it, in words */
  corrected?: string;
  /** what that is */
  why?: string;
}

/** A tick of the axis of F1. */
export interface AxisTickItem {
  at: number;
  text: string;
}

/** The models in rows, their boxes at one scale. */
export interface BarsPayload {
  bars: ModelBarItem[];
  /** of the ground truth */
  boxes: number;
  ticks: AxisTickItem[];
  /** why there are no intervals; empty where there are */
  note: string;
}

/** A label: F1 of each model, and one number. */
export interface LabelDotsItem {
  label: string;
  title: string;
  /** F1 of each model, 0 to 1 */
  values: (number | null)[];
  words: string;
  /** whether the number is a clear loss */
  fails: boolean;
  hint: string;
}

/** The labels with most wrong boxes. */
export interface LabelsPayload {
  cells: LabelDotsItem[];
  letters: string[];
  facts: string;
  /** opens the table of all labels, in words */
  every: string;
  /** what a star says; empty where there can be none */
  star: string;
  opened: boolean;
}

/** Boxes of a model are asked for. */
export interface BoxesEvent {
  letter: string;
  status: CountedStatus;
}

/** What the Overview sends. */
export interface OverviewEvents {
  boxes: BoxesEvent;
  /** whose mistakes are asked for */
  label: string;
  /** the table of all labels is opened, or closed */
  every: boolean;
}

/** The theme in which the server drew the charts. */
export interface ThemePayload {
  dark: boolean;
}

/** That the reader chose the other theme. */
export interface ThemeEvents {
  /** dark or light */
  changed: string;
}

/** Where dropped files go. */
export interface DropPayload {
  /** of the uploader that takes them; another one for each drop */
  key: string;
  /** the largest file that is taken, in megabytes */
  limit: number;
}

/** All files of a drop by name: what is too large or was cut off does not arrive and can so be named. */
export interface DroppedEvent {
  drop: string;
  names: string[];
  /** those above the limit */
  large?: string[];
}

/** What a drop sends. */
export interface DropEvents {
  dropped: DroppedEvent;
}

/** A role that a file may have. */
export interface RoleItem {
  role: string;
  words: string;
}

/** A file of the list. */
export interface ListedItem {
  name: string;
  what: string;
  /** place among the files with a role; -1 for what has no choice */
  at?: number;
  role?: string;
  roles?: RoleItem[];
  documents?: string;
  boxes?: string;
  /** whether it cannot be read */
  wrong?: boolean;
}

/** Something to choose, by its name. */
export interface ChoiceItem {
  name: string;
  words: string;
  chosen?: boolean;
}

/** Files of one purpose. */
export interface ListedGroup {
  title: string;
  facts: string;
  files: ListedItem[];
  /** behind the facts */
  link?: ChoiceItem | null;
  /** of the bar below the files */
  sentence?: string;
  choices?: ChoiceItem[];
}

/** All files that were dropped, used or not, and what will be evaluated. */
export interface FileListPayload {
  headline: string;
  facts: string;
  groups: ListedGroup[];
  /** words of the way back */
  back: string;
  ready: boolean;
  /** what the button does that opens the files */
  button: string;
  summary: string;
  protocol: string;
  missing?: string;
}

/** Another role for a file. */
export interface RoleEvent {
  at: number;
  role: string;
}

/** What the list of files sends. */
export interface FileListEvents {
  role: RoleEvent;
  /** the name of a choice */
  choose: string;
  evaluate: number;
  back: number;
}

/** The legend of a heatmap. */
export interface ScaleItem {
  name: string;
  /** level and text */
  swatches: [number, string][];
}

/** The cells of a heatmap. */
export interface MatrixLayer {
  /** the background first */
  classes: string[];
  kind: "matrix" | "difference";
  shows: "pixels" | "row" | "column" | "f1";
  /** row by row */
  text: string[][];
  /** place in `ramp`; -1 has no colour */
  level: number[][];
  /** fill and text, light and dark */
  ramp: [string, string, string, string][];
  /** of a matrix: pixels, row, column and f1; of a difference: first, second and gain */
  facts: Record<string, (number | null)[][]>;
  scale: ScaleItem;
  /** what the cells count; "pixels" when absent */
  unit?: string;
}

/** A heatmap and the chosen cell. */
export interface MatrixPayload extends MatrixLayer {
  /** what the matrix is of; another key takes the reader back to the chosen cell */
  key: string;
  /** what the rows are, for instance "Ground truth" */
  rows: string;
  columns: string;
  /** of the two models of a difference; empty for the matrix of one */
  letters: [string, string];
  /** row and column */
  chosen: [number, number] | null;
}

/** The chosen cell of a heatmap. */
export interface CellEvent {
  row: number;
  column: number;
  /** of the matrix that was shown */
  classes: number;
}

/** What a heatmap sends. */
export interface MatrixEvents {
  cell: CellEvent;
}

/** A box beside the pixels of a cell. */
export interface TintBoxItem {
  xyxy: Rect;
  side: Side;
  text: string;
}

/** The pixels of a cell on one page. */
export interface TintItem {
  /** width and height of the page in pixels, not rounded */
  raster: [number, number];
  /** pixels */
  rectangles: Rect[];
  /** lines in pixels */
  outline: Rect[];
  /** how many are tinted */
  pixels: number;
  boxes: TintBoxItem[];
  /** boxes that are not drawn */
  left_out: number;
}

/** A page with the pixels of a cell. */
export interface TintPayload {
  /** page and cell; another key brings the pixels into view again */
  key: string;
  /** what a screen reader reads for the page */
  name: string;
  /** what the tinted pixels are */
  caption: string;
  /** of the pane, pixels */
  height?: number;
  page: PictureItem;
  tint: TintItem;
}

/** A request for a picture of at least `width` pixels. */
export interface TintSharperEvent {
  width: number;
}

/** What the page with the pixels of a cell sends. */
export interface TintEvents {
  sharper: TintSharperEvent;
}

/** A page of the pack. */
export interface PackPageItem {
  document: string;
  name: string;
  /** 0-based */
  index: number;
  position: number;
  total: number;
  /** points */
  width: number;
  /** points */
  height: number;
  /** pixels */
  image_width: number;
  problem: ProblemItem | null;
}

/** What one model has on a page of the pack. */
export interface PackModelItem {
  model: ModelItem;
  data: PageLayers;
  text?: LostText;
}

/** One page of the pack, as JSON in the file. */
export interface PackPagePayload {
  page: PackPageItem;
  models: PackModelItem[];
}
