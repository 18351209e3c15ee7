"""Pages by address: each is what the view itself shows of it, for the session alone that shows the list."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from streamlit.testing.v1 import AppTest

from evaluator.pdf.pool import PagePool
from pages.app import ended_sessions, pictures, routes
from pages.app.state import State
from tests import dashboard
from tests.dashboard import COMPARE, FIELDS, PAGE_BROWSER, start


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    ends: dict[str, Any] = {}
    monkeypatch.setattr(routes, "_routed", True)
    monkeypatch.setattr(routes, "_ahead_at_a_time", asyncio.Semaphore(2))
    monkeypatch.setattr(ended_sessions, "current_session", lambda: "one")
    monkeypatch.setattr(ended_sessions, "_ENDS", {"one": ends})
    yield ends
    routes._lists.clear()


def payload(app: AppTest) -> dict[str, Any]:
    (given,) = [data for each in app.get("bidi_component") if "listing" in (data := json.loads(each.proto.json)[0])]
    return given  # type: ignore[no-any-return]


def asked(address: str) -> Response:
    scope = {"type": "http", "method": "GET", "path": address, "headers": [], "query_string": b""}
    for route in routes.routes():
        match, more = route.matches(scope)
        if match.name == "FULL":
            return asyncio.run(more["endpoint"](Request(scope | more)))
    raise AssertionError(address)


def fetched(data: dict[str, Any], position: int) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(asked(f"{data['pages']}/{position}.{data['version']}.json").body)
    return answer


VIEWS = {
    "page browser": (PAGE_BROWSER, {"order": "page"}, (State.doc, State.page, 0)),
    "compare": (COMPARE, {}, (State.doc, State.page, 0)),
    "compare fields": (COMPARE, {"compare": "fields"}, (State.field_doc, State.field_page, 1)),
    "compare pixels": (COMPARE, {"compare": "pixels"}, (State.doc, State.page, 0)),
    "compare posters": (COMPARE, {"compare": "posters"}, (State.poster, None, 0)),
    "fields": (FIELDS, {}, (State.field_doc, State.field_page, 1)),
}


def in_order() -> dict[str, Any]:
    return payload(start(PAGE_BROWSER, order="page"))


@pytest.mark.parametrize("name", list(VIEWS))
def test_a_page_by_its_address_is_the_page_that_the_view_shows(session: dict[str, Any], name: str) -> None:
    view, address, (document, page, first) = VIEWS[name]
    app = start(view, **address)
    given = payload(app)
    total = given["content"]["page"]["total"]
    for position in {2, total}:
        ahead = fetched(given, position)
        place = ahead["content"]["page"]
        app.session_state[document.key] = place["document"]
        if page is not None:
            app.session_state[page.key] = place["index"] + first
        shown = payload(dashboard.fine(app.run()))
        assert (shown["position"], shown["name"]) == (position, ahead["name"])
        assert shown["content"] == ahead["content"]
        assert (shown["listing"], shown["pages"]) == (given["listing"], given["pages"])


def test_an_address_is_kept_as_long_as_its_version_holds(session: dict[str, Any]) -> None:
    given = in_order()
    version = given["version"]
    held = {
        path: asked(f"{given['pages']}/{path}.json").headers["cache-control"]
        for path in (f"2.{version}", f"2.{version + 1}", "2", f"0.{version}")
    }
    assert held.pop(f"2.{version}") == "private, max-age=31536000, immutable"
    assert set(held.values()) == {"no-store"}
    assert asked(f"{given['pages']}/{given['content']['page']['total'] + 1}.json").status_code == 204


def test_a_page_is_for_the_session_that_shows_its_list(
    monkeypatch: pytest.MonkeyPatch, session: dict[str, Any]
) -> None:
    given = in_order()
    assert given["listing"] not in given["pages"]
    monkeypatch.setattr(ended_sessions, "current_session", lambda: "another")
    monkeypatch.setattr(ended_sessions, "_ENDS", {"another": {}})
    other = in_order()
    assert (other["listing"], other["pages"] == given["pages"]) == (given["listing"], False)
    # Another list of the same view takes its place, and nothing is left when the session ends.
    for end in session.values():
        end()
    assert asked(f"{given['pages']}/2.json").status_code == 204
    assert asked(f"{other['pages']}/2.json").status_code == 200
    assert asked("/layoutscope/page/0123456789abcdef0123456789abcdef/2.json").status_code == 204
    assert payload(start(PAGE_BROWSER, order="worst"))["pages"] != other["pages"]
    assert asked(f"{other['pages']}/2.json").status_code == 204


def test_a_page_is_what_the_session_had_chosen_when_it_showed_the_list(session: dict[str, Any]) -> None:
    app = start(PAGE_BROWSER, order="page")
    given = payload(app)
    before = fetched(given, 2)
    app.session_state[State.iou.key] = 0.95
    assert fetched(given, 2) == before


def test_a_page_that_is_wanted_now_waits_for_no_renderer(
    monkeypatch: pytest.MonkeyPatch, session: dict[str, Any]
) -> None:
    # In another process the same pages are not drawn yet.
    fresh = PagePool()
    monkeypatch.setattr(pictures, "pool", lambda: fresh)

    def drawn() -> int:
        return len([key for key in fresh._answers._values if key.operation == "page"])

    with fresh:
        given = in_order()
        assert drawn() == 1, "the page that is shown"
        page = json.loads(asked(f"{given['pages']}/2.json").body)["content"]["page"]
        assert (drawn(), page["width"] > 0, page["problem"]) == (1, True, None)
        assert page["image"].startswith("/layoutscope/")
        ahead = fetched(given, 2)["content"]["page"]
        assert (drawn(), ahead["image"]) == (2, page["image"]), "drawn once, by the same address"


def test_what_the_browser_has_is_not_sent_again(session: dict[str, Any]) -> None:
    app = start(PAGE_BROWSER, order="page")
    given = payload(app)
    ahead = fetched(given, 2)
    dashboard._GIVEN[ahead["name"]] = ahead["content"]
    go = {name: ahead["content"]["page"][name] for name in ("document", "index")}
    go |= {"step": 0, "turn": "a", "held": [ahead["name"], given["strip"]]}
    turned = payload(dashboard.send_event(app, "strip_first", "go", go))
    assert (turned["position"], turned["turn"], turned["name"]) == (2, "a", ahead["name"])
    assert turned.keys().isdisjoint(("content", "items"))
    # The same turn once more leads nowhere.
    app.session_state[State.page.key] = 0
    assert payload(dashboard.send_event(app, "strip_first", "go", go))["position"] == 1
