"""What views share on screen: title line, empty states, and text as Streamlit may show it.

Text from data goes through ``html.escape`` into ``st.html``, or into widgets that render no markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator import formats
from evaluator.components.theme.payload import ThemePayload
from evaluator.components.viewer.reading import READINGS
from evaluator.data.dataset import level_texts
from evaluator.data.issues import Issue, count_of, displayed, folded, issue_count, name_in_list, plain
from evaluator.matching.error_types import ERROR_TYPES
from evaluator.metrics.resampling import FEW_DOCUMENTS
from evaluator.metrics.results import ratio_text, threshold_text
from pages.app import components, protocol, session_files, widgets
from pages.app.cache import Cached
from pages.app.results import result_of, score_threshold, use_standard
from pages.app.session_files import (
    BOXES,
    AnyKind,
    AnyLoadedFiles,
    LoadedBoxes,
    Model,
    PairModel,
    files,
    open_kinds,
)
from pages.app.state import BOXES_ALONE, State, View, modes_of, state

FILES_VIEW = "pages/files.py"
_ISSUES_SHOWN = 200
_DOCUMENT_NAMES = Cached[dict[str, str]](16)
# After "www", ":" and "@": what makes a link, an emoji or an icon of plain text.
# "owner/model" as registries write it; a slash elsewhere belongs to the name.
_OWNER = re.compile(r"\A[\w.-]+/(?=[\w.-])")
_MADE_LATER = re.compile(r"(?<=www)(?=\.)|(?<=[:@])", re.IGNORECASE)


def title(text: str, facts: str = "", counts: Mapping[View, tuple[int, str]] = MappingProxyType({})) -> DeltaGenerator:
    """Draw and return the first line of a view: its modes, with what each lists in `counts`, facts, and its name."""
    away = () if BOXES in open_kinds() else BOXES_ALONE
    modes = {view: name for view, name in modes_of(state.view).items() if view == state.view or view not in away}
    line = st.container(key="title", horizontal=True, vertical_alignment="center", gap="medium")
    with line:
        st.html(f'<h1 class="ls-title">{html.escape(text)}</h1>', width="content")
        if len(modes) > 1:
            with st.container(key="modes", horizontal=True, gap=None, width="content"):
                for view, name in modes.items():
                    count, words = counts.get(view, (None, ""))
                    label = name if count is None else f"{name} {count:,}"
                    if view == state.view:
                        shown = f'<span class="ls-mode" aria-current="page" title="{html.escape(words)}">{label}</span>'
                        st.html(shown, width="content")
                    else:
                        st.page_link(f"pages/{view}.py", label=label, help=escaped(words) or None)
        if facts:
            st.html(facts_of(facts))
    return line


def choices() -> DeltaGenerator:
    """Return what opens from the line of a view: its filter, and choices that are made once."""
    return st.popover("Choices", icon=":material/tune:", key="choices")


def at_right(loaded: AnyLoadedFiles, made_of: str = "") -> DeltaGenerator:
    """Draw the models at the right of the navigation, maybe with what made the numbers; return the place of both."""
    place = st.container(key="at_right", horizontal=True, vertical_alignment="center")
    with place, st.popover(_models_label(loaded), key="models", help=_models_help(loaded)):
        _models(loaded)
        if made_of:
            st.html(facts_of(made_of))
    return place


def thresholds_at_right(loaded: AnyLoadedFiles, label: str) -> DeltaGenerator:
    """Draw the models and the button of the thresholds at the right of the navigation; return what that shows."""
    with at_right(loaded):
        return st.popover(label, icon=":material/tune:", key="thresholds")


def facts_of(text: str) -> str:
    """Return facts in small letters, as HTML."""
    return f'<p class="ls-facts">{html.escape(plain(text))}</p>'


def sample_bar(*, lost: bool = False) -> None:
    """Draw that the sample data are open, or that uploads are `lost`, and the way to other files."""
    is_sample = session_files.sample_is_open()
    if lost and not state.taken:
        of = "the sample data" if is_sample else "what was open at the start"
        with st.container(key="sample_bar"):
            words = f"Your uploads ended with the reload; this is {of}."
            st.html(f'<span><b class="ls-lost">{words}</b> {opener("Drop them again", link=True)}</span>')
        return
    if not is_sample:
        st.container(key="no_bar").empty()
        return
    with st.container(key="sample_bar"):
        st.html(
            "<span><b>Sample data:</b> 8 reports, two simple detectors. "
            f"{opener('Open your own files', link=True)} or drop them anywhere in this window</span>"
        )


def opener(label: str, *, folder: bool = False, link: bool = False) -> str:
    """Return the button that opens a chooser of files, or of a folder; the component of drops handles its click."""
    return f'<button class="ls-opener{" ls-folder" * folder}{" ls-link" * link}">{label}</button>'


def section(text: str, facts: str = "") -> None:
    """Draw a heading inside a view, with facts in small letters behind it."""
    st.html(
        f'<h2 class="ls-section">{html.escape(displayed(text))} <small>{html.escape(displayed(facts))}</small></h2>'
    )


def signature(loaded: LoadedBoxes, chosen: Sequence[Model], *extra: str) -> str:
    """Return protocol, thresholds and counts of a view; one score threshold of all models is said once."""
    of = protocol.chosen()
    every = [(f"≥ {threshold_text(score_threshold(loaded, model))}", model) for model in chosen]
    scores = [f"{score} ({model.letter if isinstance(model, PairModel) else model.name})" for score, model in every]
    if not any(isinstance(model, PairModel) for model in chosen) and len({score for score, _ in every}) == 1:
        scores = [every[0][0]]
    counts = f"{count_of(len(loaded.dataset.documents), 'document')}, {count_of(loaded.dataset.pages, 'page')}"
    mended = [loaded.ground_truth, *(loaded.predictions[model.index] for model in chosen)]
    fixes = [f"fix {source.name}: {', '.join(source.fixes)}" for source in mended if source.fixes]
    parts = [
        f"{of.name} {of.version}",
        protocol.iou_words(),
        "score " + ", ".join(scores),
        *protocol.limit_words(),
        counts,
        *level_texts(*mended),
        *fixes,
        *extra,
    ]
    return " · ".join(parts)


def interval_words(loaded: LoadedBoxes) -> tuple[str, ...]:
    """Return what a signature says of intervals; nothing for so few documents that there are none."""
    return ("95 % intervals over documents",) if len(loaded.dataset.documents) >= FEW_DOCUMENTS else ()


def need_files() -> None:
    """Draw the empty state of a view that needs both sides: what is missing, and the way out."""
    held = files(BOXES)
    if held.ground_truth is None:
        text = "No ground truth is open, so nothing can be evaluated yet."
    elif held.ground_truth.source is None:
        text = "The ground truth has errors, so nothing can be evaluated yet."
    elif not held.models:
        text = "No prediction is open, so there is nothing to compare with the ground truth."
    else:
        text = "No prediction can be evaluated against this ground truth."
    names = " · ".join(each.title.split(" (")[0] for each in formats.FORMATS.values() if each.kind == BOXES.name)
    # Its room is kept until it is drawn, so that nothing moves.
    with st.container(key="need_files"):
        st.html(
            f'<div class="ls-empty"><p>{html.escape(text)}</p><p class="ls-formats">Recognised by content: '
            f"{html.escape(names)}. PDFs and page images are shown behind the boxes.</p></div>"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(opener("Open your own files"), width="content")
            st.button(
                "Open the sample data", icon=":material/folder_open:", on_click=session_files.open_sample, args=(BOXES,)
            )
            st.page_link(FILES_VIEW, label="Open Files", icon=":material/description:")
        if any(session_files.load_items(system).loaded for system in READINGS.values()):
            st.page_link("pages/reading.py", label="Open Reading", icon=":material/subject:")
    if held.ground_truth is not None and held.models:
        # Another protocol may take these files.
        protocol_choice()
        wrong = [issue for issue in session_files.issues(BOXES) if issue.severity == "error"]
        if wrong:
            issues(wrong)


def open_boxes(title_: str, find: Callable[[], LoadedBoxes | None] = session_files.load_boxes) -> LoadedBoxes | None:
    """Return the files of boxes that `find` gives; without them draw the empty state, None."""
    loaded = find()
    if loaded is None:
        title(title_)
        need_files()
    return loaded


def banners(loaded: LoadedBoxes, chosen: Sequence[Model]) -> None:
    """Draw what changes all numbers: a prediction as reference, documents of one file only."""
    if loaded.project.as_reference:
        reference_banner()
    for model in chosen:
        only = loaded.dataset.documents_only_in(model.index)
        if not any(only.values()):
            continue
        result = result_of(loaded, model)
        every = result.micro.row(0)
        shared = result.in_documents(loaded.dataset.in_both(model.index))[0].row(0)
        st.warning(
            f"Model {model.letter if isinstance(model, PairModel) else escaped(model.name)}: "
            f"{count_of(len(only['ground_truth']), 'document')} only in the ground truth and "
            f"{count_of(len(only['prediction']), 'document')} only in the prediction count as missed and false "
            f"positive. F1 {number(every['f1'])} with them, {number(shared['f1'])} without.",
            icon=":material/difference:",
        )
    refused_parts()


def reference_banner() -> None:
    """Draw that a prediction is the reference."""
    st.warning(
        "The reference is a model's prediction, not a ground truth: the numbers show how far the models agree, "
        "not which is right.",
        icon=":material/compare_arrows:",
    )


def refused_parts(more: Sequence[str] = ()) -> None:
    """Draw, once, parts of the address that could not be followed, and choices that files lack."""
    refused = [*State.refused.pop(), *more]
    if refused:
        st.caption(f"The address had parts that could not be followed: {escaped(', '.join(refused))}.")


def letter_and_name(model: Model) -> str:
    """Return a model's letter, when the view gives it one, and its name without its owner."""
    return f"{model.letter} {whole_name(model)}" if isinstance(model, PairModel) else whole_name(model)


def theme_class() -> str:
    """Return a class for our own blocks in the dark theme, to be put after another class."""
    return " ls-dark" if is_dark() else ""


def follow_theme() -> None:
    """Draw the view again when the reader chooses the other theme: charts have its colours."""
    components.theme(ThemePayload(is_dark()), key="theme")


def is_dark() -> bool:
    """Return whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def letter_badge(letter: str) -> str:
    """Return the letter of a model in its colour, as HTML."""
    return f'<i class="ls-letter ls-{letter.lower()}">{letter}</i>'


def number(value: float | None) -> str:
    """Return a ratio with three decimals; undefined is n/a."""
    return ratio_text(value)


def whole_name(model: Model) -> str:
    """Return a model's name without its owner."""
    return _OWNER.sub("", model.name)


def shorten(text: str, length: int) -> str:
    """Return text of at most so many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def escaped(text: str) -> str:
    """Return text for a widget that renders Markdown, with everything that is markup escaped.

    Streamlit makes links and images of Markdown, and looks for addresses, emoji and icons after escapes are resolved:
    an invisible word joiner keeps those apart.
    """
    apart = _MADE_LATER.sub("\u2060", displayed(text))
    return "".join(f"\\{char}" if char in "\\`*_{}[]()<>#+-.!|~$:&@/" else char for char in apart)


def small_lines(texts: Sequence[str]) -> None:
    """Draw lines of counts in small letters."""
    st.html(f'<div class="ls-counts">{"<br>".join(html.escape(plain(text)) for text in texts)}</div>')


def document_choice(loaded: LoadedBoxes) -> None:
    """Draw the choice of all documents, or one."""

    def all_names() -> dict[str, str]:
        names = {document.doc_id: name_in_list(document.name) for document in loaded.dataset.documents}
        return {"": f"All {count_of(len(names), 'document')}", **names}

    widgets.choice("Document", _DOCUMENT_NAMES.of(loaded.digests, all_names), State.within)


def label_choice(loaded: LoadedBoxes) -> None:
    """Draw the choice of all evaluated labels, or one."""
    labels = loaded.dataset.labels[: loaded.dataset.evaluated]
    names = {"": f"All {count_of(len(labels), 'label')}", **{label: displayed(label) for label in labels}}
    widgets.choice("Label", names, State.label)


def mistake_choice(counts: Mapping[str, int]) -> None:
    """Draw the choice of any names of mistakes, each with its number."""
    names = {name: f"{ERROR_TYPES['document'][name].chip} {count:,}" for name, count in counts.items()}
    widgets.several("Mistake", names, State.mistake_names.key, persist_state="session", label_visibility="collapsed")


def _models(loaded: AnyLoadedFiles) -> None:
    if isinstance(loaded, LoadedBoxes):
        protocol_choice()
    truth = loaded.project.ground_truth
    st.html(f'<div class="ls-truth"><b>Ground truth</b> {html.escape(displayed(truth.name if truth else ""))}</div>')
    roles = (", baseline", ", candidate") if len(loaded.pair) == 2 else ("",)
    for model, role in zip(loaded.pair, roles, strict=True):
        model_choice(loaded, model, role)
    if len(loaded.pair) == 2:
        st.button("Swap A and B", icon=":material/swap_horiz:", on_click=_swap, args=(loaded,), width="stretch")
    if isinstance(loaded, LoadedBoxes):
        st.html(_counts(loaded))


def _models_label(loaded: AnyLoadedFiles) -> str:
    """Return letters and names of the models; what is in italics ends early where there is less room."""
    return " ".join(f"**{model.letter}** *{escaped(whole_name(model))}*" for model in loaded.pair)


def _models_help(loaded: AnyLoadedFiles) -> str:
    """Return letters and whole names of the models, for the tooltip of a bar where names may end early."""
    return ", ".join(f"{model.letter} {escaped(model.name)}" for model in loaded.pair)


def _swap(loaded: AnyLoadedFiles) -> None:
    a, b = loaded.pair
    for field, model in zip(loaded.kind.model_fields, (b, a), strict=True):
        field.set(model.index)
    state.box = None


def protocol_choice() -> None:
    """Draw the protocols that match boxes; another one begins at its own thresholds."""
    titles = {name: f"{name} {each.version}" for name, each in protocol.available().items()}
    if state.protocol not in titles:
        state.protocol = protocol.chosen().name
    widgets.choice("Protocol", titles, State.protocol, on_change=State.protocol.changed(use_standard))
    if "max_detections" in protocol.chosen().options.__struct_fields__:
        st.number_input(
            "Predictions per page and label",
            min_value=1,
            max_value=1_000_000,
            key=State.max_detections.key,
            persist_state="session",
            help="So many count, the best ones: COCO takes 100.",
        )
    if state.polygons or session_files.has_outlines():
        st.checkbox(
            "Compare outlines",
            key=State.polygons.key,
            persist_state="session",
            help="IoU, coverage and purity of polygons and masks where a file has them; a box without an outline "
            "counts as it is. Otherwise the boxes around them are compared.",
        )


def model_choice(loaded: AnyLoadedFiles, model: PairModel, role: str = "") -> None:
    """Draw which open model is A or B; one that is the other changes places with this one."""
    names, field = loaded.names, loaded.kind.model_fields["AB".index(model.letter)]
    field.set(model.index)
    pair = zip(loaded.kind.model_fields, loaded.pair, strict=False)
    others = [(its, other.index) for its, other in pair if its is not field]

    def give_way() -> None:
        for its, index in others:
            if field.get() == index:
                its.set(model.index)

    chosen: object = st.selectbox(
        f"Model {model.letter}{role}",
        list(range(len(names))),
        format_func=lambda index: displayed(names[index]),
        key=field.key,
        persist_state="session",
        disabled=len(names) < 2,
        on_change=field.changed(give_way),
    )
    if not isinstance(chosen, int):
        # The browser names an option by its words, and another file has changed them meanwhile.
        field.set(model.index)


def issues_line(loaded: LoadedBoxes) -> str:
    """Return how many issues the files have, which the view Files lists."""
    issues = issue_count(loaded.issues)
    return f"{count_of(issues, 'issue')} in the files" if issues else "No issues in the files"


def _counts(loaded: LoadedBoxes) -> str:
    dataset = loaded.dataset
    lines = [
        f"{count_of(dataset.pages, 'page')}, {count_of(len(dataset.documents), 'document')}",
        f"{len(dataset.ground_truth):,} ground-truth boxes, {count_of(dataset.evaluated, 'label')}",
        issues_line(loaded),
    ]
    return '<div class="ls-counts">' + "<br>".join(html.escape(line) for line in lines) + "</div>"


def corrected_table(heads: Sequence[str], rows: str, signatures: Sequence[str]) -> None:
    """Draw official and corrected numbers, rows from `corrected_row`, with what made them."""
    columns = "".join(f'<th scope="col">{head}</th>' for head in heads)
    signed = "<br>".join(html.escape(plain(line)) for line in signatures)
    st.html(
        f'<div class="ls-wide"><table class="ls-corrected{theme_class()}"><thead><tr><th></th><th></th>{columns}</tr>'
        f'</thead><tbody>{rows}</tbody></table></div><p class="ls-signature">{signed}</p>'
    )


def corrected_row(name: str, which: str, cells: Sequence[str]) -> str:
    """Return a row of `corrected_table` as HTML: "official", "corrected" or "change"."""
    body = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="ls-{which}"><th scope="row">{name}</th><td>{which}</td>{body}</tr>'


def loaded_rows(kind: AnyKind) -> list[dict[str, str | int | None]]:
    """Return what is loaded of a kind, one row per side."""
    roles = {"ground_truth": "Ground truth", "prediction": "Prediction"}
    return [
        {
            "Role": roles[member.side],
            "File": displayed(member.name),
            "Format": kind.name,
            kind.size_heading: kind.size(member.source) if member.source is not None else None,
            "Issues": issue_count(member.issues),
            "SHA-256": member.source.sha256[:12] if member.source is not None else "",
        }
        for member in files(kind).members
    ]


def issues(issues: Sequence[Issue]) -> None:
    """Draw issues of files as a table: file, place, rule, found, fix; many of one rule are one row."""
    issues = folded(issues)
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Severity", "File", "Place", "Rule", "Found", "Fix"))
    rows = []
    for issue in issues[:_ISSUES_SHOWN]:
        texts = (issue.severity, issue.file, issue.place, issue.rule, issue.found, issue.fix)
        rows.append(f"<tr>{''.join(f'<td>{html.escape(plain(text))}</td>' for text in texts)}</tr>")
    st.html(
        f'<div class="ls-wide"><table class="ls-issues{theme_class()}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    if len(issues) > _ISSUES_SHOWN:
        st.caption(f"The first {_ISSUES_SHOWN} of {len(issues):,}; layoutscope check --json lists all.")
