"""Matches between the bots of tests/bots, and what every record of them must show."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from referee.arena.core import allowed_cores
from referee.bots import fork_server
from referee.bots.keeping import kin
from referee.bots.manifest import Bot
from referee.match import MatchResult, play_match
from referee.record import Record, encode_record, read_record
from referee.verdict import Ending, Fault
from referee.verifying import verify
from tests.facts import Naming
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
MARK = "REFEREE_TEST_MARK"
FLUSH = "does it flush its output?"
PROC = Path("/proc/self/environ").exists()
needs_another_core = pytest.mark.skipif(len(allowed_cores()) < 2, reason="there is no other core")


def command(script: str, *words: object) -> tuple[str, ...]:
    """How a bot of tests/bots is started."""
    return (sys.executable, "-S", str(ROOT / "tests/bots" / f"{script}.py"), *map(str, words))


def bot(script: str, *words: object, name: str = "bad") -> Bot:
    return Bot(name=name, command=command(script, *words), env={"PYTHONPATH": str(ROOT)})


def honest(games_at_once: int = 1, seconds: float = 0.0, name: str = "good") -> Bot:
    return bot("honest", games_at_once, seconds, name=name)


class Played(NamedTuple):
    result: MatchResult
    records: list[Record]
    """In the order of the schedule."""


def play(first: Bot, second: Bot, *, games: int = 2, **terms: Any) -> Played:
    """A match with a time limit that an honest bot cannot miss, and nothing left after it.

    The honest bot writes to stderr only where the referee breaks the protocol.
    """
    mark = uuid.uuid4().hex
    descriptors = open_descriptors()
    marked = [structs.replace(each, env={**each.env, MARK: mark}) for each in (first, second)]
    records: list[Record] = []
    terms = {"time": "10s", "warm_up_ms": 0, "seed": "tests", **terms}
    with tempfile.TemporaryDirectory() as folder:
        terms.setdefault("logs", Path(folder))
        result = play_match(*marked, games=games, on_record=records.append, **terms)
        assert left_of(mark) == []
        assert keepers() == []
        assert open_descriptors() == descriptors
        assert "good" not in result.logs, Path(result.logs["good"]).read_text()
    assert len(records) == result.games == games
    assert len({record.game for record in records}) == games
    for record in records:
        assert read_record(encode_record(record)) == record
    script = terms.get("variant", "underdog")
    report = verify([encode_record(record) + b"\n" for record in records], script)
    assert report.mismatches == []
    return Played(result, sorted(records, key=lambda record: int(record.game)))


def lost(record: Record, code: str, detail: str | Naming, loser: str = "bad") -> Fault:
    """Check that this fault of the loser, and nothing else, decided the game."""
    seat = record.players.index(loser)
    (fault,) = record.faults()
    assert (fault.seat, fault.code, fault.detail) == (seat, code, detail)
    assert (record.ending, record.reason) == (code, code)
    assert (record.winner, record.at_fault) == (1 - seat, (seat,))
    assert record.points()[1 - seat] == 1.0
    assert record.attempt == 1
    return fault


def all_lost(played: Played, code: str, detail: str | Naming, loser: str = "bad") -> list[Fault]:
    """Check that the loser lost every game by this fault, and that they count."""
    faults = [lost(record, code, detail, loser) for record in played.records]
    result, games = played.result, len(played.records)
    winner = next(name for name in result.players if name != loser)
    assert result.fault_counts == {loser: {code: games}, winner: {}}
    assert result.score.games == games
    assert result.score.points == (0 if result.players[0] == loser else games)
    assert (result.unrated, result.replayed) == (0, 0)
    return faults


def no_first_answer(within_ms: int, made_of: str) -> str:
    """What is said of a process that has not answered anything in time."""
    return f"no answer within {within_ms} ms ({made_of}); {FLUSH}"


def all_by_rules(played: Played) -> None:
    """Check that every game was played to its end."""
    for record in played.records:
        assert (record.ending, record.fault) == (Ending.RULES, None)
        assert record.attempt == 1
        assert len(record.spent_us) == len(record.moves) > 0
    assert played.result.fault_counts == {name: {} for name in played.result.players}


def open_descriptors() -> int:
    """Of this process, that to the process that starts bots included."""
    fork_server.SERVER.start()
    return sum(1 for _ in Path("/proc/self/fd").iterdir()) if PROC else 0


def keepers() -> list[int]:
    """Processes between this one and its bots, by their ids."""
    found = [keeper for server in servers() for keeper in kin.children(server)]
    return [keeper for keeper in found if kin.is_alive(keeper)]


def servers() -> list[int]:
    """Processes that fork keepers for this one: one, or none before the first bot."""
    return [pid for pid in kin.children(os.getpid()) if is_keeper(pid)] if PROC else []


def is_keeper(pid: int) -> bool:
    return b"keeper.py" in words_of(pid)


def clocks_of(pid: int) -> list[int]:
    """Clocks on another core that a process has: one, or none before it needed one."""
    return [child for child in kin.children(pid) if b"other_core.py" in words_of(child)]


def words_of(pid: int) -> bytes:
    """How a process was started; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def all_gone(mark: str) -> None:
    """Wait until no process carries the mark."""
    wait_for(lambda: not left_of(mark), lambda: f"the end of {left_of(mark)}")


def left_of(mark: str) -> list[str]:
    """The processes that carry the mark in their environment, as far as /proc tells."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*") if PROC else ():
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found.append(f"{folder.name}: {os.fsdecode(b' '.join(words))}")
        except OSError:
            continue
    return found
