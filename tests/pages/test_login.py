"""Who may see the data: the log-in screen in front of every view, and what is said when nobody is asked."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit import config as streamlit_config
from streamlit.runtime.context import StreamlitHeaders
from streamlit.testing.v1 import AppTest

from evaluator.review.identity import page_target
from evaluator.review.store_address import FILE_NAME, state_folder
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides
from evaluator.workspace.variables import FOLDER_VARIABLE
from pages.app import login, login_settings, workspace_store
from pages.app.login import OPEN, THIS_MACHINE
from pages.app.login_settings import TRUSTED_HEADER_VARIABLE, claimed_name
from pages.app.state import State, using_values
from pages.views.findings import findings
from tests import dashboard
from tests.building import box, write_file
from tests.dashboard import (
    FILES,
    FINDINGS,
    OVERVIEW,
    PAGE_BROWSER,
    ROOT,
    SAMPLE_DATA,
    fine,
    go,
    plain,
    press,
    start,
    texts,
    words,
)
from tests.judging import opinion, store, stored

AUTH = {
    "redirect_uri": "http://127.0.0.1:8501/oauth2callback",
    "cookie_secret": "0123456789abcdef0123456789abcdef",
    "client_id": "layoutscope",
    "client_secret": "s3cret-of-the-client",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}
EVERY_VIEW = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("[a-z]*.py"))
ANNA = {"is_logged_in": True, "email": "anna@example.org", "name": "Anna Vale", "sub": "17"}


@pytest.fixture(autouse=True)
def fresh(whole_app: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No login is remembered from the test before, and app.py always runs first, as pages/app/server.py has it."""
    monkeypatch.setattr(login_settings, "_SEEN", set())
    monkeypatch.setattr(login, "_can_log_in", lambda: True)
    monkeypatch.delenv(TRUSTED_HEADER_VARIABLE, raising=False)


def session(*, auth: Any = None, user: dict[str, Any] | None = None) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if auth is not None:
        app.secrets["auth"] = auth
    app.user = user or {}
    return fine(app.run())


def widgets(app: AppTest) -> list[str]:
    kinds = ("button", "selectbox", "slider", "text_input", "button_group", "checkbox", "file_uploader", "page_link")
    return [getattr(each, "label", each.type) for kind in kinds for each in app.get(kind)]


@pytest.mark.parametrize("view", EVERY_VIEW)
def test_before_the_login_every_view_is_only_the_log_in_screen(view: str) -> None:
    app = session(auth=AUTH, user={"is_logged_in": False})
    go(app, view)
    assert words(app) == ["LayoutScope", "Nothing is shown before you have logged in."]
    assert widgets(app) == ["Log in"]
    assert len(app.sidebar) == 0
    assert "files" not in app.session_state


def test_after_the_login_the_data_and_who_reads(store_path: Path) -> None:
    app = session(auth=AUTH, user=ANNA)
    assert dashboard.title(app) == "Overview"
    assert "Logged in as anna@example.org" in words(app)
    assert "Log out" in widgets(app)
    assert not {OPEN, THIS_MACHINE} & set(words(app))
    go(app, FINDINGS)
    assert "You review as anna@example.org." in texts(app.caption)
    assert "Your name" not in [field.label for field in app.text_input]
    # Who is logged in stands with a verdict, whatever name the browser sends.
    data = dashboard.viewer(go(app, PAGE_BROWSER))
    place = {name: data["page"][name] for name in ("document", "index")}
    mistake = {name: data["mistakes"][0][name] for name in ("number", "keys", "target")}
    event = {"id": "one", **place, **mistake, "verdict": "ignore", "note": "", "letter": "A", "name": "Mallory"}
    dashboard.send_event(app, "page", "verdict", [event])
    assert [(each.author, each.verified) for each in stored(store_path)] == [("anna@example.org", True)]


def test_logging_out_ends_the_access_in_the_same_run() -> None:
    app = session(auth=AUTH, user=ANNA)
    press(app, "Log out")
    assert app.user == {"is_logged_in": False}
    assert words(app) == ["LayoutScope", "Nothing is shown before you have logged in."]


def test_each_named_provider_has_its_button() -> None:
    keys = ("client_id", "client_secret", "server_metadata_url")
    shared = {name: text for name, text in AUTH.items() if name not in keys}
    section = {name: AUTH[name] for name in keys}
    app = session(auth=shared | {"library": section, "![x](y)": section}, user={"is_logged_in": False})
    assert [plain(text) for text in widgets(app)] == ["Log in with library", "Log in with ![x](y)"]
    assert "Log in with \\!\\[x\\]\\(y\\)" in [text for _, text in dashboard.markdown_texts(app)]


def test_only_true_and_a_name_is_logged_in() -> None:
    for user in ({}, {"is_logged_in": "true", "email": "x@example.org"}, {"email": "x@example.org"}):
        assert login.login_access(AUTH, user).refusal == "Nothing is shown before you have logged in."
    unnamed = login.login_access(AUTH, {"is_logged_in": True})
    assert unnamed.refusal == "The identity provider did not send your name."


HALF = "A login is set up, but not complete: "
UNREADABLE = "A login is set up, but the file of its secrets cannot be read. The server's log has the reason."


@pytest.mark.parametrize(
    ("auth", "sentence"),
    [
        (None, UNREADABLE),
        ({}, HALF + "; ".join(f"{name} is missing in [auth]" for name in AUTH) + "."),
        (AUTH | {"cookie_secret": "change me"}, f"{HALF}cookie_secret in [auth] is shorter than 32 characters."),
        (
            AUTH | {"redirect_uri": "https://layout.example.org/"},
            f"{HALF}redirect_uri in [auth] does not end with /oauth2callback.",
        ),
        (
            {**AUTH, "my_provider": {"client_id": "a", "client_secret": "b"}},
            f"{HALF}server_metadata_url is missing in [auth.my_provider]; the name of [auth.my_provider] has an "
            "underscore.",
        ),
    ],
)
def test_a_login_by_half_is_no_way_in(auth: Any, sentence: str) -> None:
    """Not even for a reader with a cookie: it may be of a time when the secret was weak."""
    for user in ({}, ANNA):
        assert login.login_access(auth, user) == login.Access(refusal=sentence)


def test_the_screen_says_that_the_packages_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "_can_log_in", lambda: False)
    app = session(auth=AUTH, user={"is_logged_in": False})
    sentence = (
        "A login is set up, but the packages for it are missing: "
        'run uv pip install -e ".[login]" in the clone and start again.'
    )
    assert words(app) == ["LayoutScope", sentence]
    assert widgets(app) == []


@pytest.fixture
def secrets_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "secrets.toml"
    before = streamlit_config.get_option("secrets.files")
    streamlit_config.set_option("secrets.files", [str(path)])
    st.secrets._reset()  # there is no public way to forget what was read
    yield path
    streamlit_config.set_option("secrets.files", before)
    st.secrets._reset()


@pytest.mark.parametrize("content", [b"[auth\n", b"\xff\xfe", b'auth = "on"\n'])
def test_secrets_that_cannot_be_read_refuse_access(secrets_file: Path, content: bytes) -> None:
    secrets_file.write_bytes(content)
    assert login._access().refusal == UNREADABLE


def test_other_secrets_are_no_login_and_one_that_was_there_stays_wanted_when_its_file_goes(secrets_file: Path) -> None:
    assert login._access() == login.Access()
    secrets_file.write_text('[database]\nuser = "x"\n')
    assert login._access() == login.Access()
    secrets_file.write_text("[auth]\n" + "".join(f'{name} = "{text}"\n' for name, text in AUTH.items()))
    st.secrets._reset()
    assert login._access().providers == ("default",)
    secrets_file.unlink()
    st.secrets._reset()
    assert login._access().refusal == UNREADABLE


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"email": "a@example.org", "name": "A", "sub": "1"}, "a@example.org"),
        ({"email": "a@example.org", "email_verified": True, "sub": "1"}, "a@example.org"),
        ({"email": "boss@example.org", "email_verified": False, "name": "A", "sub": "1"}, "A"),
        ({"email": "boss@example.org", "email_verified": "false", "sub": "1"}, "1"),
        ({"email": " ", "name": None, "sub": "1"}, "1"),
        ({}, ""),
    ],
)
def test_the_name_of_a_reader(user: dict[str, Any], name: str) -> None:
    assert claimed_name(user) == name


NOBODY = "The request names no reader. Use the address of the proxy that asks for the login."
SEVERAL = "The request names more than one reader: the proxy has to replace the header, not add to it."


def test_the_name_that_a_proxy_gives() -> None:
    assert login.proxy_access(["anna"]) == login.Access("anna", "proxy")
    for named, refusal in (([], NOBODY), ([" "], NOBODY), (["mallory", "anna"], SEVERAL)):
        assert login.proxy_access(named) == login.Access(refusal=refusal)


def test_a_trusted_proxy_vouches_for_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(headers=StreamlitHeaders([("X-Forwarded-User", "anna")])))
    with using_values({}):
        login.require_access()
        assert findings.author() == ("", False)
        monkeypatch.setenv(TRUSTED_HEADER_VARIABLE, "X-Forwarded-User")
        login.require_access()
        assert findings.author() == ("anna", True)


def test_a_trusted_header_without_a_proxy_refuses_access(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRUSTED_HEADER_VARIABLE, "X-Forwarded-User")
    app = session()
    assert words(app)[1:] == [NOBODY]
    assert widgets(app) == []


@pytest.mark.parametrize(
    ("address", "headers", "sentence"),
    [
        ("127.0.0.1", {}, THIS_MACHINE),
        ("localhost", {"Host": "localhost:8501"}, THIS_MACHINE),
        ("::1", {"Host": "[::1]:8501"}, THIS_MACHINE),
        ("127.0.0.1", {"Host": "127.0.0.1:8501"}, THIS_MACHINE),
        ("127.0.0.1", {"Host": "layout.example.org"}, OPEN),
        ("127.0.0.1", {"Host": "127.0.0.1:8501", "X-Forwarded-For": "192.0.2.7"}, OPEN),
        ("127.0.0.1", {"Host": "127.0.0.1:8501", "Via": "1.1 proxy"}, OPEN),
        ("0.0.0.0", {"Host": "127.0.0.1:8501"}, OPEN),
        ("192.0.2.1", {}, OPEN),
        ("", {}, OPEN),
        (None, {}, OPEN),
        ("127.0.0.1.example.org", {}, OPEN),
    ],
)
def test_who_can_reach_an_app_that_asks_nobody(address: str | None, headers: dict[str, str], sentence: str) -> None:
    assert login.reachable_by(address, headers) == sentence


@pytest.mark.parametrize(
    ("view", "address", "sentence"), [(OVERVIEW, "127.0.0.1", THIS_MACHINE), (FILES, "0.0.0.0", OPEN)]
)
def test_the_help_says_that_nobody_was_asked(view: str, address: str, sentence: str) -> None:
    before = streamlit_config.get_option("server.address")
    streamlit_config.set_option("server.address", address)
    try:
        app = go(start(), view)
    finally:
        streamlit_config.set_option("server.address", before)
    assert [word for word in words(app) if word in (OPEN, THIS_MACHINE)] == [sentence]
    assert app.session_state[State.vouched.key] == ""


# --- what is whose ------------------------------------------------------------------------------------------------

PDF = (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()


def open_project_of_the_account(_: AppTest, folder: Path) -> None:
    (folder / "projectoftheaccount").mkdir()
    truth = write_file(folder / "projectoftheaccount" / "gt.json", [box(0, 0, 1, 1)], side="ground_truth")
    project_file.remember(project_file.save({"boxes": Sides(truth, (), None)}, {}), state_folder())


def judge_on_the_account(_: AppTest, __: Path) -> None:
    store(state_folder() / FILE_NAME, opinion(page_target("a.pdf", 0), note="verdictoftheaccount"))


def upload_boxes(app: AppTest, _: Path) -> None:
    given = {"uploadedboxes.json": "lines.json", "truth.json": "ground_truth.json"}
    dashboard.add(app, {name: (SAMPLE_DATA / of).read_bytes() for name, of in given.items()})


def upload_pages(app: AppTest, _: Path) -> None:
    dashboard.set_role(dashboard.drop(app, {"uploadedpages.pdf": PDF}), "uploadedpages.pdf", "pages")
    dashboard.evaluate(app)


def save_filter(app: AppTest, _: Path) -> None:
    go(app, PAGE_BROWSER).text_input(key="filter_name").set_value("savedfilter")
    fine(app.button(key="filter_save").click().run())


def judge(app: AppTest, _: Path) -> None:
    data = dashboard.viewer(go(app, PAGE_BROWSER))
    mistake = {name: data["mistakes"][0][name] for name in ("number", "keys", "target")}
    place = {name: data["page"][name] for name in ("document", "index")}
    said = {"id": "one", "verdict": "ignore", "note": "ownverdict", "letter": "A"}
    dashboard.send_event(app, "page", "verdict", [{**place, **mistake, **said}])


OWN = {
    "projectoftheaccount": open_project_of_the_account, "verdictoftheaccount": judge_on_the_account,
    "uploadedboxes": upload_boxes, "uploadedpages": upload_pages, "savedfilter": save_filter, "ownverdict": judge,
}  # fmt: skip
BEN = ANNA | {"email": "ben@example.org"}


def shown(app: AppTest, searched: Iterable[str]) -> set[str]:
    """Which words any view of a session has, in whatever is sent to the browser."""
    sent = b""
    for view in EVERY_VIEW:
        sent += b"".join(each.proto.SerializeToString() for each in dashboard._elements(go(app, view)._tree))
    if any(button.label == "Change roles" for button in go(app, FILES).button):
        listed = dashboard.every_component(press(app, "Change roles"))
        sent += b"".join(json.dumps(each).encode() for each in listed)
    return {word for word in searched if word.encode() in sent}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A workspace folder and a folder of states of an account, and findings where they are kept without an option."""
    for name, value in (("XDG_STATE_HOME", tmp_path / "state"), ("HOME", tmp_path), (FOLDER_VARIABLE, tmp_path / "ws")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("LAYOUTSCOPE_FINDINGS")
    yield tmp_path
    for root in (tmp_path / "ws" / ".lock", *(tmp_path / "ws").rglob(".lock")):
        if root.exists():
            workspace_store._open(root.parent).close()
    workspace_store._open.clear()


def test_nothing_of_a_reader_or_of_the_account_is_shown_to_another_reader(account: Path) -> None:
    anna = session(auth=AUTH, user=ANNA)
    for act in OWN.values():
        act(anna, account)
    of_the_account = {"projectoftheaccount", "verdictoftheaccount"}
    again = session(auth=AUTH, user=ANNA)
    assert shown(again, OWN) == set(OWN) - of_the_account
    deep_link = dashboard.address(go(anna, PAGE_BROWSER))
    ben = session(auth=AUTH, user=BEN)
    for name, value in deep_link.items():
        ben.query_params[name] = value
    assert shown(ben, [*OWN, str(account)]) == set()
    # On this machine without a login the account has its own, and not what was kept for those who log in.
    login_settings._SEEN.clear()
    assert shown(session(), OWN) == of_the_account
    for each in (anna, again):
        each.session_state["upload_folder"].cleanup()


def test_who_logged_in_writes_no_project_on_the_server(account: Path) -> None:
    truth = write_file(account / "gt.json", [box(0, 0, 1, 1)], side="ground_truth")
    model = write_file(account / "a.json", [box(0, 0, 1, 1)])
    for files, said in (
        (
            dashboard.workspace(truth, [model]),
            "Put it beside the ground truth and open it with layoutscope open layoutscope.toml",
        ),
        (None, "Uploaded files and the sample data have no folder to save a project in."),
    ):
        if files:
            os.environ["LAYOUTSCOPE_WORKSPACE"] = files
        else:
            os.environ.pop("LAYOUTSCOPE_WORKSPACE", None)
        app = go(session(auth=AUTH, user=ANNA), FILES)
        assert said in texts(app.caption)
        assert "Save project" not in widgets(app)
        assert [each.proto.label for each in app.get("download_button")].count("Download project") == bool(files)
    assert not (account / "layoutscope.toml").exists()


@pytest.mark.parametrize(
    ("access", "host", "folder"),
    [
        (login.Access(), "localhost:8501", ""),
        (login.Access(), "layout.example.org", "readers/unnamed"),
        # Whatever a name holds, its folder is plain.
        (login.Access("../a/b", "proxy"), "localhost:8501", f"readers/{hashlib.sha256(b'../a/b').hexdigest()}"),
    ],
)
def test_the_folder_of_a_reader(monkeypatch: pytest.MonkeyPatch, access: login.Access, host: str, folder: str) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(headers=StreamlitHeaders([("Host", host)])))
    assert login._reader_folder(access) == folder
