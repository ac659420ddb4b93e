"""PGN: tags in every shape, comments that look like tags, and what is refused."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.results.blocks import Blocks
from referee.results.collected import Collected
from referee.results.pgn_file import PgnReader
from tests.facts import Naming
from tests.results.reading import pairs, read, refused, told

GAME = '[Event "x"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
SWAPPED = '[Event "x"]\n[White "b"]\n[Black "a"]\n[Result "1/2-1/2"]\n\n1. e4 1/2-1/2\n'


def test_games() -> None:
    games, skipped = read(GAME + SWAPPED)
    assert told(games) == [("a", "b", 2), ("b", "a", 1)]
    assert pairs(games) == [None, None]
    assert skipped == {}


@pytest.mark.parametrize(
    "data",
    {
        "CRLF": GAME.replace("\n", "\r\n"),
        "BOM": "\ufeff" + GAME,
        "escape": "% made by a program\n" + GAME,
        "blanks": GAME.replace("[", "  [ ").replace('"]', '"  ]  '),
        "tags in one line": '[White "a"] [Black "b"] [Result "1-0"] 1. e4 1-0',
        "no moves": '[White "a"]\n[Black "b"]\n[Result "1-0"]',
        "comment": GAME.replace("e5", 'e5 {[White "c"]\n[Black "d"]\n{; }'),
        "comment to the end of the line": GAME.replace("2. Nf3", '; {[White "c"]\n2. Nf3'),
        "comment before the game": '{ [White "c"]\n}\n; {\n' + GAME,
        "comment between tags": GAME.replace('[Black "b"]', '{x} [Black "b"]'),
        "comment after a tag": GAME.replace('[Black "b"]', '[Black "b"] {\n} ; x'),
        "percent in a comment": GAME.replace("e5", "e5 {\n% }"),
        "brace in a tag": GAME.replace('"x"', '"{;%"'),
        "many comments": GAME.replace("e5", "e5" + " {c}" * 20_000),
        "order of tags": '[Result "1-0"]\n[Black "b"]\n[White "a"]\n*',
    }.items(),
    ids=lambda item: item[0],
)
def test_one_game(data: tuple[str, str]) -> None:
    games, skipped = read(data[1], "pgn")
    assert (told(games), skipped) == ([("a", "b", 2)], {})


def test_games_without_moves() -> None:
    tags = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n'
    assert told(read(tags * 3).games) == [("a", "b", 2)] * 3


def test_escapes_in_names() -> None:
    data = GAME.replace('"a"', r'"a \"the \\ 1st\""').replace('"b"', '"Bäé"')
    assert read(data).games.players == ["Bäé", 'a "the \\ 1st"']


def test_what_is_left_out() -> None:
    unfinished = GAME.replace('"1-0"', '"*"')
    unknown = GAME.replace('"a"', '"?"')
    games, skipped = read(GAME + unfinished * 2 + unknown)
    assert games.size == 1
    assert skipped == {"unfinished": 2, "player unknown": 1}


RESULTS = "is none of 1-0, 0-1, 1/2-1/2"
WRONG: dict[str, tuple[str | bytes, str | Naming]] = {
    "no result": (
        GAME + GAME.replace('[Result "1-0"]\n', ""),
        "line 8: the game that begins here has no Result tag",
    ),
    "no white": (
        GAME.replace("White", "Whit"),
        "line 1: the game that begins here has no White tag",
    ),
    "no black": ('[White "a"]\n' + GAME, "line 1: the game that begins here has no Black tag"),
    "result": (GAME.replace('"1-0"', '"1-1"'), f'line 4: result "1-1" {RESULTS}'),
    "itself": (GAME.replace('"b"', '"a"'), 'line 1: "a" plays against itself'),
    "no name": (GAME.replace('"b"', '" "'), Naming("line 1: ", "no name")),
    "no tag": (GAME + "[White a]\n", 'line 8: "[White a]" is no tag; a tag is [Name "value"]'),
    "open tag": ('[White "a]\n', 'line 1: "[White "a]" is no tag; a tag is [Name "value"]'),
    "moves": ("\n1. e4 e5 1-0\n", "line 2: moves, and no tags before them"),
    "moves before": ("1. e4\n" + GAME, "line 1: moves, and no tags before them"),
    "comment": (GAME + "{ x\n", Naming("line 8: a comment that begins here", "not end")),
    "not UTF-8": (
        GAME.replace('"a"', '"ä"').encode("latin-1"),
        Naming("line 2: not UTF-8"),
    ),
}


@pytest.mark.parametrize(("data", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_refused(data: str | bytes, sentence: str | Naming) -> None:
    assert refused(data, "pgn") == sentence


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]))] * 2),
        max_size=5,
    )
)
def test_any_names_are_read_back(names: list[tuple[str, str]]) -> None:
    def quoted(name: str) -> str:
        return name.replace("\\", "\\\\").replace('"', '\\"')

    fit = [
        (a.strip(), b.strip())
        for a, b in names
        if a.strip() and b.strip() and a.strip() != b.strip() and "?" not in (a, b)
    ]
    data = "".join(
        f'[White "{quoted(a)}"]\n[Black "{quoted(b)}"]\n[Result "0-1"]\n\n0-1\n\n' for a, b in fit
    )
    assert told(read(data, "pgn").games) == [(a, b, 0) for a, b in fit]


def test_blocks_of_any_size_hold_the_same_games() -> None:
    data = (GAME.replace("e5", "e5 {\n{[White\n}") + SWAPPED).encode() * 5
    for size in (1, 7, 64, 1000):
        collected = Collected()
        PgnReader(collected).read(Blocks(io.BytesIO(data), size))
        collected.end_file()
        assert told(collected.games()) == [("a", "b", 2), ("b", "a", 1)] * 5
