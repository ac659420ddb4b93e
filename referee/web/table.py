"""The table of all endpoints: what the routes, the OpenAPI document and docs/api.md are made of."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from referee.web import openapi, patterns
from referee.web.api.reads import READS
from referee.web.api.tables import TABLES
from referee.web.api.writes import WRITES
from referee.web.endpoint import Call, Endpoint


class EventsAsked(Struct, frozen=True):
    only: (
        Annotated[
            str,
            Meta(
                max_length=200,
                pattern=patterns.EVENTS,
                description="Types of events, with commas between them; all if left out.",
            ),
        ]
        | None
    ) = None
    game: (
        Annotated[
            str,
            Meta(
                pattern=patterns.SEASON_AND_GAME,
                description="Only events of this game, and those of none.",
            ),
        ]
        | None
    ) = None
    since: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="The `since` of `/live`, or the id of an event: what came after it is "
                "told first, as far as it is still known. A `Last-Event-ID` header wins.",
            ),
        ]
        | None
    ) = None


def _document(_: Call, __: object) -> dict[str, Any]:
    return DOCUMENT


def _stream(_: Call, __: object) -> None:
    raise RuntimeError("a stream is served elsewhere")


ENDPOINTS: tuple[Endpoint, ...] = (
    *READS,
    *TABLES,
    Endpoint(
        method="GET",
        path="/events",
        name="events",
        summary="Live events as they happen, as server-sent events.",
        detail="`guest`, `began`, `moved`, `ended`, `standings`, `submission` and `tournament`. "
        "A follower that does not keep up is let go and may come back; it may have missed some.",
        run=_stream,
        asks=EventsAsked,
        answers=str,
        streams=True,
    ),
    *WRITES,
    Endpoint(
        method="GET",
        path="/openapi.json",
        name="openapi",
        summary="This document.",
        run=_document,
        answers=dict[str, Any],
        keep_s=60,
    ),
)
DOCUMENT = openapi.document(ENDPOINTS)
