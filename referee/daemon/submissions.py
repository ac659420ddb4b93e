"""Submissions, teams in turn: each is looked at by a process of its own (examining.py).

A version that is being looked at when the daemon is killed is queued again by the next one. The
process that looks may break down itself, or never end: the first time that is our trouble and it
is tried again, the second time it is the submission's, and another process takes away what is left
of it before it is rejected. A bot that fails by its time alone may have been late for the work of
others: where there was any, it is checked once more, alone. A disk without room is always our
trouble: the version waits, for longer each time, and the others go on.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec import Struct

from referee.bots.confinement import Confinement
from referee.clock import Clock
from referee.daemon.child import Child
from referee.daemon.definition import contents_in_use
from referee.daemon.examining import Finding, Passed, Postponed, Request, Stage
from referee.daemon.journal import Journal
from referee.daemon.priorities import UNRATED
from referee.daemon.turns import Turns
from referee.store.house.house import House
from referee.store.house.mistakes import HouseFull
from referee.store.house.rows import VersionRow

MODULE = "referee.daemon.examining"
LONGEST_S = 600.0
"""For a build and a check together, over all their own limits."""
TRIES = 2
REST_S = 15.0
"""After a check for which the disk had no room: by then it is known how full the disk is."""
LONGEST_REST_S = 960.0
"""Of a version for which there was no room again and again."""


class _Rest(NamedTuple):
    """How long a version waits for room on the disk."""

    length_s: float
    until: float


class _Check(Struct):
    """A version in hand, and the process that looks at it."""

    version: VersionRow
    child: Child
    ends: float
    buffer: bytes = b""


class Submissions:
    """The queue, and what is being looked at."""

    def __init__(
        self,
        house: House,
        terms: tuple[Confinement, Clock, int],
        journal: Journal,
        tell: Callable[[VersionRow], None],
        turns: Turns,
        cores: frozenset[int],
    ) -> None:
        """`tell` hears of every version that comes into another state. Checks take turns, with
        other work on the same cores, which are these."""
        self._house = house
        self.terms = terms
        """How bots are confined, what clock they play by, and the milliseconds of a build."""
        self._journal = journal
        self._tell = tell
        self._cores = cores
        self._checks: dict[int, _Check] = {}
        """By version."""
        self._turns = turns
        self._alone: set[int] = set()
        """Versions that were late beside the work of others, and are checked alone."""
        self._tries: Counter[int] = Counter()
        self._rest_until = 0.0
        self._rests: dict[int, _Rest] = {}
        """By version; those that the machine could not look at."""

    @property
    def fds(self) -> list[int]:
        """One of them is readable when a process that looks has said something."""
        return [check.child.fd for check in self._checks.values()]

    def begin(self, now: float) -> None:
        """Take from the queue what can be taken, teams in turn."""
        if now < self._rest_until:
            return
        waiting = [
            (each.team, each)
            for each in self._house.submissions.waiting()
            if each.state == "queued" and not self._rests_at(each.id, now)
        ]
        while (version := self._turns.next(waiting, now, self._is_alone)) is not None:
            waiting.remove((version.team, version))
            claimed = self._house.submissions.claim(version.id)
            if claimed is not None:
                self._begin(claimed, now)
                self._journal.info("building", bot=claimed.name)
                self._tell(claimed)

    def hear(self, now: float) -> bool:
        """What the processes have found; True where a version has come to its verdict."""
        judged = [self._hear(check, now) for check in list(self._checks.values())]
        return any(judged)

    def close(self) -> None:
        """Let go of what is in hand: it stays in the queue."""
        held = list(self._checks.values())
        for check in held:
            self._end(check)
        # On a full disk, whoever is in charge next puts it back.
        with contextlib.suppress(HouseFull):
            for check in held:
                self._house.submissions.put_back(check.version.id)

    def _begin(self, version: VersionRow, now: float, rejected: str = "") -> None:
        """Look at it, or clear up after it where it is rejected."""
        confinement, clock, build_ms = self.terms
        request = Request(
            data=str(self._house.data.resolve()),
            version=version.id,
            name=version.bot_name,
            archive=str(self._house.submissions.path(version).resolve()),
            confinement=confinement,
            clock=clock,
            build_ms=build_ms,
            size=version.size,
            allowance=self._house.submissions.quotas.allowance_of(version),
            in_use=contents_in_use(self._house, but=version.id),
            rejected=rejected,
        )
        child = Child(MODULE, "examiner", self._journal, nice=UNRATED, cores=self._cores)
        child.send(msgspec.json.encode(request, enc_hook=str) + b"\n")
        self._checks[version.id] = _Check(version, child, now + LONGEST_S)
        self._turns.begin(version.team, now, alone=self._is_alone(version))

    def _hear(self, check: _Check, now: float) -> bool:
        data = check.child.read()
        if data:
            check.buffer += data
            *lines, check.buffer = check.buffer.split(b"\n")
            findings = [msgspec.json.decode(line, type=Finding) for line in lines]
            judged = [self._take(check, finding, now) for finding in findings]
            return any(judged)
        if data is None:
            check.child.close(1.0)
            return self._broken(check, f"what checks it ended {check.child.how_it_ended()}", now)
        if now > check.ends:
            return self._broken(
                check, f"its build and its check took longer than {LONGEST_S:.0f} s", now
            )
        return False

    def _take(self, check: _Check, finding: Finding, now: float) -> bool:
        number = check.version.id
        if isinstance(finding, Stage):
            self._tell(self._house.submissions.checking(number))
            return False
        if isinstance(finding, Postponed):
            self._rest(number, now)
            return self._again(check, finding.why)
        if isinstance(finding, Passed):
            version = self._house.submissions.accept(
                number, finding.definition, finding.told, finding.room
            )
        elif finding.late and not self._is_alone(check.version) and self._had_company(check):
            self._alone.add(number)
            return self._again(check, "it was late beside the work of others")
        elif finding.late:
            self._clear_up(check, finding.told, now)
            return False
        else:
            version = self._house.submissions.reject(number, finding.told)
        self._judged(check, version)
        return True

    def _is_alone(self, version: VersionRow) -> bool:
        """Whether it is to be checked alone."""
        return version.id in self._alone

    def _had_company(self, check: _Check) -> bool:
        return self._turns.had_company(check.version.team)

    def _clear_up(self, check: _Check, why: str, now: float) -> None:
        """It is rejected, and something is left of it."""
        self._end(check)
        self._alone.discard(check.version.id)
        self._begin(check.version, now, rejected=why)

    def _broken(self, check: _Check, why: str, now: float) -> bool:
        number = check.version.id
        self._tries[number] += 1
        if self._tries[number] < TRIES:
            return self._again(check, why)
        if self._tries[number] == TRIES:
            self._clear_up(check, why, now)
            return False
        self._judged(check, self._house.submissions.reject(number, why))
        return True

    def _again(self, check: _Check, why: str) -> bool:
        self._journal.warning("checked again", bot=check.version.name, why=why)
        self._tell(self._house.submissions.put_back(check.version.id))
        self._end(check)
        return False

    def _rest(self, number: int, now: float) -> None:
        """Begin nothing for a moment, and this version not for twice as long as the last time."""
        self._rest_until = now + REST_S
        last = self._rests.get(number)
        length_s = REST_S if last is None else min(2 * last.length_s, LONGEST_REST_S)
        self._rests[number] = _Rest(length_s, now + length_s)

    def _rests_at(self, number: int, now: float) -> bool:
        return number in self._rests and now < self._rests[number].until

    def _judged(self, check: _Check, version: VersionRow) -> None:
        self._alone.discard(version.id)
        self._journal.info("judged", bot=version.name, state=version.state)
        self._end(check)
        self._tell(version)

    def _end(self, check: _Check) -> None:
        check.child.close(1.0)
        del self._checks[check.version.id]
        self._turns.end(check.version.team)
