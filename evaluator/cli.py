"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on.

Owns argument parsing, progress, where output goes and exit codes: 0 fine, 1 a gate failed, 2 bad input or
usage, 3 internal error. Results go to standard output, everything else to standard error. Evaluation,
reading and formatting are other rooms'.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError
from rich.console import Console
from rich.text import Text

from evaluator import evaluation, readers, report, workspace
from evaluator.dataset import Annotations
from evaluator.errors import BadInput, Finding, has_errors, plain
from evaluator.evaluation import Evaluation, OptionError, Options
from evaluator.protocols import PROTOCOLS
from evaluator.results import count_of
from evaluator.version import __version__
from evaluator.workspace import WORKSPACE_VARIABLE

OK: Final = 0
GATE_FAILED: Final = 1
BAD_INPUT: Final = 2
INTERNAL_ERROR: Final = 3

_FIRST_PORT: Final = 8501
_PORTS_TRIED: Final = 100
_START_SECONDS: Final = 60.0

_options = Group("Boxes", sort_key=1)
_own = Group("Options of one protocol", sort_key=2)
_output = Group("Output", sort_key=3)

app = App(
    name="layoutscope",
    help="Interactive error analysis for document layout detection and extraction.",
    version=f"layoutscope {__version__}",
    version_flags=["--version"],
    help_format="plaintext",
)


class UsageError(Exception):
    """Raised for arguments that parse but make no sense; the message is one sentence with its fix."""


@app.default
def dashboard(*, port: int | None = None, browser: bool = True) -> int:
    """Start the dashboard on the bundled sample data and print its address.

    Parameters
    ----------
    port
        Port on this machine; the first free one from 8501 when not given.
    browser
        Open the browser when the dashboard is up.
    """
    sample = _dashboard_folder() / "sample_data"
    found = workspace.Workspace(
        ground_truth=sample / "ground_truth.json",
        predictions=(sample / "lines.json", sample / "blocks.json"),
        pdfs=sample / "pdf",
    )
    return _serve(found, port=port, browser=browser)


@app.command(name="open")
def open_paths(
    paths: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    gt: Path | None = None,
    pred: Annotated[tuple[Path, ...], Parameter(negative="")] = (),
    pdfs: Path | None = None,
    as_reference: Annotated[bool, Parameter(negative="")] = False,
    port: int | None = None,
    browser: bool = True,
) -> int:
    """Start the dashboard on folders and files; ground truth, predictions and PDFs are told by content.

    Parameters
    ----------
    paths
        Folders or files.
    gt
        The ground truth, when it should not be guessed.
    pred
        A prediction file; repeat it for more models.
    pdfs
        The folder under which the PDFs are looked up by name.
    as_reference
        Allow --gt to be a prediction file; the dashboard says so in a banner.
    port
        Port on this machine; the first free one from 8501 when not given.
    browser
        Open the browser when the dashboard is up.
    """
    found = workspace.find(paths, ground_truth=gt, predictions=pred, pdfs=pdfs, as_reference=as_reference)
    sys.stderr.write(report.findings_text(found.findings))
    return _serve(found, port=port, browser=browser)


@app.command
def check(
    files: Annotated[list[Path], Parameter(negative="")],
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Read and validate files; list all findings; exit 2 when any of them is an error.

    A ground truth and predictions given together are also checked against each other.

    Parameters
    ----------
    files
        Annotation files, or folders of them.
    json
        Write JSON to standard output.
    """
    results = [_check(path) for path in files]
    annotations = [read for read, _ in results if read is not None]
    findings = [finding for _, found in results for finding in found]
    truths = [read for read in annotations if read.side == "ground_truth"]
    if len(truths) == 1:
        predictions = [read for read in annotations if read.side == "prediction"]
        findings += [finding for read in predictions for finding in evaluation.check_pair(truths[0], read)]
    if json:
        described = [_described(path, read) for path, (read, _) in zip(files, results, strict=True)]
        print(report.to_json({"files": described, "findings": findings}))
    else:
        sys.stdout.write(report.findings_text(findings))
        errors = sum(finding.severity == "error" for finding in findings)
        warnings = count_of(len(findings) - errors, "warning")
        print(f"{len(files)} checked: {count_of(errors, 'error')}, {warnings}")
    return BAD_INPUT if has_errors(findings) else OK


@app.command
def evaluate(
    protocol: str,
    /,
    *,
    gt: Path,
    pred: Annotated[list[Path], Parameter(negative="")],
    iou: Annotated[tuple[str, ...], Parameter(group=_options, negative="")] = (),
    min_score: Annotated[float | None, Parameter(group=_options)] = None,
    min_area: Annotated[float | None, Parameter(group=_options)] = None,
    labels: Annotated[str | None, Parameter(group=_options)] = None,
    map_label: Annotated[tuple[str, ...], Parameter(group=_options, negative="")] = (),
    as_reference: Annotated[bool, Parameter(group=_options, negative="")] = False,
    format: Annotated[str | None, Parameter(group=_options)] = None,
    class_weight: Annotated[tuple[str, ...], Parameter(group=_own, negative="")] = (),
    ap: Annotated[Literal["11-point", "all-point"] | None, Parameter(group=_own)] = None,
    small_px: Annotated[float | None, Parameter(group=_own)] = None,
    line_px: Annotated[float | None, Parameter(group=_own)] = None,
    lenient: Annotated[bool, Parameter(group=_own, negative="")] = False,
    classes: Annotated[Literal["auto", "same", "different"] | None, Parameter(group=_own)] = None,
    missing_page: Annotated[Literal["penalize", "ignore"] | None, Parameter(group=_own)] = None,
    page_size: Annotated[str | None, Parameter(group=_own)] = None,
    pdfs: Annotated[Path | None, Parameter(group=_own)] = None,
    exact: Annotated[bool, Parameter(group=_own, negative="")] = False,
    parity: Annotated[Literal["none", "stickler"] | None, Parameter(group=_own)] = None,
    recall_grid: Annotated[Literal["linspace", "decimal"] | None, Parameter(group=_own)] = None,
    schema: Annotated[Path | None, Parameter(group=_own)] = None,
    profile: Annotated[Literal["documented", "published"] | None, Parameter(group=_own)] = None,
    json: Annotated[bool, Parameter(group=_output, negative="")] = False,
    csv: Annotated[bool, Parameter(group=_output, negative="")] = False,
    markdown: Annotated[bool, Parameter(group=_output, negative="")] = False,
    out: Annotated[Path | None, Parameter(group=_output)] = None,
) -> int:
    """Evaluate predictions against a ground truth.

    Parameters
    ----------
    protocol
        The evaluation system; see the README for the list.
    gt
        Ground-truth file or folder.
    pred
        Prediction file or folder; repeat it for more models.
    iou
        IoU threshold in (0, 1], or a range "0.50:0.95:0.05"; repeat it for more.
    min_score
        Leave out predictions below this score before matching.
    min_area
        Leave out predictions below this share of the page (0.008 for the published World Bank numbers).
    labels
        Score these labels only, separated by commas.
    map_label
        Rename a label in both files, "fig=Figure"; repeat it for more.
    as_reference
        Allow --gt to be a prediction file.
    format
        Format of the files, when it should not be told by content.
    class_weight
        snapshot: weight of a label in the mean over labels, Table=2; repeat it for more.
    ap
        pod: how average precision is read off the curve.
    small_px
        pod: objects of at most this width and height are not counted.
    line_px
        pod: regions of at most this width or height count as lines and are left out.
    lenient
        pod: repair what the format allows, with a warning each.
    classes
        pixel: whether both sides have the same classes.
    missing_page
        pixel: a page that one side lacks counts as background, or is left out.
    page_size
        pixel: width and height, "612x792", of pages whose size neither file nor PDF gives.
    pdfs
        pixel: folder of the PDFs that give the sizes of the pages.
    exact
        pixel: add the integer counts of label sets to the JSON.
    parity
        fields: reproduce the pairing of the reference program.
    recall_grid
        fields: how the 101 recall points are computed.
    schema
        fields: JSON file that says how values are compared.
    profile
        posters: the text of the specification, or what reproduces the published table.
    json
        Write JSON to standard output.
    csv
        Write CSV to standard output.
    markdown
        Write Markdown to standard output.
    out
        Folder that gets result.json, result.csv and result.md.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}.")
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown.")
    _need_ratio("--min-score", min_score)
    _need_ratio("--min-area", min_area)
    weights = {name: _weight(name, value) for name, value in (_assignment("--class-weight", t) for t in class_weight)}
    options = Options(
        iou=tuple(value for text in iou for value in _thresholds(text)) or None,
        min_score=min_score,
        min_area=min_area,
        labels=_names(labels),
        map_label=dict(_assignment("--map-label", text) for text in map_label) or None,
        as_reference=as_reference or None,
        format=format,
        class_weight=weights or None,
        ap=ap,
        small_px=small_px,
        line_px=line_px,
        lenient=lenient or None,
        classes=classes,
        missing_page=missing_page,
        page_size=_size(page_size),
        pdfs=pdfs,
        exact=exact or None,
        parity=parity,
        recall_grid=recall_grid,
        schema=schema,
        profile=profile,
    )
    with _progress("Reading") as say:
        try:
            results = evaluation.evaluate(protocol, gt, pred, options, say)
        except OptionError as problem:
            raise UsageError(f"{problem}.") from problem
    _write(results, json=json, csv=csv, markdown=markdown, out=out)
    return OK


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` when absent. ``--debug`` anywhere shows tracebacks.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        # What is piped or saved is UTF-8 whatever the locale; a terminal shows what it cannot print as an escape.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    sys.exit(_run(words, debug=debug))


def _run(words: list[str], *, debug: bool) -> int:
    """Exit code of a command line; no exception leaves it."""
    try:
        code = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except BrokenPipeError:
        # The reader has seen enough (``| head``); the interpreter must not try to write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (CycloptsError, UsageError, BadInput, OSError) as problem:
        sys.stderr.write(_complaint(problem))
        sys.stderr.write(traceback.format_exc() if debug else "")
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except Exception as problem:  # noqa: BLE001 - the last line of defence: exit code 3, no traceback
        sys.stderr.write(f"internal error: {type(problem).__name__}: {plain(str(problem))}\n")
        sys.stderr.write(traceback.format_exc() if debug else "Run again with --debug for the traceback.\n")
        return INTERNAL_ERROR


def _complaint(problem: Exception) -> str:
    """What is wrong with the input or the usage, in whole lines."""
    if isinstance(problem, BadInput):
        return report.findings_text(problem.findings)
    if isinstance(problem, UnusedCliTokensError):
        words = " ".join(problem.unused_tokens or ())
        return f"error: {plain(words)} is not understood here.\nSee layoutscope --help.\n"
    if isinstance(problem, OSError):
        name = Path(problem.filename).name if isinstance(problem.filename, str) else "file"
        return f"error: {plain(name)}: {plain(problem.strerror or str(problem))}.\n"
    more = "See layoutscope --help.\n" if isinstance(problem, CycloptsError) else ""
    return f"error: {plain(str(problem))}\n{more}"


def _check(path: Path) -> tuple[Annotations | None, tuple[Finding, ...]]:
    """What a file holds, if it can be evaluated, and all that is wrong or odd about it."""
    try:
        read = readers.read(path, max_per_rule=None)
    except BadInput as problem:
        return None, problem.findings
    return read, read.findings


def _described(path: Path, read: Annotations | None) -> dict[str, Any]:
    """A checked file as plain values."""
    if read is None:
        return {"name": path.name, "valid": False}
    return {
        "name": path.name,
        "valid": True,
        "sha256": read.sha256,
        "format": read.format,
        "side": read.side,
        "model": read.model,
        "labels": read.labels[: read.evaluated],
        "documents": len(read.documents),
        "pages": len(set(zip(read.page_document.tolist(), read.page_index.tolist(), strict=True))),
        "boxes": len(read.boxes),
    }


def _write(
    results: Sequence[Evaluation],
    *,
    json: bool,
    csv: bool,
    markdown: bool,
    out: Path | None,
) -> None:
    """Results to standard output in the chosen form, and all forms into the folder when one is given."""
    tables = [evaluated.result.table() for evaluated in results]
    # Made when it is wanted: the matrices of every page are dear, and most runs want a table.
    forms: dict[str, Callable[[], str]] = {
        "result.json": lambda: report.to_json(_values(results)) + "\n",
        "result.csv": lambda: report.to_csv(tables),
        "result.md": lambda: report.to_markdown(tables),
    }
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, form in forms.items():
            (out / name).write_text(form(), encoding="utf-8", newline="\n")
    chosen = "result.json" if json else "result.csv" if csv else "result.md" if markdown else None
    sys.stdout.write(forms[chosen]() if chosen else report.to_text(tables))
    if not json:  # the JSON has them
        unique = {finding: None for evaluated in results for finding in evaluated.findings}
        sys.stderr.write(report.findings_text(list(unique)))


def _values(results: Sequence[Evaluation]) -> dict[str, Any] | list[dict[str, Any]]:
    """The result of one model, or a list of those of several."""
    values = [evaluated.to_json() for evaluated in results]
    return values[0] if len(values) == 1 else values


def _thresholds(text: str) -> Iterator[float]:
    """The IoU thresholds of one option: a number, or start:stop:step with both ends."""
    try:
        start, *rest = (float(part) for part in text.split(":"))
    except ValueError:
        raise UsageError(f'--iou must be a number or a range such as "0.50:0.95:0.05"; found {text}.') from None
    if len(rest) not in (0, 2):
        raise UsageError(f'--iou must be a number or a range such as "0.50:0.95:0.05"; found {text}.')
    stop, step = rest or (start, 1.0)
    for value in (start, stop):
        if not 0.0 < value <= 1.0:
            raise UsageError(f"--iou must be above 0 and at most 1; found {value:g}.")
    if not (step >= 0.001 and start <= stop):
        raise UsageError(f"--iou must rise from start to stop in steps of at least 0.001; found {text}.")
    for place in range(int(round((stop - start) / step, 6)) + 1):
        # Rounded, so that the third of 0.50:0.95:0.05 is 0.6 and not 0.6000000000000001.
        yield round(start + place * step, 12)


def _size(text: str | None) -> tuple[float, float] | None:
    """A page size such as 612x792."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        width, height = (float(part) for part in text.lower().split("x"))
        if 0.0 < width < float("inf") and 0.0 < height < float("inf"):
            return width, height
    raise UsageError(f'--page-size must look like "612x792"; found {text}.')


def _names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; None when none were asked for."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError("--labels must name at least one label.")
    return names


def _need_ratio(option: str, value: float | None) -> None:
    """Refuse a share that is not in [0, 1]."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise UsageError(f"{option} must be between 0 and 1; found {value:g}.")


def _assignment(option: str, text: str) -> tuple[str, str]:
    """``name=value`` in two parts."""
    name, equals, value = text.rpartition("=")
    if not (name and equals and value):
        raise UsageError(f'{option} must look like "name=value"; found {text}.')
    return name, value


def _weight(label: str, text: str) -> float:
    """A weight as a number, at least 0 and finite."""
    with contextlib.suppress(ValueError):
        weight = float(text)
        if 0.0 <= weight < float("inf"):
            return weight
    raise UsageError(f"--class-weight of {label} must be a number of at least 0; found {text}.")


@contextlib.contextmanager
def _progress(start: str) -> Any:  # noqa: ANN401 - a generator behind contextmanager
    """A status line on a terminal's standard error; silent elsewhere. Yields a function that changes it."""
    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        yield lambda _text: None
        return
    with console.status(Text(start)) as status:
        say: Callable[[str], None] = lambda text: status.update(Text(plain(text)))  # noqa: E731
        yield say


def _dashboard_folder() -> Path:
    """Folder of app.py: beside this package in a checkout, inside it in an installed wheel."""
    package = Path(__file__).resolve().parent
    return package.parent if (package.parent / "app.py").is_file() else package / "dashboard"


def _serve(found: workspace.Workspace, *, port: int | None, browser: bool) -> int:
    """Run the dashboard until it is stopped; its exit code."""
    chosen = _free_port(port)
    folder = _dashboard_folder()
    described = {
        "ground_truth": str(found.ground_truth.resolve()) if found.ground_truth else None,
        "predictions": [str(path.resolve()) for path in found.predictions],
        "pdfs": str(found.pdfs.resolve()) if found.pdfs else None,
        "as_reference": found.as_reference,
    }
    environment = {**os.environ, WORKSPACE_VARIABLE: msgspec.json.encode(described).decode()}
    # -P: the folder of the script must not come before the standard library in the search for modules.
    command = [sys.executable, "-P", str(folder / "pages" / "_serve.py"), str(folder / "app.py")]
    # Said here as well as in config.toml: a config of the folder we are started from must not loosen these.
    safe = {"server.port": str(chosen), "server.address": "127.0.0.1", "server.headless": "true"}
    safe |= {"browser.gatherUsageStats": "false", "server.fileWatcherType": "none"}
    command += [word for name, value in safe.items() for word in (f"--{name}", value)]
    address = f"http://127.0.0.1:{chosen}"
    # Its own messages are messages: they go to standard error, and our line alone to standard output.
    child = subprocess.Popen(command, env=environment, stdout=2)
    with contextlib.suppress(ValueError):  # only the main thread may set it; elsewhere the caller stops us
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        if _answers(f"{address}/_stcore/health", child):
            print(f"LayoutScope is running at {address} (Ctrl+C stops it)", flush=True)
            if browser:
                webbrowser.open(address)
        code = child.wait()
    except KeyboardInterrupt:
        code = OK
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()
    return OK if code in (0, -signal.SIGTERM, -signal.SIGINT) else INTERNAL_ERROR


def _free_port(wanted: int | None) -> int:
    """The wanted port if it is free, or the first free one from 8501."""
    candidates = [wanted] if wanted is not None else range(_FIRST_PORT, _FIRST_PORT + _PORTS_TRIED)
    for port in candidates:
        with socket.socket() as probe:
            # The server sets it too: without it a port counts as taken for a minute after the last run.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError, OverflowError):
                probe.bind(("127.0.0.1", port))
                return int(probe.getsockname()[1])
    raise UsageError(f"port {wanted or _FIRST_PORT} is in use or not allowed; choose another with --port.")


def _answers(url: str, child: subprocess.Popen[bytes]) -> bool:
    """Whether the dashboard came up within a minute."""
    deadline = time.monotonic() + _START_SECONDS
    # An explicit opener: a proxy named in the environment has no business with this machine's own address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(OSError), opener.open(url, timeout=1):
            return True
        time.sleep(0.1)
    return False


if __name__ == "__main__":
    main()
