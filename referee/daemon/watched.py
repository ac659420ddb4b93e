"""The games that are told move by move right now, wherever they are played."""

from __future__ import annotations

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

        `names` are the bots' own, by what the two are told that they are called. Where these are
        others, lines stay as they were told, and `called` says who is meant: only here a name is
        known from a word that happens to be the same, and who may know which is seen to at the
        pages.
        """
        game = f"{label}/{report.game}"
        hidden = any(told != true for told, true in names.items())
        called = {"called": dict(names)} if hidden else {}
        if isinstance(report, LiveBegan):
            report = replace(report, players=tuple(names[name] for name in report.players))
            self._games[report.chunk, report.game] = report
            self._live.tell(
                "began",
                game=game,
                variant=report.variant,
                players=report.players,
                lines=report.lines,
                **called,
            )
        elif isinstance(report, LiveMoved):
            self._live.tell(
                "moved", game=game, move_number=report.move_number, lines=report.lines, **called
            )

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
