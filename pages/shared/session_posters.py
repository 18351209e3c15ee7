"""What the view Posters has open, has chosen and has computed: its files, cached columns, and one poster at a time.

Columns of a set of posters are cached for all sessions under the digests of the files and the profile; the texts
behind one poster are compared again when it is shown, which takes a few milliseconds. Pages are looked up by the id of
the poster under one folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import streamlit as st

from evaluator.drawing.payloads import PictureItem, with_notes
from evaluator.formats import posters as reader
from evaluator.model.dataset import Side
from evaluator.model.issues import BadInput, Issue, plain
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.pdf.pool import sharpest_width
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import posters
from evaluator.protocols.posters.comparison import Comparison, PosterMetrics
from evaluator.protocols.posters.difference import PosterColumns, columns_of, worst_first
from evaluator.protocols.posters.page import PageDifference, on_page
from evaluator.protocols.posters.profiles import DEFAULT_PROFILE, PROFILES, ProfileName
from evaluator.workspace import Sides, sample
from pages.shared import session

VIEW: Final = "posters"
PARTS: Final = ("page", "text", "sections", "fields")
MODELS: Final = ("A", "B", "B-A")
# A poster is shown whole first; the reader who zooms in asks for more.
_FIRST_WIDTH: Final = 1_500
_WIDTH_STEP: Final = 1.5
_LETTERS: Final = ("A", "B")


def _known_poster(text: str) -> str:
    """Reads the id of a poster that is open; ValueError for any other."""
    if text not in posters_open():
        raise ValueError(text)
    return text


@dataclass(frozen=True, slots=True)
class PosterSide:
    """One side of the posters, readable or not.

    Attributes
    ----------
    name : str
    side : "ground_truth" or "prediction"
    posters : Posters or None
        None when nothing could be read.
    issues : tuple of Issue
    """

    name: str
    side: Side
    posters: reader.Posters | None
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class PosterFiles:
    """The posters of this session.

    Attributes
    ----------
    ground_truth : PosterSide or None
    predictions : tuple of PosterSide
    pdfs : Path or None
        The one folder under which pages are looked up.
    """

    ground_truth: PosterSide | None
    predictions: tuple[PosterSide, ...]
    pdfs: Path | None


@dataclass(frozen=True, slots=True)
class PosterModel:
    """A chosen model: its letter, its name and what it extracted."""

    letter: str
    index: int
    name: str
    posters: reader.Posters


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The columns of one model, its signature, its means, and its file for download."""

    columns: PosterColumns
    signature: str
    means: PosterMetrics
    passed: int
    results_json: bytes
    issues: tuple[Issue, ...]


# --- files ---------------------------------------------------------------------------------------------------


def files() -> PosterFiles:
    """The posters of this session; those named at the start when it is new."""
    if "poster_files" not in st.session_state:
        with st.spinner("Reading the posters"):
            use(session.workspace_named().posters)
    found: PosterFiles = st.session_state["poster_files"]
    return found


def use(sides: Sides) -> None:
    """Open some posters in this session."""
    st.session_state["poster_files"] = PosterFiles(
        ground_truth=_read(sides.ground_truth, "ground_truth") if sides.ground_truth else None,
        predictions=tuple(_read(path, "prediction") for path in sides.predictions),
        pdfs=sides.pdfs,
    )


def use_sample() -> None:
    """Open the bundled posters."""
    use(sample(session.SAMPLE_DATA).posters)


def _read(path: Path, side: Side) -> PosterSide:
    """One side; a folder that cannot be read carries its issues."""
    name = path.resolve().name
    try:
        found = reader.read(path, side=side)
    except BadInput as problem:
        return PosterSide(name, side, None, problem.issues)
    return PosterSide(name, side, found, found.issues)


def file_issues() -> tuple[Issue, ...]:
    """All issues of the files of posters, each once."""
    found = files()
    sides = [*([found.ground_truth] if found.ground_truth else []), *found.predictions]
    return tuple(dict.fromkeys(issue for side in sides for issue in side.issues))


def loaded_rows() -> list[dict[str, Any]]:
    """What is loaded, one row per side, for a table of files."""
    found = files()
    sides = [*([found.ground_truth] if found.ground_truth else []), *found.predictions]
    return [
        {
            "Role": "Ground truth" if side.side == "ground_truth" else "Prediction",
            "File": plain(side.name),
            "Format": "posters",
            "Posters": len(side.posters.posters) if side.posters else 0,
            "Issues": len(side.issues),
        }
        for side in sides
    ]


def posters_open() -> frozenset[str]:
    """Ids of every poster of either side."""
    found = files()
    sides = [side.posters for side in (found.ground_truth, *found.predictions) if side and side.posters]
    return frozenset(key for side in sides for key in (*side.posters, *side.broken))


# --- results -------------------------------------------------------------------------------------------------


def models() -> tuple[PosterModel, ...]:
    """The chosen models that can be evaluated, A and, when there are two, B."""
    usable = [(index, side) for index, side in enumerate(files().predictions) if side.posters is not None]
    if not usable:
        return ()
    places = {index: place for place, (index, _) in enumerate(usable)}
    first = places.get(session.chosen("poster_a", -1), 0)
    second = places.get(session.chosen("poster_b", -1), 1 if first != 1 else 0)
    chosen = [first] if len(usable) == 1 else [first, second]
    return tuple(
        PosterModel(letter, usable[place][0], usable[place][1].name, usable[place][1].posters)  # type: ignore[arg-type]
        for letter, place in zip(_LETTERS, chosen, strict=False)
    )


def profile() -> ProfileName:
    """The chosen profile."""
    name: ProfileName = session.chosen("poster_profile", DEFAULT_PROFILE)
    return name if name in PROFILES else DEFAULT_PROFILE


def evaluated(model: PosterModel, *, under: ProfileName | None = None) -> Evaluated:
    """The columns of a model under the chosen profile, or another one."""
    truth = files().ground_truth
    if truth is None or truth.posters is None:
        raise ValueError("there is no ground truth")
    return _evaluated(
        _digest(truth.posters), _digest(model.posters), under or profile(), _sides=(truth.posters, model.posters)
    )


def _digest(side: reader.Posters) -> str:
    """What identifies the posters of a side: their contents, under which ids, and the name that issues carry."""
    ids = "\0".join((*side.posters, "", *side.broken)).encode("utf-8", "surrogatepass")
    return f"{side.sha256}/{hashlib.sha256(ids).hexdigest()}/{side.name}"


@st.cache_resource(max_entries=12, show_spinner="Comparing the texts")
def _evaluated(
    truth: str, prediction: str, under: ProfileName, *, _sides: tuple[reader.Posters, reader.Posters]
) -> Evaluated:
    """The columns of one set of posters; the comparisons behind them are let go."""
    result = posters.evaluate(*_sides, profile=under)
    columns = columns_of(result)
    content = json.dumps(result.results_json(), ensure_ascii=False, indent=1, allow_nan=False)
    signature = result.signature.line
    return Evaluated(
        columns, signature, result.aggregate, int(columns.passes.sum()), f"{content}\n".encode(), result.issues
    )


def comparison(model: PosterModel, poster_id: str, *, under: ProfileName | None = None) -> Comparison | None:
    """The texts of one poster side by side; None when a side lacks it or is broken."""
    truth = files().ground_truth
    if truth is None or truth.posters is None:
        return None
    reference, generated = truth.posters.posters.get(poster_id), model.posters.posters.get(poster_id)
    if reference is None or generated is None:
        return None
    return _comparison(reference.sha256, generated.sha256, under or profile(), _sides=(reference, generated))


@st.cache_resource(max_entries=64, show_spinner=False)
def _comparison(
    reference: str, generated: str, under: ProfileName, *, _sides: tuple[reader.Poster, reader.Poster]
) -> Comparison:
    """One comparison by the content of its two files."""
    return Comparison(PROFILES[under], *_sides)


def order(chosen: tuple[PosterModel, ...]) -> tuple[str, ...]:
    """Every poster, worst first."""
    return worst_first([evaluated(model).columns for model in chosen])


def poster_shown(ordered: tuple[str, ...]) -> str:
    """The chosen poster, else the worst one."""
    wanted = session.chosen("poster")
    return wanted if wanted in ordered else ordered[0]


def open_poster(poster_id: str) -> None:
    """Show another poster; the chosen word goes."""
    session.choose("poster", poster_id)
    session.choose("poster_box", None)


# --- the page ------------------------------------------------------------------------------------------------


def picture(poster_id: str) -> PictureItem:
    """The page of a poster as the viewer wants it, as sharp as the reader's zoom needs.

    A sharper picture that cannot be had does not take the first one away; it is said beside it.
    """
    found = files()
    wish = session.chosen("poster_sharper")
    first = session.picture(found.pdfs, poster_id, 0, width=_FIRST_WIDTH)
    if not wish or wish[0] != poster_id or first.problem:
        return first
    sharper = session.picture(found.pdfs, poster_id, 0, width=wish[1])
    if sharper.problem:
        return with_notes(first, [f"No sharper picture: {sharper.problem.title}."])
    return sharper


def wish_sharper(poster_id: str, width: int, page: tuple[float, float]) -> None:
    """Note that the page is zoomed: the next of a few widths, up to what the pixel budget allows.

    Few widths, so that many zooms need few pictures.
    """
    wanted = float(_FIRST_WIDTH)
    while wanted < width:
        wanted *= _WIDTH_STEP
    session.choose("poster_sharper", (poster_id, min(round(wanted), sharpest_width(*page))))


def words(model: PosterModel, poster_id: str) -> PageDifference | None:
    """Missing and extra words on the page; None without a page or a comparison."""
    found = comparison(model, poster_id)
    path = page_path(poster_id)
    if found is None or path is None:
        return None
    try:
        page = session.pool().words(path, 0)
    except PageProblem:
        # The viewer shows the same problem in the place of the page.
        return None
    return on_page(found, page.texts, page.boxes)


def page_path(poster_id: str) -> Path | None:
    """The document of a poster; None when there is none that can be told."""
    root = files().pdfs
    listing = session.pdf_listing(root)
    if listing is None:
        return None
    try:
        return listing.find(poster_id)
    except PageProblem:
        return None


def is_image(path: Path) -> bool:
    """Whether a document is an image, which has no words."""
    return path.suffix.lower() in IMAGE_SUFFIXES


session.own_choice("profile", "poster_profile", DEFAULT_PROFILE, session.one_of(tuple(PROFILES)))
session.own_choice("poster", "poster", None, _known_poster)
session.own_choice("part", "poster_part", PARTS[0], session.one_of(PARTS))
session.own_choice("poster_of", "poster_of", MODELS[0], session.one_of(MODELS))
session.own_choice("text_of", "poster_text", "reference", session.one_of(("reference", "generated")))
session.own_choice("tree", "poster_tree", "differences", session.one_of(("differences", "all")))
