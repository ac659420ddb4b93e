"""Bots that were handed in do evil in their games against a bot that connects, by relay."""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from pathlib import Path

import msgspec

from referee.arena.core import own_cores
from referee.bots.keeping.still import stat
from referee.record import Record
from referee.store.house import House
from tests.arena.playing import words_of
from tests.confinement.burning import burner
from tests.confinement.offered import LEVELS, a_bot, walls
from tests.daemon.serving import BOTS, Daemon, nothing_left, processes_of, serving
from tests.daemon.test_guests import HALL, connected, endpoint, two_tokens
from tests.daemon.test_standing_still import enter, records
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
FEW = 3
"""Processes of a bot without children, with those of its walls."""
STILL_S = 0.5
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


@walls
def test_a_relayed_bot_stands_still_while_a_guest_thinks(tmp_path: Path) -> None:
    data = tmp_path / "data"
    burner(tmp_path / "burns")
    a_bot(tmp_path / "slow", "import time; time.sleep(2); return ''")
    with House.open(data) as house:
        enter(house, tmp_path / "burns", team(house))
        token = house.bots.new_token("slow", by="a test")
    words = ("--no-web", *BOTS, "--variant", "difference", "--time", "60s", "--finish", "0")
    with serving(data, *words, "--sandbox", LEVELS[-1].value) as daemon:
        who = ("--name", "slow", "--token", token)
        with connected(str(tmp_path / "slow"), endpoint(daemon), *who):
            used: dict[int, int] = {}
            since = time.monotonic()

            def stands_still() -> bool:
                nonlocal used, since
                assert daemon.process.poll() is None, daemon.said
                before, used = used, {each: ticks(each) for each in its_processes(daemon)}
                if used != before or len(used) <= FEW:
                    since = time.monotonic()
                return time.monotonic() - since > STILL_S

            wait_for(stands_still, lambda: f"its children to stop; {used}; {daemon.said}")
            daemon.wait_for_games()
            assert daemon.stop() == 0, daemon.said
    assert not any(record.fault for record in records(daemon.season))


@walls
def test_relayed_bots_of_two_teams_share_no_core(tmp_path: Path) -> None:
    """Else one that burns would make the other late. No core is left by the workers: then one of
    the two comes to the hall at a time, on one core."""
    data = tmp_path / "data"
    # In a worker they would meet each other.
    a_bot(tmp_path / "red", "return ''", variants=["difference"])
    a_bot(tmp_path / "blue", "return ''", variants=["underdog"])
    with House.open(data) as house:
        enter(house, tmp_path / "red", team(house, "Reds"))
        enter(house, tmp_path / "blue", team(house, "Blues"))
        greens = team(house, "Greens").id
        alpha = house.bots.new_token("alpha", greens, by="a test")
        beta = house.bots.new_token("beta", greens, by="a test")
    words = ("--no-web", *BOTS, "--variant", "underdog", "--variant", "difference", "--time", "60s")
    confined = ("--sandbox", LEVELS[-1].value, "--jobs", str(own_cores()))
    with serving(data, *words, *confined) as daemon:
        to = endpoint(daemon)
        with (
            connected("random", to, "--name", "alpha", "--token", alpha),
            connected("random", to, "--name", "beta", "--token", beta),
        ):
            cores: dict[int, set[int]] = {}
            """On which each process that was seen may run, of relays and of their bots."""
            seen: set[int] = set()

            def both_met() -> bool:
                assert daemon.process.poll() is None, daemon.said
                there = relays(daemon)
                assert len(there) <= 1, there
                for relay in there:
                    # Once a relay has its bot it is bound to its core, too.
                    for each in processes_of(relay, b"bot.py"):
                        with contextlib.suppress(ProcessLookupError):
                            cores[relay] = os.sched_getaffinity(relay)
                            cores[each] = os.sched_getaffinity(each)
                            seen.add(relay)
                met = {player for each in records(daemon.season) for player in each.players}
                return {"red v1", "blue v1"} <= met and len(seen) > 3

            wait_for(both_met, lambda: f"games of both; {daemon.said}")
            assert daemon.stop() == 0, daemon.said
    assert {len(each) for each in cores.values()} == {1}, cores


def relays(daemon: Daemon) -> list[int]:
    """Those that are there. What a relay forks has the same words at first, and is none."""
    found = processes_of(daemon.process.pid, b"daemon.relaying")
    parent = str(daemon.process.pid).encode()
    return [each for each in found if stat(str(each))[1:2] == [parent]]


def its_processes(daemon: Daemon) -> list[int]:
    """Those of the bot that a relay runs, its children included."""
    relays = processes_of(daemon.process.pid, b"daemon.relaying")
    return [each for relay in relays for each in processes_of(relay, b"bot.py")]


def ticks(pid: int) -> int:
    """CPU time of a process; -1 of one that has ended."""
    fields = stat(str(pid))
    return int(fields[11]) + int(fields[12]) if fields else -1


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
