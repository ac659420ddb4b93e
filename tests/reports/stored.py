"""Tournaments for the tests of tables: results as they are told, or real games, in a real store."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from referee.record import Record
from referee.reports.standings import Standings, standings
from referee.store.buckets import Spent, count_times
from referee.store.database import Store
from referee.store.rows import BotRow, FaultRow, GameRow, PairingRow
from referee.tournament.spec import Spec

POINTS = {"1": 2, "=": 1, "0": 0}
ODD = {"v": None, "V": None, "F": 2, "f": 0}
"""Two void games, by timeouts and by forfeits of both, one that the second bot of the pairing
forfeited, and one that the first did."""

SPENT = Spent([(0, 1), (0, 1), (1, 1), (1, 1)], [100, 100, 40, 3_000])
"""The times of the moves of every game."""


class Met(NamedTuple):
    """Two bots, and what came of their games: `1`, `=` and `0` for the first of them, or ODD."""

    first: str
    second: str
    results: str
    variant: str = "underdog"
    round: int = 1
    replay: int = 0
    games: int | None = None
    """Planned; None: as many as were played."""
    copies: bool = False
    """Whether all games in one seating are the same game."""


def make(
    folder: Path,
    meetings: Sequence[Met],
    *,
    bots: Sequence[str] = (),
    finished: bool = True,
    shuffle: int | None = None,
    plays: Mapping[str, Sequence[str]] = {},
    values: Mapping[str, str] = {},
    **terms: Any,
) -> Path:
    """A folder with a tournament of these results, stored in the order of the shuffle. Bots play
    every variant but those of which `plays` says otherwise."""
    names = list(dict.fromkeys([*bots, *(name for met in meetings for name in met[:2])]))
    ids = {name: number for number, name in enumerate(names, start=1)}
    variants = tuple(dict.fromkeys(met.variant for met in meetings)) or ("underdog",)
    spec = Spec(name="test", variants=variants, **terms)
    rows: list[GameRow] = []
    faults: list[FaultRow] = []
    for pairing, met in enumerate(meetings, start=1):
        for number, result in enumerate(met.results, start=1):
            rows.append(_game(pairing, number, ids, met, result))
            if result in ODD:
                faults += _faults(rows[-1], ids, met, result)
    if shuffle is not None:
        random.Random(shuffle).shuffle(rows)
    with _create(folder, spec, names, plays) as store:
        for key, value in values.items():
            store.set_value(key, value)
        store.add_pairings(
            PairingRow(
                *(number, met.round, met.variant, ids[met.first], ids[met.second]),
                *(len(met.results) if met.games is None else met.games, met.replay),
            )
            for number, met in enumerate(meetings, start=1)
        )
        for start in range(0, len(rows), 7):
            batch = rows[start : start + 7]
            keys = {row[:2] for row in batch}
            times = [each for row in batch for each in count_times(row[0], row[3:5], [SPENT])]
            store.add_games(batch, [fault for fault in faults if fault[:2] in keys], times)
        if finished:
            store.set_value("finished", "2026-11-16T00:00:00Z")
        store.commit()
    return folder


def table(folder: Path, meetings: Sequence[Met], **more: Any) -> Standings:
    """The tables of such a tournament."""
    with Store.read(make(folder, meetings, **more)) as store:
        return standings(store)


def make_real(folder: Path, games: Mapping[tuple[str, str], Sequence[Record]]) -> Path:
    """A folder with real games, by the first and second bot of their pairing."""
    names = list(dict.fromkeys(name for pair in games for name in pair))
    ids = {name: number for number, name in enumerate(names, start=1)}
    variants = tuple(dict.fromkeys(records[0].variant for records in games.values()))
    with _create(folder, Spec(name="real", variants=variants), names) as store:
        for pairing, ((first, second), records) in enumerate(games.items(), start=1):
            row = PairingRow(pairing, 1, records[0].variant, ids[first], ids[second], len(records))
            store.add_pairings([row])
            for number, record in enumerate(records, start=1):
                seats = tuple(ids[name] for name in record.players)
                store.add_games(
                    [_row(pairing, number, seats, record)],
                    [
                        FaultRow(
                            *(pairing, number, fault.seat, seats[fault.seat]),
                            *(fault.code.value, fault.turn, fault.detail),
                        )
                        for fault in record.faults()
                    ],
                    (),
                )
        store.set_value("finished", "2026-11-16T00:00:00Z")
        store.commit()
    return folder


def _create(
    folder: Path, spec: Spec, names: Sequence[str], plays: Mapping[str, Sequence[str]] = {}
) -> Store:
    values = {
        "name": spec.name,
        "spec": msgspec.json.encode(spec).decode(),
        "seed": "a seed",
        "salt": "a salt",
        "level": "none",
    }
    bots = [
        BotRow(number, name, "1", "", json.dumps({"variants": plays.get(name)}))
        for number, name in enumerate(names, start=1)
    ]
    return Store.create(folder, values, bots)


def _game(pairing: int, number: int, ids: Mapping[str, int], met: Met, result: str) -> GameRow:
    first, second = ids[met.first], ids[met.second]
    points = POINTS[result] if result in POINTS else ODD[result]
    if number % 2 == 0:
        first, second = second, first
        points = None if points is None else 2 - points
    ending = {"v": "void", "V": "void", "F": "forfeit", "f": "forfeit"}.get(result, "rules")
    return GameRow(
        *(pairing, number, (number + 1) // 2, first, second, points, ending, 4),
        digest=number % 2 if met.copies else number,
        record=b"",
    )


def _faults(row: GameRow, ids: Mapping[str, int], met: Met, result: str) -> list[FaultRow]:
    guilty = {"F": (met.second,), "f": (met.first,)}.get(result, (met.first, met.second))
    code = "timeout" if result == "v" else "forfeit"
    return [
        FaultRow(*row[:2], int(row.second == ids[name]), ids[name], code, 1, "of the test")
        for name in guilty
    ]


def _row(pairing: int, number: int, seats: tuple[int, ...], record: Record) -> GameRow:
    points = None if sum(record.points()) == 0 else int(2 * record.points()[0])
    return GameRow(
        *(pairing, number, record.pair, seats[0], seats[1], points, record.ending.value),
        plays=len(record.moves),
        digest=zlib.crc32(msgspec.msgpack.encode((record.chance, record.moves, record.ending))),
        record=msgspec.msgpack.encode(record),
    )
