"""Finals: the best of a season, as they were handed in, in a tournament of their own.

Who is best is read from the season's true table, frozen or not. Taken are the versions that play,
from the archives that are kept of them; whoever connects from elsewhere cannot be taken along.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive
from referee.bots.manifest import BadBot, Bot, read_bot
from referee.bots.manifest_text import MANIFEST
from referee.daemon.examining import unpacked
from referee.reports.standings import Standings, standings
from referee.rules.numbers import amount
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict
from referee.store.house.rows import VersionRow
from referee.tournament.begin import stored_spec
from referee.tournament.entries import variant_names
from referee.tournament.spec import Spec

FOLDER = "finalists"
"""Of the tournament's folder: the bots, unpacked."""
_NAME = re.compile(r"^(\s*name\s*=\s*).*$", re.MULTILINE)


class Finals(Struct, frozen=True, kw_only=True):
    """Who has come into the finals."""

    spec: Spec
    """The season's variants, clock and confinement; without bots yet."""
    finalists: list[VersionRow]
    """The best first."""
    passed_over: dict[str, str]
    """Players of the season that stood high enough, and why they are not taken."""


class _Plays(Struct):
    variants: tuple[str, ...] | None = None


def find_finals(
    house: House, name: str, top: int, variants: Sequence[str] = (), *, whole: bool = False
) -> Finals:
    """The best of a season: by the table of a variant where one is given, else by that over all.
    Where `whole`, only those that play all variants of the finals.

    Raises Unknown, BadStore, and Conflict where fewer than two are left.
    """
    season = house.seasons.named(name)
    folder = house.seasons.folder(season)
    if not (folder / FILE).exists():
        raise Conflict(f"the season {season.name} has no games yet")
    with Store.read(folder) as store:
        found, spec = standings(store), stored_spec(store)
    asked = replace(spec, variants=tuple(variants) or spec.variants)
    needed = list(variant_names(asked).values()) if whole else []
    playing = {version.name: version for version in house.versions.playing()}
    finalists: list[VersionRow] = []
    passed_over: dict[str, str] = {}
    for player in _ranked(found, variants):
        if len(finalists) == top:
            break
        why = _why_not(player, playing, needed)
        if why:
            passed_over[player] = why
        else:
            finalists.append(playing[player])
    if len(finalists) < 2:
        fewer = f" of {', '.join(needed)}: --variant names fewer" if len(needed) > 1 else ""
        raise Conflict(
            f"the season {season.name} has {amount(len(finalists), 'bot')} to play finals{fewer}; "
            "it takes 2"
        )
    plain = replace(_plain(spec, season.name), teams=_teams(finalists))
    return Finals(spec=plain, finalists=finalists, passed_over=passed_over)


def _teams(finalists: Sequence[VersionRow]) -> dict[str, tuple[str, ...]]:
    """Those of one team do not meet."""
    named = [each.team_name for each in finalists if each.team_name is not None]
    return {
        team: tuple(each.bot_name for each in finalists if each.team_name == team)
        for team in dict.fromkeys(named)
    }


def _ranked(found: Standings, variants: Sequence[str]) -> list[str]:
    wanted = variants[0] if len(variants) == 1 else None
    tables = [table for table in found.tables if table.variant == wanted] or found.tables[-1:]
    return [row.name for table in tables for row in table.rows]


def _why_not(player: str, playing: Mapping[str, VersionRow], needed: Sequence[str]) -> str:
    version = playing.get(player)
    if version is None:
        return "it plays no more"
    if version.kind != "submitted":
        return "it connects from elsewhere"
    if not version.kept:
        return "what was submitted is no longer kept"
    plays = msgspec.json.decode(version.definition, type=_Plays).variants
    lacking = [variant for variant in needed if plays is not None and variant not in plays]
    return f"it does not play {', '.join(lacking)}" if lacking else ""


def _plain(spec: Spec, season: str) -> Spec:
    """As the season is played. Whether bots stand still is settled anew: the finals may think in
    parallel, or be at another level."""
    return Spec(
        name=f"finals-{season}",
        variants=spec.variants,
        options=spec.options,
        time=spec.time,
        grace=spec.grace,
        warm_up=spec.warm_up,
        startup=spec.startup,
        build_time=spec.build_time,
        think=spec.think,
        at_once=spec.at_once,
        restart=spec.restart,
        block=spec.block,
        sandbox=spec.sandbox,
        limits=spec.limits,
        expose=spec.expose,
    )


def unpack_finalists(house: House, finals: Finals, folder: Path) -> list[str]:
    """Their folders, in a folder of the tournament. Raises BadBot, BadHouse."""
    found: list[str] = []
    for version in finals.finalists:
        house.submissions.archive(version)  # It is what was handed in, byte for byte.
        try:
            bot = unpacked(house.submissions.path(version), folder / FOLDER, version.id)
        except (BadArchive, OSError) as problem:
            raise BadBot(f"{version.name} cannot be unpacked: {problem}") from None
        assert bot.folder is not None
        if bot.name != version.bot_name:
            _rename(bot, version.bot_name)
        found.append(str(bot.folder))
    return found


def _rename(bot: Bot, name: str) -> None:
    """Let its manifest call it as the ladder does: two teams may have called theirs the same."""
    assert bot.folder is not None
    path = bot.folder / MANIFEST
    before = path.read_text("utf-8")
    after = _NAME.sub(lambda found: f'{found[1]}"{name}"', before, count=1)
    try:
        same = tomllib.loads(after) == {**tomllib.loads(before), "name": name}
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise BadBot(
            f"{bot.name} is called {name} on the ladder, and its {MANIFEST} says otherwise"
        )
    path.write_text(after, "utf-8")
    read_bot(bot.folder)
