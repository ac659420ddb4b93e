"""`referee tournament --daemon URL` with a real daemon."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.reports.standings import read_standings
from tests.cli.running import REFEREE, environment, referee, refuses, sentence
from tests.daemon.serving import WEB, Daemon, serving
from tests.waiting import PATIENCE_S, wait_for

OPTIONS = ("--bots", "none", *WEB, "--variant", "underdog", "--pace", "0.001")
NOWHERE = ("tournament", "--daemon", "http://127.0.0.1:9")
FILES = {"standings.md", "standings.csv", "crosstable.csv", "standings.json", "timing.csv"}


class Served(NamedTuple):
    daemon: Daemon
    url: str
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("daemon") / "data", *OPTIONS) as daemon:
        url = wait_for(lambda: re.search(r"Pages: (\S+)", daemon.said), f"pages; {daemon.said}")
        token = re.search(r"shown this once: (\S+)", daemon.said)
        assert token is not None
        yield Served(daemon, url[1], token[1])
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.said


def test_the_daemon_plays_and_the_tables_are_written_here(served: Served, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'variant = "underdog"\nbots = ["random", "Lowest", "highest"]\ngames = 2\n'
    )
    words = ("tournament", "cup.toml", "--games", 4, "--daemon", served.url)
    done = referee(tmp_path, *words, REFEREE_TOKEN=served.token)
    assert done.status == 0, done.err
    assert "tournament 1: finished" in done.err
    assert "12 games" in done.out
    assert "Written to tournaments/cup: standings.md" in done.out
    folder = tmp_path / "tournaments" / "cup"
    assert {path.name for path in folder.iterdir()} == FILES
    there = served.daemon.data / "tournaments" / "1"
    for name in FILES:
        assert (folder / name).read_bytes() == (there / name).read_bytes()
    found = read_standings(there)
    assert {row.name for row in found.tables[0].rows} == {"random", "lowest", "highest"}


def test_as_json_and_into_a_folder(served: Served, tmp_path: Path) -> None:
    words = ("tournament", "--bot", "random", "--bot", "lowest", "-n", 2, "--out", "here", "--json")
    done = referee(tmp_path, *words, "--daemon", served.url, "--token", served.token)
    assert done.status == 0, done.err
    assert json.loads(done.out)["played"] == 2
    assert {path.name for path in (tmp_path / "here").iterdir()} == FILES


def test_ctrl_c_ends_the_following_alone(served: Served, tmp_path: Path) -> None:
    words = ["tournament", "--variant", "deck", "--bot", "random", "--bot", "lowest"]
    process = subprocess.Popen(
        [*REFEREE, *words, "-n", "1000000", "--daemon", served.url, "--token", served.token],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    )
    assert process.stderr is not None
    line = b""
    while b"playing" not in line:
        line = process.stderr.readline()
        assert line, "it ended"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    told = re.search(rb"The daemon goes on with tournament (\d+)", err)
    assert told is not None, err
    assert list(tmp_path.iterdir()) == []
    number = int(told[1])
    with served.daemon.house() as house:
        assert house.tournaments.get(number).state == "playing"
        house.tournaments.cancel(number, by="a test")


def test_one_that_is_called_off_is_told(served: Served, tmp_path: Path) -> None:
    words = ["tournament", "--variant", "deck", "--bot", "random", "--bot", "lowest"]
    process = subprocess.Popen(
        [*REFEREE, *words, "-n", "1000000", "--daemon", served.url, "--token", served.token],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    )

    def playing() -> int | None:
        with served.daemon.house() as house:
            rows = [row for row in house.tournaments.all() if row.state == "playing"]
        return rows[-1].id if rows else None

    number = wait_for(playing, f"its start; {served.daemon.said}")
    with served.daemon.house() as house:
        house.tournaments.cancel(number, by="a test")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    told = err.decode().splitlines()[-1]
    assert told == f"referee: tournament {number} was not played: called off by a test"


def test_what_the_daemon_refuses(served: Served, tmp_path: Path) -> None:
    two = ("tournament", "--bot", "random", "--bot", "nobody", "--daemon", served.url)
    assert "nobody" in sentence(referee(tmp_path, *two, "--token", served.token))
    assert "token" in sentence(referee(tmp_path, *two, "--token", "0" * 32))
    assert "organiser" in sentence(referee(tmp_path, *two, REFEREE_TOKEN=""))
    (tmp_path / "x.toml").write_text('variant = "underdog"\nsandbox = "none"\n')
    words = ("tournament", "x.toml", "--daemon", served.url, "--token", served.token)
    assert "sandbox is the daemon's" in sentence(referee(tmp_path, *words))
    assert "cannot be reached" in sentence(referee(tmp_path, *NOWHERE), 3)


def test_what_has_no_meaning_for_a_daemon(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "dir.toml").write_text('variant = "underdog"\nbots_dir = "bots"\n')
    (tmp_path / "file").write_text("")
    refuses(
        tmp_path,
        {
            "bots": ((*NOWHERE, "--bots", "bots"), "with --daemon: --bots is a folder .*"),
            "one": (
                (*NOWHERE, "--bot", "random"),
                "a tournament .* bots or more, not .* alone",
            ),
            "resume": ((*NOWHERE, "--resume", "x"), "with --daemon: --resume is for .*"),
            "plan": ((*NOWHERE, "--plan"), "with --daemon: --plan is for .*"),
            "events": ((*NOWHERE, "--events", "-"), "with --daemon: --events is for .*"),
            "jobs": ((*NOWHERE, "--jobs", 2), "with --daemon: --jobs is the daemon's .*"),
            "sandbox": ((*NOWHERE, "--sandbox", "none"), ".*--sandbox is the daemon's .*"),
            "spec": (
                ("tournament", "dir.toml", *NOWHERE[1:]),
                r"dir.toml, line 2: bots_dir is a folder here: name bots of the ladder in bots",
            ),
            "out": ((*NOWHERE, "--out", "file"), "file is taken; give --out another folder"),
            "url": (
                ("tournament", "--daemon", "ftp://x"),
                "'ftp://x' .* address of a daemon.*",
            ),
            "variant": ((*NOWHERE, "--variant", "no"), 'unknown variant "no".*'),
        },
    )
