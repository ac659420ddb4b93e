"""Begin a tournament in a new folder, or go on with one that was begun.

Everything that can be wrong with a spec, a bot or a folder is found before anything is started.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.arena.core import own_cores
from referee.bots.confinement.exposing import must_show
from referee.bots.confinement.levels import Level
from referee.bots.starting import several_processes
from referee.mistake import Mistake
from referee.rules.registry import is_path
from referee.store.database import Store
from referee.store.place import holds_tournament, must_be_free, read_address
from referee.store.rows import BotRow
from referee.tournament.changing import changes
from referee.tournament.confining import confinement_of
from referee.tournament.entries import (
    Entry,
    bot_rows,
    changed_bots,
    changed_variants,
    entries_of,
    find_entries,
    players,
    variant_marks,
    variant_names,
)
from referee.tournament.events import Listener
from referee.tournament.ground import HERE, Ground
from referee.tournament.ledger import Ledger
from referee.tournament.run import Coordinator, TournamentResult, manner_of, nobody
from referee.tournament.salt import chance_values, with_chance_of
from referee.tournament.spec import BadSpec, Spec, check, check_teams
from referee.version import __version__

MOST_OF_A_NAME = 10_000


class Lineup(Struct, frozen=True, kw_only=True):
    """A spec with the bots that it stands for."""

    spec: Spec
    entries: list[Entry]
    players: dict[str, list[str]]
    """By what the spec calls the variant."""

    def idle(self) -> list[str]:
        """Bots that are named and play none of the variants."""
        playing = {name for names in self.players.values() for name in names}
        return [entry.bot.name for entry in self.entries if entry.bot.name not in playing]


class Changed(Mistake):
    """The tournament is not the one that was begun; the message names what has changed."""


def line_up(spec: Spec) -> Lineup:
    """Find the bots of a spec. Raises BadSpec, BadBot; starts nothing."""
    spec = _settled(check(spec))
    entries = find_entries(spec)
    check_teams(spec, [entry.bot.name for entry in entries])
    return Lineup(
        spec=spec, entries=entries, players=players(spec, [entry.bot for entry in entries])
    )


def with_level_settled(lineup: Lineup, ground: Ground = HERE) -> Lineup:
    """The same at the level at which it would be played there. Raises BadSpec, NotConfined."""
    return replace(lineup, spec=ground.settle(lineup.spec, lineup.entries))


def _reduced(lineup: Lineup, entries: Sequence[Entry], left_out: Collection[str]) -> Lineup:
    """With these of its bots alone, less those that play none of the variants."""
    spec = lineup.spec
    challengers = spec.challengers or (lineup.entries[0].bot.name,)
    for name in left_out:
        if spec.format == "gauntlet" and name in challengers:
            raise BadSpec(f"{name} is left out, and the gauntlet is played against it")
        if name in spec.anchors:
            raise BadSpec(f"{name} is left out, and the ratings are anchored to it")
    idle = lineup.idle()
    playing = [entry for entry in entries if entry.bot.name not in idle]
    names = players(lineup.spec, [entry.bot for entry in playing])
    return replace(lineup, entries=playing, players=names)


def _settled(spec: Spec) -> Spec:
    """With what depends on this machine written out: paths of scripts, and how many workers."""
    whole = {text: str(Path(text).resolve()) if is_path(text) else text for text in spec.variants}
    return replace(
        spec,
        variants=tuple(whole.values()),
        options={whole[text]: options for text, options in spec.options.items()},
        jobs=spec.jobs or own_cores(),
    )


def play_tournament(
    spec: Spec,
    folder: str | Path,
    *,
    listener: Listener | None = None,
    each_game: bool = False,
    ground: Ground = HERE,
    store: str | None = None,
) -> TournamentResult:
    """Play a tournament in a folder that holds none yet.

    The listener hears what happens (referee/tournament/events.py), and of every single game if
    `each_game` is set. `ground` is where it is played. `store` is the URL of a PostgreSQL database
    for its games, which are in its folder otherwise. An interruption leaves a folder that
    `resume_tournament` goes on with.

    Raises BadSpec, BadBot, BadVariant or BadStore before anything is started.
    """
    folder = Path(folder)
    address = None if store is None else read_address(store)
    if address is not None:
        must_be_free(folder, address)
    chance = chance_values(spec)
    lineup = line_up(spec)
    lineup = with_level_settled(lineup, ground)
    ready, left_out = ground.ready_or_left_out(lineup.spec, lineup.entries, listener or nobody)
    lineup = _reduced(lineup, ready, left_out)
    bots, confinement = [entry.bot for entry in lineup.entries], confinement_of(lineup.spec)
    if confinement.level is not Level.NONE:
        must_show(spec.expose, [("the tournament's folder", folder)])
    values = {
        "name": spec.name,
        "spec": msgspec.json.encode(lineup.spec).decode(),
        "players": msgspec.json.encode(lineup.players).decode(),
        "variants": msgspec.json.encode(variant_marks(lineup.spec)).decode(),
        **chance,
        "level": lineup.spec.sandbox or Level.NONE,
        "processes": msgspec.json.encode(several_processes(bots, confinement)).decode(),
        "referee": __version__,
        "left_out": msgspec.json.encode({**spec.left_out, **left_out}).decode(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    with Store.create(folder, values, bot_rows(lineup.entries), address) as opened:
        return _run(opened, lineup, folder, listener, ground, each_game=each_game)


def resume_tournament(
    folder: str | Path,
    *,
    given: Mapping[str, object] | None = None,
    spec: Spec | None = None,
    allow_changes: bool = False,
    listener: Listener | None = None,
    each_game: bool = False,
    ground: Ground = HERE,
    store: str | None = None,
) -> TournamentResult:
    """Go on with a tournament that was interrupted, or extend one that is finished.

    `given` are keys of the spec that are to be otherwise from now on: `jobs` and how the table is
    made may change, and `games` may grow. A `spec` is compared with the one it was begun with.
    `store` is the URL of the PostgreSQL database that its games have been brought to, or where it
    was begun from another machine; its folder is made, and says so, when nothing is in the way.

    Raises Changed where something else has changed, unless `allow_changes` is set; BadStore where
    the folder holds no tournament that can be gone on with.
    """
    folder = Path(folder)
    address = None if store is None else read_address(store)
    with Store.open(folder, address) as opened:
        lineup = _recall(opened, given or {}, spec, ground, allow_changes=allow_changes)
        opened.set_value("spec", msgspec.json.encode(lineup.spec).decode())
        opened.stay()
        return _run(opened, lineup, folder, listener, ground, each_game=each_game)


def stored_spec(store: Store) -> Spec:
    """The spec that a tournament was begun with, or extended to."""
    return msgspec.json.decode(store.value("spec") or "", type=Spec)


def _recall(
    store: Store,
    given: Mapping[str, object],
    spec: Spec | None,
    ground: Ground,
    *,
    allow_changes: bool,
) -> Lineup:
    old = stored_spec(store)
    base = old if spec is None else with_chance_of(spec, old)
    new = check(replace(base, **{key: value for key, value in given.items() if value is not None}))
    new = _settled(new)
    told = changes(old, new)
    if told:
        raise Changed(f"{told[0]}; a tournament goes on as it was begun, or begins in a new folder")
    rows = store.bots()
    entries = entries_of(rows)
    before = msgspec.json.decode(store.value("variants") or "{}", type=dict[str, str])
    told = changed_bots(rows, entries) + changed_variants(before, variant_marks(new))
    if told and not allow_changes:
        raise Changed(f"{'; '.join(told)}; --allow-changes goes on all the same")
    # A spec that is given again says what was asked for, and the store what came of it.
    new = ground.settle_again(replace(new, sandbox=old.sandbox, freeze=old.freeze), entries)
    _note_changes(store, rows, entries, told)
    store.set_value("variants", msgspec.json.encode(variant_marks(new)).decode())
    return Lineup(
        spec=new,
        entries=entries,
        players=msgspec.json.decode(store.value("players") or "{}", type=dict[str, list[str]]),
    )


def _note_changes(
    store: Store, rows: Sequence[BotRow], entries: Sequence[Entry], told: Sequence[str]
) -> None:
    """A bot is tried anew when a tournament goes on, and what was allowed to change is kept."""
    for row, entry in zip(rows, entries, strict=True):
        store.set_bot(replace(row, out=None, hash=entry.bot.hash, version=entry.bot.version))
    if told:
        store.set_value("changes", "\n".join(filter(None, [store.value("changes"), *told])))


def _run(
    store: Store,
    lineup: Lineup,
    folder: Path,
    listener: Listener | None,
    ground: Ground,
    *,
    each_game: bool,
) -> TournamentResult:
    spec, manner = lineup.spec, manner_of(lineup.spec, folder)
    ledger = Ledger(store, spec, lineup.entries, lineup.players, variant_names(spec), manner)
    coordinator = Coordinator(
        store,
        spec,
        ledger,
        folder,
        listener or nobody,
        manner,
        ground=ground,
        each_game=each_game,
    )
    return coordinator.run()


def free_folder(parent: Path, name: str) -> Path:
    """A folder for a tournament of this name that holds none yet: `name`, `name-2`, …"""
    for number in range(1, MOST_OF_A_NAME):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        if not holds_tournament(folder):
            return folder
    raise BadSpec(f"{parent} has too many tournaments called {name}; give --out")
