"""What a start takes for its own, what it refuses, and what it leaves where it fails."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import msgspec
import pytest

from referee.mistake import BAD_INPUT
from referee.store.house import House
from tests.cli.running import referee, sentence
from tests.daemon.serving import BOTS, WEB, serving
from tests.daemon.test_guests import two_tokens
from tests.loopback import own_address
from tests.waiting import wait_for

QUIET = ("--no-web", "--bots", "none", "--variant", "underdog")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_folder_that_everybody_may_enter_becomes_its_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    (data / "lost+found").mkdir()  # A disk of its own.
    House.open(data).close()
    assert mode(data) == 0o700
    data.chmod(0o755)  # As one that an earlier version has made.
    with House.open(data) as house:
        house.take_charge()
    assert mode(data) == 0o700
    data.chmod(0o750)
    with House.open(data) as house:
        house.take_charge()
    assert mode(data) == 0o750  # Opened to a group on purpose.


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(0o755)
    (mine / "letter.txt").write_text("dear")
    for words in (["serve", *QUIET], ["keys", "new", "x", "--token", "--create"]):
        told = sentence(referee(tmp_path, *words, "--data", mine))
        assert told.startswith(f"{mine} is not empty and holds no house.db: ")
    assert [each.name for each in mine.iterdir()] == ["letter.txt"]
    assert mode(mine) == 0o755


def test_a_season_whose_games_are_gone_does_not_begin_anew(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, *QUIET) as daemon:
        daemon.wait_for_games()
        assert daemon.stop() == 0, daemon.said
    shutil.rmtree(data / "seasons")
    told = sentence(referee(tmp_path, "serve", *QUIET, "--sandbox", "none", "--data", data))
    gone = data / "seasons" / "1" / "tournament.db"
    assert told.startswith(f"the games of season 1 are gone: there is no {gone}; bring it back")
    assert not (data / "seasons").exists()
    backup = ("backup", "--data", data, "--to", tmp_path / "it.tar")
    assert referee(tmp_path, *backup).status == BAD_INPUT
    assert not (tmp_path / "it.tar").exists()
    assert referee(tmp_path, "season", "close", "--data", data).status == 0
    assert referee(tmp_path, "season", "start", "--data", data).status == 0
    done = referee(tmp_path, *backup, "--json")
    assert (done.status, json.loads(done.out)["lost"]) == (0, ["1"])
    with serving(data, *QUIET) as daemon:
        wait_for(lambda: "games of a closed season are gone" in daemon.said, daemon.said)
        wait_for((data / "seasons" / "2" / "tournament.db").exists, f"a season; {daemon.said}")


@pytest.mark.parametrize("option", ["--web", "--bots"])
def test_a_port_that_is_taken_leaves_nothing_behind(tmp_path: Path, option: str) -> None:
    data = tmp_path / "data"
    here = own_address()
    with socket.create_server((here, 0)) as taken:
        at = f"{here}:{taken.getsockname()[1]}"
        web, bots = (at, f"{here}:0") if option == "--web" else (f"{here}:0", at)
        words = ["serve", "--data", data, "--web", web, "--bots", f"tcp://{bots}"]
        done = referee(tmp_path, *words, "--sandbox", "none")
    assert (done.status, done.out) == (3, ""), done
    assert "referee: " in done.err and at in done.err.splitlines()[-1]
    with House.open(data) as house:
        assert (house.bots.all(), house.seasons.all(), house.teams.all()) == ([], [], [])


def test_with_json_every_line_is_json_and_samples_are_not_missed_silently(tmp_path: Path) -> None:
    data = tmp_path / "data"
    two_tokens(data)
    ports = (*WEB, *BOTS)
    with serving(data, *ports, "--variant", "underdog", "--log", "json") as daemon:
        wait_for(lambda: '"event":"season"' in daemon.said, f"the season; {daemon.said}")
        assert daemon.stop() == 0, daemon.said
    told = {each["event"]: each for each in map(msgspec.json.decode, daemon.said.splitlines())}
    assert told["pages"]["url"].startswith("http://127.")
    assert told["bots"]["endpoint"].startswith("tcp://127.")
    assert told["bots"]["server_key"] is None
    with House.open(data) as house:
        organiser = house.teams.of_token(told["token"]["token"])
        assert organiser is not None and organiser.name == told["token"]["name"]
        assert len(house.bots.all()) == 2
    assert any("--samples" in event for event in told)
