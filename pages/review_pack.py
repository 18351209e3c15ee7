"""Pack: what the meeting needs in one file."""

from __future__ import annotations

import msgspec
import streamlit as st

from evaluator.data.issues import BadInput, count_of, name_in_list, plain
from evaluator.pack.contents import Contents
from evaluator.pack.diff import PackRecord, recorded
from evaluator.pack.options import MOST_PAGES_PER_YEAR, MOST_SECONDS, VERDICT_WORDS, PackOptions, today
from pages.app import frame, jobs, protocol, session_files, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import LoadedBoxes
from pages.views.compare import decision
from pages.views.findings import review_counts
from pages.views.overview import headline
from pages.views.overview.protocol_metrics import has_own_numbers
from pages.views.pack import pack_job

_MEGABYTE = 2**20
# More documents than this are chosen in the terminal.
_DOCUMENTS = 60


def _form() -> str:
    form = st.segmented_control(
        "Form",
        list(pack_job.FORMS),
        format_func=pack_job.FORMS.__getitem__,
        default="html",
        key="pack_form",
        required=True,
    )
    return form or "html"


def _limits(loaded: LoadedBoxes) -> PackOptions:
    pages = st.slider("Maximum pages with a picture", 0, max(500, loaded.dataset.pages), 60, key="pack_pages")
    explained = "Pages get less sharp, then fewer, to stay within it."
    budget = st.slider("Maximum size (MB)", 1, 200, 20, key="pack_budget", help=explained)
    usual = PackOptions()
    with st.expander("Cost of correction"):
        seconds = st.number_input(
            "Seconds per box",
            min_value=0.5,
            max_value=float(MOST_SECONDS),
            value=usual.seconds,
            step=0.5,
            format="%g",
            key="pack_seconds",
            help="Time to correct one box.",
        )
        yearly = st.number_input(
            "Pages per year",
            min_value=1,
            max_value=MOST_PAGES_PER_YEAR,
            value=usual.pages_per_year,
            step=1_000,
            key="pack_yearly",
            help="Pages per year for which the cost of correction is estimated.",
        )
    return PackOptions(
        date=today(),
        pages=pages,
        budget=budget * _MEGABYTE,
        seconds=float(seconds),
        pages_per_year=int(yearly),
        rule=decision.rule(),
    )


def _title() -> str:
    hint = "The finding in words; from the comparison when empty"
    return st.text_input("Title", key="pack_title", max_chars=200, placeholder=hint).strip()


def _earlier() -> PackRecord | None:
    with st.expander("What changed since an earlier pack"):
        uploaded = st.file_uploader(
            "Earlier pack",
            type="html",
            key="pack_earlier",
            help="A review-pack.html: what changed since then in the decision, the numbers and the findings goes in.",
        )
        if uploaded is None:
            return None
        try:
            return recorded(uploaded.name, uploaded.getvalue())
        except BadInput as problem:
            frame.issues(problem.issues)
            return None


def _also(loaded: LoadedBoxes | None) -> tuple[str, ...]:
    titles = {name: frame.escaped(each.title) for name, each in pack_job.systems(loaded).items()}
    if not titles:
        return ()
    return widgets.several(
        "Also include" if loaded is not None else "Include",
        titles,
        # Another protocol or other files, and the choice begins anew.
        f"pack_also_{'_'.join(titles)}",
        default=None if loaded is not None else list(titles),
        wrap=True,
        help="Each with its numbers, the comparison of A and B, and its curves, heatmaps or texts. Evaluated when the "
        "pack is made.",
    )


def _short(name: str) -> str:
    return frame.escaped(frame.shorten(name, 34))


def _choice(loaded: LoadedBoxes, limits: PackOptions) -> PackOptions:
    title = _title()
    names = {document.doc_id: name_in_list(document.name) for document in loaded.dataset.documents}
    offered = {document: _short(name) for document, name in list(names.items())[:_DOCUMENTS]}
    documents = widgets.several(
        "Documents",
        offered,
        "pack_documents",
        wrap=True,
        help="Whose findings, causes and pages are shown; none chosen means all. Numbers are over all documents.",
    )
    explained = "Findings of these verdicts; none chosen means all."
    verdicts = widgets.several("Verdicts", VERDICT_WORDS, "pack_verdicts", help=explained)
    known = {tag: _short(tag) for tag in pack_job.tags()}
    tags = widgets.several("Tags", known, "pack_tags", wrap=True) if known else ()
    return msgspec.structs.replace(limits, title=title, documents=documents, verdicts=verdicts, tags=tags)


def _preview(loaded: LoadedBoxes, contents: Contents, *, is_made: bool) -> None:
    decided = sum(cause.decided for cause in contents.causes)
    counts = (
        f"{decided:,} of {count_of(len(contents.causes), 'cause')} decided, {count_of(len(contents.pages), 'page')}"
    )
    frame.section("Preview", counts)
    if has_own_numbers(loaded) and not is_made:
        # The decision follows from these numbers, too: half of the comparison would say another one.
        if contents.options.title:
            st.text(plain(contents.options.title))
        st.caption(
            f"Decision and summary follow from the numbers of {protocol.chosen().title} at the score thresholds above. "
            "They are computed when the pack is made."
        )
    else:
        st.text(plain(contents.options.title or contents.summary or contents.title))
        if contents.options.title and contents.summary:
            st.text(plain(contents.summary))
    _chapters(contents)
    if contents.since is not None:
        change = contents.since.rows[0]
        st.caption(frame.escaped(f"{contents.since.heading}: decision {change.before}, now {change.now}."))
    st.caption(frame.escaped(f"Decisions: {contents.decisions_words}"))


def _chapters(contents: Contents) -> None:
    for chapter in contents.chapters:
        if chapter.decision is not None:
            st.text(plain(f"{chapter.title}: {chapter.decision.headline}"))


def _finished(made: pack_job.FinishedPack) -> None:
    if made.written is not None and not made.path.is_file():
        # Streamlit ends what belongs to a session when its connection is lost for long.
        st.info("The pack was lost with the connection. Rebuild it.")
        return
    if made.written is None:
        st.error(frame.escaped(made.problem))
        if made.issues:
            frame.issues(made.issues)
        return
    name, mime = pack_job.NAMES[made.form]
    left_out = made.written.left_out
    words = f"{made.written.size / _MEGABYTE:.1f} MB, {made.written.shown}"
    if left_out:
        words += f"; {count_of(left_out, 'page')} left out to stay within the size"
    st.download_button(
        f"Download {name}",
        made.path.read_bytes,
        file_name=name,
        mime=mime,
        key="pack_download",
        icon=":material/download:",
        on_click="ignore",
    )
    st.caption(frame.escaped(words + "."))


def _make(
    loaded: LoadedBoxes | None,
    options: PackOptions,
    form: str,
    also: tuple[str, ...],
    contents: Contents | None,
    *,
    earlier: PackRecord | None = None,
) -> None:
    current = pack_job.JOB.current
    if current is not None and current.running:
        jobs.progress(pack_job.JOB, lambda job: frame.escaped(job.text), pack_job.JOB.cancel, "Cancel", "pack_cancel")
        return
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Make the pack" if current is None else "Rebuild",
            on_click=pack_job.start,
            args=(loaded, options, form, also, earlier),
            key="pack_start",
            type="primary",
            icon=":material/description:",
            disabled=loaded is None and not also,
        )
        if contents is not None:
            st.download_button(
                "Numbers as CSV",
                pack_job.csv_of(contents),
                file_name="review-pack-numbers.csv",
                mime="text/csv",
                key="pack_csv",
                on_click="ignore",
            )
    if current is not None and current.result is not None:
        _finished(current.result)
    elif current is not None:
        st.error(frame.escaped("The pack could not be made."))


def _without_boxes() -> None:
    frame.title("Pack")
    of_boxes = session_files.files(session_files.BOXES)
    if of_boxes.ground_truth is not None or of_boxes.models:
        # They may be meant to go in: what is wrong with them, and the other protocols.
        frame.need_files()
    st.caption("No boxes can be compared, so this pack has no findings and no pages.")
    left, right = st.columns([1.4, 1], gap="medium")
    with right:
        form = _form()
    with left:
        options = PackOptions(date=today(), title=_title())
        also = _also(None)
        current = pack_job.JOB.current
        if current is not None and current.result is not None and current.result.contents is not None:
            _chapters(current.result.contents)
        _make(None, options, form, also, None)


def view() -> None:
    """Draw the whole view."""
    read_url("review_pack")
    if session_files.load_boxes() is None and pack_job.systems(None):
        _without_boxes()
        write_url("review_pack")
        return
    loaded = frame.open_boxes("Pack")
    if loaded is None:
        return
    chosen = loaded.pair
    frame.title("Pack", counts=review_counts.counts_of(loaded))
    frame.banners(loaded, chosen)
    headline.thresholds(loaded, chosen, frame.signature(loaded, chosen))
    left, right = st.columns([1.4, 1], gap="medium")
    with right:
        form = _form()
        limits = _limits(loaded)
        earlier = _earlier()
    with left:
        options = _choice(loaded, limits)
        also = _also(loaded)
        contents, made = (
            pack_job.contents_of(loaded, options, earlier),
            pack_job.JOB.result(pack_job.choices(loaded, options, also, earlier)),
        )
        finished = None if made is None else made.contents
        _preview(loaded, finished or contents, is_made=finished is not None)
        _make(loaded, options, form, also, contents, earlier=earlier)
    write_url("review_pack")


view()
