"""From a process that runs to a link on which it is heard.

A bot on pipes is there as soon as its process is. One that speaks ZeroMQ has to connect first.
"""

from __future__ import annotations

import select
import time

from referee.arena.stall import LATE_NS, SLICE_MS
from referee.bots.process import BotProcess
from referee.links.pipe import PipeLink
from referee.protocol.framed import FramedSession
from referee.protocol.messages import FLOOD_BYTES
from referee.protocol.session import Session
from referee.verdict import BotFault, Ending


class Patience:
    """The time that a bot has to come up.

    It is counted in slices, each for no more than its length: while the referee itself stands
    still, no bot is late.
    """

    __slots__ = ("_left_s", "allowed_ms")

    def __init__(self, allowed_ms: int) -> None:
        self.allowed_ms = allowed_ms
        self._left_s = allowed_ms / 1000

    @property
    def over(self) -> bool:
        return self._left_s <= 0

    def await_words(self, fd: int) -> bool:
        """Whether something can be read there; after one slice at the latest."""
        return self._await(fd, select.POLLIN)

    def await_room(self, fd: int) -> bool:
        """Whether something can be written there; after one slice at the latest."""
        return self._await(fd, select.POLLOUT)

    def _await(self, fd: int, event: int) -> bool:
        poll = select.poll()
        poll.register(fd, event)
        began = time.monotonic()
        ready = poll.poll(SLICE_MS)
        self._left_s -= min(time.monotonic() - began, LATE_NS / 1e9)
        return bool(ready)


def reach(
    process: BotProcess, patience: Patience, flood_bytes: int = FLOOD_BYTES
) -> tuple[PipeLink, Session]:
    """The link to a bot, and the conversation that belongs on it. Raises BotFault."""
    endpoint = process.endpoint
    if endpoint is None:
        return PipeLink(process.stdin, process.stdout), Session(flood_bytes)
    while (link := endpoint.accept()) is None:
        ended = process.how_it_ended()
        if ended is not None:
            raise BotFault(Ending.NO_START, f"the bot {ended}")
        if patience.over:
            told = f"no connection to REFEREE_ENDPOINT within {patience.allowed_ms} ms"
            raise BotFault(Ending.NO_HELLO, told)
        patience.await_words(endpoint.fd)
    session = FramedSession(flood_bytes, token=endpoint.token)
    session.reply = link.reply
    return link, session
