"""What the daemon tells of the games that are dispatched: to its log, and to live followers."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from referee.daemon.journal import Journal
from referee.daemon.live import Live
from referee.daemon.telling import ended
from referee.tournament.chunk import Batch, Chunk, Done
from referee.tournament.crew import LostWorker
from referee.tournament.dispatcher import LOST_IN_A_ROW, Source
from referee.tournament.telling import LiveBegan, LiveMoved, LiveReport
from referee.verdict import Ending


class GameNews:
    """From those who play to those who watch: an observer of the dispatcher."""

    def __init__(self, live: Live, journal: Journal) -> None:
        self.errors = 0
        """Of scripts of variants, and of chunks that could not be played."""
        self._live = live
        self._journal = journal
        self._games: dict[tuple[int, str], LiveBegan] = {}
        """Those that have not ended, by their chunk and their names in it."""

    def kept(self, source: Source, batch: Batch) -> None:
        """These games have ended."""
        for game in batch.games:
            self._games.pop((batch.chunk, f"{game.pairing}-{game.number}"), None)
            self._live.tell("ended", **ended(source.label, game))

    def live(self, source: Source, chunk: Chunk, report: LiveReport) -> None:
        told = chunk.called or (chunk.first.bot.name, chunk.second.bot.name)
        names = dict(zip(told, source.true_names(chunk), strict=True))
        self._tell(source.label, report, names)

    def done(self, report: Done) -> None:
        for why, times in report.errors.items():
            self.errors += times
            self._journal.error("a variant failed, nobody loses by it", why=why, times=times)

    def ended(self, source: Source, chunk: Chunk) -> None:
        """What of a chunk has not ended will not, and nobody has to wait for it."""
        for key in [key for key in self._games if key[0] == chunk.id]:
            game = self._games.pop(key)
            self._live.tell(
                "ended",
                game=f"{source.label}/{game.game}",
                variant=game.variant,
                players=game.players,
                winner=None,
                ending=Ending.VOID,
                scores=(0, 0),
            )

    def failed(self, chunk: Chunk, why: str) -> None:
        self.errors += 1
        games = f"{chunk.variant}: {chunk.first.bot.name} - {chunk.second.bot.name}"
        self._journal.error("a chunk could not be played", why=why, games=games)

    def lost(self, why: LostWorker, in_a_row: int) -> None:
        self._journal.warning("a worker was lost", why=why)
        if in_a_row >= LOST_IN_A_ROW:
            self._journal.error("no worker stays alive: nothing is played for a while", why=why)

    def _tell(self, label: str, report: LiveReport, names: Mapping[str, str]) -> None:
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
