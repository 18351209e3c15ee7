"""The project file: what is open comes back, paths stay in its folder, and each mistake is named."""

import os
import tomllib
import urllib.parse
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from evaluator.cli import dashboard as started
from evaluator.cli.program import UsageError
from evaluator.data.issues import BadInput
from evaluator.review.store_address import state_folder
from evaluator.workspace import project_file
from evaluator.workspace.roles import NO_SIDES, Sides
from evaluator.workspace.variables import QUERY_VARIABLE
from pages.app.state import State
from tests.building import box, write_file
from tests.dashboard import FILES, PAGE_BROWSER, issues, key_of, press, start, texts, workspace
from tests.reading import refusal_issues
from tests.terminal import run_command
from tests.texts import character


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    rows = [box(0.1, 0.1, 0.5, 0.5), box(0.2, 0.6, 0.4, 0.9, label="Table")]
    (tmp_path / "models").mkdir()
    (tmp_path / "pdf").mkdir()
    truth, a, b = tmp_path / "gt.json", tmp_path / "models" / "a.json", tmp_path / "models" / "b b.json"
    write_file(truth, rows, side="ground_truth")
    write_file(a, rows, side="prediction")
    write_file(b, rows[:1], side="prediction")
    return Sides(truth, (a, b), tmp_path / "pdf")


INSIDE = "a path must be that of a file or folder beside this one or below (project file); found "
PARTS = {"protocol": "coco", "fix": "a.json:y-flip;label=Fig%3Bure=Table", "label": "Table", "iou": "0.6"}


def test_what_was_saved_is_opened(sides: Sides) -> None:
    path = project_file.save({"boxes": sides}, PARTS)
    assert path.read_text() == (
        "# A project of LayoutScope: layoutscope open layoutscope.toml\n"
        'ground_truth = "gt.json"\nmodels = ["models/a.json", "models/b b.json"]\npdfs = "pdf"\nprotocol = "coco"\n'
        'fix = ["a.json:y-flip", "label=Fig;ure=Table"]\n\n[filters]\n"label" = "Table"\n"iou" = "0.6"\n'
    )
    opened, query = project_file.read(path)
    assert opened.of("boxes") == sides
    assert dict(urllib.parse.parse_qsl(query)) == PARTS
    assert project_file.save({"boxes": sides}, {}) == path
    assert project_file.read(path) == (opened, "")


@given(
    st.dictionaries(
        st.text("aZ_", min_size=1), st.text(character.filter(lambda one: one.isprintable() or one == "\x7f"))
    )
)
def test_any_text_comes_back(parts: dict[str, str]) -> None:
    text = "".join(f"{project_file._toml(key)} = {project_file._toml(value)}\n" for key, value in parts.items())
    assert tomllib.loads(text) == parts


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("ground_truth = ", ['p.toml: the text must be TOML 1.0; found "Invalid value']),
        ("a = " + "[" * 5_000, ['p.toml: the text must be TOML 1.0; found "maximum recursion']),
        ("a = " + "9" * 5_000, ['p.toml: the text must be TOML 1.0; found "Exceeds the limit']),
        ("a." * 20 + "a = 1", ['p.toml: the text must be TOML 1.0; found "a key of many parts"']),
        ("[" + '"a" . ' * 20 + "a]", ['p.toml: the text must be TOML 1.0; found "a key of many parts"']),
        (
            "truth = 'gt.json'",
            [
                "p.toml: the keys are ground_truth, models, pdfs, fields, posters, as_reference, protocol, level, "
                "fix, filters (project file)"
            ],
        ),
        (
            "ground_truth = '../gt.json'\nmodels = ['none.json', '/etc/passwd']\npdfs = 'out'",
            [
                'p.toml: ground_truth: ' + INSIDE +
                '"../gt.json", which leads out of the folder. Put it there, or correct the path.',
                'p.toml: models[0]: ' + INSIDE +
                '"none.json", which does not exist. Put it there, or correct the path.',
                'p.toml: models[1]: ' + INSIDE +
                '"/etc/passwd", which leads out of the folder. Put it there, or correct the path.',
                'p.toml: pdfs: ' + INSIDE +
                '"out", which leads out of the folder. Put it there, or correct the path.',
            ],
        ),
        (
            "protocol = 'voc'\nlevel = 'both'\nfix = ['upside-down']",
            [
                'p.toml: protocol: protocol must be one of snapshot, pod, coco (project file); found "voc". Correct '
                "it, or leave it out.",
                'p.toml: level: level must be one of outer, inner, all (project file); found "both". Correct it, or '
                "leave it out.",
                "p.toml: fix[0]: ",
            ],
        ),
    ],
)  # fmt: skip
def test_each_mistake_is_named(tmp_path: Path, text: str, sentences: list[str]) -> None:
    (tmp_path / "inside").mkdir()
    os.symlink(tmp_path, tmp_path / "inside" / "out")
    path = tmp_path / "inside" / "p.toml"
    path.write_text(text)
    refusals = [issue.sentence for issue in refusal_issues(project_file.read, path)]
    assert len(refusals) == len(sentences)
    for sentence, begins in zip(refusals, sentences, strict=True):
        assert sentence.startswith(begins)


def test_fields_and_posters_are_kept(sides: Sides, tmp_path: Path) -> None:
    for name in ("fields/gt", "fields/model", "posters"):
        (tmp_path / name).mkdir(parents=True)
    fields = Sides(tmp_path / "fields" / "gt", (tmp_path / "fields" / "model",), tmp_path / "pdf")
    posters = Sides(tmp_path / "posters", (tmp_path / "posters",), None)
    path = project_file.save({"boxes": sides, "fields": fields, "posters": posters}, {"label": "Table"})
    assert path.read_text().split("\n\n")[1:] == [
        '[fields]\nground_truth = "fields/gt"\nmodels = ["fields/model"]\npdfs = "pdf"',
        '[posters]\nground_truth = "posters"\nmodels = ["posters"]',
        '[filters]\n"label" = "Table"\n',
    ]
    opened, _ = project_file.read(path)
    assert [opened.of(kind) for kind in ("boxes", "fields", "posters")] == [sides, fields, posters]
    path.write_text('[fields]\nground_truth = "none"\n')
    with pytest.raises(BadInput) as refused:
        project_file.read(path)
    assert str(refused.value) == (
        "layoutscope.toml: fields.ground_truth: " + INSIDE + '"none", which does not exist. '
        "Put it there, or correct the path."
    )


def test_a_project_of_fields_alone(tmp_path: Path) -> None:
    (tmp_path / "gt").mkdir()
    (tmp_path / "model").mkdir()
    fields = Sides(tmp_path / "gt", (tmp_path / "model",), None)
    opened, _ = project_file.read(project_file.save({"fields": fields}, {}))
    assert (opened.of("boxes"), opened.of("fields")) == (NO_SIDES, fields)


def test_commands_take_a_project(sides: Sides, capsys: pytest.CaptureFixture[str]) -> None:
    path = project_file.save({"boxes": sides}, {"protocol": "pod", "fix": "b b.json:labels=case"})
    run = partial(run_command, capsys)
    typed = ("--gt", sides.ground_truth, "--pred", sides.predictions[0], "--pred", sides.predictions[1])
    fix = ("--fix", "b b.json:labels=case", "--allow-no-match")
    for command in ("evaluate", "compare"):
        by_hand = run(command, "pod", *typed, *fix, "--json")
        assert (by_hand[0], run(command, "--project", path, "--allow-no-match", "--json")) == (0, by_hand)
        by_hand = run(command, "snapshot", *typed, *fix, "--json")
        assert run(command, "snapshot", "--project", path, "--allow-no-match", "--json") == by_hand
    for words, said in (
        (("evaluate", "--project", path, "--gt", path),
         "layoutscope.toml lists what to compare; give it without --gt and --pred."),
        (("evaluate",), "name a PROTOCOL, or give a project with --project."),
        (("compare", "pod", "--gt", path),
         "--pred is needed: give --gt and --pred, or a project with --project."),
        (("evaluate", "fields", "--project", path), "layoutscope.toml has no ground truth and models for fields."),
    ):  # fmt: skip
        assert run(*words) == (2, "", f"error: {said}\n")


def test_a_project_without_a_place_is_not_saved(sides: Sides, tmp_path: Path) -> None:
    outside = Sides(sides.predictions[0], (sides.ground_truth,) if sides.ground_truth else ())
    with pytest.raises(project_file.ProjectFileError) as refused:
        project_file.save({"boxes": outside}, {})
    assert str(refused.value) == "gt.json lies outside of models, the folder of the ground truth; move it there."
    (tmp_path / "layoutscope.toml").write_text("mine = 1\n")
    with pytest.raises(project_file.ProjectFileError) as refused:
        project_file.save({"boxes": sides}, {})
    assert str(refused.value) == "There is a layoutscope.toml that was not saved here; rename it first."
    assert (tmp_path / "layoutscope.toml").read_text() == "mine = 1\n"


def test_the_terminal_opens_it(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(project_file, "remember", lambda *_: None)
    monkeypatch.setattr(started, "_serve", lambda project, *_, query, **__: served.append((project, query)) or 0)
    path = project_file.save({"boxes": sides}, {"protocol": "pod"})
    assert started.open_paths([path]) == 0
    assert (served[0][0].of("boxes"), served[0][1]) == (sides, "protocol=pod")
    assert served[0][0].of("fields") == NO_SIDES
    with pytest.raises(UsageError, match=r"layoutscope\.toml lists what to open; give it alone\."):
        started.open_paths([path], gt=sides.ground_truth)


def test_recent_projects_are_those_that_were_opened(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert project_file.recent(state) == []
    paths = [tmp_path / f"{name}.toml" for name in "abcdefghij"]
    for path in (*paths, paths[8]):
        project_file.remember(path, state)
    assert project_file.recent(state) == [paths[at] for at in (8, 9, 7, 6, 5, 4, 3, 2)]
    (state / "recent-projects.json").write_text("{")
    assert project_file.recent(state) == []


def test_files_opens_a_recent_one(sides: Sides, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    state = state_folder()
    project_file.remember(tmp_path / "gone.toml", state)
    project_file.remember(project_file.save({"boxes": sides}, {"protocol": "coco", "fix": "a.json:y-flip"}), state)
    app = start(FILES)
    gone = "is not there any more; open it from its new place once."
    assert any(caption.value.endswith(gone) for caption in app.caption)
    press(app, f"{tmp_path.name}/layoutscope.toml")
    assert chosen(app) == ("coco", ("a.json:y-flip",))
    held = app.session_state[State.files.key]
    assert [member.name for member in held.members] == ["gt.json", "a.json", "b b.json"]


def test_a_recent_one_that_lacks_a_file_says_so_and_leaves_what_is_open(
    sides: Sides, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    project_file.remember(project_file.save({"boxes": sides}, {"fix": "a.json:y-flip"}), state_folder())
    model = sides.predictions[0]
    moved = model.rename(model.with_suffix(".moved"))
    app = start(FILES)
    was = [member.name for member in app.session_state[State.files.key].members]
    press(app, f"{tmp_path.name}/layoutscope.toml")
    (issue,) = issues(app)
    assert [issue[name] for name in ("File", "Place", "Rule", "Found", "Fix")] == [
        "layoutscope.toml", "models[0]",
        "a path must be that of a file or folder beside this one or below (project file)",
        '"models/a.json", which does not exist', "Put it there, or correct the path.",
    ]  # fmt: skip
    assert app.session_state[State.fixes.key] == ()
    assert [member.name for member in app.session_state[State.files.key].members] == was
    moved.rename(model)
    press(app, f"{tmp_path.name}/layoutscope.toml")
    assert issues(app) == []
    assert app.session_state[State.fixes.key] == ("a.json:y-flip",)


def test_files_saves_it(sides: Sides, tmp_path: Path) -> None:
    files = workspace(sides.ground_truth, sides.predictions, sides.pdfs)
    press(start(FILES, files=files, protocol="coco", fix="a.json:y-flip"), "Save project")
    opened, query = project_file.read(tmp_path / "layoutscope.toml")
    assert opened.of("boxes") == sides
    parts = dict(urllib.parse.parse_qsl(query))
    assert (parts["protocol"], parts["fix"]) == ("coco", "a.json:y-flip")


def test_the_sample_data_is_not_written_to() -> None:
    said = texts(press(start(FILES), "Save project").error)
    assert said[-1] == "Uploaded files and the sample data have no folder to save a project in."


def chosen(app: AppTest) -> tuple[str, tuple[str, ...]]:
    return app.session_state[key_of(app, "protocol")], app.session_state[State.fixes.key]


def test_a_session_without_an_address_starts_as_the_project_says(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QUERY_VARIABLE, "protocol=coco&fix=a.json%3Ay-flip")
    files = workspace(sides.ground_truth, sides.predictions)
    assert chosen(start(FILES, files=files)) == ("coco", ("a.json:y-flip",))
    assert chosen(start(PAGE_BROWSER, files=files, protocol="pod")) == ("pod", ())
    # The address of Files never holds a fix, so it does not say that there is none.
    assert chosen(start(FILES, files=files, protocol="pod")) == ("pod", ("a.json:y-flip",))
