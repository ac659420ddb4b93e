"""SIGKILL at any moment, again and again, with everything at once that a daemon may be at.

Two bots that connect, bots of the house, submissions in the queue and a tournament that was asked
for: what was committed counts once, all of it is gone on with, and no process is left behind.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
from functools import partial
from pathlib import Path

import msgspec
import pytest

from referee.reports.standings import read_standings
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House
from referee.tournament.spec import Spec
from tests.cli.running import referee
from tests.daemon.serving import Daemon, nothing_left, processes_of, serving
from tests.daemon.test_guests import connected, two_tokens
from tests.daemon.test_submissions import bot_folder, team
from tests.loopback import free_port, own_address
from tests.waiting import wait_for

KILLS = 5
LONGEST_S = 4.0
"""From the start of a daemon to its end, at most: it has hardly started, or is at work."""
GAMES = 40
OPTIONS = ("--no-web", "--variant", "underdog", "--variant", "deck", "--samples", "--pace", "0")

Games = dict[tuple[int, int], bytes]


def games_in(folder: Path) -> Games:
    if not (folder / FILE).exists():
        return {}
    with Store.read(folder) as store:
        return {(pairing, number): body for pairing, number, body in store.records()}


def processes_in(data: Path) -> list[int]:
    """Whoever works in the data folder, as bots of the house do."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cwd").readlink().is_relative_to(data.resolve()):
                found.append(int(folder.name))
    return found


def asked_for(data: Path, tmp_path: Path) -> int:
    """Fill the queues; the number of the tournament."""
    spec = Spec(
        name="cup", variants=("deck",), bots=("alpha", "beta", "random", "lowest"), games=GAMES
    )
    with House.open(data) as house:
        reds = team(house)
        for number in range(3):
            folder = tmp_path / f"rocky {number}"
            archive = bot_folder(folder, crash=number == 1, extra=f"# {number}\n")
            house.submissions.keep("rocky", reds, archive)
        return house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test").id


def killed_at_some_moment(daemon: Daemon, moment_s: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        daemon.process.wait(moment_s)
        raise AssertionError(f"it has ended by itself: {daemon.said}")
    below = processes_of(daemon.process.pid)
    daemon.kill()
    wait_for(partial(nothing_left, below), "everything to be gone")
    wait_for(lambda: processes_in(daemon.data) == [], "bots to be gone")
    assert "Traceback" not in daemon.said


def all_done(daemon: Daemon, tournament: int) -> bool:
    assert daemon.process.poll() is None, daemon.said
    with daemon.house() as house:
        state = house.tournaments.get(tournament).state
        assert state != "failed", house.tournaments.get(tournament).told
        return state == "finished" and not house.submissions.waiting()


@pytest.mark.slow
def test_kills_in_a_row_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    moments = random.Random("moments")
    alpha, beta = two_tokens(data)
    here = own_address()
    to = f"tcp://{here}:{free_port(here)}"
    options = (*OPTIONS, "--bots", to)
    season, cup = data / "seasons" / "1", data / "tournaments" / "1"
    safe: tuple[Games, Games] = ({}, {})
    with (
        connected("random", to, "--name", "alpha", "--token", alpha),
        connected("lowest", to, "--name", "beta", "--token", beta),
    ):
        with serving(data, *options) as daemon:
            # A tournament is among bots that the ladder knows, so they have to come once.
            wait_for(lambda: daemon.said.count("connected bot=") >= 2, f"both; {daemon.said}")
            tournament = asked_for(data, tmp_path)
            killed_at_some_moment(daemon, moments.uniform(0.0, LONGEST_S))
        for _ in range(KILLS):
            for before, folder in zip(safe, (season, cup), strict=True):
                assert before.items() <= games_in(folder).items(), "a committed game is gone"
            safe = (games_in(season), games_in(cup))
            with serving(data, *options) as daemon:
                killed_at_some_moment(daemon, moments.uniform(0.0, LONGEST_S))
        with serving(data, *options) as daemon:
            wait_for(partial(all_done, daemon, tournament), f"the end of it all; {daemon.said}")
            daemon.wait_for_games(len(safe[0]))
            # All of it may have been done before; a signal is for a daemon that is up.
            wait_for(lambda: "the daemon plays" in daemon.said, f"the daemon; {daemon.said}")
            below = processes_of(daemon.process.pid)
            assert daemon.stop() == 0, daemon.said
            wait_for(partial(nothing_left, below), "everything to be gone")
            assert "Traceback" not in daemon.said
    for before, folder in zip(safe, (season, cup), strict=True):
        assert before.items() <= games_in(folder).items(), "a committed game is gone"
        exported = referee(tmp_path, "export", folder)
        assert exported.status == 0, exported.err
        done = referee(tmp_path, "verify", "-", stdin=exported.out.encode())
        assert done.status == 0, done
    found = read_standings(cup)
    assert (found.finished, found.played) == (True, 6 * GAMES)
    with House.open(data) as house:
        states = [version.state for version in house.versions.of_bot(house.bots.named("rocky").id)]
        assert states == ["retired", "rejected", "playing"]
    with Store.read(season) as store:
        # Whatever was given out and not played was played later, or is at the end of the list.
        for row in store.pairings():
            assert store.counts().get(row.id, 0) <= row.games
