"""Tournaments that were asked for, one after the other, each until it is over or called off."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec
from msgspec.structs import replace

from referee.daemon.contest import Contest, chosen, recalled
from referee.daemon.journal import Journal
from referee.daemon.live import Live
from referee.daemon.logs import trim_logs
from referee.daemon.roster import Roster
from referee.ladder.season import Player
from referee.mistake import Mistake
from referee.store.house.house import House
from referee.store.house.rows import TournamentRow
from referee.store.trouble import is_no_room
from referee.tournament.confining import for_strangers
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.spec import BadSpec, Spec

LABEL = "t"
"""Before the number of a tournament, in the name of a game of it."""


class Contests:
    """The queue of tournaments."""

    def __init__(
        self,
        house: House,
        dispatcher: Dispatcher,
        live: Live,
        journal: Journal,
        *,
        ids: Iterator[int],
        now: Callable[[], float],
        jobs: int,
        hidden_names: Callable[[int], tuple[str, str]] | None,
    ) -> None:
        self._house = house
        self._dispatcher = dispatcher
        self._live = live
        self._journal = journal
        self._ids = ids
        self._now = now
        self._jobs = jobs
        self._hidden_names = hidden_names
        self._row: TournamentRow | None = None
        self._contest: Contest | None = None
        self._ending: tuple[str, str] | None = None
        """How it ends, once what is being played has come back: the state, and why."""

    @property
    def busy(self) -> bool:
        """Whether one is played, or about to be."""
        return self._row is not None

    @property
    def players(self) -> Collection[Player]:
        """Who plays in the one that is played."""
        return () if self._contest is None else self._contest.players

    def look(self, roster: Roster, season: Spec, here: Callable[[Player], bool]) -> None:
        """Begin the next, or see whether the one that is played goes on."""
        if self._row is None:
            row = self._house.tournaments.claim()
            if row is not None:
                self._begin(row, roster, season, here)
            return
        contest = self._contest
        if contest is None:
            self._try_again(self._row, roster, season, here)
            return
        if self._ending is None:
            self._ending = self._how_it_ends(contest)
            contest.stopped = self._ending is not None
        if self._ending is not None and not self._dispatcher.busy_for(contest):
            self._end(*self._ending)

    def _try_again(
        self, row: TournamentRow, roster: Roster, season: Spec, here: Callable[[Player], bool]
    ) -> None:
        """One that could not begin since bots of it were being built."""
        if self._house.tournaments.get(row.id).state != "playing":
            self._end("cancelled", "")
        elif not roster.builder.busy:
            self._begin(row, roster, season, here)

    def close(self) -> None:
        """Let go of it: it is gone on with at the next start."""
        contest, self._contest = self._contest, None
        if contest is not None:
            contest.close(finished=False)

    def trim_logs(self) -> None:
        """Keep what bots of the one that is played wrote to stderr within bounds."""
        if self._contest is not None:
            trim_logs(self._contest.folder)

    def draw(self, now: float) -> None:
        """The tables of what is played."""
        if self._contest is not None:
            self._contest.board.look(now)

    def _begin(
        self, row: TournamentRow, roster: Roster, season: Spec, here: Callable[[Player], bool]
    ) -> None:
        self._row, self._ending = row, None
        folder = self._house.tournaments.folder(row)
        try:
            spec = msgspec.json.decode(row.spec, type=Spec)
            # Bots are confined as in the season, whoever asks for what.
            spec = for_strangers(
                replace(
                    spec,
                    jobs=self._jobs,
                    sandbox=season.sandbox,
                    limits=season.limits,
                    expose=season.expose,
                )
            )
            there = recalled(folder)
            if there:
                players = roster.of_versions({bot.name: bot.id for bot in there})
            else:
                everybody = roster.everybody()
                # Whoever is named is waited for; without names, those play who are here.
                about = [each for each in everybody if spec.bots or here(each)]
                why_not = self._house.versions.why_not_playing
                players = {} if roster.builder.busy else chosen(spec, about, why_not)
            if roster.builder.busy:
                return
            self._contest = Contest(
                folder,
                f"{LABEL}{row.id}",
                spec,
                players,
                here=here,
                ids=self._ids,
                now=self._now,
                hidden_names=self._hidden_names,
            )
        except msgspec.MsgspecError as error:
            self._end("failed", f"its spec cannot be read: {error}")
        except (BadSpec, Mistake) as problem:
            if is_no_room(problem):
                raise
            self._end("failed", str(problem))
        else:
            self._dispatcher.sources.insert(0, self._contest)
            self._journal.info("tournament", number=row.id, state="playing")
            self._live.tell("tournament", id=row.id, state="playing")

    def _how_it_ends(self, contest: Contest) -> tuple[str, str] | None:
        assert self._row is not None
        if self._house.tournaments.get(self._row.id).state != "playing":
            return "cancelled", ""
        missing = contest.trouble or contest.missing()
        if missing is not None:
            return "failed", missing
        return ("finished", "") if contest.is_over() else None

    def _end(self, state: str, told: str) -> None:
        assert self._row is not None
        number = self._row.id
        if self._contest is not None:
            if self._contest in self._dispatcher.sources:
                self._dispatcher.sources.remove(self._contest)
            self._contest.close(finished=state == "finished")
        if state == "finished":
            self._house.tournaments.finish(number)
        elif state == "failed":
            self._house.tournaments.fail(number, told)
        self._row = self._contest = self._ending = None
        self._journal.info("tournament", number=number, state=state, why=told)
        self._live.tell("tournament", id=number, state="failed" if state != "finished" else state)
