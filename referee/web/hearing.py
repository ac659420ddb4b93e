"""The coordinator's socket, from which live events come."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import zmq
import zmq.asyncio

from referee.web.live import Event, Live

TOPIC = b"live"


async def hear(live: Live, endpoint: str) -> None:
    """Take events from the coordinator's socket until cancelled; it may come and go."""
    context = zmq.asyncio.Context()
    socket = context.socket(zmq.SUB)
    socket.set(zmq.RCVHWM, 10_000)
    socket.set(zmq.LINGER, 0)
    socket.set(zmq.MAXMSGSIZE, 1024 * 1024)
    socket.set(zmq.RECONNECT_IVL, 100)
    socket.set(zmq.RECONNECT_IVL_MAX, 2000)
    socket.subscribe(TOPIC)
    try:
        socket.connect(endpoint)
        while True:
            event = _read(await socket.recv_multipart())
            if event is None:
                live.counts["unreadable"] += 1
            else:
                live.tell(event)
            # What has come already is not waited for: without this, events that come quicker than
            # they are told would keep the loop from every page.
            await asyncio.sleep(0)
    finally:
        socket.close()
        context.destroy(linger=0)


def _read(parts: list[bytes]) -> Event | None:
    try:
        event = msgspec.json.decode(parts[-1])
    except msgspec.MsgspecError:
        return None
    return event if isinstance(event, dict) else None


def endpoint_of(data: Path) -> str:
    """Where the coordinator publishes. The name of a socket is short, so the shorter way to it."""
    path = (data / "live.ipc").absolute()
    return f"ipc://{min(str(path), os.path.relpath(path), key=len)}"
