"""What the web process refuses, and why: one sentence and a status, never a traceback."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

MEANINGS = {
    400: "The request cannot be read: a parameter or the body is not what it should be.",
    401: "A token is needed, or the one that came is not known.",
    403: "The token is known, and does not allow this.",
    404: "There is no such thing, or it may not be seen.",
    405: "This address does not take this method.",
    408: "The body did not come in time.",
    409: "The state of things does not allow this now.",
    413: "The body is too large.",
    415: "The body is of a type that is not taken here.",
    422: "The archive takes more time or memory to unpack than any bot's folder is given.",
    429: "Too many requests; `Retry-After` says when to come back.",
    500: "The referee itself failed; its log says more.",
    503: "What is asked for cannot be read at the moment.",
}
"""Every status of a refusal, for the OpenAPI document and docs/api.md."""


class Refusal(Exception):
    """A request that is not served; the message is for whoever sent it."""

    def __init__(
        self,
        status: int,
        sentence: str,
        headers: Mapping[str, str] | None = None,
        *,
        on_page: str = "",
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})
        self.on_page = on_page or sentence
        """The same for somebody at a browser."""
        self.named = False
        """Whether it begins with the name of a bot."""


class Told(msgspec.Struct, frozen=True):
    """The body of every refusal."""

    error: str
    """What is wrong, in one sentence."""


def refusal_response(refusal: Refusal) -> Response:
    """A refusal as JSON, not to be kept by anybody on the way."""
    return Response(
        msgspec.json.encode(Told(str(refusal))),
        status_code=refusal.status,
        headers={"Cache-Control": "no-store", **refusal.headers},
        media_type="application/json",
    )


def not_allowed(methods: list[str]) -> Refusal:
    allowed = ", ".join(methods)
    return Refusal(405, f"this address takes {allowed}", {"Allow": allowed})
