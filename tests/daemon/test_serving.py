"""The ladder with real processes: it plays by itself, ends when asked, and survives SIGKILL."""

from __future__ import annotations

import os
import signal
import socket
import urllib.request
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import pytest

from referee.daemon.scoreboard import Snapshot
from referee.record import Record
from referee.store.database import Store
from referee.verifying import verify
from tests.arena.hosting import Bot
from tests.cli.running import no_duration, refuses
from tests.daemon.serving import BOTS, HALL_ENDED, WEB, Daemon, nothing_left, processes_of, serving
from tests.loopback import own_address
from tests.waiting import PATIENCE_S, wait_for

BOTH = (*WEB, *BOTS, "--variant", "underdog")
PLAIN = ("--no-web", "--bots", "none", "--variant", "underdog", "--variant", "duel")


def test_a_fresh_install_plays_by_itself_and_ends_when_asked(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        snapshot = daemon.season / "standings.json"
        wait_for(snapshot.exists, "a snapshot")
        found = msgspec.json.decode(snapshot.read_bytes(), type=Snapshot)
        assert found.variants
        assert found.seed is None
        assert found.at
        below = processes_of(daemon.process.pid)
        assert daemon.stop() == 0, daemon.said
        wait_for(lambda: nothing_left(below), "the workers to leave")
        assert "Traceback" not in daemon.said
        assert daemon.said.count("shown this once") == 1
        with daemon.house() as house:
            assert {bot.name for bot in house.bots.all()} >= {"random", "highest"}
    with serving(tmp_path / "data", *PLAIN) as again:
        again.wait_for_games(len(again.games()))
        assert again.stop(signal.SIGINT) == 0
        assert "shown this once" not in again.said
        assert "entered" not in again.said


def test_nothing_is_lost_or_doubled_by_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    safe: dict[tuple[int, int], bytes] = {}
    for _ in range(3):
        with serving(data, *PLAIN, "--pace", "0") as daemon:
            before = daemon.wait_for_games(len(safe))
            assert safe.items() <= before.items(), "a committed game is gone or another"
            below = processes_of(daemon.process.pid)
            safe = daemon.games()
            daemon.kill()
            wait_for(partial(nothing_left, below), "everything to be gone")
    with serving(data, *PLAIN, "--pace", "0") as daemon:
        daemon.wait_for_games(len(safe) + 20)
        assert daemon.stop() == 0
        after = daemon.games()
    assert safe.items() <= after.items()
    records = [msgspec.msgpack.decode(body, type=Record) for body in after.values()]
    assert verify(msgspec.json.encode(record) for record in records).mismatches == []
    with Store.read(data / "seasons" / "1") as store:
        counts = store.counts()
        for row in store.pairings():
            # Numbers follow each other: what was on its way when it was killed was played later,
            # or is the end of the list.
            assert counts.get(row.id, 0) <= row.games
            assert len(store.played(row.id)) <= 4
        moves = sum(len(record.moves) for record in records)
        assert sum(time.moves for time in store.times()) == moves


def test_two_daemons_on_one_folder_are_one_too_many(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        with serving(tmp_path / "data", *PLAIN) as second:
            assert second.process.wait(PATIENCE_S) == 2
            told = second.said.splitlines()[-1]
            assert "runs already" in told
            assert str(daemon.process.pid) in told
        daemon.wait_for_games(len(daemon.games()))


def test_the_pace_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *PLAIN, "--pace", "0.001") as daemon:
        found = daemon.wait_for_games()
        # One chunk of twenty games, and then nothing for hours.
        wait_for(lambda: len(daemon.games()) == 20, "a whole chunk")
        assert len(found) <= 20
        assert daemon.stop() == 0
        assert len(daemon.games()) == 20


@pytest.mark.parametrize("options", [("--web", "nowhere"), ("--jobs", "0"), ("--pace", "-1")])
def test_bad_input_is_one_sentence(tmp_path: Path, options: tuple[str, ...]) -> None:
    daemon = Daemon(tmp_path / "data", *options)
    assert daemon.process.wait(PATIENCE_S) == 2
    assert len(daemon.said.splitlines()) == 1
    assert "Traceback" not in daemon.said


@pytest.mark.parametrize("why", ["address already in use", "cannot assign requested address"])
def test_a_hall_that_cannot_open_is_one_sentence_with_pages_too(tmp_path: Path, why: str) -> None:
    with socket.create_server((own_address(), 0)) as taken:
        # The second is kept for documents: no machine has it.
        bots = "tcp://{}:{}".format(*taken.getsockname())
        if "in use" not in why:
            bots = "tcp://192.0.2.1:7781"
        with serving(tmp_path / "data", *WEB, "--bots", bots) as daemon:
            assert daemon.process.wait(PATIENCE_S) == 3
            (told,) = [line for line in daemon.said.splitlines() if "referee: " in line]
            assert told == f"referee: cannot listen on {bots}: {why}"
            assert "Traceback" not in daemon.said


def test_what_the_processes_of_a_daemon_say_comes_out_as_lines_of_its_log(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *BOTH, "--log", "json") as daemon:
        wait_for(lambda: '"event":"bots"' in daemon.said, f"the hall; {daemon.said}")
        hall = processes_of(daemon.process.pid, b"daemon.hall")[0]
        os.kill(hall, signal.SIGINT)  # A traceback.
        wait_for(lambda: HALL_ENDED in daemon.said, f"its end; {daemon.said}")
        assert daemon.stop() == 0, daemon.said
    told = [msgspec.json.decode(line) for line in daemon.said.splitlines()]
    last = [each["line"] for each in told if each["event"] == "said" and each["by"] == "hall"][-1]
    assert last == "KeyboardInterrupt"


def test_metrics_have_their_types_and_reasons(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *BOTH) as daemon:
        wait_for(lambda: "Bots connect to" in daemon.said, f"the hall; {daemon.said}")
        where = {line.partition("http://")[0]: line for line in daemon.said.splitlines()}
        pages = where["Pages: "].partition(" ")[2]
        bots = daemon.said.partition("Bots connect to ")[2].splitlines()[0]

        def metrics() -> str:
            with urllib.request.urlopen(f"{pages}/metrics") as reply:
                body: bytes = reply.read()
            return body.decode()

        with closing(Bot(bots, "nobody")) as stranger:
            stranger.hello(token="wrong")
            wanted = 'referee_daemon_refused_total{why="token"} 1\n'
            wait_for(lambda: wanted in metrics(), f"who was refused; {metrics()}")
        told = metrics()
        assert "# TYPE referee_daemon_refused_total counter\n" in told
        assert "# TYPE referee_daemon_answers_total counter\n" in told
        assert "# TYPE referee_daemon_connected gauge\n" in told
        assert "untyped" not in told
        assert daemon.stop() == 0, daemon.said


def test_opponents_may_be_hidden_and_records_have_their_names(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *PLAIN, "--anonymous", "--log", "json") as daemon:
        games = daemon.wait_for_games()
        assert daemon.stop() == 0
    for body in games.values():
        assert all(" v1" in name for name in msgspec.msgpack.decode(body, type=Record).players)
    lines = [line for line in daemon.said.splitlines() if line.startswith("{")]
    events = {told["event"]: told for told in map(msgspec.json.decode, lines)}
    assert {"season", "the daemon plays", "the daemon ends"} <= set(events)
    assert (events["season"]["level"], events["season"]["sandbox"]) == ("info", "none")


def test_what_cannot_be_meant_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    refuses(
        tmp_path,
        {
            "bots": (("serve", "--bots", "nonsense"), "--bots takes tcp://ADDRESS:PORT, .*"),
            "port": (("serve", "--bots", "tcp://127.0.0.1:65536"), "--bots takes tcp://.*65536'"),
            "web": (("serve", "--web", "127.0.0.1:x"), "--web takes HOST:PORT, .*"),
            **{
                f"proxy {proxy}": (("serve", "--proxy", proxy), "--proxy takes the address .*")
                for proxy in ("*", "example.org", "10.0.0.1/8")
            },
            "variant": (("serve", "--variant", "nope"), "unknown variant .*"),
            **{
                f"finish {number}": (
                    ("serve", "--finish", number),
                    f"--finish is a number of seconds, 0 or more, not {number}",
                )
                for number in ("nan", "inf", "-1.0")
            },
            **{
                f"pace {number}": (
                    ("serve", "--pace", number),
                    f"--pace is a number of games a second, or 0, not {number}",
                )
                for number in ("nan", "inf", "-1.0")
            },
            **{
                f"quota {size}": (
                    ("serve", "--quota", size),
                    f"--quota is a size of 1MB or more, such as 500MB or 2GB, not '{size}'",
                )
                for size in ("1", "much", "0.5MB", "-1GB")
            },
            "time": (("serve", "--time", "soon"), f"time: {no_duration('soon')}"),
        },
    )
