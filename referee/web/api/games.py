"""Games as the API tells them: lists, records, stories, and what bots wrote to stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from referee.record import Record
from referee.reports.html.games import Teller
from referee.store.house.rows import EntrantRow, VersionRow
from referee.store.rows import PairingRow, RulingRow
from referee.web.api import ladder
from referee.web.endpoint import Call, Nothing
from referee.web.leafing import Heading, Leaf
from referee.web.reading import Shelf
from referee.web.refusal import Refusal
from referee.web.running import Heard
from referee.web.shapes import (
    GamePage,
    Games,
    GameTold,
    LiveGame,
    LiveGames,
    Log,
    Logs,
    Play,
    RulingTold,
    StepTold,
    StoryTold,
)

LOGS = "logs"
SHOWN_BYTES = 64 * 1024
"""Of the end of a log."""


def page(call: Call, asked: Any) -> Games:
    """The newest games first, a page at a time."""
    shelf = call.library.shelf(asked.season)
    first = None if asked.bot is None else ladder.must_find(call, asked.bot)
    second = None if asked.against is None else ladder.must_find(call, asked.against)
    if not shelf.games:
        return Games(games=[], next=None)
    leaves = call.library.leaves(shelf)
    versions = call.sight.roster.versions

    def wanted(pairing: PairingRow) -> bool:
        bots = _bot_of(versions, pairing.first), _bot_of(versions, pairing.second)
        return asked.variant in (None, pairing.variant) and _meets(bots, first, second)

    shown = call.library.games_shown(shelf.season, call.sight)
    found, more = leaves.page(wanted, _read_cursor(asked.before), shown, asked.limit)
    told = [
        _told(call, shelf, leaf, heading, ruling) for leaf, heading, ruling in leaves.read(found)
    ]
    return Games(games=told, next=_cursor(found[-1]) if more else None)


def _meets(bots: tuple[int, int], first: EntrantRow | None, second: EntrantRow | None) -> bool:
    if first is None or second is None:
        one = first or second
        return one is None or one.id in bots
    return bots in ((first.id, second.id), (second.id, first.id))


def _bot_of(versions: dict[int, VersionRow], version: int) -> int:
    found = versions.get(version)
    return 0 if found is None else found.bot


def _cursor(leaf: Leaf) -> str:
    return f"{leaf.started}/{leaf.pairing}-{leaf.number}"


def _read_cursor(text: str | None) -> Leaf | None:
    if text is None:
        return None
    started, _, game = text.rpartition("/")
    pairing, _, number = game.partition("-")
    return Leaf(started, int(pairing), int(number))


def _told(
    call: Call, shelf: Shelf, leaf: Leaf, heading: Heading, ruling: RulingRow | None
) -> GameTold:
    first, second = heading.players
    return GameTold(
        game=f"{shelf.name}/{leaf.pairing}-{leaf.number}",
        variant=heading.variant,
        started=heading.started,
        players=(call.sight.called(first), call.sight.called(second)),
        winner=heading.winner,
        scores=heading.scores,
        ending=heading.ending.value,
        reason=heading.reason,
        at_fault=heading.at_fault,
        ruling=_ruling(ruling),
    )


def _ruling(row: RulingRow | None) -> RulingTold | None:
    if row is None:
        return None
    what: Any = row.what
    return RulingTold(what=what, seat=row.seat, reason=row.reason, at=row.at)


# One game.


def game(call: Call, asked: Any) -> GamePage:
    shelf, record, ruling = must_find(call, asked.season, asked.game)
    return GamePage(
        game=f"{shelf.name}/{asked.game}",
        season=shelf.name,
        ruling=_ruling(ruling),
        yours=list(call.sight.own_seats(record)),
        record=call.sight.record(record),
    )


def must_find(call: Call, name: str, game: str) -> tuple[Shelf, Record, RulingRow | None]:
    """A game that the visitor may see. Raises Refusal."""
    shelf = call.library.shelf(name)
    found = None
    pairing, number = map(int, game.split("-"))
    if shelf.games:
        found = call.library.leaves(shelf).game(pairing, number)
    if found is None:
        raise Refusal(404, f"there is no game {name}/{game}")
    record, ruling = found
    shown = call.library.games_shown(shelf.season, call.sight)
    hidden = shown is not None and not shown.has(pairing, number)
    if hidden and not call.sight.own_seats(record):
        raise Refusal(404, f"game {name}/{game} is not shown before season {name} is revealed")
    return shelf, record, ruling


def story(call: Call, asked: Any) -> StoryTold:
    shelf, record, _ = must_find(call, asked.season, asked.game)
    shown = call.sight.record(record)
    opening, steps, ending = Teller().tell(shown, words=True)
    return StoryTold(
        game=f"{shelf.name}/{asked.game}",
        variant=shown.variant,
        players=shown.players,
        winner=shown.winner,
        opening=opening,
        steps=[StepTold(lines or [], [_play(play) for play in plays]) for lines, plays in steps],
        ending=ending,
    )


def _play(play: list[int | str]) -> Play:
    seat, move, spent_us, *note = play
    return Play(
        seat=int(seat), move=move, spent_us=int(spent_us), note=str(note[0]) if note else None
    )


# What bots wrote to stderr.


def stderr(call: Call, asked: Any) -> Logs:
    shelf, record, _ = must_find(call, asked.season, asked.game)
    own = [record.players[seat] for seat in call.sight.own_seats(record)]
    if not own:
        raise Refusal(403, "stderr is shown to the team of a bot alone, and neither is yours")
    folder = shelf.folder / LOGS / record.variant
    ways = [names(call, name) for name in record.players]
    found: list[Log] = []
    for name in own:
        logs = [
            folder / f"{first} - {second}" / f"{each}.stderr.txt"
            for one, other in (ways, ways[::-1])
            for first in one
            for second in other
            for each in names(call, name)
        ]
        newest = _newest(logs)
        if newest is not None:
            found.append(_log(name, newest))
    return Logs(found)


def bot_stderr(call: Call, asked: Any) -> Logs:
    row = ladder.must_find(call, asked.bot)
    if not call.visitor.owns(row.team):
        raise Refusal(
            403,
            "stderr is shown to the team of a bot alone, "
            f"and {call.sight.bot_name(row)} is another's",
        )
    folder = call.library.shelf(asked.season).folder / LOGS
    # A name has no character that means anything in a pattern but these.
    called = [row.name, *(v.name for v in call.sight.roster.versions.values() if v.bot == row.id)]
    logs = [
        path for name in called for path in folder.glob(f"*/*/{name}.stderr.txt") if path.is_file()
    ]
    newest = _newest(logs)
    return Logs([] if newest is None else [_log(row.name, newest)])


def names(call: Call, player: str) -> list[str]:
    """What the folders of logs may call a player: as tables do, or as its authors do."""
    version = call.sight.roster.called.get(player)
    return [player] if version is None else [player, version.bot_name]


def _newest(logs: list[Path]) -> Path | None:
    there = [(path.stat().st_mtime, path) for path in logs if path.is_file()]
    return max(there, default=(0.0, None), key=lambda each: each[0])[1]


def _log(name: str, path: Path) -> Log:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - SHOWN_BYTES))
        text = file.read(SHOWN_BYTES).decode("utf-8", "replace")
    return Log(bot=name, text=text, cut=size > SHOWN_BYTES)


# What is going on.


def live(call: Call, _: Nothing) -> LiveGames:
    return LiveGames(_seen(call, call.running.games()), since=call.since)


def just_ended(call: Call) -> list[LiveGame]:
    """Games that may not be in the store yet, as far as the visitor may see them."""
    return _seen(call, call.running.just_ended())


def _seen(call: Call, games: list[Heard]) -> list[LiveGame]:
    """As far as the visitor may see them."""
    hidden = {season.name for season in call.library.seasons() if call.sight.until(season)}
    return [
        replace(
            heard.game,
            players=tuple(map(call.sight.called, heard.game.players)),
            lines=call.sight.lines(heard.game.lines, heard.called),
        )
        for heard in games
        if heard.game.game.partition("/")[0] not in hidden
    ]
