"""A real daemon on a real disk without a free byte: the pages stay up, and games wait for room."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.daemon.pace import PACE, PaceTerms
from referee.daemon.samples import packed
from referee.store.house import House
from tests.daemon.serving import WEB, Daemon, serving
from tests.daemon.test_submissions import bot_folder, judged, team
from tests.mounting import filled, small_disk
from tests.waiting import PATIENCE_S, wait_for

OPTIONS = ("--bots", "none", "--variant", "underdog")
ROOM_BYTES = 500_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "16m") as path:
        yield path


@pytest.fixture
def data(disk: Path) -> Path:
    """A data folder on the small disk, with a need for room that fits it."""
    data = disk / "data"
    with House.open(data) as house:
        house.settings.set(PACE, PaceTerms(games_per_s=5.0, room_bytes=ROOM_BYTES), by="a test")
    return data


def get(daemon: Daemon, path: str) -> tuple[int, bytes]:
    url = wait_for(
        lambda: [line for line in daemon.said.splitlines() if line.startswith("Pages: ")],
        "the pages",
    )[0].removeprefix("Pages: http://")
    asked = http.client.HTTPConnection(url, timeout=PATIENCE_S)
    asked.request("GET", path)
    answer = asked.getresponse()
    return answer.status, answer.read()


def has_room(daemon: Daemon) -> bool:
    """Whether the pages say that there is room."""
    assert daemon.process.poll() is None, daemon.said
    status, body = get(daemon, "/healthz")
    assert status == 200
    return bool(json.loads(body)["room"])


def test_pages_stay_and_games_wait_for_room(disk: Path, data: Path) -> None:
    with serving(data, *WEB, *OPTIONS) as daemon:
        daemon.wait_for_games()
        with filled(disk):
            wait_for(lambda: not has_room(daemon), f"the news; {daemon.said}")
            for path in ("/", "/games", "/bots", "/api/v1/standings", "/api/v1/games"):
                status, body = get(daemon, path)
                assert status == 200, (path, body)
            assert b"The disk of this referee is full" in get(daemon, "/")[1]
            before = daemon.games()
        after = daemon.wait_for_games(len(before))
        # What was committed is as it was.
        assert before.items() <= after.items()
        wait_for(lambda: has_room(daemon), f"the news; {daemon.said}")
        with filled(disk):
            wait_for(lambda: not has_room(daemon), f"the news; {daemon.said}")
            assert daemon.stop() == 0, daemon.said
        assert "Traceback" not in daemon.said


def test_a_bot_is_not_rejected_for_a_full_disk(tmp_path: Path, disk: Path, data: Path) -> None:
    """It is larger than what is free: its check waits for room, and then it plays."""
    ballast, large = disk / "ballast", tmp_path / "large"
    with House.open(data) as house:
        bot_folder(large)
        (large / "weights").write_bytes(bytes(2_000_000))
        version = house.submissions.keep("large", team(house), packed(large))
    free = 1_500_000
    ballast.write_bytes(bytes(16 * 1024 * 1024 - _used(disk) - free))
    with serving(data, *WEB, *OPTIONS) as daemon:
        wait_for(lambda: "checked again" in daemon.said, f"the first try; {daemon.said}")
        ballast.unlink()
        assert judged(daemon, version).state == "playing", daemon.said
        assert daemon.stop() == 0, daemon.said


def _used(disk: Path) -> int:
    found = os.statvfs(disk)
    return (found.f_blocks - found.f_bavail) * found.f_frsize
