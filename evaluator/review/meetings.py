"""A live meeting as the store keeps it: who presents, and what."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final

import msgspec

from evaluator.system.decoding import json_decoder

STALE: Final = timedelta(minutes=5)
"""A meeting whose presenter was not heard of for so long has ended; clocks of two servers may differ."""
HEARD_OF: Final = timedelta(minutes=1)
"""A presenter who does not move is heard of at least so often."""


Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What makes the numbers that are presented: protocol, IoU, and the lowest score of each model, by its place."""

    protocol: str
    iou: Share
    scores: Mapping[int, Share] = {}


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """The meeting of a workspace; `session` presents, under the name of `presenter`, which a login may vouch for.

    `files`: digest of the files that are presented. `item` and `example`: the row of the decisions, by key, and which
    of its places. `number` rises when the presenter moves. `time` in UTC: when the presenter was heard of last.
    """

    session: str
    presenter: str
    verified: bool
    files: str
    item: str
    example: Count
    thresholds: Thresholds
    number: Count
    time: Moment
    open: bool = True

    def is_live(self, now: datetime) -> bool:
        """Return whether it goes on."""
        return self.open and now - self.time < STALE


ABSENT: Final = timedelta(seconds=20)
"""A follower who was not heard of for so long is not there any more."""


class Follower(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who follows the meeting of a workspace in `session`, under a `name` that may be empty.

    `time` in UTC: when the follower was heard of last.
    """

    session: str
    name: str
    verified: bool
    time: Moment


decode_thresholds: Final = json_decoder(Thresholds)
"""The thresholds that some JSON is."""
