"""Versions whose build is gone, after a restore for one: built again elsewhere, teams in turn.

A build takes seconds to minutes, and the loop of the daemon waits for nobody.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.daemon.priorities import UNRATED
from referee.daemon.rebuilding import Request
from referee.daemon.turns import Team, Turns

MODULE = "referee.daemon.rebuilding"
LEAVE_S = 1.0


class _Build(Struct):
    """What is to be built, and by which process, once it is in hand."""

    version: int
    team: Team
    bot: Bot
    confinement: Confinement
    child: Child | None = None
    said: bytes = b""


class Builder:
    """The queue, and what is being built."""

    def __init__(self, cache: Path, journal: Journal, turns: Turns, cores: frozenset[int]) -> None:
        self._cache = cache
        self._cores = cores
        self._journal = journal
        self._builds: dict[int, _Build] = {}
        """By version, in the order in which they came."""
        self._turns = turns

    @property
    def fds(self) -> list[int]:
        """One of them is readable when a build has ended."""
        return [build.child.fd for build in self._builds.values() if build.child is not None]

    @property
    def busy(self) -> bool:
        return bool(self._builds)

    def has(self, version: int) -> bool:
        return version in self._builds

    def want(self, version: int, team: Team, bot: Bot, confinement: Confinement) -> None:
        self._builds[version] = _Build(version, team, bot, confinement)
        self._begin()

    def hear(self) -> list[tuple[int, str]]:
        """The versions whose build has ended, each with why it failed, if it did."""
        ended = []
        for build in list(self._builds.values()):
            if build.child is None:
                continue
            data = build.child.read()
            if data is None:
                ended.append((build.version, self._end(build, build.child)))
            else:
                build.said += data
        self._begin()
        return ended

    def close(self) -> None:
        for build in self._builds.values():
            if build.child is not None:
                build.child.close(0.0)
        self._builds.clear()

    def _begin(self) -> None:
        now = time.monotonic()
        waiting = [(each.team, each) for each in self._builds.values() if each.child is None]
        while (build := self._turns.next(waiting, now)) is not None:
            waiting.remove((build.team, build))
            self._turns.begin(build.team, now)
            build.child = Child(MODULE, "builder", self._journal, nice=UNRATED, cores=self._cores)
            request = Request(bot=build.bot, confinement=build.confinement, cache=str(self._cache))
            build.child.send(msgspec.json.encode(request, enc_hook=str) + b"\n")
            self._journal.info("building again", bot=build.bot.name)

    def _end(self, build: _Build, child: Child) -> str:
        """Why it failed; nothing where it did not."""
        child.close(LEAVE_S)
        del self._builds[build.version]
        self._turns.end(build.team)
        if not build.said.endswith(b"\n"):
            return f"what builds it ended {child.how_it_ended()}"
        why = build.said.decode(errors="replace").strip()
        if not why:
            self._journal.info("built again", bot=build.bot.name)
        return why
