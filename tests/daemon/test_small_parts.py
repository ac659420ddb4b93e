"""The parts of the daemon that need no daemon: pace, lines of the log, signs of life."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from referee.bots.manifest import Bot, find_bot, read_bot, sample_bots
from referee.daemon.definition import bot_of, definition_of
from referee.daemon.examining import unpacked
from referee.daemon.journal import Journal
from referee.daemon.overhearing import Overhearing
from referee.daemon.pace import Pace, PaceTerms
from referee.daemon.readiness import Readiness
from referee.daemon.reception import is_local
from referee.daemon.relays import from_here
from referee.daemon.samples import packed
from referee.daemon.turns import ALONE_S, LONG_S, Turns, places
from tests.waiting import PATIENCE_S


class Clockwork:
    """A clock that is turned by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def a_pace(folder: Path, clock: Clockwork, **terms: float) -> Pace:
    given = msgspec.convert({"room_bytes": 0, **terms}, PaceTerms, strict=False)
    return Pace(given, folder, Journal(io.StringIO()), clock)


def test_games_begin_no_faster_than_asked_for(tmp_path: Path) -> None:
    clock = Clockwork()
    pace = a_pace(tmp_path, clock, games_per_s=10)
    assert pace.may_begin(500.0)
    pace.begin(20)
    assert not pace.may_begin(500.0)
    clock.now += 1.9
    assert not pace.may_begin(500.0)
    clock.now += 0.2
    assert pace.may_begin(500.0)
    # What was not played is not counted, and what was not used is not saved up.
    pace.begin(20)
    pace.give_back(20)
    assert pace.may_begin(500.0)
    clock.now += 1000
    pace.begin(20)
    assert not pace.may_begin(500.0)


def test_it_slows_down_where_little_is_left_to_learn(tmp_path: Path) -> None:
    clock = Clockwork()
    pace = a_pace(tmp_path, clock, games_per_s=10, settled_per_s=1, settled_elo=10)
    assert pace.may_begin(9.0)
    pace.begin(20)
    clock.now += 2.1
    assert not pace.may_begin(9.0)
    clock.now += 18
    assert pace.may_begin(9.0)


def test_no_limit_is_no_limit(tmp_path: Path) -> None:
    pace = a_pace(tmp_path, Clockwork(), games_per_s=0, settled_per_s=0)
    for _ in range(100):
        assert pace.may_begin(1.0)
        pace.begin(1000)


def test_a_full_disk_stops_the_games(tmp_path: Path) -> None:
    clock, said = Clockwork(), io.StringIO()
    pace = Pace(PaceTerms(room_bytes=1 << 60), tmp_path, Journal(said), clock)
    assert not pace.may_begin(500.0)
    assert "no room" in said.getvalue()
    pace.change(PaceTerms(room_bytes=0))
    assert pace.may_begin(500.0)


def test_lines_for_people_and_for_programs() -> None:
    text, json, marked = io.StringIO(), io.StringIO(), io.StringIO()
    Journal(text).warning("seen", bot='a "b"\nc', games=3)
    assert text.getvalue().count("\n") == 1
    assert text.getvalue().endswith('warning: seen bot="a \\"b\\"\\nc" games=3\n')
    Journal(json, "json").error("seen", bot="a\nb", why=ValueError("x"))
    told = msgspec.json.decode(json.getvalue())
    assert (told["level"], told["event"], told["bot"], told["why"]) == (
        "error",
        "seen",
        "a\nb",
        "x",
    )
    Journal(json, "json").info("seen", level="standard", at=3, event="x")
    told = msgspec.json.decode(json.getvalue().splitlines()[1])
    assert (told["level"], told["event"]) == ("info", "seen")
    assert (told["level_"], told["at_"], told["event_"]) == ("standard", 3, "x")
    Journal(marked, marked=True).info("seen")
    assert marked.getvalue() == "<6>seen\n"


def test_systemd_hears_how_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(PATIENCE_S)
        readiness = Readiness(str(path), watchdog_us=3_000_000)
        readiness.ready("playing")
        assert manager.recv(1000) == b"READY=1\nSTATUS=playing"
        for now in (10.0, 10.5, 11.5):
            readiness.alive(now)
        readiness.stopping()
        heard = [manager.recv(1000) for _ in range(3)]
        assert heard == [b"WATCHDOG=1", b"WATCHDOG=1", b"STOPPING=1"]
    Readiness(None).ready("nobody asked")
    Readiness(str(tmp_path / "gone")).ready("nobody is there any more")


def test_a_packed_folder_is_the_same_bytes_and_comes_out_whole(tmp_path: Path) -> None:
    folder = sample_bots()["highest"]
    assert packed(folder) == packed(folder)
    archive = tmp_path / "bot.tar"
    archive.write_bytes(packed(folder))
    bot = unpacked(archive, tmp_path, 7)
    assert bot.folder == (tmp_path / "bots" / "7").resolve()
    assert bot.command == read_bot(folder).command


def test_a_data_folder_may_move(tmp_path: Path) -> None:
    archive = tmp_path / "bot.tar"
    archive.write_bytes(packed(sample_bots()["highest"]))
    here, there = tmp_path / "here", tmp_path / "there"
    definition = definition_of(unpacked(archive, here, 1), here)
    here.rename(there)
    moved = bot_of(definition, there)
    assert moved.folder == (there / "bots" / "1").resolve()
    assert isinstance(moved, Bot)
    assert find_bot(str(moved.folder)).hash == moved.hash


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("tcp://127.0.0.1:7781", True),
        ("tcp://localhost:7781", True),
        ("tcp://[::1]:7781", True),
        ("ipc:///tmp/x", True),
        ("tcp://0.0.0.0:7781", False),
        ("tcp://*:7781", False),
        ("tcp://[::]:7781", False),
        ("tcp://192.168.1.5:7781", False),
        ("tcp://example.org:7781", False),
    ],
)
def test_keys_are_asked_for_wherever_strangers_could_come_in(endpoint: str, local: bool) -> None:
    assert is_local(endpoint) is local


def test_a_relay_finds_a_hall_that_listens_everywhere() -> None:
    assert from_here("tcp://0.0.0.0:7781") == "tcp://127.0.0.1:7781"
    assert from_here("tcp://*:7781") == "tcp://127.0.0.1:7781"
    assert from_here("tcp://[::]:7781") == "tcp://[::1]:7781"
    assert from_here("tcp://10.0.0.1:7781") == "tcp://10.0.0.1:7781"


def test_what_a_process_says_aside_is_told_in_lines_of_the_journal() -> None:
    said = io.StringIO()
    overhearing = Overhearing("hall", Journal(said, "json"))
    program = "import os; os.write(2, b'one\\n\\xff' + b'x' * 100_000 + b'\\n\\nlast words')"
    subprocess.run([sys.executable, "-c", program], stderr=overhearing.fd, check=True)
    overhearing.started()
    overhearing.close()
    lines = [msgspec.json.decode(line) for line in said.getvalue().splitlines()]
    assert {(line["level"], line["event"], line["by"]) for line in lines} == {
        ("warning", "said", "hall")
    }
    assert (lines[0]["line"], lines[-1]["line"]) == ("one", "last words")
    assert all(len(line["line"]) <= 2000 for line in lines)
    assert overhearing.last == "last words"


def test_teams_take_turns_and_have_one_piece_in_hand() -> None:
    turns, now = Turns(2), 0.0
    waiting = [(1, "a1"), (1, "a2"), (2, "b1"), (1, "a3"), (2, "b2"), (None, "c1")]
    taken: list[str] = []

    def take() -> int | None:
        piece = turns.next(waiting, now)
        assert piece is not None
        team = next(team for team, each in waiting if each == piece)
        waiting.remove((team, piece))
        turns.begin(team, now)
        taken.append(piece)
        return team

    in_hand = [take(), take()]
    assert turns.next(waiting, now) is None
    while waiting:
        turns.end(in_hand.pop(0))
        in_hand.append(take())
    assert taken == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_long_work_makes_room_for_other_teams_up_to_a_bound() -> None:
    turns = Turns(2)
    waiting = [(team, team) for team in range(1, 20)]
    in_hand: list[int] = []
    for step in range(6):
        now = step * LONG_S
        while (team := turns.next(waiting[len(in_hand) :], now)) is not None:
            turns.begin(team, now)
            in_hand.append(team)
        assert len(in_hand) == min(2 + 2 * step, 8)


def test_what_is_to_be_alone_waits_for_the_others_and_they_for_it() -> None:
    def alone(piece: str) -> bool:
        return piece == "alone"

    turns = Turns(3)
    turns.begin(1, 0.0)
    assert not turns.had_company(1)
    turns.begin(2, 0.0)
    assert turns.had_company(1) and turns.had_company(2)
    turns.end(2)
    waiting = [(3, "alone"), (4, "other")]
    # Nothing begins while what is in hand is about to end; what takes long keeps nobody waiting.
    assert turns.next(waiting, 1.0, alone) is None
    assert turns.next(waiting, LONG_S, alone) == "other"
    turns.end(1)
    assert turns.next(waiting, LONG_S, alone) == "alone"
    turns.begin(3, LONG_S, alone=True)
    assert not turns.had_company(3)
    assert turns.next(waiting, LONG_S + ALONE_S - 1, alone) is None
    assert turns.next(waiting, LONG_S + ALONE_S, alone) == "other"
    turns.end(3)
    turns.begin(3, LONG_S, alone=True)
    turns.end(3)
    assert turns.next(waiting, LONG_S, alone) == "other"


@pytest.mark.parametrize(("jobs", "at_once"), [(1, 2), (5, 5), (100, 8)])
def test_the_machine_says_how_many_checks_run_side_by_side(jobs: int, at_once: int) -> None:
    assert places(jobs) == at_once
