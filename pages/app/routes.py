"""What a browser fetches by an address of its own: scripts and styles, pages of lists, and pictures.

An address is a digest of its content, or of all that decides it, with a key: a browser may keep what it fetched, and
nobody who has a file can ask whether it is open here. Only pictures that the renderer encoded anew are handed out; the
last used ones are kept, up to `PICTURE_BYTES`. Without routes, pictures are data URLs, scripts come with the component,
each page in a run, and there are no small pictures.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import secrets
from collections.abc import Callable
from typing import Final, NamedTuple

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from evaluator.pdf.pool import media_type_of
from evaluator.system.lru_cache import LRUCache
from pages.app import ended_sessions

FOLDER: Final = "layoutscope"
"""First part of every address."""
PICTURE_BYTES: Final = 64 * 2**20
"""Of all pictures that are kept; the renderer keeps the same bytes for its own answers."""
LATER: Final = 20_000
"""Pictures that are made when they are asked for: so many are known at once."""
_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}
_NOT_KEPT: Final = {**_HEADERS, "Cache-Control": "no-store"}
_TYPES: Final = {"js": "text/javascript", "css": "text/css"}


class _Pages(NamedTuple):
    key: str
    total: int
    version: int
    answer: Callable[[int, bool], tuple[bytes, bool]]


# By session and view.
_lists: Final[dict[tuple[str, str], _Pages]] = {}
_scripts: Final[dict[str, bytes]] = {}
_pictures: Final = LRUCache[str, bytes](most_bytes=PICTURE_BYTES)
_later: Final = LRUCache[str, tuple[Callable[[], bytes | None], bool]](most=LATER)
_one_at_a_time = asyncio.Semaphore(1)
_pages_at_a_time = asyncio.Semaphore(2)
_ahead_at_a_time = asyncio.Semaphore(2)
_secret = secrets.token_bytes(32)
_routed = False


def routes() -> list[BaseRoute]:
    """Return the routes that hand everything out; from now on addresses are given out."""
    global _routed  # noqa: PLW0603 - the server says once that it has the routes
    _routed = True
    return [
        Route(f"{below}/{FOLDER}/{path}", answer, methods=["GET"])
        for below in ("", "/{below:path}")
        for path, answer in (
            ("page/{key}/{position:int}.json", _page),
            ("page/{key}/{position:int}.{version:int}.json", _page),
            ("{name}", _answer),
        )
    ]


def has_routes() -> bool:
    """Return whether the server has the routes; without, a picture is part of each message of its page."""
    return _routed


def _folder(base_path: str) -> str:
    return "/".join(["", *filter(None, base_path.split("/")), FOLDER])


async def _answer(request: Request) -> Response:
    """Return one content, or 404."""
    name = request.path_params["name"]
    content = _scripts.get(name) or _pictures.get(name)
    later = _later.get(name) if content is None else None
    if later is not None:
        make, whole = later
        # A page that is turned to must not wait for a row of small pictures.
        async with _pages_at_a_time if whole else _one_at_a_time:
            content = await run_in_threadpool(make)
        if content is None:
            return Response(status_code=204)
        _keep(name, content)
    if content is None:
        return Response("Not found", status_code=404, media_type="text/plain")
    return Response(content, media_type=_TYPES.get(name.rpartition(".")[2]) or media_type_of(content), headers=_HEADERS)


async def _page(request: Request) -> Response:
    """Return one page of a list, drawn first (two at a time) or as it is now, by its version; or 204."""
    asked = request.path_params
    pages = next((each for each in [*_lists.values()] if each.key == asked["key"]), None)
    if pages is None or asked["position"] > pages.total:
        # Another list has taken its place while the request was on its way: no error in the browser's console.
        return Response(status_code=204)
    whole = "version" in asked
    # Slow pages that are fetched ahead leave pictures alone that a reader waits for.
    async with _ahead_at_a_time if whole else contextlib.nullcontext():
        content, lasts = await run_in_threadpool(pages.answer, asked["position"] - 1, whole)
    # The page that is not listed is another one after a turn.
    kept = lasts and asked["position"] > 0 and asked.get("version") == pages.version
    return Response(content, media_type="application/json", headers=_HEADERS if kept else _NOT_KEPT)


def pages_address(
    view: str, listing: str, total: int, version: int, answer: Callable[[int, bool], tuple[bytes, bool]]
) -> str:
    """Return where this session's browser finds the pages of the list of a view; empty without a route.

    A view has one list at a time, of `total` pages; `version` is that of what was said about them. `answer` takes a
    place from 0, -1 for a shown page that is not listed, and whether to draw and read it first; it returns the page's
    JSON, and whether that stays the same. It is called in a thread without a session.
    """
    session = ended_sessions.current_session()
    if not _routed or not session:
        return ""
    key = hashlib.blake2b(f"{session}\0{view}\0{listing}".encode(), key=_secret, digest_size=16).hexdigest()
    _lists[session, view] = _Pages(key, total, version, answer)
    ended_sessions.call_at_end(f"pages of {view}", functools.partial(_lists.pop, (session, view), None))
    return _address(f"page/{key}")


def answer_address(view: str, of: str, answer: Callable[[], bytes]) -> str:
    """Return where this session's browser asks for what changes in a view, without a run; empty without a route.

    A view has one question at a time; one with another `of` has another address. `answer` gives JSON, and is called in
    a thread without a session.
    """
    address = pages_address(view, of, 0, 0, lambda *_: (answer(), False))
    return address and f"{address}/0.json"


def _address(name: str) -> str:
    return f"{_folder(str(st.get_option('server.baseUrlPath') or ''))}/{name}"


def _keep(name: str, picture: bytes) -> None:
    _pictures.put(name, picture, min(len(picture), PICTURE_BYTES))


def picture_address(picture: bytes) -> str:
    """Return the path of a picture that the renderer encoded, or a data URL without a route."""
    if not _routed:
        from evaluator.components.gallery.crops import data_url

        return data_url(picture)
    name = f"{hashlib.blake2b(picture, key=_secret, digest_size=16).hexdigest()}.picture"
    _keep(name, picture)
    return _address(name)


def lazy_address(of: str, make: Callable[[], bytes | None], *, known: bytes | None = None, whole: bool = False) -> str:
    """Return the path of a picture that is made when fetched; empty without a route.

    `of` is all that decides the picture. `make` gives it as the renderer encodes it, None when it cannot be made;
    `known` is the picture where it is there already. One that is `whole`, of a page, waits for no small one.
    """
    if not _routed:
        return ""
    name = f"{hashlib.blake2b(of.encode(errors='surrogateescape'), key=_secret, digest_size=16).hexdigest()}.picture"
    _later.put(name, (make, whole))
    if known is not None:
        _keep(name, known)
    return _address(name)


def script_address(text: str, kind: str) -> str | None:
    """Return the path of a script ("js") or style ("css") of ours; None without a route."""
    if not _routed:
        return None
    content = text.encode()
    name = f"{hashlib.blake2b(content, digest_size=16).hexdigest()}.{kind}"
    _scripts[name] = content
    return _address(name)
