"""The last words on a season, and SIGKILL between a word and the tables that follow it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from referee.daemon.scoreboard import FILE, Snapshot
from tests.cli.running import environment
from tests.daemon.serving import Daemon, serving
from tests.waiting import wait_for

PLAIN = ("--no-web", "--bots", "none", "--variant", "underdog", "--pace", "0")
KILLED_BEFORE_IT_DRAWS = """
import os, signal, sys
from referee.daemon import closed
closed.redraw = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
from referee.cli import main
main()
"""


def tables(daemon: Daemon) -> Snapshot | None:
    try:
        return msgspec.json.decode((daemon.season / FILE).read_bytes(), type=Snapshot)
    except FileNotFoundError:
        return None


def last_tables(daemon: Daemon) -> Snapshot | None:
    assert daemon.process.poll() is None, daemon.said
    found = tables(daemon)
    return found if found is not None and found.finished else None


def rated(daemon: Daemon) -> int:
    """How many games the ratings of all bots are made of."""
    with daemon.house() as house:
        return sum(each.games for each in house.ratings.latest(house.seasons.named("1")))


def test_tables_follow_the_last_word_though_the_daemon_is_killed_before_it_draws(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with serving(data, *PLAIN) as daemon:
        daemon.wait_for_games()
        wait_for(lambda: tables(daemon), "the first tables")
        # It stands still from the word that closes the season to its end.
        os.kill(daemon.process.pid, signal.SIGSTOP)
        with daemon.house() as house:
            house.seasons.close("1", by="a test")
        daemon.kill()
        assert last_tables_are_missing(daemon)
    with serving(data, *PLAIN) as daemon:
        found = wait_for(lambda: last_tables(daemon), f"the last tables; {daemon.said}")
        games = daemon.games()
        assert found.played == len(games)
        wait_for(lambda: rated(daemon) == 2 * len(games), "ratings of the last tables")
        daemon.kill()
    pairing, number = min(games)
    words = ["rule", f"{pairing}-{number}", "void", "--reason", "the lamp fell"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_BEFORE_IT_DRAWS, *words, "--data", str(data)],
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    before = tables(daemon)
    assert before is not None and before.rulings == []
    with serving(data, *PLAIN) as daemon:

        def ruled() -> bool:
            found = last_tables(daemon)
            return found is not None and [each.reason for each in found.rulings] == [
                "the lamp fell"
            ]

        wait_for(ruled, f"the ruling; {daemon.said}")
        wait_for(lambda: not pending(daemon), "that it counts as applied")
        assert daemon.stop() == 0, daemon.said


def pending(daemon: Daemon) -> bool:
    with daemon.house() as house:
        return bool(house.rulings.pending())


def last_tables_are_missing(daemon: Daemon) -> bool:
    found = tables(daemon)
    return found is not None and not found.finished
