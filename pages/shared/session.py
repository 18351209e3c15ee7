"""What one reader has open and has chosen: the only place that touches the session state and the caches.

Caches are shared by all sessions, so their keys are digests of content and parameters, never names, paths or
times. Choices live in the session state under the words that stand in the address bar, so that a link is the
whole state; an address that cannot be followed is said, never guessed.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import hashlib
import os
import string
import tempfile
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evaluator import formats, workspace
from evaluator.drawing.payloads import PictureItem, ProblemItem
from evaluator.formats.snapshot.reader import check_pair
from evaluator.metrics.box_items import ClassConfusion, class_confusion
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations, Dataset, Side, join
from evaluator.model.issues import BadInput, Issue, has_errors, plain
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PageImage, PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import snapshot
from evaluator.workspace import BOX_FORMATS, WORKSPACE_VARIABLE, Workspace, not_shown

LET_IN: Final = "let_in"
"""Key of the session state for `let_in`."""

SAMPLE_DATA: Final = Path(__file__).resolve().parents[2] / "sample_data"
UPLOAD_BYTES: Final = 50 * 2**20
_LETTERS: Final = string.ascii_uppercase
# Enough for a whole page on most screens; the viewer asks for more when it needs it, and less is sent at each turn.
FIRST_DPI: Final = 90.0
# File systems stop at 255 bytes, not characters.
_NAME_BYTES: Final = 240
_ADDRESSES_KEPT: Final = 64
_DEFAULTS: Final[Mapping[str, Any]] = {
    "iou": snapshot.IOU_THRESHOLDS[0],
    "score_a": 0.0,
    "score_b": 0.0,
    "model": "A",
    "box": None,
    "within": "",
    "label": "",
    "order": "worst",
    "only": False,
}
IOU_RANGE: Final = (snapshot.IOU_FLOOR, 0.95)
# Choices of single views: the key in the session state, where it starts, and what an address may say.
_OWN_CHOICES: Final[dict[str, tuple[str, Any, Callable[[str], Any]]]] = {}


@dataclass(frozen=True, slots=True)
class Source:
    """An annotation file of this session, readable or not.

    Attributes
    ----------
    name : str
    side : "ground_truth" or "prediction"
        The role it was given.
    annotations : Annotations or None
        None when it has errors.
    issues : tuple of Issue
    origin : Path or bytes
        Where to read it again under another role.
    """

    name: str
    side: Side
    annotations: Annotations | None
    issues: tuple[Issue, ...]
    origin: Path | bytes


@dataclass(frozen=True, slots=True)
class Files:
    """All files of this session.

    Attributes
    ----------
    ground_truth : Source or None
    predictions : tuple of Source
    pdfs : Path or None
        The one folder under which documents are looked up.
    as_reference : bool
        The ground truth is a prediction, used as reference on purpose.
    """

    ground_truth: Source | None
    predictions: tuple[Source, ...]
    pdfs: Path | None
    as_reference: bool


@dataclass(frozen=True, slots=True)
class Model:
    """A prediction that can be evaluated: its place in the dataset and how it is called.

    Attributes
    ----------
    index : int
        Place among the dataset's predictions.
    name : str
    letter : str
        A and B for the chosen pair.
    """

    index: int
    name: str
    letter: str


@dataclass(frozen=True, slots=True)
class Opened:
    """What can be evaluated.

    Attributes
    ----------
    dataset : Dataset
    names : tuple of str
        Names of the models, in the order of ``dataset.predictions``.
    issues : tuple of Issue
        Of all files and pairs, warnings and errors.
    files : Files
    """

    dataset: Dataset
    names: tuple[str, ...]
    issues: tuple[Issue, ...]
    files: Files


@dataclass(frozen=True, slots=True)
class Place:
    """A page: document id and index from 0."""

    document: str
    index: int


# --- files ---------------------------------------------------------------------------------------------------


def files() -> Files:
    """The files of this session; those named at the start when it is new."""
    if "files" not in st.session_state:
        st.session_state["files"] = _first_files()
    found: Files = st.session_state["files"]
    return found


def set_files(changed: Files) -> None:
    """Replace the files of this session; choices that no longer fit are dropped by who reads them."""
    st.session_state["files"] = changed


def _first_files() -> Files:
    """The files that the command line named, or the sample data."""
    named = workspace_named()
    truth, as_reference = named.ground_truth, named.as_reference
    return Files(
        ground_truth=_named(truth, "ground_truth", as_reference=as_reference) if truth else None,
        predictions=tuple(_named(path, "prediction") for path in named.predictions),
        pdfs=named.pdfs,
        as_reference=as_reference,
    )


def workspace_named() -> Workspace:
    """What the command line named, of all formats, or the sample data."""
    described = os.environ.get(WORKSPACE_VARIABLE)
    return workspace.from_json(described) if described else workspace.sample(SAMPLE_DATA)


def _named(path: Path, side: Side, *, as_reference: bool = False) -> Source:
    """A file that was named at the start."""
    return read_source(path, path.name, side, as_reference=as_reference)


def read_source(origin: Path | bytes, name: str, side: Side, *, as_reference: bool = False) -> Source:
    """A file or folder of this machine, or uploaded bytes; unreadable ones carry their issues."""
    try:
        if isinstance(origin, Path) and origin.is_dir():
            read = formats.read(origin, side=side, as_reference=as_reference)
        else:
            content = origin.read_bytes() if isinstance(origin, Path) else origin
            digest = hashlib.sha256(content).hexdigest()
            read = _annotations(digest, side, as_reference, name, _content=content)
    except BadInput as problem:
        return Source(name, side, None, problem.issues, origin)
    except OSError as problem:
        return Source(name, side, None, (_unreadable(name, problem),), origin)
    if read.format not in BOX_FORMATS:
        return Source(name, side, None, (not_shown(name, read.format, "error"),), origin)
    return Source(name, side, read, read.issues, origin)


@st.cache_resource(max_entries=32, show_spinner=False)
def _annotations(digest: str, side: Side, as_reference: bool, name: str, *, _content: bytes) -> Annotations:
    """Columns of a file by its content; the name is part of the key because issues and results carry it."""
    return formats.read_bytes(_content, name, side=side, as_reference=as_reference)


def _unreadable(name: str, problem: OSError) -> Issue:
    return Issue(
        severity="error",
        file=name,
        place="",
        rule="the file must be readable",
        found=problem.strerror or "an error of the file system",
        fix="Check that it exists and that you may read it.",
    )


def add_pdfs(uploads: Sequence[tuple[str, bytes]]) -> tuple[list[str], list[str]]:
    """Put uploaded PDFs into a folder of this session and look documents up there from now on.

    Returns
    -------
    (list of str, list of str)
        Names that were added, and names that were refused because the content or the name is not a PDF's.
    """
    if "upload_folder" not in st.session_state:
        st.session_state["upload_folder"] = tempfile.TemporaryDirectory(prefix="layoutscope-")
    folder = Path(st.session_state["upload_folder"].name)
    added, refused = [], []
    for name, content in uploads:
        # The name reaches the file system, so it is held to plain words; the content is judged again on opening.
        safe = name == os.path.basename(name) and "\\" not in name and name.isprintable()
        safe = safe and len(name.encode()) <= _NAME_BYTES
        if safe and not name.startswith(".") and len(content) <= UPLOAD_BYTES and b"%PDF-" in content[:1024]:
            (folder / name).write_bytes(content)
            added.append(name)
        else:
            refused.append(name)
    if added:
        set_files(replace(files(), pdfs=folder))
        refresh_pdfs()
    return added, refused


def use_as_reference(place: int) -> None:
    """Make one of the predictions the reference for the others."""
    found = files()
    source = found.predictions[place]
    truth = read_source(source.origin, source.name, "ground_truth", as_reference=True)
    others = tuple(other for position, other in enumerate(found.predictions) if position != place)
    set_files(Files(ground_truth=truth, predictions=others, pdfs=found.pdfs, as_reference=True))


# --- dataset and results -------------------------------------------------------------------------------------


def opened() -> Opened | None:
    """What can be evaluated in this session; None when a side is missing or has errors."""
    settle_memory("opened")
    found = files()
    if found.ground_truth is None or found.ground_truth.annotations is None:
        return None
    truth = found.ground_truth.annotations
    issues = list(found.ground_truth.issues)
    usable: list[Annotations] = []
    for source in found.predictions:
        issues += source.issues
        if source.annotations is None:
            continue
        pair = pair_issues(truth, source.annotations)
        issues += pair
        if not has_errors(pair):
            usable.append(source.annotations)
    if not usable:
        return None
    dataset = _dataset(_digest(truth), tuple(_digest(read) for read in usable), _files=(truth, *usable))
    names = distinct_names([_model_name(read) for read in usable])
    return Opened(dataset=dataset, names=names, issues=tuple(dict.fromkeys(issues)), files=found)


def pair_issues(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """What is wrong or odd about two files together; looked for once, not on every run of every view."""
    return _pair_issues(_digest(truth), _digest(prediction), _truth=truth, _prediction=prediction)


@st.cache_resource(max_entries=64, show_spinner=False)
def _pair_issues(truth: str, prediction: str, *, _truth: Annotations, _prediction: Annotations) -> tuple[Issue, ...]:
    """The issues of a pair by the content of its files."""
    return check_pair(_truth, _prediction)


@st.cache_resource(max_entries=8, show_spinner="Reading the files")
def _dataset(truth: str, predictions: tuple[str, ...], *, _files: tuple[Annotations, ...]) -> Dataset:
    """The joined dataset of some files."""
    return join(_files[0], *_files[1:])


@st.cache_resource(max_entries=16, show_spinner="Comparing the boxes")
def _pairs(truth: str, predictions: tuple[str, ...], model: int, *, _dataset: Dataset) -> snapshot.Pairs:
    """All pairs of one model that could match."""
    return snapshot.pair(_dataset, model, iou_floor=snapshot.IOU_FLOOR)


@st.cache_resource(max_entries=128, show_spinner=False)
def _matching(
    truth: str,
    predictions: tuple[str, ...],
    model: int,
    min_score: float,
    labels: tuple[str, ...] | None,
    *,
    _pairs: snapshot.Pairs,
) -> snapshot.Matching:
    """The matching of one model at a score threshold."""
    return _pairs.match(min_score=min_score, labels=labels)


@st.cache_resource(max_entries=128, show_spinner=False)
def _best_f1(truth: str, predictions: tuple[str, ...], model: int, iou: float, *, _pairs: snapshot.Pairs) -> float:
    """The score threshold with the best F1."""
    return _pairs.best_f1(iou=iou)


def pairs_of(found: Opened, model: Model) -> snapshot.Pairs:
    """All pairs of a model that could match."""
    return _pairs(*_key(found), model.index, _dataset=found.dataset)


def result_of(
    found: Opened, model: Model, *, iou: float | None = None, labels: tuple[str, ...] | None = None
) -> snapshot.ThresholdResult:
    """The result of a model at the operating point, or at another IoU threshold or for some labels."""
    key = _key(found)
    matching = _matching(*key, model.index, score_threshold(model), labels, _pairs=pairs_of(found, model))
    return matching.at(iou_threshold() if iou is None else iou)


def result_key(found: Opened, model: Model) -> tuple[Any, ...]:
    """What a result follows from: the files, the model and its thresholds."""
    return (*_key(found), model.index, score_threshold(model), iou_threshold())


def confusion_of(found: Opened, model: Model) -> ClassConfusion:
    """Which label of a model is found as which; see `class_confusion`."""
    return _confusion(result_key(found, model), _result=result_of(found, model))


@st.cache_resource(max_entries=16, show_spinner="Naming the mistakes")
def _confusion(key: tuple[Any, ...], *, _result: snapshot.ThresholdResult) -> ClassConfusion:
    """The class confusion of a result; `key` says which."""
    return class_confusion(_result)


def _key(found: Opened) -> tuple[str, tuple[str, ...]]:
    """Digests of the files behind a dataset."""
    dataset = found.dataset
    return _digest(dataset.ground_truth.source), tuple(_digest(side.source) for side in dataset.predictions)


def _digest(read: Annotations) -> str:
    """What identifies a file as it was read: its content, its name and its role."""
    return f"{read.sha256}/{read.name}/{read.side}"


def _model_name(read: Annotations) -> str:
    """Model and version as the file says, or the name of the file."""
    name = read.model or read.name
    return f"{name} {read.version}" if read.version and len(read.version) <= 12 else name


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered where two models have the same one."""
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    )


@st.cache_resource(show_spinner=False)
def settle_memory(moment: str) -> bool:
    """Once per process and moment: what is loaded by now is not looked at again by each run's garbage collection.

    Streamlit collects after every run, and the page waits for it; a view brings modules and data of its own.
    """
    gc.collect()
    gc.freeze()
    return True


# --- choices -------------------------------------------------------------------------------------------------


def let_in(opened: bool) -> None:
    """Note whether the reader came through the door of app.py, for `begin`."""
    st.session_state[LET_IN] = opened


def begin(view: str) -> None:
    """Take over the address bar when it was opened, changed or stepped back to by the reader.

    `view` is the name of the screen: sliders of the same key on two screens are two widgets for Streamlit, and in
    the first run of the second one it starts at its lowest value unless the value is written again.

    The browser sends the address of the moment with each wish, so quick ones carry an address that `finish` has
    replaced meanwhile. One that this session knows is therefore followed only after a step back or onto another view.

    A session that did not come through the door of app.py is sent there and ends: started by other means than its
    command, Streamlit may run a view alone.
    """
    if not st.session_state.get(LET_IN):
        st.switch_page("app.py")
    entered = st.session_state.get("view") != view
    if entered:
        st.session_state["view"] = view
        for name in ("iou", "score_a", "score_b"):
            if name in st.session_state:
                st.session_state[name] = st.session_state[name]
    address = {name: st.query_params[name] for name in st.query_params}
    context = get_script_run_ctx()
    stepped = context is not None and context.is_history_navigation
    st.session_state["entered_bare"] = entered and not address
    st.session_state["linked"] = False
    if not address or (address in st.session_state.get("addresses", []) and not entered and not stepped):
        return
    _remember(address)
    if stepped:
        # What an address leaves out is at its default.
        for name, value in (*_DEFAULTS.items(), *((key, start) for key, start, _ in _OWN_CHOICES.values())):
            st.session_state[name] = value
    refused = [name for name, text in address.items() if not (_known(name, text, address) and _take(name, text))]
    st.session_state["refused"] = refused
    st.session_state["linked"] = "doc" in address and not {"doc", "page"} & set(refused)


def _remember(address: dict[str, str]) -> None:
    """Note an address that the browser may send again although the session has moved on."""
    known = [each for each in st.session_state.get("addresses", []) if each != address]
    st.session_state["addresses"] = [*known, address][-_ADDRESSES_KEPT:]


def finish(**shown: str | None) -> str:
    """Write the operating point and what the view shows into the address bar.

    Streamlit makes every change of the address a step of the browser's history. A view that was entered by its name
    alone would stand there twice, so after `leave_first_address` its address is left to the caller, who replaces it.

    Returns
    -------
    str
        The query of the address, without question mark; empty when nothing differs from the defaults.
    """
    address = {
        "iou": _text(iou_threshold(), snapshot.IOU_THRESHOLDS[0]),
        "score_a": _text(st.session_state.get("score_a", 0.0), 0.0),
        "score_b": _text(st.session_state.get("score_b", 0.0), 0.0),
        "model": st.session_state.get("model") if st.session_state.get("model", "A") != "A" else None,
        **shown,
    }
    kept = {name: text for name, text in address.items() if text is not None}
    _remember(kept)
    if (
        not st.session_state.pop("address_left", False)
        and {name: st.query_params[name] for name in st.query_params} != kept
    ):
        st.query_params.from_dict(kept)
    return urllib.parse.urlencode(kept)


def leave_first_address() -> None:
    """Let the next `finish` of a view that was opened by its name alone not write the address."""
    # Once: later runs of a part of the view still find what the whole view's last run has left.
    st.session_state["address_left"] = bool(st.session_state.pop("entered_bare", False))


def linked() -> bool:
    """Whether this run followed an address that names a page."""
    return bool(st.session_state.get("linked"))


def refused() -> list[str]:
    """Parts of the address that could not be followed; told once."""
    found: list[str] = st.session_state.pop("refused", [])
    return found


def own_choice(name: str, key: str, default: Any, read: Callable[[str], Any]) -> None:  # noqa: ANN401
    """Let a view's own choice stand in the address: its name there, its key here, and what reads its text.

    `read` raises ValueError for a text that makes no sense. Two views must not mean different things by one name.
    """
    if name in _OWN_CHOICES and _OWN_CHOICES[name][0] != key:
        raise ValueError(f"the address already uses {name} for {_OWN_CHOICES[name][0]}")
    _OWN_CHOICES[name] = (key, default, read)


def one_of(words: Sequence[str]) -> Callable[[str], str]:
    """Reads one of some words from an address, for `own_choice`; ValueError for any other."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


def _take(name: str, text: str) -> bool:
    """Put one part of the address into the session state; False when it makes no sense."""
    if name in _OWN_CHOICES:
        key, _, read = _OWN_CHOICES[name]
        try:
            st.session_state[key] = read(text)
        except ValueError:
            return False
        return True
    if name in ("iou", "score_a", "score_b"):
        low, high = IOU_RANGE if name == "iou" else (0.0, 1.0)
        try:
            value = float(text)
        except ValueError:
            return False
        if not low <= value <= high:
            return False
        st.session_state[name] = value
        return True
    if name == "model":
        st.session_state["model"] = text if text in ("A", "B") else "A"
        return text in ("A", "B")
    if name == "page":
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0):
            return False
        st.session_state["page"] = int(text) - 1
        return True
    if name in ("doc", "box", "within", "label"):
        st.session_state[name] = text
        return True
    if name == "order" and text in ("worst", "page"):
        st.session_state[name] = text
        return True
    if name == "only" and text == "yes":
        st.session_state[name] = True
        return True
    return False


def _known(name: str, text: str, address: Mapping[str, str]) -> bool:
    """Whether the open files have the document, page or label that an address names; True for all other parts."""
    found = opened() if name in ("doc", "within", "label", "page") else None
    if found is None:
        return True
    dataset = found.dataset
    if name == "label":
        return text in dataset.labels[: dataset.evaluated]
    codes = dataset.document_code
    if name in ("doc", "within"):
        return text in codes
    document = address.get("doc", "")
    if document not in codes or not (text.isascii() and text.isdigit() and len(text) < 10):
        return document in codes or "doc" in address
    index = int(text) - 1
    if dataset.page_row(document, index) is not None:
        return True
    # Pages that no file mentions are walked only when the document is chosen.
    return address.get("within") == document and 0 <= index < (page_count(found, document) or 0)


def _text(value: float, default: float) -> str | None:
    """A threshold for the address; None for the default, which is not written."""
    return None if value == default else f"{value:g}"


def iou_threshold() -> float:
    """The IoU threshold of this session."""
    return float(st.session_state.setdefault("iou", snapshot.IOU_THRESHOLDS[0]))


def score_threshold(model: Model) -> float:
    """The score threshold of a model of this session."""
    return float(st.session_state.setdefault(f"score_{model.letter.lower()}", 0.0))


def thresholds(found: Opened) -> tuple[float, ...]:
    """The IoU threshold and the score threshold of each chosen model."""
    return (iou_threshold(), *(score_threshold(model) for model in models(found)))


def models(found: Opened) -> tuple[Model, ...]:
    """The chosen models, A and, when there are two, B."""
    count = len(found.names)
    first = _chosen_index("model_a", 0, count)
    second = _chosen_index("model_b", 1, count)
    chosen = [first] if count == 1 else [first, second]
    return tuple(
        Model(index=index, name=found.names[index], letter=_LETTERS[place]) for place, index in enumerate(chosen)
    )


def _chosen_index(name: str, default: int, count: int) -> int:
    """A chosen model, or the default when the choice does not fit the files."""
    value = st.session_state.get(name)
    return value if isinstance(value, int) and value < count else min(default, count - 1)


def model_choice(found: Opened) -> Model:
    """The model whose boxes and numbers are shown."""
    chosen = models(found)
    return next((model for model in chosen if model.letter == st.session_state.get("model")), chosen[0])


def has_scores(found: Opened, model: Model) -> bool:
    """Whether a score threshold means anything for a model: not all its scores are equal or missing."""
    score = found.dataset.predictions[model.index].score
    return len(score) > 0 and bool((score[0] != score).any())


def use_specification() -> None:
    """Set the thresholds of the specification."""
    st.session_state["iou"] = snapshot.IOU_THRESHOLDS[0]
    st.session_state["score_a"] = st.session_state["score_b"] = 0.0


def use_best_f1(found: Opened) -> None:
    """Set each model's score threshold to the one with the best F1 at the IoU threshold."""
    for model in models(found):
        best = _best_f1(*_key(found), model.index, iou_threshold(), _pairs=pairs_of(found, model))
        st.session_state[f"score_{model.letter.lower()}"] = best


def preset(found: Opened) -> str | None:
    """Which of the two presets the thresholds are at: ``Specification``, ``Best F1`` or None."""
    chosen = models(found)
    scores = [score_threshold(model) for model in chosen]
    if iou_threshold() == snapshot.IOU_THRESHOLDS[0] and not any(scores):
        return "Specification"
    best = st.session_state.get("best_f1_at")
    return "Best F1" if best == (iou_threshold(), *scores) else None


def remember_best_f1(found: Opened) -> None:
    """Note the thresholds that the Best F1 button set, so that it stays marked until one is moved."""
    st.session_state["best_f1_at"] = (iou_threshold(), *(score_threshold(model) for model in models(found)))


def is_dark() -> bool:
    """Whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


# --- the page browser's place --------------------------------------------------------------------------------


def place_in(order: Sequence[tuple[str, int]]) -> Place | None:
    """The page that is shown: the chosen one when the order has it, else the first."""
    if not order:
        return None
    wanted = (str(st.session_state.get("doc")), int(st.session_state.get("page") or 0))
    return Place(*(wanted if wanted in order else order[0]))


def go_to(document: str, index: int) -> None:
    """Show another page; the chosen box goes."""
    st.session_state["doc"], st.session_state["page"], st.session_state["box"] = document, index, None


def chosen(name: str, default: Any = None) -> Any:  # noqa: ANN401 - a value of the session state has any type
    """A choice of this session by its name."""
    return st.session_state.get(name, default)


def choose(name: str, value: Any) -> None:  # noqa: ANN401
    """Set a choice of this session."""
    st.session_state[name] = value


# --- pages of documents --------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def pool() -> PagePool:
    """The renderer of this process, for all sessions."""
    return PagePool()


def preparation(path: Path, index: int) -> Callable[[], None]:
    """A task that has the picture and the text of a page ready in the renderer's caches.

    A page that cannot be drawn says why when it is opened, and not before.
    """
    renderer = pool()

    def prepare() -> None:
        with contextlib.suppress(PageProblem):
            renderer.page_image(path, index, dpi=FIRST_DPI)
            if not renderer.words(path, index).texts:
                renderer.ink(path, index)

    return prepare


def _folder(root: Path) -> PdfFolder:
    """The listing of one of this session's PDF folders."""
    kept: dict[Path, PdfFolder] = st.session_state.setdefault("pdf_folders", {})
    if root not in kept:
        kept[root] = PdfFolder(root)
    return kept[root]


def refresh_pdfs() -> None:
    """Look at the PDF folders again."""
    st.session_state.pop("pdf_folders", None)


def document_path(found: Opened, document: str) -> Path:
    """The PDF of a document; raises `PageProblem` when there is none."""
    return _path(found.files.pdfs, _name_of(found, document))


def _name_of(found: Opened, document: str) -> str:
    """The name under which the PDF of a document is looked up."""
    return next(entry.name for entry in found.dataset.documents if entry.doc_id == document)


def _path(root: Path | None, name: str) -> Path:
    """The PDF of a name under a folder; raises `PageProblem` when there is none."""
    if root is None:
        raise PageProblem("no_folder", document=name)
    return _folder(root).find(name)


def page_count(found: Opened, document: str) -> int | None:
    """Pages of a document's PDF; None when it cannot be opened."""
    return pages_of(found.files.pdfs, _name_of(found, document))


def pages_of(root: Path | None, name: str) -> int | None:
    """Pages of the PDF of a name under a folder; None when it cannot be opened."""
    try:
        return pool().describe(_path(root, name)).page_count or None
    except PageProblem:
        return None


def sizes_of(found: Opened, document: str) -> FloatArray:
    """Width and height in points of every page of a document's PDF; raises `PageProblem` when it cannot be measured."""
    return pool().page_sizes(document_path(found, document))


def pdf_listing(root: Path | None) -> PdfFolder | None:
    """The listing of a PDF folder: another one after `refresh_pdfs`."""
    return None if root is None else _folder(root)


def page_picture(found: Opened, place: Place, *, width: int | None = None) -> PictureItem:
    """The picture of a page of a document of the dataset; see `picture`."""
    return picture(found.files.pdfs, _name_of(found, place.document), place.index, width=width)


def picture(root: Path | None, name: str, index: int, *, width: int | None = None) -> PictureItem:
    """The picture of a page as the viewer wants it, or the reason why there is none."""
    try:
        image = pool().page_image(_path(root, name), index, width=width, dpi=FIRST_DPI)
    except PageProblem as problem:
        return PictureItem(
            width=595.0,
            height=842.0,
            image=None,
            image_width=0,
            problem=ProblemItem(problem.title, problem.text, problem.fix),
            notes=(),
        )
    return PictureItem(
        width=image.page_width,
        height=image.page_height,
        image=_data_url(image),
        image_width=image.width,
        problem=None,
        notes=tuple(plain(warning) for warning in image.warnings),
    )


def _data_url(image: PageImage) -> str:
    """A page image for the viewer."""
    return "data:image/webp;base64," + base64.b64encode(image.webp).decode("ascii")


def with_prediction(found: Files, source: Source) -> Files:
    """The files with one more prediction, or with the one of that name replaced."""
    others = tuple(other for other in found.predictions if other.name != source.name)
    return replace(found, predictions=(*others, source))
