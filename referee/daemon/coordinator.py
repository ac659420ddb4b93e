"""The daemon: one loop that knows everything and waits for nobody.

    house.db (what is wanted) ─► coordinator ─► workers, hall ─► games ─► the season's store, tables

Whoever wants something writes it into the house; the loop sees that the house has changed and acts.
Games come back from workers and hall in batches and are committed once a second: what was committed
counts once, whatever happens, and what was not is played again.
Everything slow happens in other processes, which end when this one does.
"""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from types import FrameType

import msgspec

from referee.arena.core import own_cores, spare_cores
from referee.clock import read_duration_ms
from referee.daemon.contests import Contests
from referee.daemon.crew import Crew
from referee.daemon.dropping import Dropping
from referee.daemon.game_news import GameNews
from referee.daemon.greeting import Say, greet, listens
from referee.daemon.journal import Journal, stamp
from referee.daemon.live import Live
from referee.daemon.logs import trim_logs
from referee.daemon.orders import GuestCame, GuestLeft
from referee.daemon.pace import PACE, Pace, PaceTerms
from referee.daemon.pages import Pages
from referee.daemon.readiness import Readiness
from referee.daemon.reception import Reception
from referee.daemon.relays import Relays
from referee.daemon.roster import Guest, Roster
from referee.daemon.seasons import Seasons
from referee.daemon.submissions import Submissions
from referee.daemon.sweeping import Sweeping
from referee.daemon.telling import Count, hall_counts
from referee.daemon.terms import ServeTerms
from referee.daemon.turns import Turns, places
from referee.ladder.season import Player
from referee.mistake import Mistake
from referee.store.house.house import House
from referee.store.house.mistakes import HouseFull
from referee.store.house.rows import VersionRow
from referee.tournament.confining import confinement_of
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.spec import Spec

TICK_S = 0.1
LOOK_S = 0.2
COUNT_S = 1.0
QUEUE_S = 1.0
TIDY_S = 600.0


class Ending:
    """Whether a signal came; a second one wants the end at once."""

    def __init__(self) -> None:
        self.came = 0

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self.came += 1

    def is_asked_for(self) -> bool:
        return self.came > 0


class Coordinator:
    """The loop."""

    def __init__(
        self,
        terms: ServeTerms,
        house: House,
        spec: Spec,
        journal: Journal,
        readiness: Readiness,
        ending: Ending,
        say: Say,
        pages: Pages | None,
        live: Live,
    ) -> None:
        """The pages and the live events outlive it."""
        self._terms = terms
        self._house = house
        self._spec = spec
        self._journal = journal
        self._readiness = readiness
        self._ending = ending
        self._say = say
        self._now = time.monotonic
        self._ids = count(1)
        self._seen: int | None = None
        """The version of the house's data that has been acted on."""
        self._due: dict[str, float] = {}
        self._guests: dict[str, Guest] = {}
        self._players: list[Player] = []
        """Everybody who can be given games of the season."""
        confinement = confinement_of(spec)
        turns, cores = Turns(places(terms.jobs)), spare_cores(terms.jobs)
        self._roster = Roster(house, confinement, journal, turns, cores)
        self._submissions = Submissions(
            house,
            (confinement, spec.clock(), read_duration_ms(spec.build_time)),
            journal,
            self._tell_version,
            turns,
            cores,
        )
        self._live = live
        self._dropping = Dropping(house, journal)
        self._sweeping = Sweeping(house, journal)
        self._pace = Pace(terms.pace or PaceTerms(), house.data, journal, self._now)
        self._pages = pages
        self._crew = Crew(terms.jobs, journal)
        self._news = GameNews(self._live, journal)
        self._dispatcher = Dispatcher(self._news, self._pace, self._now)
        self._dispatcher.pools.append(self._crew)
        self._relays = Relays(max(1, own_cores() - terms.jobs), journal, self._now, cores)
        self._reception = self._make_reception()
        if self._reception is not None:
            self._dispatcher.pools.append(self._reception)
        hidden_names = _hidden_names if terms.anonymous else None
        self._seasons = Seasons(
            house,
            self._dispatcher,
            journal,
            ids=self._ids,
            now=self._now,
            hidden_names=hidden_names,
            on_open=self._play_by,
        )
        self._contests = Contests(
            house,
            self._dispatcher,
            self._live,
            journal,
            ids=self._ids,
            now=self._now,
            jobs=terms.jobs,
            hidden_names=hidden_names,
        )

    def run(self, begin: Callable[[], None]) -> None:
        """Until the end is asked for, and then to a good end.

        `begin` is what else a start makes and tells: it is done once everything listens, so that a
        port which is taken leaves nothing behind.
        """
        try:
            if not self._listen():
                return
            begin()
            greet(self._pages, self._reception, self._say)
            self._look()
            self._readiness.ready("playing")
            self._journal.info("the daemon plays", data=self._house.data, workers=len(self._crew))
            while not self._ending.came:
                self._turn()
            self._finish()
        finally:
            self._close()

    def _listen(self) -> bool:
        """Open the doors; whether all are open before the end is asked for."""
        self._admit()
        while not self._ending.came:
            self._hear_doors(self._now())
            if listens(self._pages, self._reception):
                return True
            self._wait()
        return False

    # A turn of the loop.

    def _turn(self) -> None:
        if self._is_due("look", LOOK_S) and self._house.version_of_data() != self._seen:
            self._look()
        self._dispatcher.give_out()
        self._wait()
        self._hear()
        self._dispatcher.commit_in_time()
        self._draw()
        self._contests.draw(self._now())
        if self._is_due("contests", LOOK_S):
            self._look_at_contests()
        if self._is_due("queue", QUEUE_S):
            self._take_submissions()
        if self._is_due("count", COUNT_S):
            self._count()
        opened = self._seasons.open
        if self._is_due("tidy", TIDY_S):
            if opened is not None:
                trim_logs(opened.folder)
            self._contests.trim_logs()
        self._dropping.look(opened, self._now())
        self._sweeping.look(confinement_of(self._spec), self._now())
        self._readiness.alive(self._now())

    def _is_due(self, what: str, every_s: float) -> bool:
        now = self._now()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every_s
        return True

    def _wait(self) -> None:
        poll = select.poll()
        pages = None if self._pages is None else self._pages.fd
        hall = None if self._reception is None else self._reception.fd
        children = (*self._submissions.fds, *self._roster.builder.fds)
        for fd in (self._crew.fileno(), *children, pages, hall):
            if fd is not None:
                poll.register(fd, select.POLLIN)
        poll.poll(TICK_S * 1000)

    def _hear(self) -> None:
        self._dispatcher.hear(self._crew, 0)
        now = self._now()
        if self._submissions.hear(now):
            self._seen = None
        if self._roster.hear():
            self._seen = None
        self._hear_doors(now)

    def _hear_doors(self, now: float) -> None:
        if self._reception is not None:
            self._reception.look(now)
        if self._pages is not None:
            self._pages.look(now)

    # What people want.

    def _look(self) -> None:
        """Act on what the house holds now."""
        self._seen = self._house.version_of_data()
        if not self._seasons.follow():
            self._seen = None
        opened = self._seasons.open
        self._dropping.look(opened, self._now(), changed=True)
        if self._terms.pace is None:
            self._pace.change(self._house.settings.get(PACE, PaceTerms, PaceTerms()))
        if opened is not None:
            players = self._roster.playing(self._guests, self._now())
            self._players = players
            opened.enter(players)
            self._seasons.note_teams()
        self._admit()
        self._take_submissions()
        self._look_at_contests()

    def _take_submissions(self) -> None:
        if self._pace.has_room():
            self._submissions.begin(self._now())

    def _look_at_contests(self) -> None:
        if self._contests.busy or self._pace.has_room():
            self._contests.look(self._roster, self._spec, self._is_here)
        both = (*self._players, *self._contests.players)
        self._relays.handed_in = {each.id for each in both if not each.connected}

    def _admit(self) -> None:
        if self._reception is not None:
            self._reception.admit(self._house.bots.keys(), self._house.bots.tokens())

    def _is_here(self, player: Player) -> bool:
        """Whether it can be given games: bots that connect have to be connected."""
        if not player.connected:
            return True
        guest = self._guests.get(player.contestant.bot.name)
        # One that came back as another version is another player.
        return guest is not None and guest.version.id == player.id

    def _play_by(self, spec: Spec) -> None:
        """How bots are confined and what clock they are checked by, from now on."""
        self._spec = spec
        confinement = confinement_of(spec)
        self._roster.confine(confinement)
        build_ms = read_duration_ms(spec.build_time)
        self._submissions.terms = (confinement, spec.clock(), build_ms)

    def _guest(self, report: GuestCame | GuestLeft) -> None:
        """Somebody has come into the hall, or left it."""
        name = report.name
        if isinstance(report, GuestCame):
            hello = report.hello
            try:
                said = msgspec.json.encode(hello).decode()
                version = self._house.versions.arrived(name, hello.version or "", said)
            except HouseFull:
                raise
            except Mistake as mistake:
                self._journal.warning("a guest cannot play", bot=name, why=mistake)
                return
            self._guests[name] = Guest(version=version, variants=hello.variants)
            self._journal.info("connected", bot=version.name, address=report.address)
        elif (left := self._guests.pop(name, None)) is not None:
            if self._seasons.open is not None:
                # Before the next look: a game that is given out until then would be for nobody.
                self._seasons.open.leave(left.version.id)
            self._journal.info("disconnected", bot=name, why=report.why)
        else:
            return
        self._seen = None
        state = "arrived" if isinstance(report, GuestCame) else "departed"
        self._live.tell("guest", name=name, state=state)

    # What is told.

    def _tell_version(self, version: VersionRow) -> None:
        self._live.tell(
            "submission", bot=version.bot_name, version=version.number, state=version.state
        )

    def _draw(self) -> None:
        if (drawn := self._seasons.draw()) is not None:
            self._live.tell("standings", season=drawn.row.name, at=stamp())

    def _count(self) -> None:
        self._live.tell("guests", names=sorted(self._guests))
        counted: dict[str, Count] = {
            "workers": len(self._crew),
            "room_on_disk": int(self._pace.room),
            "submissions_waiting": len(self._house.submissions.waiting()),
            "games_since_start": self._dispatcher.games,
            "chunks_being_played": self._dispatcher.busy,
            "errors": self._news.errors,
        }
        if (opened := self._seasons.open) is not None:
            counted |= {
                "games_of_season": opened.season.played,
                "players": len(opened.season.players),
            }
        if self._reception is not None:
            counted |= hall_counts(self._reception.counters)
        self._live.tell("counters", values=counted)

    def _make_reception(self) -> Reception | None:
        if self._terms.bots is None:
            return None
        return Reception(
            self._terms.bots,
            self._house.data,
            self._dispatcher,
            self._journal,
            self._relays,
            self._guest,
        )

    # The end.

    def _finish(self) -> None:
        """Let what is being played come to an end, for a while."""
        self._journal.info("the daemon ends", playing=self._dispatcher.busy)
        self._readiness.stopping()
        reception = self._reception
        if reception is not None:
            reception.close(self._terms.finish_s)
        # The hall needs a moment more than its games, to say goodbye.
        deadline = self._now() + self._terms.finish_s + (1.0 if reception is not None else 0.0)
        while self._now() < deadline and self._ending.came < 2:
            if not self._dispatcher.busy and (reception is None or not reception.is_open):
                break
            self._wait()
            self._dispatcher.hear(self._crew, 0)
            self._dispatcher.commit_in_time()
            if reception is not None:
                reception.look(self._now())

    def _close(self) -> None:
        """Let go of everything, also where a full disk keeps some of it from being written."""
        with ExitStack() as each:
            each.callback(self._seasons.close)
            each.callback(self._contests.close)
            each.callback(self._crew.close)
            each.callback(self._dispatcher.commit)
            if self._reception is not None:
                each.callback(self._reception.end)
            each.callback(self._dropping.close)
            each.callback(self._sweeping.close)
            each.callback(self._roster.builder.close)
            each.callback(self._submissions.close)


def _hidden_names(_chunk: int) -> tuple[str, str]:
    """Two that nobody can recognise again."""
    return f"bot-{secrets.token_hex(3)}", f"bot-{secrets.token_hex(3)}"
