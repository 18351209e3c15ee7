"""Settings of the server, the theme, the changelog, and the promise that nothing of ours names a foreign host."""

import json
import re
import tomllib
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from streamlit import config as streamlit_config

from evaluator.system.version import __version__
from evaluator.workspace.uploads import PAGE_BYTES
from evaluator.workspace.variables import WORKSPACE_VARIABLE
from tests.contrast import contrast
from tests.dashboard import ROOT

# Every colour of the design's table that the two themes must name, light and dark.
COLOURS = (
    "primaryColor", "backgroundColor", "secondaryBackgroundColor", "textColor", "linkColor", "borderColor",
    "dataframeBorderColor", "dataframeHeaderBackgroundColor", "dataframeHeaderTextColor", "grayTextColor", "redColor",
    "redTextColor", "redBackgroundColor", "yellowTextColor", "yellowBackgroundColor", "greenColor", "greenTextColor",
    "greenBackgroundColor", "violetColor", "violetTextColor", "violetBackgroundColor", "blueColor", "blueTextColor",
    "blueBackgroundColor", "chartCategoricalColors", "chartSequentialColors", "chartDivergingColors",
)  # fmt: skip
SOURCES = (".py", ".js", ".css", ".toml", ".json")
FOREIGN = re.compile(r"""(?:(?:https?|wss?|ftp):)?//(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)""")
# Namespaces name no server, and the reserved names of RFC 2606 and this machine are no foreign host.
FINE_HOST = re.compile(r"^(www\.w3\.org|127\.0\.0\.1|localhost|(.*\.)?example(\.(com|org|net|invalid))?|.*\.invalid)$")
# Where a format or a formula is defined; told to people in docstrings and findings of Python code, never fetched.
# Names of formats in our own text or in the files that we write: nothing is fetched from them.
CITED = {"cocodataset.org", "schema.primaresearch.org"}


def web_sources(suffix: str) -> list[Path]:
    """Files of the front end, without what npm installs."""
    files = [
        path for path in (ROOT / "evaluator" / "components").rglob(f"*.{suffix}") if "node_modules" not in path.parts
    ]
    assert files
    return files


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_settings_that_keep_strangers_out(settings: dict[str, Any]) -> None:
    wanted: dict[str, dict[str, Any]] = {
        "server": {
            "address": "127.0.0.1", "enableStaticServing": False, "enableXsrfProtection": True, "enableCORS": True,
            "maxUploadSize": PAGE_BYTES // 2**20, "fileWatcherType": "none", "headless": True,
            "enableWebsocketCompression": True,
        },
        "browser": {"gatherUsageStats": False},
        "global": {"maxCachedMessageAge": 20},
        "client": {"showErrorDetails": "none"},
    }  # fmt: skip
    given = {section: {name: settings[section][name] for name in names} for section, names in wanted.items()}
    assert json.dumps(given) == json.dumps(wanted), "of the same types too"
    assert wanted["server"]["maxUploadSize"] == 50


def test_every_setting_is_one_that_streamlit_knows(settings: dict[str, Any]) -> None:
    """A misspelt setting is only logged, and the default would hold."""
    known = set(streamlit_config._config_options_template)  # no public list

    def names(prefix: str, values: dict[str, Any]) -> list[str]:
        return [
            name
            for key, value in values.items()
            for name in (names(f"{prefix}{key}.", value) if isinstance(value, dict) else [f"{prefix}{key}"])
        ]

    assert [name for name in names("", settings) if name not in known] == []


def test_the_theme_is_complete_in_light_and_dark(settings: dict[str, Any]) -> None:
    themes = [settings["theme"]["light"], settings["theme"]["dark"]]
    for theme in themes:
        assert set(COLOURS) <= set(theme)
        for name in COLOURS:
            colours = theme[name] if isinstance(theme[name], list) else [theme[name]]
            assert all(re.fullmatch(r"#[0-9A-F]{6}", colour) for colour in colours), name
    light, dark = themes
    assert light.keys() == dark.keys()
    assert [name for name in COLOURS if light[name] == dark[name]] == []
    assert settings["theme"]["font"] == "sans-serif", "a font with an address would be fetched"
    assert settings["theme"]["codeFont"] == "monospace"
    assert "fontFaces" not in settings["theme"]


def test_the_contrast_formula_is_that_of_wcag() -> None:
    assert contrast("#000000", "rgb(255, 255, 255)") == pytest.approx(21.0)
    assert contrast("rgb(118, 118, 118)", "#FFFFFF") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(settings: dict[str, Any], theme: str) -> None:
    colours = settings["theme"][theme]
    named = [(f"{each}TextColor", f"{each}BackgroundColor") for each in ("red", "yellow", "green", "violet", "blue")]
    named += [(each, "backgroundColor") for each in ("textColor", "grayTextColor", "primaryColor", "linkColor")]
    named += [("textColor", "secondaryBackgroundColor"), ("dataframeHeaderTextColor", "dataframeHeaderBackgroundColor")]
    ratios = {(text, ground): contrast(colours[text], colours[ground]) for text, ground in named}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}


def test_the_command_line_repeats_what_a_config_of_the_folder_could_loosen() -> None:
    """Streamlit reads .streamlit/config.toml of the folder it is started from over ours."""
    source = (ROOT / "evaluator" / "cli" / "dashboard.py").read_text(encoding="utf-8")
    for words in ('"server.address": "127.0.0.1"', '"browser.gatherUsageStats": "false"'):
        assert words in source
    assert WORKSPACE_VARIABLE == "LAYOUTSCOPE_WORKSPACE"


def test_the_style_sheet_fetches_nothing() -> None:
    for path in (ROOT / "pages" / "app.css", *web_sources("css")):
        text = path.read_text(encoding="utf-8")
        assert "@import" not in text
        assert "@font-face" not in text
        assert re.findall(r"url\((?!['\"]?data:)", text) == []


def test_no_file_of_ours_names_a_foreign_host() -> None:
    folders = [ROOT / name for name in ("evaluator", "pages", "sample_data", ".streamlit")]
    files = [ROOT / "app.py", *(path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES)]
    assert len(files) > 30
    foreign = []
    for path in files:
        if {"__pycache__", "node_modules"} & set(path.parts):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            hosts = {match["host"] for match in FOREIGN.finditer(line)} - (CITED if path.suffix == ".py" else set())
            foreign += [f"{path.relative_to(ROOT)}:{number}: {host}" for host in hosts if not FINE_HOST.match(host)]
    assert foreign == []


def test_scripts_never_write_markup_and_fetch_from_the_server_alone() -> None:
    """Text from data goes through textContent and attributes only; pages and the state of a meeting are asked for."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|XMLHttpRequest|WebSocket|fetch\("
    )
    written = [(path.name, each) for path in web_sources("js") for each in forbidden.findall(path.read_text("utf-8"))]
    assert sorted(written) == [("meeting.js", "fetch("), ("window.js", "fetch(")]


def test_views_never_turn_markup_on() -> None:
    forbidden = re.compile(r"unsafe_allow_html|unsafe_allow_javascript|persist=\"disk\"")
    views = (ROOT / "app.py", *(ROOT / "pages").glob("*.py"))
    assert [path.name for path in views if forbidden.search(path.read_text(encoding="utf-8"))] == []


def test_nothing_tells_anybody_to_install_a_name_that_the_index_does_not_have() -> None:
    """The project is not on the package index: what works is an editable install in the clone."""
    kinds = ("*.py", "*.md", "*.js", "*.toml")
    folders = [ROOT / name for name in ("evaluator", "pages", "sample_data", "docs")]
    files = [path for folder in folders for kind in kinds for path in folder.rglob(kind)]
    files += [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".py") and path.name != "CHANGELOG.md"]
    from_index = re.compile(r"""install\s+(-\S+\s+)*["'`\\]*layoutscope\b(?!/)|layoutscope\[""")
    wrong = [str(path.relative_to(ROOT)) for path in files if from_index.search(path.read_text(encoding="utf-8"))]
    assert wrong == []


def test_the_lines_of_the_readme_install_nothing_without_a_hash() -> None:
    lines = re.findall(r"^(?:uv )?pip install .*", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    installed = [part for line in lines for part in line.split(" && ") if "pip install" in part]
    assert len(lines) == 2
    assert len(installed) == 6
    for part in installed:
        names = re.findall(r"-[rb] (\S+)", part)
        assert names, part
        assert set(re.sub(r"-[rb] \S+|-\S+", "", part).split()) <= {"uv", "pip", "install", "."}
        for name in names:
            locked = re.split(r"\n(?=[a-zA-Z0-9])", (ROOT / name).read_text(encoding="utf-8"))
            assert [each.split()[0] for each in locked if "==" in each and "--hash=sha256:" not in each] == []


def test_the_changelog_is_short_and_its_releases_fall_from_the_newest_to_the_oldest() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(text.encode()) < 15_000
    entries = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line for line, count in Counter(entries).items() if count > 1] == []
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads[0] == "## [Unreleased]"
    matches = [re.fullmatch(r"## \[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in heads[1:]]
    releases = [(tuple(map(int, each.groups()[:3])), date.fromisoformat(each[4])) for each in matches if each]
    assert len(releases) == len(heads) - 1
    assert all(new > old and later > earlier for (new, later), (old, earlier) in pairwise(releases))
    # The version is that of the newest release, or the one that comes next.
    assert tuple(map(int, re.findall(r"\d+", __version__))) >= releases[0][0]
    sections = {line for line in text.splitlines() if line.startswith("### ")}
    assert sections <= {f"### {name}" for name in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}


def test_what_a_contributor_meets_can_be_read() -> None:
    forms = [
        yaml.safe_load(path.read_text("utf-8")) for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    ]
    assert [sorted(form) for form in forms if "body" in form] == [["body", "description", "labels", "name"]] * 4
    for part in (part for form in forms for part in form.get("body", ())):
        assert part["type"] in ("input", "textarea")
        assert part["attributes"]["label"]
    (job,) = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text("utf-8"))["jobs"].values()
    assert ".ci/run" in job["steps"][-1]["run"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == __version__
    (own,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [hook["id"] for hook in own["hooks"]] == ["ruff", "format", "mypy", "tsc"]
