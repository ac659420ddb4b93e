"""Where a tournament is played: what can be had there, and who plays.

Everything that depends on the machines that play stands behind this door: how strictly bots can be
confined, whether they can be built, and the hands. `HERE` is this machine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import choose
from referee.tournament.confining import at_level, strangers_of, with_level
from referee.tournament.crew import Crew
from referee.tournament.entries import Entry
from referee.tournament.events import Listener
from referee.tournament.readying import make_ready, ready_or_left_out
from referee.tournament.spec import Spec
from referee.tournament.workers import Workers


class Ground(Protocol):
    """A place to play."""

    def settle(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        """The spec with its level settled. Raises BadSpec, NotConfined."""

    def settle_again(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        """Of a tournament that goes on: its level has to be had here too. Raises NotConfined."""

    def ready_or_left_out(
        self, spec: Spec, entries: Sequence[Entry], tell: Listener
    ) -> tuple[list[Entry], dict[str, str]]:
        """Those that can be made ready, and by name why the others are left out."""

    def make_ready(self, spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
        """All of them. Raises BadBot."""

    def must_meet(self, pairs: Collection[tuple[str, str]]) -> None:
        """That these can play each other, by their names. Raises a Mistake."""

    def jobs(self, spec: Spec) -> int:
        """How many chunks are played at a time."""

    def hire(self, wanted: int) -> Crew:
        """So many hands, or as many as there are."""


class Here:
    """This machine."""

    def settle(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        return with_level(spec, entries)

    def settle_again(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        level = choose(Level(spec.sandbox or Level.NONE))
        return at_level(spec, level, strangers=bool(strangers_of(entries)))

    def ready_or_left_out(
        self, spec: Spec, entries: Sequence[Entry], tell: Listener
    ) -> tuple[list[Entry], dict[str, str]]:
        return ready_or_left_out(spec, entries, tell)

    def make_ready(self, spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
        return make_ready(spec, entries, tell)

    def must_meet(self, pairs: Collection[tuple[str, str]]) -> None:
        """Whoever is ready here can."""

    def jobs(self, spec: Spec) -> int:
        return spec.jobs or 1

    def hire(self, wanted: int) -> Crew:
        return Workers(wanted)


HERE = Here()
