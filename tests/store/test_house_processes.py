"""Several processes write at once, and are killed: nothing is done twice, nothing is lost."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from referee.store.house import House
from referee.store.house.rows import Limits
from tests.store.processes import house_worker
from tests.waiting import PATIENCE_S


def test_the_limit_holds_however_many_submit_at_once(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:
        house.teams.add("Reds", by="me")
        house.settings.set_limits(Limits(submissions_an_hour=10), by="me")
        workers = [house_worker("submit", tmp_path) for _ in range(3)]
        told = [
            line
            for worker in workers
            for line in worker.communicate(timeout=PATIENCE_S)[0].split("\n")
        ]
        assert sorted(line for line in told if line) == sorted(
            f"greedy v{number}" for number in range(1, 11)
        )
        versions = house.versions.all()
        assert [version.number for version in versions] == list(range(1, 11))
        assert all(house.submissions.archive(version) for version in versions)
        assert len(list((tmp_path / "versions").iterdir())) == 10


def test_nobody_claims_what_another_has(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:
        for number in range(30):
            house.submissions.keep("greedy", None, b"%d" % number)
        workers = [house_worker("claim", tmp_path) for _ in range(3)]
        told = " ".join(worker.communicate(timeout=PATIENCE_S)[0] for worker in workers)
        assert sorted(map(int, told.split())) == [version.id for version in house.versions.all()]
        states = [version.state for version in house.versions.all()]
        assert states.count("playing") == 1 and states.count("retired") == 29
        assert states[-1] == "playing"


def test_what_a_killed_daemon_had_in_hand_is_queued_again(tmp_path: Path) -> None:
    with House.open(tmp_path) as house:
        version = house.submissions.keep("greedy", None, b"one")
        house.tournaments.ask("{}", by="me")
        (tmp_path / "versions" / "half.new").touch()
        for again in (0, 2, 2):
            worker = house_worker("hold", tmp_path)
            assert worker.stdout is not None
            assert worker.stdout.readline() == f"{again}\n"
            assert worker.stdout.readline() == f"{version.id}\n"
            assert house.versions.get(version.id).state == "building"
            worker.kill()
            worker.communicate()
        assert house.take_charge() == 2
        assert house.versions.get(version.id).state == "queued"
        assert house.tournaments.get(1).state == "queued"
        assert [path.name for path in (tmp_path / "versions").iterdir()] == [f"{version.id}.tar"]


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_house_in_order(tmp_path: Path) -> None:
    for kill in range(4):
        worker = house_worker("churn", tmp_path)
        assert worker.stdout is not None
        for _ in range(kill * 3 + 1):
            last = int(worker.stdout.readline())
        worker.kill()
        worker.communicate()
        with House.open(tmp_path, create=False) as house:
            house.take_charge()
            versions = house.versions.all()
            assert versions[-1].id >= last
            assert [version.number for version in versions] == list(range(1, len(versions) + 1))
            for version in versions:
                if version.kept:
                    content = house.submissions.archive(version)
                    assert hashlib.sha256(content).hexdigest() == version.hash
            playing = [version for version in versions if version.state == "playing"]
            assert [version.id for version in playing] == [
                version.id for version in house.versions.playing()
            ]
            assert len(playing) <= 1
            while (waiting := house.submissions.claim()) is not None:
                house.submissions.accept(waiting.id, "{}")
