"""How much of the disk a team may use: what it handed in, unpacked and built too.

What counts is what has to stay: the versions that play and those that wait for their verdict. Older
versions are kept as long as they fit; where the quota is reached they go first, the oldest of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from referee.store.house.books import Books
from referee.store.house.bots import Bots
from referee.store.house.mistakes import OverQuota
from referee.store.house.rows import EntrantRow, TeamRow, VersionRow
from referee.store.house.settings import Settings
from referee.store.house.versions import SELECT, row

IDLE = ("rejected", "retired")
"""The states of versions that nothing waits for."""


class Allowance(Struct, frozen=True, kw_only=True):
    """What one more version of a team may take of the disk."""

    team: str
    used: int
    """By the versions that have to stay beside it."""
    quota: int

    @property
    def left(self) -> int:
        return self.quota - self.used

    def must_cover(self, needed: int) -> None:
        """Raises OverQuota."""
        if needed > self.left:
            raise OverQuota(
                f"{self.team} uses {_shown(self.used)} of its quota of {_shown(self.quota)}, and "
                f"this needs {_shown(needed)} with all that is unpacked and built of it; hand in a "
                "smaller folder, let its build leave less behind, or ask an organiser for more "
                "(`referee serve --quota`)"
            )


class Quotas:
    """What teams use."""

    def __init__(self, books: Books, bots: Bots, settings: Settings) -> None:
        self._books = books
        self._bots = bots
        self._settings = settings

    def used(self, team: int) -> int:
        """All that is kept of what a team handed in, in bytes."""
        return sum(each.takes for each in self._kept(team))

    def allowance(self, bot: EntrantRow | None, team: TeamRow | None) -> Allowance | None:
        """What the next version of a bot may take; None where there is no limit.

        The version that it replaces does not count. Without a bot, it is the team's first version
        of another one. What is the organisers' own has no limit.
        """
        owner = self._limited((None if team is None else team.id) if bot is None else bot.team)
        if owner is None:
            return None
        number, name = owner
        active = None if bot is None else bot.active
        stays = [each for each in self._kept(number) if each.state not in IDLE]
        return Allowance(
            team=name,
            used=sum(each.takes for each in stays if each.id != active),
            quota=self._settings.limits().team_bytes,
        )

    def allowance_of(self, version: VersionRow) -> Allowance | None:
        """What a version that waits for its verdict may take in all."""
        found = self.allowance(self._bots.get(version.bot), None)
        if found is None:
            return None
        return Allowance(team=found.team, used=found.used - version.takes, quota=found.quota)

    def excess(self, team: int | None) -> Sequence[VersionRow]:
        """The versions that have to go for what is kept to fit, the oldest first."""
        if team is None or self._limited(team) is None:
            return []
        kept = self._kept(team)
        over = sum(each.takes for each in kept) - self._settings.limits().team_bytes
        going: list[VersionRow] = []
        for version in kept:
            if over > 0 and version.state in IDLE:
                going.append(version)
                over -= version.takes
        return going

    def _limited(self, team: int | None) -> tuple[int, str] | None:
        """The number and the name of a team that has a quota."""
        query = "SELECT id, name FROM team WHERE id = ? AND role <> 'organiser'"
        found: tuple[int, str] | None = self._books.first(query, (team,))
        return found

    def _kept(self, team: int) -> list[VersionRow]:
        query = f"{SELECT} WHERE bot.team = ? AND version.kept ORDER BY version.id"
        return [row(found) for found in self._books.rows(query, (team,))]


def _shown(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
