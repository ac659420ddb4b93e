"""Submissions, one at a time: each is looked at by a process of its own (examining.py).

A version that is being looked at when the daemon is killed is queued again by the next one. The
process that looks may break down itself, or never end: the first time that is our trouble and it
is tried again, the second time it is the submission's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from referee.bots.confinement import Confinement
from referee.clock import Clock
from referee.daemon.child import Child
from referee.daemon.examining import Finding, Passed, Request, Stage
from referee.daemon.journal import Journal
from referee.store.house.house import House
from referee.store.house.rows import VersionRow

MODULE = "referee.daemon.examining"
NICE = 5
LONGEST_S = 600.0
"""For a build and a check together, over all their own limits."""
TRIES = 2


class Submissions:
    """The queue, and what is being looked at."""

    def __init__(
        self,
        house: House,
        terms: tuple[Confinement, Clock, int],
        journal: Journal,
        tell: Callable[[VersionRow], None],
    ) -> None:
        """`tell` hears of every version that comes into another state."""
        self._house = house
        self.terms = terms
        """How bots are confined, what clock they play by, and the milliseconds of a build."""
        self._journal = journal
        self._tell = tell
        self._child: Child | None = None
        self._version: VersionRow | None = None
        self._buffer = b""
        self._ends = 0.0
        self._tries: Counter[int] = Counter()

    @property
    def fd(self) -> int | None:
        """Readable when the one that looks has said something."""
        return None if self._child is None else self._child.fd

    def begin(self, now: float) -> bool:
        """Take the next in the queue, where nothing is in hand; whether there was one."""
        if self._child is not None:
            return False
        version = self._house.submissions.claim()
        if version is None:
            return False
        confinement, clock, build_ms = self.terms
        data = self._house.data.resolve()
        request = Request(
            data=str(data),
            version=version.id,
            name=version.bot_name,
            archive=str(self._house.submissions.path(version).resolve()),
            confinement=confinement,
            clock=clock,
            build_ms=build_ms,
        )
        self._version, self._buffer, self._ends = version, b"", now + LONGEST_S
        self._child = Child(MODULE, "examiner", self._journal, nice=NICE)
        self._child.send(msgspec.json.encode(request, enc_hook=str) + b"\n")
        self._journal.info("building", bot=version.name)
        self._tell(version)
        return True

    def hear(self, now: float) -> bool:
        """What the one that looks has found; True where a version has come to its verdict."""
        if self._child is None:
            return False
        data = self._child.read()
        if data:
            self._buffer += data
            *lines, self._buffer = self._buffer.split(b"\n")
            judged = [self._take(msgspec.json.decode(line, type=Finding)) for line in lines]
            return any(judged)
        if data is None:
            self._child.close(1.0)
            return self._broken(f"what checks it ended {self._child.how_it_ended()}")
        if now > self._ends:
            return self._broken(f"its build and its check took longer than {LONGEST_S:.0f} s")
        return False

    def close(self) -> None:
        """Let go of what is in hand: it stays in the queue."""
        if self._child is not None and self._version is not None:
            self._house.submissions.put_back(self._version.id)
            self._end()

    def _take(self, finding: Finding) -> bool:
        assert self._version is not None
        number = self._version.id
        if isinstance(finding, Stage):
            self._tell(self._house.submissions.checking(number))
            return False
        if isinstance(finding, Passed):
            version = self._house.submissions.accept(number, finding.definition, finding.told)
        else:
            version = self._house.submissions.reject(number, finding.told)
        self._judged(version)
        return True

    def _broken(self, why: str) -> bool:
        assert self._version is not None
        number = self._version.id
        self._tries[number] += 1
        if self._tries[number] < TRIES:
            self._journal.warning("checked again", bot=self._version.name, why=why)
            self._tell(self._house.submissions.put_back(number))
            self._end()
            return False
        self._judged(self._house.submissions.reject(number, why))
        return True

    def _judged(self, version: VersionRow) -> None:
        self._journal.info("judged", bot=version.name, state=version.state)
        self._end()
        self._tell(version)

    def _end(self) -> None:
        if self._child is not None:
            self._child.close(1.0)
        self._child = self._version = None
