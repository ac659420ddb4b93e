"""Submissions with a real daemon: from the queue to the ladder, or back to their authors."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import tarfile
import uuid
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec
import pytest

from referee.bots.building import OWN
from referee.bots.cache import COMPILERS, SHOWN_NAME, forget_content, readable_cache
from referee.bots.confinement import UNCONFINED
from referee.bots.confinement.identity import servant
from referee.bots.manifest import read_bot, sample_bots
from referee.clock import Clock
from referee.daemon.definition import CACHE, bot_of
from referee.daemon.journal import Journal
from referee.daemon.priorities import UNRATED
from referee.daemon.samples import packed
from referee.daemon.submissions import Submissions
from referee.daemon.sweeping import sweep
from referee.daemon.turns import LONG_S, Turns, places
from referee.store.house import House
from referee.store.house.rows import Limits, TeamRow, VersionRow
from referee.tournament.spec import Spec
from tests.confinement.offered import BEST, walls
from tests.daemon.serving import Daemon, nothing_left, processes_of, serving
from tests.waiting import wait_for

QUIET = ("--no-web", "--bots", "none", "--variant", "underdog", "--pace", "5")
WAITS = """
import os, time
_max = max

def max(*words, **keys):
    while not os.path.exists("{may}"):
        time.sleep(0.01)
    return _max(*words, **keys)
"""
"""What makes the bot of `bot_folder` late with every move until a file is there."""


def bot_folder(
    folder: Path,
    *,
    build: str = "",
    crash: bool = False,
    before: str = "",
    extra: str = "",
    command: str = sys.executable,
) -> bytes:
    """An archive of a bot that plays the highest card, or dies of it."""
    shutil.copytree(sample_bots()["highest"], folder)
    (folder / "bot.toml").write_text(
        f'name = "whatever"\ncommand = ["{command}", "bot.py"]\n{build}\n'
    )
    code = before + ("raise SystemExit('no such luck')\n" if crash else "")
    source = next(path for path in folder.glob("*.py"))
    (folder / "bot.py").write_text(code + source.read_text() + extra)
    return packed(folder)


def team(house: House, name: str = "Reds") -> TeamRow:
    house.teams.add(name, by="a test")
    return house.teams.named(name)


def judged(daemon: Daemon, version: VersionRow) -> VersionRow:
    """The version, once it has come to its verdict."""

    def look() -> VersionRow | None:
        assert daemon.process.poll() is None, daemon.said
        with daemon.house() as house:
            now = house.versions.get(version.id)
        return now if now.state in ("playing", "rejected", "retired") else None

    return wait_for(look, f"the verdict on {version.name}; {daemon.said}")


def test_a_good_bot_plays_and_a_bad_one_is_told_why(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        reds = team(house)
        good = house.submissions.keep("rocky", reds, bot_folder(tmp_path / "good"))
        bad = house.submissions.keep("rocky", reds, bot_folder(tmp_path / "bad", crash=True))
        blues = team(house, "Blues")
        house.submissions.keep("other", blues, bot_folder(tmp_path / "other", extra="# other\n"))
    with serving(data, *QUIET) as daemon:
        assert judged(daemon, good).state == "playing", daemon.said
        assert judged(daemon, bad).state == "rejected", daemon.said
        with daemon.house() as house:
            told = house.versions.told(bad.id)
            assert "no such luck" in told
            assert str(tmp_path) not in told
            assert "passed" in house.versions.told(good.id)
            # The old version plays on.
            assert house.bots.named("rocky").active == good.id
        daemon.wait_for_games()
        assert daemon.stop() == 0
    assert "Traceback" not in daemon.said


@walls
def test_a_build_of_what_is_handed_in_keeps_nothing_of_its_compiler(tmp_path: Path) -> None:
    data, name = tmp_path / "data", uuid.uuid4().hex[:SHOWN_NAME]
    build = 'build = ["sh", "-c", "mkdir -p ~/.cache; touch ~/.cache/left"]'
    packed_bot = bot_folder(tmp_path / "bot", build=build, command="python3", extra=f"# {name}\n")
    with House.open(data) as house:
        version = house.submissions.keep(name, team(house), packed_bot)
    with serving(data, *QUIET, "--sandbox", BEST.value) as daemon:
        assert judged(daemon, version).state == "playing", daemon.said
        assert daemon.stop() == 0
    caches = (data / CACHE, readable_cache(data / CACHE, servant()))
    kept = {path.name for cache in caches for path in cache.glob(f"{name}-*")}
    assert [each for each in kept if each.endswith("-confined.whole")], kept
    assert not [each for each in kept if OWN in each or COMPILERS in each]
    for cache in caches:
        forget_content(cache, name, read_bot(tmp_path / "bot").hash)


def test_what_cannot_be_a_bot_is_rejected(tmp_path: Path) -> None:
    data = tmp_path / "data"
    outside = io.BytesIO()
    with tarfile.open(fileobj=outside, mode="w:") as archive:
        member = tarfile.TarInfo("../../escaped.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"hello"))
    nothing = io.BytesIO()
    with tarfile.open(fileobj=nothing, mode="w:") as archive:
        archive.addfile(tarfile.TarInfo("readme"))
    with House.open(data) as house:
        reds = team(house)
        versions = [
            house.submissions.keep("a", reds, outside.getvalue()),
            house.submissions.keep("b", reds, nothing.getvalue()),
            house.submissions.keep("c", reds, b"this is no archive at all" * 50),
            house.submissions.keep(
                "d",
                reds,
                bot_folder(tmp_path / "d", build='build = ["sh", "-c", "echo woe; exit 3"]'),
            ),
        ]
    with serving(data, *QUIET) as daemon:
        found = [judged(daemon, version) for version in versions]
        assert {version.state for version in found} == {"rejected"}
        with daemon.house() as house:
            told = [house.versions.told(version.id) for version in versions]
        assert "leads out" in told[0]
        assert "bot.toml" in told[1]
        assert "cannot be unpacked" in told[2]
        assert "woe" in told[3]
        assert not any("Traceback" in each for each in told)
        assert daemon.stop() == 0
    assert not (tmp_path / "escaped.txt").exists()
    assert not (data / "escaped.txt").exists()


def test_a_kill_in_the_middle_leaves_it_in_the_queue(tmp_path: Path) -> None:
    data = tmp_path / "data"
    slow = 'build = ["sh", "-c", "while [ ! -e %s ]; do sleep 0.05; done"]' % (tmp_path / "go")
    with House.open(data) as house:
        version = house.submissions.keep(
            "rocky", team(house), bot_folder(tmp_path / "rocky", build=slow)
        )
    with serving(data, *QUIET) as daemon:

        def state() -> str:
            with daemon.house() as house:
                return house.versions.get(version.id).state

        wait_for(lambda: state() == "building", "the build to begin")
        wait_for(
            lambda: processes_of(daemon.process.pid, b"sleep") != [],
            "the build to run",
        )
        below = processes_of(daemon.process.pid)
        daemon.kill()
        wait_for(lambda: nothing_left(below), "everything to be gone")
    (tmp_path / "go").touch()
    with serving(data, *QUIET) as daemon:
        assert judged(daemon, version).state == "playing", daemon.said
        assert daemon.stop() == 0


def test_a_rejected_version_leaves_its_archive_alone_and_a_team_has_a_quota(tmp_path: Path) -> None:
    """Whether it could not be unpacked, built or played with, or is too large."""
    data = tmp_path / "data"
    build = 'build = ["sh", "-c", "head -c {} /dev/zero > weights{}"]'
    with House.open(data) as house:
        reds, blues = team(house), team(house, "Blues")
        house.submissions.keep("fine", None, bot_folder(tmp_path / "f", build=build.format(10, "")))
        rejected = [
            house.submissions.keep("broken", reds, b"no archive at all"),
            house.submissions.keep(
                "unbuilt", reds, bot_folder(tmp_path / "a", build=build.format(9, "; exit 3"))
            ),
            house.submissions.keep(
                "crash", reds, bot_folder(tmp_path / "b", build=build.format(8, ""), crash=True)
            ),
            house.submissions.keep(
                "large", blues, bot_folder(tmp_path / "c", build=build.format(2_000_000, ""))
            ),
        ]
        good = house.submissions.keep(
            "good", blues, bot_folder(tmp_path / "d", build=build.format(500_000, ""))
        )
    with serving(data, *QUIET, "--quota", "1.5MB") as daemon:
        assert [judged(daemon, each).state for each in rejected] == 4 * ["rejected"], daemon.said
        assert judged(daemon, good).state == "playing", daemon.said
        wait_for(lambda: len(daemon.games()) > 0, "games")
        assert sorted(int(path.name) for path in (data / "bots").iterdir()) == [1, good.id]
        builds = {path.name.partition("-")[0] for path in (data / "builds").iterdir()}
        assert builds == {"fine", "good"}
        with daemon.house() as house:
            assert "1.5 MB" in house.versions.told(rejected[-1].id)
            # Two copies of the folder, and what the build made.
            assert 500_000 < house.versions.get(good.id).room < 600_000
            assert house.submissions.quotas.used(blues.id) < 700_000
        assert daemon.stop() == 0, daemon.said


def test_what_can_no_longer_play_is_swept_away(tmp_path: Path) -> None:
    """A version whose archive was let go, and what a killed build left."""
    data, at_once = tmp_path / "data", timedelta(0)
    build = 'build = ["true"]'
    with House.open(data) as house:
        reds = team(house)
        first = house.submissions.keep("rocky", reds, bot_folder(tmp_path / "a", build=build))
    with serving(data, *QUIET) as daemon:
        assert judged(daemon, first).state == "playing", daemon.said
        with daemon.house() as house:
            house.settings.set_limits(Limits(versions_a_bot=1), by="a test")
            second = house.submissions.keep(
                "rocky", reds, bot_folder(tmp_path / "b", build=build, extra="# newer\n")
            )
        assert judged(daemon, second).state == "playing", daemon.said
        assert daemon.stop() == 0, daemon.said
    half_made = data / "builds" / f"rocky-{32 * '0'}-Linux-confined"
    half_made.mkdir()
    with House.open(data) as house:
        # Of a version that waits nothing is known yet.
        third = house.submissions.keep(
            "rocky", reds, bot_folder(tmp_path / "c", build=build, extra="# newest\n")
        )
        (data / "bots" / str(third.id)).mkdir()
        assert not house.versions.get(first.id).kept
        assert sweep(house, UNCONFINED) == 0
        assert sweep(house, UNCONFINED, at_once) == 2
        content = bot_of(house.versions.get(second.id).definition, data).hash
    assert {int(path.name) for path in (data / "bots").iterdir()} == {second.id, third.id}
    assert {path.name.split("-")[1] for path in (data / "builds").iterdir()} == {content}


def test_slow_builds_of_one_team_delay_no_other_team(tmp_path: Path) -> None:
    """Neither when they are handed in nor when they have to be built again."""
    data, may = tmp_path / "data", tmp_path / "may"
    slow = f'build = ["sh", "-c", "until test -e {may}; do sleep 0.05; done"]'
    with House.open(data) as house:
        reds, blues = team(house), team(house, "Blues")
        waiting = [
            house.submissions.keep(
                f"slow {number}",
                reds,
                bot_folder(tmp_path / f"slow-{number}", build=slow, extra=f"# {number}\n"),
            )
            for number in range(3)
        ]
        quick = 'build = ["true"]'
        other = house.submissions.keep("quick", blues, bot_folder(tmp_path / "q", build=quick))
    with serving(data, *QUIET) as daemon:
        assert judged(daemon, other).state == "playing", daemon.said
        with daemon.house() as house:
            states = [house.versions.get(version.id).state for version in waiting]
        assert states == ["building", "queued", "queued"]
        may.touch()
        for version in waiting:
            assert judged(daemon, version).state == "playing", daemon.said
        assert daemon.stop() == 0, daemon.said
    may.unlink()
    shutil.rmtree(data / "builds")
    with serving(data, *QUIET) as daemon:
        wait_for(lambda: "built again bot=quick" in daemon.said, f"its build; {daemon.said}")
        assert daemon.said.count("building again") == 2
        may.touch()
        wait_for(lambda: daemon.said.count("built again") == 4, f"the others; {daemon.said}")
        assert daemon.stop() == 0, daemon.said


def test_two_teams_whose_builds_sleep_delay_no_third_one_for_long(tmp_path: Path) -> None:
    with House.open(tmp_path / "data") as house:
        for name in ("Reds", "Blues"):
            folder = tmp_path / name
            asleep = bot_folder(folder, build='build = ["sleep", "600"]', extra=f"# {name}\n")
            house.submissions.keep(name, team(house, name), asleep)
        quick = bot_folder(tmp_path / "quick", build='build = ["false"]')
        version = house.submissions.keep("quick", team(house, "Greens"), quick)
        queue = queue_of(house, places(1))
        queue.begin(0.0)
        queue.begin(LONG_S - 1)
        assert house.versions.get(version.id).state == "queued"
        queue.begin(LONG_S)
        wait_for(lambda: queue.hear(LONG_S), "the verdict on the third")
        assert house.versions.get(version.id).state == "rejected"
        queue.close()


def test_a_version_whose_check_is_killed_again_and_again_leaves_nothing(tmp_path: Path) -> None:
    """What it leaves would be in no team's quota."""
    data = tmp_path / "data"
    build = 'build = ["sh", "-c", "touch half; while true; do sleep 0.05; done"]'
    with House.open(data) as house:
        rocky = bot_folder(tmp_path / "rocky", build=build)
        version = house.submissions.keep("rocky", team(house), rocky)
        queue = queue_of(house, 1)
        for state in ("queued", "rejected"):
            queue.begin(0.0)
            wait_for(lambda: processes_of(os.getpid(), b"touch half"), "the build")
            (examiner,) = processes_of(os.getpid(), b"daemon.examining")
            below = processes_of(examiner)
            os.kill(examiner, signal.SIGKILL)
            wait_for(partial(nothing_left, below), "the end of the build")
            wait_for(
                lambda: queue.hear(0.0) or house.versions.get(version.id).state == "queued",
                "what comes of it",
            )
            assert house.versions.get(version.id).state == state
        queue.close()
    assert list((data / "bots").iterdir()) == []
    assert list((data / "builds").glob("rocky-*")) == []


def queue_of(house: House, at_once: int) -> Submissions:
    """The queue of a house, with no daemon around it: the time is turned by hand."""
    terms = (UNCONFINED, Clock(move_ms=1000), 600_000)
    journal = Journal(io.StringIO())
    return Submissions(house, terms, journal, lambda _: None, Turns(at_once), frozenset())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_a_build_does_not_get_the_cores_that_games_are_played_on(tmp_path: Path) -> None:
    """Hundreds of its processes would else make bots of others late."""
    data = tmp_path / "data"
    look = "grep Cpus_allowed_list /proc/self/status; echo nice $(nice); exit 3"
    cores = f'build = ["sh", "-c", "{look}"]'
    with House.open(data) as house:
        reds = team(house)
        burner = house.submissions.keep("burner", reds, bot_folder(tmp_path / "b", build=cores))
    with serving(data, *QUIET, "--jobs", str(len(os.sched_getaffinity(0)) - 1)) as daemon:
        assert judged(daemon, burner).state == "rejected", daemon.said
        with daemon.house() as house:
            told = house.versions.told(burner.id)
        assert f"Cpus_allowed_list:\t{min(os.sched_getaffinity(0))}\n" in f"{told}\n", told
        assert f"nice {UNRATED}" in told
        assert daemon.stop() == 0, daemon.said


def test_a_version_that_is_late_beside_a_build_is_checked_again_alone(tmp_path: Path) -> None:
    """A build of another team may have used the time that it lacked."""
    data, may = tmp_path / "data", tmp_path / "may"
    build = f'build = ["sh", "-c", "until test -e {may}; do sleep 0.05; done"]'
    one_variant = 'variants = ["underdog"]\ngames_at_once = 1'
    with House.open(data) as house:
        reds, blues = team(house), team(house, "Blues")
        slow = house.submissions.keep("builds", reds, bot_folder(tmp_path / "b", build=build))
        waits = WAITS.format(may=may)
        late = bot_folder(tmp_path / "h", build=one_variant, before=waits)
    with serving(data, *QUIET, "--jobs", "2") as daemon:
        wait_for(lambda: processes_of(daemon.process.pid, b"until test"), "the build")
        with daemon.house() as house:
            version = house.submissions.keep("waits", blues, late)
        wait_for(
            lambda: "it was late beside" in daemon.said or "judged bot" in daemon.said,
            lambda: f"what comes of its check; {daemon.said}",
        )
        may.touch()
        assert judged(daemon, version).state == "playing", daemon.said
        assert judged(daemon, slow).state == "playing", daemon.said
        assert daemon.stop() == 0, daemon.said


def test_what_has_to_be_built_again_holds_nobody_up(tmp_path: Path) -> None:
    """As after a restore, or where somebody has tidied up. At last it cannot be built."""
    data, may, broken = tmp_path / "data", tmp_path / "may", tmp_path / "broken"
    may.touch()
    wait = f"until test -e {may}; do sleep 0.05; done; test ! -e {broken}"
    with House.open(data) as house:
        reds = team(house)
        blues = team(house, "Blues")
        slow = bot_folder(tmp_path / "slow", build=f'build = ["sh", "-c", "{wait}"]')
        versions = [
            house.submissions.keep("slow", reds, slow),
            house.submissions.keep("plain", blues, bot_folder(tmp_path / "a", extra="# a\n")),
            house.submissions.keep("other", reds, bot_folder(tmp_path / "b", extra="# b\n")),
        ]
    with serving(data, *QUIET) as daemon:
        for version in versions:
            assert judged(daemon, version).state == "playing", daemon.said
        assert daemon.stop() == 0, daemon.said
    may.unlink()
    shutil.rmtree(data / "builds")
    spec = Spec(name="cup", variants=("underdog",), bots=("slow", "plain"), games=4)
    with serving(data, *QUIET) as daemon:
        wait_for(lambda: "building again bot=slow" in daemon.said, f"its build; {daemon.said}")
        with daemon.house() as house:
            row = house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")
        # The others play, and a tournament that needs it waits.
        daemon.wait_for_games(len(daemon.games()))
        assert "built again" not in daemon.said
        assert "state=failed" not in daemon.said
        may.touch()
        wait_for(lambda: "built again bot=slow" in daemon.said, f"its end; {daemon.said}")

        def over() -> bool:
            with daemon.house() as house:
                return house.tournaments.get(row.id).state == "finished"

        wait_for(over, f"the tournament; {daemon.said}")
        below = processes_of(daemon.process.pid)
        assert daemon.stop() == 0, daemon.said
        wait_for(lambda: nothing_left(below), "everything to be gone")
    broken.touch()
    shutil.rmtree(data / "builds")
    with serving(data, *QUIET) as daemon:
        daemon.wait_for_games(len(daemon.games()))
        wait_for(lambda: "cannot play" in daemon.said, f"the news of it; {daemon.said}")
        assert daemon.stop() == 0, daemon.said
        assert daemon.said.count("building again") == 1
        assert "Traceback" not in daemon.said
