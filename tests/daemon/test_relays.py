"""Bots that were handed in do evil in their games against a bot that connects, by relay."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec

from referee.record import Record
from referee.store.house import House
from tests.arena.playing import words_of
from tests.confinement.offered import LEVELS, walls
from tests.daemon.serving import Daemon, nothing_left, processes_of, serving
from tests.daemon.test_guests import HALL, connected, endpoint, two_tokens
from tests.daemon.test_standing_still import enter
from tests.daemon.test_submissions import team
from tests.waiting import wait_for

BOT = r"""
import json, os, sys, time

def say(**fields):
    os.write(1, json.dumps(fields).encode() + b"\n")

def without_end(data):
    while True:
        os.write(1, data)

def forks(turn):
    for _ in range(200):
        try:
            if os.fork() == 0:
                time.sleep(600)
        except OSError:
            return
    os.write(2, b"forked\n")

def tried(place, mode):
    try:
        with open(place, mode) as file:
            return file.read() if mode == "rb" else b"referee"
    except OSError:
        return b""

def reaches(turn):
    pids = filter(str.isdigit, os.listdir("/proc"))
    told = ["/proc/%s/%s" % (pid, name) for pid in pids for name in ("environ", "cmdline")]
    found = [place for place in told if b"referee" in tried(place, "rb")]
    found += [place for place in (OUTSIDE, __file__, "../x", "/x") if tried(place, "wb")]
    if found:
        os.write(2, repr(found).encode())

def guesses(turn):
    for number in range(turn["id"] - 200, turn["id"] + 200):
        say(id=number, move=turn["legal"][0])

evil = {
    "floods": lambda turn: without_end(b'{"type":"pong"}\n' * 1000),
    "giant": lambda turn: without_end(b"x" * (1 << 20)),
    "hangs": lambda turn: time.sleep(600),
    "forks": forks,
    "reaches": reaches,
    "poses": lambda turn: say(type="hello", name="alpha", token="0" * 32),
    "grows": lambda turn: say(type="hello", name="grows v1", games_at_once=10000),
    "guesses": guesses,
    "ends": lambda turn: os._exit(3),
}[sys.argv[1]]
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        say(type="hello", games_at_once=16)
    elif message["type"] == "turn":
        evil(message)
        say(id=message["id"], move=message["legal"][0])
    elif message["type"] == "bye":
        break
"""
ENDINGS = {
    "floods": {"flood"},
    "giant": {"garbled"},
    "hangs": {"timeout"},
    "forks": {"rules"},
    "reaches": {"rules"},
    "poses": {"crash", "garbled"},
    "grows": {"crash", "garbled"},
    "guesses": {"garbled"},
    "ends": {"timeout", "crash"},
}
"""By what each of them does, how its games against the bot that connects may end."""
MOST_KB = 100_000
"""Of memory, for the hall and for a relay: with honest bots it is a third of that."""


@walls
def test_evil_bots_against_one_that_connects(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    alpha, _ = two_tokens(data)
    with House.open(data) as house:
        # Bots of one team meet nobody but the one that connects.
        reds = team(house)
        for name in ENDINGS:
            folder = tmp_path / name
            folder.mkdir()
            (folder / "bot.py").write_text(f"OUTSIDE = {str(outside)!r}\n{BOT}")
            (folder / "bot.toml").write_text(
                f'name = "{name}"\ncommand = ["python3", "-S", "bot.py", "{name}"]\n'
            )
            enter(house, folder, reds)
    confined = ("--sandbox", LEVELS[-1].value, "--time", "5s")
    peaks_kb: dict[int, int] = {}
    with serving(data, *HALL[:-2], *confined) as daemon:
        with connected("random", endpoint(daemon), "--name", "alpha", "--token", alpha):

            def all_met() -> bool:
                assert daemon.process.poll() is None, daemon.said
                peaks_kb.update(memory_kb(daemon))
                return endings(daemon).keys() == ENDINGS.keys()

            wait_for(all_met, lambda: f"games of all; {endings(daemon)}; {daemon.said}")
            below = processes_of(daemon.process.pid)
            assert daemon.stop() == 0, daemon.said
        wait_for(lambda: nothing_left(below), "all of them to leave")
        assert "Traceback" not in daemon.said
        for name, seen in endings(daemon).items():
            assert seen <= ENDINGS[name] | {"host_stall"}, (name, daemon.said)
    assert max(peaks_kb.values()) < MOST_KB, peaks_kb
    assert not outside.exists()
    assert [log.read_text() for log in data.rglob("*.stderr.txt") if log.stat().st_size] == []


def endings(daemon: Daemon) -> dict[str, set[str]]:
    """How the games of each have ended so far, where nothing was held against the other one."""
    found: dict[str, set[str]] = defaultdict(set)
    for body in daemon.games().values():
        record = msgspec.msgpack.decode(body, type=Record)
        (evil,) = set(record.players) - {"alpha v1"}
        innocent = record.players.index("alpha v1")
        assert record.fault is None or record.fault.seat != innocent, record
        found[evil.removesuffix(" v1")].add(record.ending.value)
    return found


def memory_kb(daemon: Daemon) -> dict[int, int]:
    """What the hall and each relay have had in memory at most, by their numbers."""
    found: dict[int, int] = {}
    for pid in processes_of(daemon.process.pid):
        if any(kind in words_of(pid) for kind in (b"daemon.relaying", b"daemon.hall")):
            told = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()
            found[pid] = int(told[0]) if told else 0
    return found
