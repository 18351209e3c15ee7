"""Files: what is loaded, what is wrong with it, and the way to load something else."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from evaluator import formats
from evaluator.metrics.results import count_of
from evaluator.model.dataset import Side
from evaluator.model.issues import Issue, has_errors, plain
from pages.shared import frame, session
from pages.shared import session_fields as field_files
from pages.shared import session_posters as poster_files

_ROLES: dict[str, Side] = {"Ground truth": "ground_truth", "Prediction": "prediction"}


def _loaded(files: session.Files) -> None:
    """One row per file."""
    sources = [*([files.ground_truth] if files.ground_truth else []), *files.predictions]
    if not sources:
        st.caption("No annotation file is open. Upload one below, or start with layoutscope open FOLDER.")
        return
    rows = [source.annotations for source in sources]
    st.dataframe(
        {
            "File": [plain(source.name) for source in sources],
            "Role": [_role(source, files) for source in sources],
            "Model": [plain(read.model or "") if read else "" for read in rows],
            "Documents": [len(read.documents) if read else None for read in rows],
            "Boxes": [len(read.boxes) if read else None for read in rows],
            "Labels": [", ".join(plain(label) for label in read.labels) if read else "" for read in rows],
            "Issues": [_counted(source.issues) for source in sources],
            "SHA-256": [read.sha256[:12] if read else "" for read in rows],
        },
        hide_index=True,
        row_height=26,
        column_config={
            "Documents": st.column_config.NumberColumn(format="localized", width=80),
            "Boxes": st.column_config.NumberColumn(format="localized", width=70),
            "Labels": st.column_config.TextColumn(width="medium"),
        },
        alt="Files of this session",
    )


def _role(source: session.Source, files: session.Files) -> str:
    """What a file is used as."""
    if source.side == "ground_truth":
        return "Reference (a prediction)" if files.as_reference else "Ground truth"
    return "Prediction"


def _counted(issues: tuple[Issue, ...]) -> str:
    """How many errors and warnings."""
    errors = sum(issue.severity == "error" for issue in issues)
    counts = ((errors, "error"), (len(issues) - errors, "warning"))
    return ", ".join(count_of(count, noun) for count, noun in counts if count) or "none"


def _problems(files: session.Files) -> None:
    """All issues of all files and pairs, errors first."""
    found: list[Issue] = []
    truth = files.ground_truth
    if truth:
        found += truth.issues
    for source in files.predictions:
        found += source.issues
        if source.annotations and truth and truth.annotations:
            found += session.pair_issues(truth.annotations, source.annotations)
    found = sorted(dict.fromkeys(found), key=lambda issue: issue.severity != "error")
    st.html(f'<h2 class="ls-section">Issues <small>{len(found):,} in these files</small></h2>')
    if not found:
        st.caption("Nothing is wrong with these files.")
        return
    if has_errors(found):
        st.error("Files with an error are not evaluated. Each row says what to mend.", icon=":material/error:")
    frame.issues(found)


def _other_formats() -> None:
    """Extracted fields and posters: what is loaded for their views, and what is wrong with it."""
    for title, page, part in (
        ("Extracted fields", "pages/fields.py", field_files),
        ("Posters", "pages/posters.py", poster_files),
    ):
        rows, found = part.loaded_rows(), part.file_issues()
        if not rows:
            continue
        frame.section(title, count_of(len(found), "issue") if found else "nothing is wrong with these files")
        st.dataframe(rows, hide_index=True, row_height=26, alt=f"{title} of this session")
        if found:
            frame.issues(sorted(found, key=lambda issue: issue.severity != "error"))
        st.page_link(page, label=f"Open {page.split('/')[-1].removesuffix('.py').capitalize()}")


def _upload(files: session.Files) -> None:
    """Add or replace annotation files and PDFs."""
    st.html('<h2 class="ls-section">Add files <small>they stay in this session and leave with it</small></h2>')
    left, right = st.columns(2, gap="medium")
    with left, st.form("annotations", clear_on_submit=True):
        role = st.segmented_control("Role of the file", list(_ROLES), default="Prediction", required=True)
        uploaded = st.file_uploader(
            "Annotation file (JSON, schema 1.3), or extracted fields (JSON, JSON lines)",
            type=["json", "jsonl", "ndjson"],
            key="upload_annotations",
        )
        if st.form_submit_button("Read the file") and uploaded is not None:
            _take(files, uploaded.getvalue(), uploaded.name, _ROLES[role or "Prediction"])
    with right, st.form("documents", clear_on_submit=True):
        pdfs = st.file_uploader("PDFs of the pages", type=["pdf"], accept_multiple_files=True, key="upload_pdfs")
        if st.form_submit_button("Add the PDFs") and pdfs:
            added, refused = session.add_pdfs([(pdf.name, pdf.getvalue()) for pdf in pdfs])
            session.choose("pdf_note", (added, refused))
            st.rerun()
        _pdf_note(files)


def _take(files: session.Files, content: bytes, name: str, side: Side) -> None:
    """Read an uploaded file; one with errors is shown, and what was loaded stays in use."""
    recognised = formats.recognise(content, name)
    if recognised is not None and recognised.kind == "fields":
        taken = field_files.take_upload([(name, content)], as_truth=side == "ground_truth")
        session.choose("rejected", taken if taken.documents is None else None)
        st.rerun()
    source = session.read_source(content, name, side)
    if source.annotations is None:
        session.choose("rejected", source)
    elif side == "ground_truth":
        session.choose("rejected", None)
        session.set_files(replace(files, ground_truth=source, as_reference=False))
    else:
        session.choose("rejected", None)
        session.set_files(session.with_prediction(files, source))
    st.rerun()


def _rejected() -> None:
    """The last upload, when it could not be used."""
    source = session.chosen("rejected")
    if source is None:
        return
    st.error(
        "The uploaded file has errors and was not taken; what was loaded before stays in use.", icon=":material/error:"
    )
    frame.issues(source.issues)


def _pdf_note(files: session.Files) -> None:
    """Where PDFs come from, and what became of the last upload."""
    note = session.chosen("pdf_note")
    if note:
        added, refused = note
        st.caption(f"Added {len(added)}." + (f" Not PDFs: {frame.escaped(', '.join(refused))}." if refused else ""))
    if files.pdfs is None:
        st.caption(
            "No PDF folder is open, so pages are shown as empty sheets. "
            "Start with layoutscope open FOLDER --pdfs DIR, or add PDFs here."
        )
    else:
        st.caption(f"PDFs are looked up by name under the folder {frame.escaped(files.pdfs.name)}.")


def _reference(files: session.Files) -> None:
    """Without a ground truth: let one of the models be the reference, on purpose."""
    if files.ground_truth is not None or len(files.predictions) < 2:
        return
    names = {place: source.name for place, source in enumerate(files.predictions) if source.annotations}
    st.warning(
        "No ground truth is open. One of the predictions can serve as reference: the numbers then say how far the "
        "models agree, not which is right.",
        icon=":material/compare_arrows:",
    )
    with st.form("reference"):
        place = st.selectbox("Reference", list(names), format_func=lambda key: plain(names[key]), index=None)
        if st.form_submit_button("Use as reference") and place is not None:
            session.use_as_reference(place)
            st.rerun()


def view() -> None:
    """The whole view."""
    session.begin("files")
    files = session.files()
    frame.title("Files", "what is evaluated, and what is wrong with it")
    _rejected()
    _reference(files)
    _loaded(files)
    _problems(files)
    _other_formats()
    _upload(files)
    found = session.opened()
    if found is not None:
        frame.files_choice(found)
    frame.sidebar(found)


view()
