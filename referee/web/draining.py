"""A refusal reaches whoever is still sending.

Most clients read no answer before they have sent all of their body. Where the connection is closed
with some of it unread, the answer is lost on the way, and they see a broken connection instead of
the sentence. So what still comes after a refusal is read and thrown away, for a while: the answer
goes out at once, and its end when the body has ended.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 256_000_000
MOST_S = 30.0
AT_ONCE = 16
"""Visitors whose bodies are thrown away; beyond that the connection is closed on them."""
REFUSED = 400


class Drained:
    """Around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._draining = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        unread = True
        refused = False

        async def receive_and_note() -> Message:
            nonlocal unread
            message = await receive()
            unread = message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def send_and_drain(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start":
                refused = message["status"] >= REFUSED
            elif refused and unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                message = {"type": "http.response.body", "body": b"", "more_body": False}
                await self._drain(receive)
            await send(message)

        await self._app(scope, receive_and_note, send_and_drain)

    async def _drain(self, receive: Receive) -> None:
        if self._draining >= AT_ONCE:
            return
        self._draining += 1
        size, more = 0, True
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(MOST_S):
                    while more and size <= MOST_BYTES:
                        message = await receive()
                        more = message["type"] == "http.request" and message.get("more_body", False)
                        size += len(message.get("body", b""))
        finally:
            self._draining -= 1


def _has_body(scope: Scope) -> bool:
    """Whether something comes with the request that is sent without waiting for a word of ours."""
    headers = dict(scope["headers"])
    waits = headers.get(b"expect", b"").lower() == b"100-continue"
    told = headers.get(b"content-length", b"0")
    return not waits and (told != b"0" or b"transfer-encoding" in headers)
