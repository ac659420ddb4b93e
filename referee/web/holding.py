"""Connections, held no longer than they are of use.

uvicorn lets a connection be open for as long as it likes before the first request and in the middle
of a head: anybody could hold all that there are. So a head has its time from the first moment of
its connection, or of the wait for it, and beyond a number of connections, of all or of one address,
a new one is told to come back and closed. Of what one connection sends, a piece is read at a time:
a body of the shortest chunks costs half a microsecond a byte, and the others are waiting.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

from referee.links.addresses import network_of
from referee.web.h11_grammar import make_linear
from referee.web.refusal import Told
from referee.web.settings import Limits

BACKLOG = 256
"""Connections that are taken in at a time, before any of them is counted."""
READ_BYTES = 16 * 1024
"""So much of one connection is read before it is the turn of others."""
SPARE = 1_500
"""Of the descriptors that this process may have, for those, for files and for databases."""


class Connections:
    """Those that are open, by address."""

    def __init__(self, limits: Limits) -> None:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.head_s = limits.head_s
        self._most = min(limits.connections, soft - min(SPARE, soft // 2))
        self._most_of_one = limits.connections_of_one
        self._by_address: Counter[str] = Counter()
        self.open = 0
        self.turned_away = 0
        self.cut = 0
        """For a head that did not come."""

    def take(self, address: str) -> bool:
        """Whether there is room for one more."""
        if self.open >= self._most or self._by_address[address] >= self._most_of_one:
            self.turned_away += 1
            return False
        self.open += 1
        self._by_address[address] += 1
        return True

    def leave(self, address: str) -> None:
        self.open -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


def holding(connections: Connections) -> type[H11Protocol]:
    """uvicorn's protocol, for these connections."""
    make_linear()

    class Held(H11Protocol):
        _address = ""
        _taken = False
        _deadline: asyncio.TimerHandle | None = None
        _unread = 0
        """What of an answer was not yet taken when its time was last up."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            transport.max_size = READ_BYTES  # type: ignore[attr-defined]
            self._address = network_of(self.client[0] if self.client else "")
            self._taken = connections.take(self._address)
            if self._taken:
                self._expect_head()
            else:
                transport.write(BUSY)
                transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._taken:
                self._taken = False
                connections.leave(self._address)
            self._have_head()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if not self._taken:
                return
            was = self.cycle
            super().data_received(data)
            if self.cycle is not was:
                self._have_head()

        def send_400_response(self, msg: str) -> None:
            # Where an answer has begun there is no place for another one.
            with suppress(LocalProtocolError):
                super().send_400_response(msg)
            if self.cycle is not None:
                # What is still to be sent of one would be refused, too.
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            self.transport.close()

        def on_response_complete(self) -> None:
            was = self.cycle
            super().on_response_complete()
            # A request that came with the one before has begun already.
            if self.cycle is was and not self.transport.is_closing():
                self._expect_head()

        def _expect_head(self) -> None:
            self._have_head()
            idle_s = self.timeout_keep_alive if self.cycle is not None else 0
            self._unread = self.transport.get_write_buffer_size()
            self._deadline = self.loop.call_later(idle_s + connections.head_s, self._cut)

        def _have_head(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _cut(self) -> None:
            self._deadline = None
            if 0 < self.transport.get_write_buffer_size() < self._unread:
                self._expect_head()  # Its line is slow: the last answer is still on its way.
                return
            connections.cut += 1
            self.transport.abort()

    return Held


def _busy() -> bytes:
    body = msgspec.json.encode(Told("too many connections: come back in a moment"))
    head = (
        "HTTP/1.1 503 Service Unavailable\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Retry-After: 5\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


BUSY = _busy()


def hear(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An error of the event loop. That there is no descriptor left for one more connection is none
    that can be mended, and would be told over and over: the loop takes a rest by itself."""
    if not isinstance(context.get("exception"), OSError) or "accept" not in context["message"]:
        loop.default_exception_handler(context)
