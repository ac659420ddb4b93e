"""Our own records: pairs, what is unrated, and lines that are no records."""

from __future__ import annotations

import json
import re

import pytest

from referee.record import encode_record
from tests.records import Fields, faulty, fields, games
from tests.results.reading import pairs, read, refused, told


def written(*records: Fields) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def game(first: str = "a", second: str = "b", winner: int | None = 0, **changes: object) -> Fields:
    """A record of a game between these two; the rest of it is of a real one."""
    record = fields(games("underdog")[0])
    return record | {"players": [first, second], "winner": winner} | changes


def test_real_records() -> None:
    records = games("duel")
    data = b"".join(encode_record(record) + b"\n" for record in records)
    found, skipped = read(data)
    assert told(found) == [(*record.players, int(2 * record.points()[0])) for record in records]
    assert pairs(found) == [record.pair - 1 for record in records]
    assert skipped == {}


def test_points() -> None:
    data = written(game(winner=0), game(winner=1), game(winner=None))
    assert read(data).games.points.tolist() == [2, 0, 1]


def test_unrated_games_are_counted() -> None:
    unrated = [fields(faulty(name)) for name in ("void", "forfeit")]
    found, skipped = read(written(*unrated, game(), fields(faulty("crash"))))
    assert skipped == {"unrated": 2}
    assert len(found.points) == 2


def test_pairs_are_of_one_tournament_variant_and_two_players() -> None:
    data = written(
        game("a", "b", pair=1),
        game("a", "b", pair=2),
        game("b", "a", pair=2),
        game("b", "a", pair=1, variant="duel"),
        game("c", "a", pair=1),
        game("b", "a", pair=1, tournament="cup"),
        game("b", "a", pair=1),
        # Another match in the same file.
        game("a", "b", pair=1),
        game("b", "a", pair=1),
    )
    assert pairs(read(data).games) == [0, 1, 1, 2, 3, 4, 0, 5, 5]


def test_a_third_game_in_the_same_seats_is_no_pair_of_them() -> None:
    assert pairs(read(written(game(pair=1), game(pair=1))).games) == [0, 1]


def test_blank_lines_and_line_ends() -> None:
    data = b"\n" + written(game()).replace(b"\n", b"\r\n") + b"  \r\n" + written(game())[:-1]
    assert read(data).games.size == 2


WRONG = {
    "no JSON": (b"{no", r"line 2: not JSON"),
    "no object": (b"[1]", r"line 2: .*object"),
    "no record": (b'{"players":["a","b"]}', r"line 2: .*missing.*"),
    "a field too many": (written(game(more=1)), "line 2: .*more.*"),
    "wrong type": (written(game(pair="1")), r"line 2: .*pair.*"),
    "cut": (written(game())[:-9], r"line 2: not JSON"),
    "not UTF-8": (written(game()).replace(b'"a"', b'"\xff"'), r"line 2: .*UTF-8.*"),
    "itself": (written(game("a", "a")), 'line 2: "a" plays against itself'),
    "nameless": (written(game("", "a")), "line 2: .* no name"),
    "no winner": (
        written(game(winner=None, ending="crash")),
        "line 2: ending is crash, and nobody has won",
    ),
}


@pytest.mark.parametrize(("line", "pattern"), WRONG.values(), ids=WRONG)
def test_what_is_refused(line: bytes, pattern: str) -> None:
    assert re.match(pattern, refused(written(game()) + line, "records"))
