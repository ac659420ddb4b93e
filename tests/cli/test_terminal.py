"""On a screen: a bar while it lasts, and nothing broken on a narrow one or a wide one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.cli.app import build_app
from referee.record import encode_record
from referee.testing.commands import commands
from tests.cli.running import each, on_terminal, planned, referee
from tests.records import games

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
LONG = ("Ann" + "n" * 57, "Bob" + "b" * 57)
"""As long as names may be."""
SLOW = ("--time", "60s", "--no-pin")


def plain(seen: str) -> str:
    return CONTROL.sub("", seen)


def test_a_bar_shows_on_a_screen_alone(tmp_path: Path) -> None:
    words = ("match", "random", "lowest", "-n", 4, *SLOW)
    status, seen = on_terminal(tmp_path, *words)
    assert status == 0
    erase, cursor_back = "\x1b[2K", "\x1b[?25h"
    before, _, after = seen.rpartition(erase)
    bar = plain(before)
    assert "playing ━━━━" in bar
    assert "0/4" in bar
    assert re.search(r"\d+ games/s", bar)
    assert cursor_back in before
    assert plain(after).startswith("random against lowest, underdog: 4 games")
    done = referee(tmp_path, *words)
    assert "playing" not in done.out + done.err
    assert "\x1b" not in done.out + done.err


def test_a_mistake_leaves_no_bar_behind(tmp_path: Path) -> None:
    status, seen = on_terminal(tmp_path, "match", "nobody", "lowest")
    assert status == 2
    assert plain(seen.rpartition("\x1b[2K")[2]).startswith("referee: no bot 'nobody': ")


@pytest.mark.parametrize("width", [60, 200])
def test_a_result_fits(width: int, tmp_path: Path) -> None:
    bots = [planned(name, "first") for name in LONG]
    status, seen = on_terminal(tmp_path, "match", *bots, "-n", 2, *SLOW, width=width)
    assert status == 0
    lines = plain(seen[seen.rindex("\x1b[2K") :]).splitlines()
    assert lines[0].startswith(f"{LONG[0]} against {LONG[1]}, underdog: 2 games in ")
    table = lines[1:4]
    assert table[0].split() == ["wins", "draws", "losses", "points"]
    for name, row in zip(LONG, table[1:], strict=True):
        assert len(row) <= width
        shown, *numbers = row.split()
        assert name.startswith(shown.rstrip("…"))
        assert (shown == name) == (width == 200)
        assert len(numbers) == 4
    assert lines[4].startswith("Elo difference ")
    assert "the stronger one" in lines[5]
    assert len(lines) == 6


def test_text_is_whole(tmp_path: Path) -> None:
    """Long lines are left to the terminal to break, so that they can be copied whole; only a
    rule book is filled to the width."""
    (tmp_path / "games").write_bytes(encode_record(games("underdog")[0]) + b"\n")
    commands = (["variants", "duel"], ["replay", "games"])
    for words, piped in zip(commands, each(tmp_path, commands), strict=True):
        for width in (60, 200):
            status, seen = on_terminal(tmp_path, *words, width=width)
            assert (status, plain(seen).split()) == (0, piped.out.split())
            assert words[0] == "variants" or plain(seen) == piped.out
            if words[0] == "variants":
                book = plain(seen).partition("\nMoves\n")[0]
                assert max(map(len, book.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 200])
def test_help_fits(width: int, tmp_path: Path) -> None:
    status, seen = on_terminal(tmp_path, "match", "--help", width=width)
    assert status == 0
    text = plain(seen)
    assert all(len(line) <= width for line in text.splitlines())
    for parameter in commands(build_app())["match"].params:
        assert all(word in text for word in parameter.opts if word.startswith("--"))
