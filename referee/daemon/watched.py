"""The games that are told move by move right now, wherever they are played."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from referee.daemon.live import Live
from referee.tournament.chunk import Batch
from referee.tournament.telling import LiveBegan, LiveMoved, LiveReport
from referee.verdict import Ending


class Watched:
    """From those who play to those who watch."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._games: dict[tuple[int, str], LiveBegan] = {}
        """Those that have not ended, by their chunk and their names in it."""

    def tell(self, label: str, report: LiveReport, names: Mapping[str, str]) -> None:
        """How a game goes on that somebody plays. How it ended is told when it is kept.

        `names` are the bots' own, by what the two are told that they are called: whoever watches
        is told one name everywhere, and who may know which is seen to at the pages.
        """
        game = f"{label}/{report.game}"
        if isinstance(report, LiveBegan):
            report = replace(
                report,
                players=tuple(names[name] for name in report.players),
                lines=[_with(names, line) for line in report.lines],
            )
            self._games[report.chunk, report.game] = report
            variant, players = report.variant, report.players
            self._live.tell(
                "began", game=game, variant=variant, players=players, lines=report.lines
            )
        elif isinstance(report, LiveMoved):
            number, lines = report.move_number, [_with(names, line) for line in report.lines]
            self._live.tell("moved", game=game, move_number=number, lines=lines)

    def kept(self, batch: Batch) -> None:
        """These games have ended."""
        for game in batch.games:
            self._games.pop((batch.chunk, f"{game.pairing}-{game.number}"), None)

    def left(self, label: str, chunk: int) -> None:
        """A chunk is over: what of it has not ended will not, and nobody has to wait for it."""
        for key in [key for key in self._games if key[0] == chunk]:
            game = self._games.pop(key)
            self._live.tell(
                "ended",
                game=f"{label}/{game.game}",
                variant=game.variant,
                players=game.players,
                winner=None,
                ending=Ending.VOID,
                scores=(0, 0),
            )


def _with(names: Mapping[str, str], line: str) -> str:
    """A line of a game with these names in the place of those."""
    if all(told == true for told, true in names.items()):
        return line
    pattern = "|".join(re.escape(told) for told in sorted(names, key=len, reverse=True))
    return re.sub(pattern, lambda found: names[found[0]], line)
