"""No test writes where the user's own state is or connects to another machine; no example of Hypothesis has a deadline.
With pytest-xdist a file is one piece of work, and the longest come first, so that no worker is left alone with one.
"""

import functools
import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclopts.argument import _collection
from hypothesis import settings

from tests import network, run_folder

# A busy machine is no fault of the code: what takes too long meets the timeout of pytest.
# A property is tried on few examples here; LAYOUTSCOPE_EXAMPLES=10000 asks for as many of each.
_examples = int(os.environ.get("LAYOUTSCOPE_EXAMPLES", "0"))
_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
settings.register_profile("layoutscope", deadline=None, max_examples=10)
settings.load_profile("layoutscope")


# The groups of a command's options never change; a process that runs one command works them out once.
_collection._resolve_groups_from_callable = functools.cache(_collection._resolve_groups_from_callable)

# A test that wants the cache of columns names a folder of its own.
os.environ["LAYOUTSCOPE_CACHE"] = "off"

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")


class Looks:
    """Every look at a folder or file of the shared folder while tests are collected."""

    def __init__(self) -> None:
        self.collecting = True
        self.places: list[str] = []

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by the interpreter itself."""
        if not self.collecting or event not in ("open", "os.listdir", "os.scandir"):
            return
        if arguments and str(arguments[0]).startswith(SHARED):
            frame = sys._getframe(1)
            while frame.f_back is not None and os.sep + "tests" + os.sep not in frame.f_code.co_filename:
                frame = frame.f_back
            self.places.append(f"{frame.f_code.co_filename}:{frame.f_lineno} looks at {arguments[0]}")


looks_while_collected = Looks()
if SHARED:
    sys.addaudithook(looks_while_collected.note)


class WithTests:
    """In every folder: what has no test for this run is not imported."""

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Leave out browser tests where only others are asked for, and modules of the product without an example."""
        if collection_path.is_dir():
            return (collection_path.name == "browser" and config.option.markexpr == "not browser") or None
        product = config.rootpath / "evaluator" in collection_path.parents and collection_path.suffix == ".py"
        return (product and ">>>" not in collection_path.read_text(encoding="utf-8")) or None


class Passed:
    """What passed in the run before, kept in pytest's cache: the rest was skipped for something that was not there."""

    def __init__(self, config: pytest.Config) -> None:
        self.before = frozenset(config.cache.get("layoutscope/passed", []) if config.option.not_passed else [])
        self.now: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.now.append(report.nodeid)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.before])
        items[:] = [item for item in items if item.nodeid not in self.before]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        # Workers tell it to the process that started them.
        if not (session.config.option.not_passed or hasattr(session.config, "workerinput")):
            session.config.cache.set("layoutscope/passed", self.now)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--not-passed", action="store_true", help="leave out the tests that passed in the run before")


def pytest_configure(config: pytest.Config) -> None:
    """Begin the run, before anything asks for a temporary folder."""
    run_folder.begin(config)
    config.pluginmanager.register(WithTests())
    config.pluginmanager.register(Passed(config))


def pytest_collection_finish() -> None:
    """What tests do from here on is theirs; what was imported stays, and is not looked through for garbage again."""
    looks_while_collected.collecting = False
    gc.set_threshold(50_000)
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker begins with another file, so that in a fresh clone it finds compiled what others have imported."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.result:
        first = len(report.result) * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) // _workers
        report.result = report.result[first:] + report.result[:first]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples in docstrings are the product's: no module of the tests is looked through for them."""
    return [each for each in (yield) if type(each) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """One order in all workers; browser tests first: they take longest."""
    items.sort(key=lambda item: (item.path, isinstance(item, pytest.DoctestItem)))
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)
    for item in items if _examples else ():
        # Each property is tried on so many inputs, whatever number its test names itself.
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if getattr(test, "is_hypothesis_test", False):
            own = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(own, max_examples=_examples, deadline=None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """By file, in the order of the collection; another `--dist` is obeyed."""
    from xdist.scheduler import LoadFileScheduling

    if config.option.dist != "load":
        return None
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


network.guard()


@pytest.fixture(autouse=True, scope="session")
def to_themselves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, no Python process and no Chromium that one started reached another machine or the user's own state."""
    notes = tmp_path_factory.mktemp("notes") / "notes.txt"
    with network.noted(notes):
        yield
    assert network.reached == []
    assert run_folder.opened == []
    assert not notes.exists(), notes.read_text(encoding="utf-8")


@pytest.fixture(autouse=True, scope="session")
def findings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The place of findings for the dashboard, in this process and in the servers that tests start."""
    os.environ["LAYOUTSCOPE_FINDINGS"] = str(tmp_path_factory.mktemp("findings") / "findings.sqlite")


@pytest.fixture(autouse=True)
def files_of_one_test() -> Iterator[None]:
    """What `dashboard.start` opens is open to no later test."""
    yield
    os.environ.pop("LAYOUTSCOPE_WORKSPACE", None)


@pytest.fixture
def whole_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """app.py runs first in every run, as on a server; else a view is run alone."""
    # Not at the top: coverage begins before it.
    from tests.dashboard import NoFolder

    monkeypatch.setattr("streamlit.runtime.pages_manager.Path", NoFolder)


@pytest.fixture
def store_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of findings of one test, empty at first: what other tests judged would be counted."""
    path = tmp_path / "findings.sqlite"
    monkeypatch.setenv("LAYOUTSCOPE_FINDINGS", str(path))
    return path
