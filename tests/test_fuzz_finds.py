"""What the fuzzing of the readers has found, and what was seen on the way; one test for each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.bots.manifest import BadBot, read_bot
from referee.bots.manifest_text import MANIFEST
from referee.protocol.messages import FLOOD_BYTES, Misbehaved
from referee.protocol.session import State
from referee.results.blocks import BadResults
from referee.tournament.reading import read_spec
from referee.tournament.spec import BadSpec
from referee.verdict import Ending
from tests.protocol import feed, playing
from tests.results.reading import read, read_csv, told

ONE = [("a", "b", 2)]
GAME = b'[White "a"]\n[Black "b"]\n[Result "1-0"]\n'


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Time of the processor, a multiple of what is needed: what grew with the square took hours."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


# The session.


def test_a_line_that_goes_on_from_turn_to_turn_is_a_flood() -> None:
    # A bot of many games is asked again whenever its opponent has answered in one of them.
    session = playing()
    piece = b" " * (FLOOD_BYTES // 4)
    for _ in range(4):
        assert list(session.receive(piece)) == []
        session.ask()
    (event,) = session.receive(b" ")
    assert isinstance(event, Misbehaved)
    assert event.code == Ending.FLOOD
    assert session.state is State.BROKEN


@pytest.mark.parametrize("rest", [b" ", b" \n", b"\n", b'}\n{"id":2,"move":5}\n'])
def test_such_a_line_is_the_same_in_any_pieces(rest: bytes) -> None:
    def heard(pieces: list[bytes]) -> object:
        session = playing()
        session.receive(b" " * (FLOOD_BYTES - 2))
        session.ask()
        return feed(session, pieces), session.state, session.dropped

    assert heard([rest]) == heard([rest[at : at + 1] for at in range(len(rest))])


@pytest.mark.parametrize("unit", [b" \n\n", b"\r\n\n", b"\n\t\n"])
def test_blank_lines_of_two_kinds_take_no_longer(unit: bytes) -> None:
    session = playing()
    with within(10):
        assert list(session.receive(unit * (FLOOD_BYTES // len(unit)))) == []


# Specs.


def mistake(folder: Path, text: bytes) -> str:
    path = folder / "spec.toml"
    path.write_bytes(text)
    with pytest.raises(BadSpec) as caught:
        read_spec(path)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("end", ["\x1e", "\x0b", "\u2028", "\x85"])
def test_only_a_line_end_ends_a_line_of_a_spec(tmp_path: Path, end: str) -> None:
    text = f"a = 1\nname = '{end}{end}{end}".encode()
    assert mistake(tmp_path, text).startswith(", line 2: ")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("games = {}", "games"),
        ("seed = {}", "seed"),
        ("name = {}", "name"),
        ("unknown = [1, {{ a = {} }}]", "unknown"),
        ("options = {{ size = {} }}", "options"),
        ("anchors = {{ random = {} }}", "anchors"),
    ],
)
@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "0b" + "1" * 20_000, "-" + "9" * 5000])
def test_a_number_without_end(tmp_path: Path, line: str, key: str, number: str) -> None:
    text = f'variant = "underdog"\n{line.format(number)}\n'
    said = mistake(tmp_path, text.encode())
    assert "Exceeds the limit" in said
    if not number.startswith("-"):
        assert said.startswith(", line 2: "), key


# Manifests.


@pytest.mark.parametrize(
    "text", ["games_at_once = " + "9" * 5000, "name = " + "[" * 3000], ids=["digits", "nesting"]
)
def test_a_manifest_beyond_the_parser(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(BadBot, match=MANIFEST):
        read_bot(tmp_path)


# Results.


@pytest.mark.parametrize(
    "header",
    [b"a,\rb,result\n", b" \r \r\na,b,result\n", b"a," + b"b" * 140_000 + b",result\n"],
    ids=["return in the header", "returns before it", "long"],
)
@pytest.mark.parametrize("quick", [True, False])
def test_both_ways_of_reading_agree_on_a_header(header: bytes, quick: bool) -> None:
    with pytest.raises(BadResults, match="line 1: "):
        read_csv(header + b"a,b,1-0\n", quick=quick)


def test_many_comments_in_a_line_take_no_longer() -> None:
    with within(10):
        results = read(GAME + b"{}" * 500_000 + b"{\n}\n", "pgn")
    assert told(results.games) == ONE


@pytest.mark.parametrize("moves", [b"{a}1. e4{b} {\n} {c} e5", b"{\n}{}{\n}1. e4", b"{};{\n"])
def test_comments_in_any_pieces(moves: bytes) -> None:
    assert told(read(GAME + moves, "pgn").games) == ONE
