"""A real daemon on a real disk without a free byte: the pages stay up, and games wait for room."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from referee.bots.confinement import UNCONFINED
from referee.clock import Clock
from referee.daemon.journal import Journal
from referee.daemon.pace import PACE, PaceTerms
from referee.daemon.samples import packed
from referee.daemon.submissions import Submissions
from referee.daemon.turns import Turns
from referee.record import Record
from referee.store.house import House
from tests.daemon.serving import WEB, Daemon, serving
from tests.daemon.test_guests import connected
from tests.daemon.test_submissions import bot_folder, judged, team
from tests.loopback import free_port, own_address
from tests.mounting import filled, small_disk
from tests.waiting import wait_for
from tests.web.contest import archive
from tests.web.serving import Web

OPTIONS = ("--bots", "none", "--variant", "underdog")
ROOM_BYTES = 200_000
LARGE = f"# {random.Random(1).randbytes(2_000_000).hex()}"
"""More than the daemon gives up at once when it has no room."""
Games = dict[tuple[int, int], bytes]
"""Records by pairing and number."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "16m") as path:
        yield path


@pytest.fixture
def data(disk: Path) -> Path:
    """A data folder that is the small disk, with a need for room that fits it. The log of the
    daemon is beside the folder and always has room."""
    with House.open(disk) as house:
        house.settings.set(PACE, PaceTerms(games_per_s=5.0, room_bytes=ROOM_BYTES), by="a test")
    return disk


def pages(daemon: Daemon) -> Web:
    def look() -> list[str]:
        return [line for line in daemon.said.splitlines() if line.startswith("Pages: ")]

    return Web(daemon.process, wait_for(look, "the pages")[0].removeprefix("Pages: "))


def has_room(daemon: Daemon) -> bool:
    """Whether the pages say that there is room."""
    assert daemon.process.poll() is None, daemon.said
    told = pages(daemon).get("/healthz")
    assert told.status == 200
    return bool(told.json["room"])


def test_pages_stay_and_games_wait_for_room(disk: Path, data: Path) -> None:
    here = own_address()
    bots = f"tcp://{here}:{free_port(here)}"
    with House.open(data) as house:
        token = house.teams.add("Reds", by="a test").token or ""
        alpha = house.bots.new_token("alpha", by="a test")
    with (
        serving(data, *WEB, "--bots", bots, "--samples", "--variant", "underdog") as daemon,
        connected("random", bots, "--name", "alpha", "--token", alpha),
    ):
        wait_for(lambda: guest_games(daemon.games()), f"games of alpha; {daemon.said}")
        web = pages(daemon)
        with filled(disk):
            wait_for(lambda: not has_room(daemon), f"the news; {daemon.said}")
            for path in ("/", "/games", "/bots", "/api/v1/standings", "/api/v1/games"):
                told = web.get(path)
                assert told.status == 200, (path, told)
            assert b"The disk of this referee is full" in web.get("/").body
            content = {"Content_Type": "application/x-tar"}
            handed_in = web.post("/api/v1/submissions", archive("fresh", LARGE), token, **content)
            assert (handed_in.status, "disk" in handed_in.error) == (503, True)
            before = daemon.games()
        wait_for(lambda: has_room(daemon), f"the news; {daemon.said}")
        wait_for(lambda: guest_games(daemon.games()) > guest_games(before), f"alpha; {daemon.said}")
        # What was committed is as it was.
        assert before.items() <= daemon.games().items()
        with filled(disk):
            wait_for(lambda: not has_room(daemon), f"the news; {daemon.said}")
            assert daemon.stop() == 0, daemon.said
        assert "Traceback" not in daemon.said


def guest_games(games: Games) -> int:
    """How many of these games the bot played that has connected."""
    records = (msgspec.msgpack.decode(body, type=Record) for body in games.values())
    return sum("alpha v1" in record.players for record in records)


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


def test_a_version_waits_however_often_the_disk_had_no_room(tmp_path: Path, data: Path) -> None:
    """For longer each time; meanwhile another team's is judged."""
    large = tmp_path / "large"
    bot_folder(large)
    (large / "weights").write_bytes(bytes(2_000_000))
    ballast = data / "ballast"
    clock = Clock(move_ms=1000)
    with House.open(data) as house:
        version = house.submissions.keep("large", team(house), packed(large))
        ballast.write_bytes(bytes(16 * 1024 * 1024 - _used(data) - 1_500_000))
        journal, terms = Journal(io.StringIO()), (UNCONFINED, clock, 10_000)
        queue = Submissions(house, terms, journal, lambda _: None, Turns(1), frozenset())
        now = 0.0

        def seen() -> str:
            """The state in which a check that begins now leaves it."""
            queue.begin(now)
            assert house.versions.get(version.id).state == "building"
            busy = ("building", "checking")
            wait_for(
                lambda: queue.hear(now) or house.versions.get(version.id).state not in busy,
                "the check",
            )
            return house.versions.get(version.id).state

        for rest_s in (15.0, 30.0, 60.0):
            assert seen() == "queued"
            now += rest_s - 1
            queue.begin(now)
            assert not queue.fds
            now += 1
        assert seen() == "queued"
        blues, small = team(house, "Blues"), bot_folder(tmp_path / "small")
        other = house.submissions.keep("small", blues, small)
        now += 15
        queue.begin(now)
        wait_for(lambda: queue.hear(now), "the verdict on the other team's")
        assert house.versions.get(other.id).state == "playing"
        ballast.unlink()
        now += 105
        assert seen() == "playing"
        queue.close()


def _used(disk: Path) -> int:
    found = os.statvfs(disk)
    return (found.f_blocks - found.f_bavail) * found.f_frsize
