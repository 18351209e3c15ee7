"""Review pack: what the meeting needs in one file."""

from __future__ import annotations

import msgspec
import streamlit as st

from evaluator.metrics.results import count_of
from evaluator.model.issues import plain
from evaluator.pack.cards import CONFLICT, MOST_CARDS, PackOptions
from evaluator.pack.contents import Contents
from evaluator.review.verdicts import VERDICTS
from pages.shared import frame, headline
from pages.shared import pack as held
from pages.shared.address import read_url, write_url
from pages.shared.opened import OpenedBoxes
from pages.shared.state import state

_MEGABYTE = 2**20
# More documents than this are chosen in the terminal.
_DOCUMENTS = 60


def _limits(found: OpenedBoxes) -> tuple[PackOptions, str]:
    """How much goes in, and the form."""
    form = st.segmented_control(
        "Form", list(held.FORMS), format_func=held.FORMS.__getitem__, default="html", key="pack_form", required=True
    )
    cards = st.slider("Maximum findings", 0, MOST_CARDS, 60, key="pack_cards")
    pages = st.slider("Maximum pages with a picture", 0, max(500, found.dataset.pages), 60, key="pack_pages")
    explained = "Pages get less sharp, then fewer, to stay within it."
    budget = st.slider("Maximum size (MB)", 1, 200, 20, key="pack_budget", help=explained)
    return PackOptions(date=held.today(), cards=cards, pages=pages, budget=budget * _MEGABYTE), form or "html"


def _choice(found: OpenedBoxes, limits: PackOptions) -> PackOptions:
    """What it says above all, and about which documents."""
    hint = "The finding in words; from the comparison when empty"
    title = st.text_input("Title", key="pack_title", max_chars=200, placeholder=hint)
    names = {document.doc_id: plain(document.name) for document in found.dataset.documents}
    chosen = st.pills(
        "Documents",
        list(names)[:_DOCUMENTS],
        selection_mode="multi",
        format_func=lambda document: frame.escaped(frame.shortened(names[document], 34)),
        key="pack_documents",
        wrap=True,
        help="Whose findings and pages go in; none chosen means all. Numbers are always of all.",
    )
    names_of_verdicts: dict[str, str] = {**dict(VERDICTS.items()), CONFLICT: "Reviewers disagree"}
    verdicts = st.pills(
        "Verdicts",
        list(names_of_verdicts),
        selection_mode="multi",
        format_func=names_of_verdicts.__getitem__,
        key="pack_verdicts",
        help="Findings of these verdicts; none chosen means all.",
    )
    known = held.tags()
    tags: list[str] = []
    if known:
        tags = st.pills(
            "Tags",
            known,
            selection_mode="multi",
            format_func=lambda tag: frame.escaped(frame.shortened(tag, 34)),
            key="pack_tags",
            wrap=True,
        )
    return msgspec.structs.replace(
        limits,
        title=title.strip(),
        documents=tuple(chosen or ()),
        verdicts=tuple(verdicts or ()),
        tags=tuple(tags or ()),
    )


def _preview(contents: Contents) -> None:
    """What the pack will say, in short."""
    counts = f"{count_of(len(contents.cards), 'finding')}, {count_of(len(contents.pages), 'page')}"
    frame.section("Preview", counts)
    st.text(plain(contents.options.title or contents.summary or contents.title))
    if contents.options.title and contents.summary:
        st.text(plain(contents.summary))
    st.caption(frame.escaped(f"Findings: {contents.cards_words}."))


@st.fragment(run_every=0.5)
def _progress() -> None:
    """How far the pack is; runs by itself while it is made."""
    current = state.pack_job
    if current is not None and current.running:
        share = current.done / current.total if current.total else 0.0
        st.progress(min(share, 1.0), text=frame.escaped(current.text))
        st.button("Cancel", on_click=held.cancel, key="pack_cancel")
        return
    # Done or cancelled: the whole view once more, so that nothing asks twice a second any longer.
    st.rerun()


def _finished(current: held.Job) -> None:
    """The file, or why there is none."""
    if current.written is None:
        st.error(frame.escaped(current.problem or "The pack could not be made."))
        return
    name, mime = held.NAMES[current.form]
    left_out = current.written.left_out
    words = f"{current.written.size / _MEGABYTE:.1f} MB, {count_of(current.written.pages, 'page')} with a picture"
    if left_out:
        words += f"; {count_of(left_out, 'page')} left out to stay within the size"
    st.download_button(
        f"Download {name}",
        current.path.read_bytes,
        file_name=name,
        mime=mime,
        key="pack_download",
        icon=":material/download:",
        on_click="ignore",
    )
    st.caption(frame.escaped(words + "."))


def _make(found: OpenedBoxes, options: PackOptions, form: str, contents: Contents) -> None:
    """The button, the progress, and the finished file."""
    current = state.pack_job
    if current is not None and current.running:
        _progress()
    else:
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Make the pack" if current is None else "Rebuild",
                on_click=held.start,
                args=(found, options, form),
                key="pack_start",
                icon=":material/description:",
            )
            st.download_button(
                "Numbers as CSV",
                held.csv_of(contents),
                file_name="review-pack-numbers.csv",
                mime="text/csv",
                key="pack_csv",
                on_click="ignore",
            )
        if current is not None:
            _finished(current)


def view() -> None:
    """The whole view."""
    read_url("review_pack")
    found = frame.open_boxes("Review pack")
    if found is None:
        return
    frame.files_choice(found)
    chosen = found.pair
    frame.title("Review pack", frame.signature(found, chosen))
    frame.banners(found, chosen)
    headline.operating_point(found, chosen)
    left, right = st.columns([1.4, 1], gap="medium")
    with right:
        limits, form = _limits(found)
    with left:
        options = _choice(found, limits)
        contents = held.contents_of(found, options)
        _preview(contents)
        _make(found, options, form, contents)
    frame.sidebar(found)
    write_url("review_pack")


view()
