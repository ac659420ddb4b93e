"""A request whose end could be told in two ways is refused.

With both a length and chunks, a proxy in front may take one for the end of the body and this
process the other: what is between would be a request of its own, one that the proxy never saw. The
connection is closed, so that nothing after such a request is read.
"""

from __future__ import annotations

from contextlib import suppress

from h11 import LocalProtocolError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.web.refusal import Refusal, refusal_response

_LENGTH, _CODING = b"content-length", b"transfer-encoding"


class PlainFraming:
    """Around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (why := _ambiguous(scope)):
            refusal = Refusal(400, why, {"Connection": "close"})
            await refusal_response(refusal)(scope, receive, send)
            return
        if scope["type"] == "http" and _CODING in {name for name, _ in scope["headers"]}:
            send = _unless_answered(send)
        await self._app(scope, receive, send)


def _unless_answered(send: Send) -> Send:
    """Where chunks turn out to be none, the server has answered and closed the connection by
    itself: what the application says after that is nobody's, and no reason to fill a log."""

    async def send_or_not(message: Message) -> None:
        with suppress(LocalProtocolError):
            await send(message)

    return send_or_not


def _ambiguous(scope: Scope) -> str:
    """Why nobody could say where its body ends; empty where all agree."""
    names = {name for name, _ in scope["headers"]}
    if _CODING in names and _LENGTH in names:
        return "a body has a Content-Length or a Transfer-Encoding, not both"
    if _CODING in names and scope["http_version"] == "1.0":
        return "HTTP/1.0 has no Transfer-Encoding: a body has a Content-Length"
    return ""
