"""What the browser fetches by its own address: scripts, styles and pictures, each by the digest of its content."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response

from evaluator.components.source import loader_script
from evaluator.system.lru_cache import LRUCache
from pages.app import routes


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_routed", True)
    monkeypatch.setattr(routes, "_pictures", LRUCache(most_bytes=routes.PICTURE_BYTES))


def test_without_the_route_a_picture_is_inside_the_message() -> None:
    assert routes.picture_address(b"abc") == "data:image/webp;base64,YWJj"
    assert routes.picture_address(b"\xff\xd8\xff") == "data:image/jpeg;base64,/9j/"
    assert routes.script_address("export default 1", "js") is None
    assert routes.lazy_address("a.pdf, page 1", lambda: b"small") == "", "there is no small picture"


def test_an_address_is_that_of_the_content_and_of_a_secret(routed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    first, again, other = (routes.picture_address(each) for each in (b"abc", b"abc", b"abd"))
    assert first == again != other
    assert first.startswith("/layoutscope/")
    assert routes._pictures.get(first.rpartition("/")[2]) == b"abc"
    monkeypatch.setattr(routes, "_secret", b"another")
    assert routes.picture_address(b"abc") != first, "the plain digest of a content finds no picture"


def test_one_picture_larger_than_the_room_is_handed_out_all_the_same(
    routed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "PICTURE_BYTES", 3)
    monkeypatch.setattr(routes, "_pictures", LRUCache(most_bytes=3))
    first, second = (routes.picture_address(content).rpartition("/")[2] for content in (b"aaaa", b"bbbb"))
    assert (asked(first).status_code, asked(second).body) == (404, b"bbbb")


def asked(name: str) -> Response:
    scope = {"type": "http", "method": "GET", "path": f"/layoutscope/{name}", "path_params": {"name": name}}
    return asyncio.run(routes._answer(Request(scope)))


def test_a_small_picture_is_made_once_when_it_is_fetched(routed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_one_at_a_time", asyncio.Semaphore(1))
    made = []

    def make() -> bytes:
        made.append(1)
        return b"small"

    address = routes.lazy_address("a.pdf, page 1", make)
    assert address == routes.lazy_address("a.pdf, page 1", make) != routes.lazy_address("a.pdf, page 2", make)
    assert not made
    name = address.rpartition("/")[2]
    first, again = asked(name), asked(name)
    assert (first.status_code, first.body, again.body) == (200, b"small", b"small")
    assert first.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert first.headers["content-type"] == "image/webp"
    page = routes.picture_address(b"\xff\xd8\xff").rpartition("/")[2]
    assert asked(page).headers["content-type"] == "image/jpeg"
    assert len(made) == 1


def test_the_picture_of_a_page_waits_for_no_small_one_and_is_not_made_where_it_is_known(
    routed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "_one_at_a_time", asyncio.Semaphore(0))
    monkeypatch.setattr(routes, "_pages_at_a_time", asyncio.Semaphore(2))
    address = routes.lazy_address("a.pdf, page 1", lambda: b"made", whole=True)
    assert asked(address.rpartition("/")[2]).body == b"made"
    known = routes.lazy_address("a.pdf, page 2", lambda: b"made", known=b"known", whole=True)
    assert asked(known.rpartition("/")[2]).body == b"known"


def test_a_page_that_cannot_be_drawn_has_no_small_picture(routed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_one_at_a_time", asyncio.Semaphore(1))
    answer = asked(routes.lazy_address("broken.pdf, page 1", lambda: None).rpartition("/")[2])
    assert (answer.status_code, answer.body) == (204, b"")
    assert "cache-control" not in answer.headers
    assert asked("0123456789abcdef.picture").status_code == 404


def test_the_loader_is_small_and_names_both_files() -> None:
    loader = loader_script('/a/"b.js', "/a/b.css")
    assert r'import(at("/a/\"b.js"))' in loader
    assert r'fetch(at("/a/b.css"))' in loader
    assert len(loader) < 1000
