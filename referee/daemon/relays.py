"""Bots that were handed in and are to meet one that connected: each joins the hall by a relay.

A relay is a process of ours that runs the bot, confined as in a worker, and speaks for it in the
hall (`referee connect` does the same elsewhere). It lives for one chunk and comes in by a token or
a key that nobody else has and that is good until it has left.

There are at most as many relays at a time as cores on which no worker plays, each on a core of its
own; where every core has a worker, there is one relay at a time. A chunk needs one relay at most,
since two bots that were handed in meet in a worker.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.daemon.orders import Opened
from referee.daemon.priorities import RATED
from referee.links.keys import KeyPair, new_keys
from referee.rules.registry import BadVariant, find_variant
from referee.store.house.tokens import hash_of
from referee.tournament.chunk import Chunk, Contestant

MODULE = "referee.daemon.relaying"
ARRIVE_S = 20.0
"""From its start to its hello in the hall, beyond what the bot itself may take to start."""
LEAVE_S = 6.0


class Request(Struct, frozen=True, kw_only=True):
    """What a relay is told on the first line of its standard input."""

    bot: Bot
    endpoint: str
    server_key: str | None
    token: str | None
    keys: KeyPair | None
    confinement: Confinement
    startup_ms: int
    log: str | None


class Relay(Struct):
    """A bot of ours in the hall."""

    chunk: int
    version: int
    name: str
    child: Child
    token: str | None
    keys: KeyPair | None
    core: frozenset[int]
    """The one core on which it runs; none where the system does not tell."""
    leave_by: float | None = None
    """Until when it has to leave by itself, once its chunk is over."""
    ended: bool = False
    """Whether its process has; the hall may not have noticed yet."""


class Relays:
    """All of them."""

    def __init__(
        self, most: int, journal: Journal, now: Callable[[], float], cores: frozenset[int]
    ) -> None:
        """At most so many at a time; each runs on one of these cores."""
        self.handed_in: set[int] = set()
        """The versions that can only come by a relay."""
        self._most = most
        self._cores = cores
        self._journal = journal
        self._now = now
        self._relays: list[Relay] = []
        """From their start until the hall, too, has seen them leave."""

    def absent(self) -> Collection[int]:
        """Versions that cannot be brought to the hall now."""
        # One that leaves keeps its core: its bot may use it until it has ended.
        if sum(not relay.ended for relay in self._relays) >= self._most:
            return self.handed_in
        return {relay.version for relay in self._relays}

    def knows(self, name: str) -> bool:
        """Whether this guest is one of ours."""
        return any(relay.name == name for relay in self._relays)

    def keys(self) -> dict[str, str]:
        there = [relay for relay in self._relays if not relay.ended]
        return {relay.keys.public: relay.name for relay in there if relay.keys is not None}

    def tokens(self) -> dict[str, str]:
        there = [relay for relay in self._relays if not relay.ended]
        return {hash_of(relay.token): relay.name for relay in there if relay.token}

    def start(self, due: Sequence[Contestant], chunk: Chunk, opened: Opened) -> float:
        """Send these to the hall; until when they have to be there."""
        manner = chunk.manner
        for contestant in due:
            curve, core = opened.public is not None, self._free_core()
            relay = Relay(
                chunk=chunk.id,
                version=contestant.id,
                name=contestant.bot.name,
                child=Child(
                    MODULE,
                    f"relay of {contestant.bot.name}",
                    self._journal,
                    nice=RATED,
                    cores=core,
                ),
                core=core,
                token=None if curve else secrets.token_hex(16),
                keys=new_keys() if curve else None,
            )
            logs = log_of(chunk, relay.name)
            if logs is not None:
                logs.parent.mkdir(parents=True, exist_ok=True)
            request = Request(
                bot=contestant.bot,
                endpoint=from_here(opened.endpoint),
                server_key=opened.public,
                token=relay.token,
                keys=relay.keys,
                confinement=manner.confinement,
                startup_ms=manner.startup_ms,
                log=None if logs is None else str(logs),
            )
            relay.child.send(msgspec.json.encode(request, enc_hook=str) + b"\n")
            self._relays.append(relay)
        return self._now() + ARRIVE_S + manner.startup_ms / 1000

    def look(self, here: Collection[str]) -> tuple[list[int], bool]:
        """See out who is to leave, where these are in the hall.

        The chunks of those that have ended by themselves, and whether anybody has ended.
        """
        failed: list[int] = []
        ended = False
        for relay in list(self._relays):
            if relay.ended:
                if relay.name not in here:
                    self._relays.remove(relay)
            elif relay.child.read() is None or self._is_late(relay):
                relay.child.close(0.0 if self._is_late(relay) else LEAVE_S)
                relay.ended = ended = True
                if relay.leave_by is None:
                    failed.append(relay.chunk)
                    how = relay.child.how_it_ended()
                    self._journal.warning("a relay ended", bot=relay.name, how=how)
        return failed, ended

    def end(self, chunk: int) -> None:
        """A chunk is over: whoever came for it leaves."""
        for relay in self._relays:
            if relay.chunk == chunk and relay.leave_by is None and not relay.ended:
                relay.child.end_input()
                relay.leave_by = self._now() + LEAVE_S

    def close(self) -> None:
        """Be sure that all are gone."""
        there = [relay for relay in self._relays if not relay.ended]
        for relay in there:
            relay.child.end_input()
        for relay in there:
            relay.child.close(LEAVE_S)
        self._relays = []

    def _free_core(self) -> frozenset[int]:
        """The first core that no other relay has."""
        taken = frozenset[int]().union(*(relay.core for relay in self._relays if not relay.ended))
        return frozenset(sorted(self._cores - taken or self._cores)[:1])

    def _is_late(self, relay: Relay) -> bool:
        return relay.leave_by is not None and self._now() > relay.leave_by


def log_of(chunk: Chunk, name: str) -> Path | None:
    """Where what it writes to stderr is kept: as of games in a worker, so that who reads those
    finds these."""
    if chunk.manner.logs is None:
        return None
    try:
        variant = find_variant(chunk.variant).name
    except BadVariant:  # Nothing will be played; the hall says why.
        variant = Path(chunk.variant).stem
    pairing = f"{chunk.first.bot.name} - {chunk.second.bot.name}"
    return chunk.manner.logs / variant / pairing / f"{name}.stderr.txt"


def from_here(endpoint: str) -> str:
    """An address to which this machine can connect: one that stands for all is none."""
    return re.sub(r"^tcp://(\*|0\.0\.0\.0):", "tcp://127.0.0.1:", endpoint).replace(
        "tcp://[::]:", "tcp://[::1]:"
    )
