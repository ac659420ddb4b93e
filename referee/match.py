"""A match: two bots, one variant, any number of games. The API under `referee match`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from referee.arena.core import own_cores, take_core
from referee.arena.game import Setting, bot_info
from referee.arena.slot import House, Slot
from referee.bots.building import OnBuild
from referee.bots.builds import both_built
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot, find_bot, is_sample
from referee.bots.starting import several_processes
from referee.clock import (
    DEFAULT_GRACE_MS,
    DEFAULT_STARTUP_MS,
    DEFAULT_TIME,
    DEFAULT_WARM_UP_MS,
    read_clock,
)
from referee.deciding import SprtResult, SprtWatch
from referee.mistake import Mistake
from referee.ratings.sprt import Sprt
from referee.ratings.two_players import Score, score
from referee.record import Record
from referee.rules.registry import build_variant
from referee.rules.variant import Variant
from referee.schedule import GameOrder, pairing_games
from referee.verdict import Fault

MOST_GAMES = 1_000_000


class BadMatch(Mistake):
    """A match that cannot be played as asked; the message says why."""


class MatchResult(Struct, frozen=True, kw_only=True):
    """What came out of a match."""

    variant: str
    players: tuple[str, str]
    seed: str
    games: int
    """Games with a record, void ones included."""
    score: Score
    """Of the first player, over the rated games."""
    unrated: int
    """Void and forfeited games, which are in no score."""
    replayed: int
    """Games that a stall of the host or a bug of the referee spoilt and that were played again."""
    stalls: int
    """How often the host stood still while a clock ran out."""
    errors: dict[str, int]
    """What failed in the variant's script, or in the referee, and how often."""
    faults: list[tuple[str, str, Fault]]
    """(player, game, fault), the first hundred of each player."""
    fault_counts: dict[str, dict[str, int]]
    """By player and blame code."""
    pinned: int | None
    """The core that the match was pinned to, or None."""
    level: str
    """How strictly the bots were confined."""
    logs: dict[str, str]
    """Where the stderr of each bot is that wrote to it."""
    processes: dict[str, int] = {}
    """Bots that asked for several in their manifest, and how many each was let run; nobody counts
    them where bots are not confined."""
    sprt: SprtResult | None = None
    """Where the match was to end as soon as it is decided."""


def play_match(
    first: str | Path | Bot,
    second: str | Path | Bot,
    *,
    variant: str = "underdog",
    options: Mapping[str, object] | None = None,
    games: int = 100,
    seed: str | int | None = None,
    time: str = DEFAULT_TIME,
    grace_ms: int = DEFAULT_GRACE_MS,
    warm_up_ms: int = DEFAULT_WARM_UP_MS,
    startup_ms: int = DEFAULT_STARTUP_MS,
    think: Literal["in turn", "parallel"] = "in turn",
    at_once: int = 64,
    pin: bool = True,
    logs: str | Path | None = None,
    confinement: Confinement = UNCONFINED,
    sprt: Sprt | None = None,
    on_record: Callable[[Record], None] | None = None,
    on_build: OnBuild | None = None,
    compiler_cache: bool = False,
) -> MatchResult:
    """Play a match and give its result.

    A bot is a folder with `bot.toml`, the name of a sample bot, or `"name=command line"`; a variant
    is a name or the path of a script. Games are played in pairs with the same chance and swapped
    seats. `on_record` sees every record, in the order of the schedule, for example to write it to
    a file. `confinement` keeps bots of strangers from doing harm (docs/security.md). What bots
    write to stderr is kept in the folder `logs`, if one is given. With `sprt` the match ends as
    soon as that test is decided, after `games` games at the latest. With `compiler_cache`, confined
    builds find what their compilers have kept in earlier ones: for bots of your own.

    >>> result = play_match("random", "highest", variant="underdog", games=10, seed="doc")
    >>> result.games
    10

    Both bots are built side by side. Raises BadBot, BadVariant, BadOption, BadTime or BadMatch
    before any bot is started.
    """
    game = build_variant(variant, options or {})
    bots = _two_bots(first, second, game)
    clock = read_clock(time, grace_ms)
    _check(games, at_once, startup_ms, think)
    _check_freeze(confinement, think)
    seed = secrets.token_hex(8) if seed is None else str(seed)
    if not seed or not seed.isprintable():
        raise BadMatch(f"a seed is printable text, not {seed!r}")
    logs = None if logs is None else check_logs(Path(logs))
    strangers = not all(map(is_sample, bots))
    bots = both_built(
        bots, confinement, own_cores(), on_build=on_build, compiler_cache=compiler_cache
    )
    core = take_core() if pin and think == "in turn" else None
    house = House(
        startup_ms=startup_ms,
        warm_up_ms=warm_up_ms,
        think=think,
        at_once=at_once,
        logs=logs,
        confinement=confinement,
        core=core,
    )
    setting = Setting(
        variant=game,
        clock=clock,
        players=(bots[0].name, bots[1].name),
        bots=(bot_info(bots[0]), bot_info(bots[1])),
        level=confinement.level,
    )
    orders = pairing_games(
        *(seed, game.name, *setting.players, games),
        hidden_chance=game.hidden_chance,
        strangers=strangers,
    )
    match = _Match(Slot(bots, setting, house), setting, sprt)
    try:
        match.play(orders, on_record)
    finally:
        if core is not None:
            core.release()
    result = match.result(seed, pinned=core.core if core is not None else None)
    return replace(result, processes=several_processes(bots, confinement))


def _check(games: int, at_once: int, startup_ms: int, think: str) -> None:
    """Raises BadMatch for numbers that make no match."""
    if not 1 <= games <= MOST_GAMES:
        raise BadMatch(f"a match has 1 to {MOST_GAMES} games, not {games}")
    if at_once < 1:
        raise BadMatch(f"at least 1 game is played at once, not {at_once}")
    if startup_ms < 1:
        raise BadMatch("a bot needs some time to start")
    if think not in ("in turn", "parallel"):
        raise BadMatch(f'think is "in turn" or "parallel", not {think!r}')


def _check_freeze(confinement: Confinement, think: str) -> None:
    """Raises BadMatch where no bot could be made to stand still."""
    if confinement.freeze and confinement.level is Level.NONE:
        raise BadMatch("freeze needs bots that are confined; level none does not confine them")
    if confinement.freeze and think == "parallel":
        raise BadMatch("freeze is for bots that think in turn")


class _Match:
    """Plays the games and counts what comes of them."""

    def __init__(self, slot: Slot, setting: Setting, sprt: Sprt | None) -> None:
        self._slot = slot
        self._setting = setting
        self._tally = _Tally(setting.players)
        self._watch = None if sprt is None else SprtWatch(sprt, setting.players[0])

    def play(self, orders: list[GameOrder], on_record: Callable[[Record], None] | None) -> None:
        slot, watch = self._slot, self._watch
        held: dict[str, Record] = {}
        try:
            for record in _in_order(slot.play(orders), orders, held):
                self._tally.add(record)
                if on_record is not None:
                    on_record(record)
                if watch is not None and watch.decided_by(record):
                    break
        except BaseException as stop:
            if on_record is not None and not isinstance(stop, Exception):
                # Interrupted: what is finished is kept, though games before it are not.
                for record in [*held.values(), *slot.games.finished]:
                    on_record(record)
            raise
        finally:
            slot.close()

    def result(self, seed: str, pinned: int | None) -> MatchResult:
        slot, tally = self._slot, self._tally
        return MatchResult(
            variant=self._setting.variant.name,
            players=self._setting.players,
            seed=seed,
            games=tally.games,
            score=score(tally.results),
            unrated=tally.games - len(tally.results),
            replayed=slot.games.replayed,
            stalls=slot.games.stalls,
            errors=slot.games.errors,
            faults=tally.faults,
            fault_counts=tally.fault_counts,
            pinned=pinned,
            level=self._setting.level,
            logs={
                player.bot.name: str(player.log)
                for player in slot.players
                if player.log is not None and player.log.exists()
            },
            sprt=None if self._watch is None else self._watch.result(),
        )


def check_logs(folder: Path) -> Path:
    """The folder, if something can be written there. It is made when a bot first writes."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise BadMatch(f"logs cannot be kept in {folder}: {there} is not a folder")
    if not os.access(there, os.W_OK):
        raise BadMatch(f"logs cannot be kept in {folder}: {there} cannot be written to")
    return folder


def _in_order(
    records: Iterator[Record], orders: list[GameOrder], held: dict[str, Record]
) -> Iterator[Record]:
    """The records in the order of the schedule, though games at once end in any order.

    `held` are those that wait for the end of a game before them.
    """
    schedule = iter(orders)
    due = next(schedule, None)
    for record in records:
        held[record.game] = record
        while due is not None and due.game in held:
            yield held.pop(due.game)
            due = next(schedule, None)


def _two_bots(
    first: str | Path | Bot, second: str | Path | Bot, variant: Variant[Any, Any]
) -> tuple[Bot, Bot]:
    """Both bots, told apart by name where one bot takes both seats."""
    bots = [bot if isinstance(bot, Bot) else find_bot(str(bot)) for bot in (first, second)]
    for bot in bots:
        bot.must_play(variant.name)
    if bots[0].name == bots[1].name:
        bots[1] = bots[1].renamed(f"{bots[1].name}#2")
    return bots[0], bots[1]


class _Tally:
    """What is counted while the records pass by."""

    def __init__(self, players: tuple[str, str]) -> None:
        self._first = players[0]
        self.games = 0
        self.results: list[tuple[int, float]] = []
        self.faults: list[tuple[str, str, Fault]] = []
        self.fault_counts: dict[str, dict[str, int]] = {name: {} for name in players}

    def add(self, record: Record) -> None:
        self.games += 1
        if record.rated:
            seat = 0 if record.players[0] == self._first else 1
            self.results.append((record.pair, record.points()[seat]))
        for fault in record.faults():
            name = record.players[fault.seat]
            counts = self.fault_counts[name]
            counts[fault.code] = counts.get(fault.code, 0) + 1
            if sum(counts.values()) <= 100:
                self.faults.append((name, record.game, fault))
