"""`referee serve` from its start to its end: who is in charge, and what a first start makes."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from functools import partial

import msgspec
from msgspec.structs import replace

from referee.arena.core import spare_cores
from referee.daemon.coordinator import Coordinator, Ending
from referee.daemon.full_disk import FullDisk
from referee.daemon.greeting import Say
from referee.daemon.journal import Journal
from referee.daemon.live import Live
from referee.daemon.opening import must_be_as_asked, settled, spec_of
from referee.daemon.pace import PACE, PaceTerms
from referee.daemon.pages import Pages
from referee.daemon.readiness import Readiness
from referee.daemon.samples import enter_samples
from referee.daemon.terms import ServeTerms
from referee.store.connect import FILE
from referee.store.house.house import House
from referee.store.house.missing import must_have_its_games
from referee.tournament.spec import Spec

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve(terms: ServeTerms, journal: Journal, readiness: Readiness, say: Say) -> None:
    """Run until a signal asks for the end. `say` is for what a person at the start has to know.

    Raises Conflict where another daemon runs on this data, and what else keeps one from starting.
    Where there is a season, what was asked for the first one is for nothing, and is told so.
    """
    with House.open(terms.data) as house:
        house.take_charge()
        if terms.quota_bytes is not None:
            house.settings.set_quota(terms.quota_bytes, by="the start")
        season = house.seasons.latest()
        spec = settled(terms.season if season is None else spec_of(season))
        if season is not None:
            must_have_its_games(house, season)
            if otherwise := must_be_as_asked(season, spec, terms):
                journal.warning(otherwise)
        with _asked_to_end() as ending, contextlib.ExitStack() as closing:
            pages = pages_of(terms, journal)
            if pages is not None:
                closing.callback(pages.close)
            live = Live(terms.data)
            closing.callback(live.close)

            def play() -> None:
                house.put_all_back()
                coordinator = Coordinator(
                    terms, house, spec, journal, readiness, ending, say, pages, live
                )
                coordinator.run(partial(_begin, terms, house, spec, journal, say))

            full = FullDisk(terms.data, pages, live, journal, readiness)
            full.outlast(play, lambda: _room_bytes(terms, house), ending.is_asked_for)


def _room_bytes(terms: ServeTerms, house: House) -> int:
    pace = terms.pace or house.settings.get(PACE, PaceTerms, PaceTerms())
    return pace.room_bytes


def pages_of(terms: ServeTerms, journal: Journal) -> Pages | None:
    """The pages that were asked for, not yet started."""
    if terms.port is None:
        return None
    settings = {
        "data": str(terms.data.resolve()),
        "host": terms.host,
        "port": terms.port,
        "anonymous": terms.anonymous,
        "public": terms.public,
        "writing": terms.writing,
        "proxies": terms.proxies,
        "cores": sorted(spare_cores(terms.jobs)),
    }
    return Pages(settings, terms.data, journal)


def _begin(terms: ServeTerms, house: House, spec: Spec, journal: Journal, say: Say) -> None:
    """What a first start makes, and what is told of it."""
    season = house.seasons.latest()
    if season is None:
        # The next season begins with what was asked for this one, perhaps at another level.
        asked = replace(spec, freeze=terms.season.freeze)
        season = house.seasons.start(msgspec.json.encode(asked).decode(), by="the first start")
    others = house.bots.all()
    if terms.samples or not others:
        for name in enter_samples(house):
            journal.info("entered", bot=name)
    elif not (house.seasons.folder(season) / FILE).exists():
        journal.info("no sample bots are entered, since there are others; --samples enters them")
    organiser = house.teams.first_organiser()
    if organiser is not None:
        say(
            f"The token of {organiser.name}, shown this once: {organiser.token}",
            "token",
            name=organiser.name,
            token=organiser.token,
        )


@contextlib.contextmanager
def _asked_to_end() -> Iterator[Ending]:
    ending = Ending()
    before = {number: signal.signal(number, ending.note) for number in SIGNALS}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
