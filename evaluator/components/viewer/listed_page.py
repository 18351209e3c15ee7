"""A page of a list in the page viewer: its picture, its place, and the way to other mistakes."""

from __future__ import annotations

import msgspec

from evaluator.components.payload import LostText, PictureItem, ViewedPageItem, with_notes
from evaluator.components.viewer.mistake_filter import PageList
from evaluator.components.viewer.payload import PagePayload, walk_item
from evaluator.data.issues import cut, displayed


def on_list(
    payload: PagePayload,
    pages: PageList,
    place: tuple[str, int],
    picture: PictureItem,
    lost: LostText,
    *,
    name: str,
    count: int | None,
) -> PagePayload:
    """Return what is drawn of a page (id of its document, index) with the page itself.

    `name` and `count` are the name and the pages of the document.
    """
    document, index = place
    position = pages.position(document, index)
    here = -1 if position is None else position
    walk = walk_item(pages.with_mistakes(here, -1), pages.with_mistakes(here, 1), int(pages.mistakes.sum()))
    page = ViewedPageItem(
        **msgspec.structs.asdict(with_notes(picture, payload.notes)),
        **msgspec.structs.asdict(lost),
        document=cut(document),
        name=displayed(name),
        index=index,
        count=count,
        position=here + 1,
        total=len(pages),
    )
    return msgspec.structs.replace(payload, page=page, walk=walk, empty=None)
