"""One follower of live events over HTTP, until it leaves or is let go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.types import Receive, Send

from referee.web.live import Live

STUCK_S = 20.0
"""How long a follower may leave what was written to it unread."""


async def stream(
    live: Live,
    frames: AsyncIterator[bytes],
    receive: Receive,
    send: Send,
    headers: list[Any],
    most_s: float,
) -> None:
    """Serve one follower until it leaves, is let go, or reads nothing for too long."""
    live.followers += 1
    pump = asyncio.ensure_future(_pump(live, frames, send, headers, most_s))
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((pump, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        live.followers -= 1
        for task in (pump, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await task


async def _pump(
    live: Live, frames: AsyncIterator[bytes], send: Send, headers: list[Any], most_s: float
) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    ends = asyncio.get_running_loop().time() + most_s
    with contextlib.suppress(TimeoutError, StopAsyncIteration):
        while True:
            async with asyncio.timeout_at(ends):
                frame = await anext(frames)
            try:
                async with asyncio.timeout(STUCK_S):
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
            except TimeoutError:
                live.counts["stuck followers"] += 1
                return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
