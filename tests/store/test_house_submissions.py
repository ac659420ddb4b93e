"""Submissions: what is kept and refused, the queue, and which version plays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from referee.store.house import House
from referee.store.house.mistakes import (
    BadHouse,
    Conflict,
    HouseMistake,
    NotYours,
    OverQuota,
    TooLarge,
    TooMany,
    TooOften,
)
from referee.store.house.quotas import Allowance
from referee.store.house.rows import Limits, TeamRow, VersionRow
from referee.store.house.versions import TOLD_CHARACTERS
from tests.facts import Naming
from tests.store.housing import Clock, played


def test_a_submission_is_kept_byte_for_byte(house: House, reds: TeamRow) -> None:
    version = house.submissions.keep("greedy", reds, b"a tar", "the first")
    assert (version.name, version.state, version.label) == ("greedy v1", "queued", "the first")
    assert (version.team_name, version.size, version.kept) == ("Reds", 5, True)
    assert version.hash == hashlib.sha256(b"a tar").hexdigest()
    assert house.submissions.archive(version) == b"a tar"
    path = house.submissions.path(version)
    assert path == house.data / "versions" / f"{version.id}.tar"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert (house.data.stat().st_mode | (house.data / "house.db").stat().st_mode) & 0o077 == 0
    path.write_bytes(b"b tar")
    with pytest.raises(BadHouse, match="is not what was submitted as greedy v1"):
        house.submissions.archive(version)
    path.unlink()
    with pytest.raises(BadHouse, match="cannot be read"):
        house.submissions.archive(version)


def test_a_name_belongs_to_the_team_that_came_first(
    house: House, reds: TeamRow, blues: TeamRow
) -> None:
    house.submissions.keep("greedy", reds, b"one")
    with pytest.raises(NotYours, match="there is a bot greedy already, and it is another team's"):
        house.submissions.keep("Greedy", blues, b"two")
    house.teams.add("Eye", "viewer", by="me")
    viewer = house.teams.named("Eye")
    with pytest.raises(NotYours, match="Eye may look, and submits no bots"):
        house.submissions.keep("eye", viewer, b"two")
    assert house.submissions.keep("Greedy", None, b"three").name == "greedy v2"


def test_what_is_too_large_is_refused(house: House, reds: TeamRow) -> None:
    house.settings.set_limits(Limits(submission_bytes=1000), by="me")
    house.submissions.keep("greedy", reds, bytes(1000))
    with pytest.raises(TooLarge, match=r"the archive has 1,001 bytes, and up to 1,000 are taken"):
        house.submissions.keep("greedy", reds, bytes(1001))
    with pytest.raises(HouseMistake, match="the archive is empty"):
        house.submissions.keep("greedy", reds, b"")
    assert len(list((house.data / "versions").iterdir())) == 1


def test_a_team_submits_so_often_an_hour(house: House, reds: TeamRow, clock: Clock) -> None:
    house.settings.set_limits(Limits(submissions_an_hour=3), by="me")
    for number in range(3):
        house.submissions.keep(f"bot {number}", reds, b"%d" % number)
        clock.turn(minutes=10)
    with pytest.raises(TooOften, match=r"3 times within an hour.* taken in 31 min") as caught:
        house.submissions.keep("greedy", reds, b"more")
    assert 1800 <= caught.value.wait_s <= 1801
    assert house.bots.find("greedy") is None
    assert len(list((house.data / "versions").iterdir())) == 3
    house.submissions.keep("house bot", None, b"more")
    clock.turn(seconds=caught.value.wait_s)
    house.submissions.keep("greedy", reds, b"more")
    with pytest.raises(TooOften):
        house.submissions.keep("greedy", reds, b"even more")


def test_a_team_has_so_many_bots(house: House, reds: TeamRow, blues: TeamRow) -> None:
    house.settings.set_limits(Limits(bots_a_team=2), by="me")
    for name in ("one", "two"):
        house.submissions.keep(name, reds, b"x")
    with pytest.raises(TooMany, match="Reds has 2 bots, and a team has no more"):
        house.submissions.keep("three", reds, b"x")
    house.submissions.keep("one", reds, b"y")
    house.submissions.keep("three", blues, b"x")


def test_a_team_has_so_much_of_the_disk(house: House, reds: TeamRow, blues: TeamRow) -> None:
    house.settings.set_quota(1_000_000, by="me")
    quotas = house.submissions.quotas
    first = house.submissions.keep("greedy", reds, bytes(100_000))
    house.submissions.claim()
    house.submissions.accept(first.id, "{}", room=750_000)
    assert quotas.used(reds.id) == 850_000
    with pytest.raises(OverQuota) as caught:
        house.submissions.keep("other", reds, bytes(160_000))
    assert str(caught.value) == Naming("Reds", "0.8 MB", "1.0 MB", "0.2 MB", "--quota")
    assert house.bots.find("other") is None
    # What the next version replaces does not count, and goes when it has been replaced.
    second = house.submissions.keep("greedy", reds, bytes(150_000))
    assert quotas.allowance_of(second) == Allowance(team="Reds", used=0, quota=1_000_000)
    house.submissions.claim()
    house.submissions.accept(second.id, "{}", room=800_000)
    rows = house.versions.of_bot(second.bot)
    assert [(row.kept, row.takes) for row in rows] == [(False, 100_000), (True, 950_000)]
    assert quotas.used(reds.id) == 950_000
    assert not house.submissions.path(first).exists()
    # Every team has its own, and organisers have no limit.
    house.submissions.keep("blue", blues, bytes(160_000))
    house.submissions.keep("house bot", None, bytes(2_000_000))
    house.teams.add("Judges", "organiser", by="me")
    house.submissions.keep("judge", house.teams.named("Judges"), bytes(2_000_000))


def test_the_same_again_is_refused_while_it_waits_or_plays(house: House, reds: TeamRow) -> None:
    version = house.submissions.keep("greedy", reds, b"one")
    with pytest.raises(Conflict, match="this is greedy v1 byte for byte, which is queued"):
        house.submissions.keep("greedy", reds, b"one")
    house.submissions.claim()
    house.submissions.reject(version.id, "no compiler")
    assert house.submissions.keep("greedy", reds, b"one").number == 2


def test_old_archives_go_and_their_versions_stay(house: House, reds: TeamRow) -> None:
    house.settings.set_limits(Limits(versions_a_bot=2), by="me")
    for number in range(4):
        played(house, "greedy", reds, b"%d" % number)
    house.versions.activate("greedy", 3, by="me")
    last = played(house, "greedy", reds, b"4")
    rows = house.versions.of_bot(last.bot)
    assert [row.kept for row in rows] == [False, False, True, False, True]
    assert [row.state for row in rows] == 4 * ["retired"] + ["playing"]
    kept = sorted(path.name for path in (house.data / "versions").iterdir())
    assert kept == sorted(f"{row.id}.tar" for row in rows if row.kept)
    with pytest.raises(Conflict, match="submitted as greedy v1 is no longer kept"):
        house.versions.activate("greedy", 1, by="me")
    with pytest.raises(Conflict, match="is no longer kept"):
        house.submissions.archive(rows[0])


def test_the_queue_is_worked_in_order_and_the_old_version_plays_on(
    house: House, reds: TeamRow
) -> None:
    old = played(house, "greedy", reds, b"one")
    second = house.submissions.keep("greedy", reds, b"two")
    third = house.submissions.keep("greedy", reds, b"three")
    claimed = house.submissions.claim()
    assert claimed is not None and (claimed.id, claimed.state) == (second.id, "building")
    assert house.submissions.checking(second.id).state == "checking"
    assert [row.id for row in house.versions.playing()] == [old.id]
    assert [row.state for row in house.submissions.waiting()] == ["checking", "queued"]
    told = "x" * TOLD_CHARACTERS + "the end"
    assert house.submissions.reject(second.id, told).state == "rejected"
    assert house.versions.told(second.id).endswith("the end")
    assert len(house.versions.told(second.id)) == TOLD_CHARACTERS
    assert [row.id for row in house.versions.playing()] == [old.id]
    house.submissions.claim()
    assert house.submissions.accept(third.id, '{"name":"greedy"}').state == "playing"
    assert [row.id for row in house.versions.playing()] == [third.id]
    assert house.versions.get(old.id).state == "retired"
    assert house.submissions.claim() is None


def test_of_two_that_are_built_at_once_the_newer_plays(house: House, reds: TeamRow) -> None:
    first = house.submissions.keep("greedy", reds, b"one")
    second = house.submissions.keep("greedy", reds, b"two")
    house.submissions.claim()
    house.submissions.claim()
    assert house.submissions.accept(second.id, "{}").state == "playing"
    assert house.submissions.accept(first.id, "{}").state == "retired"
    assert [row.id for row in house.versions.playing()] == [second.id]


def test_activate_goes_back_and_forth(house: House, reds: TeamRow) -> None:
    first, second = played(house, "greedy", reds, b"one"), played(house, "greedy", reds, b"two")
    assert house.versions.activate("greedy", 1, by="me").state == "playing"
    assert [row.id for row in house.versions.playing()] == [first.id]
    assert house.versions.get(second.id).state == "retired"
    assert house.bots.named("greedy").active == first.id
    waiting = house.submissions.keep("greedy", reds, b"three")
    with pytest.raises(Conflict, match="greedy v3 cannot play: it is queued"):
        house.versions.activate("greedy", 3, by="me")
    house.submissions.claim()
    assert house.submissions.accept(waiting.id, "{}").state == "playing"


def test_only_what_was_claimed_can_be_judged(house: House, reds: TeamRow) -> None:
    version = house.submissions.keep("greedy", reds, b"one")
    queue = house.submissions
    judgements: list[Callable[[int], VersionRow]] = [
        lambda number: queue.accept(number, "{}"),
        lambda number: queue.reject(number, ""),
        queue.checking,
        queue.put_back,
    ]
    for judge in judgements:
        with pytest.raises(Conflict, match="greedy v1 is not being worked on: it is queued"):
            judge(version.id)
    house.submissions.claim()
    assert house.submissions.put_back(version.id).state == "queued"
    again = house.submissions.claim()
    assert again is not None and again.id == version.id
    house.submissions.accept(version.id, "{}")
    with pytest.raises(Conflict, match="it is playing"):
        house.submissions.reject(version.id, "")


@pytest.mark.parametrize("label", [101 * "a", "\x1b[2J"])
def test_a_bad_label_is_refused(house: House, reds: TeamRow, label: str) -> None:
    with pytest.raises(HouseMistake, match="a label has"):
        house.submissions.keep("greedy", reds, b"one", label)
    assert house.versions.all() == []


def test_limits_are_positive(house: House) -> None:
    with pytest.raises(HouseMistake, match="bots_a_team must be 1 or more"):
        house.settings.set_limits(Limits(bots_a_team=0), by="me")
    assert house.settings.limits() == Limits()
    house.settings.set("limits", {"bots_a_team": "many"}, by="me")
    with pytest.raises(HouseMistake, match="the setting 'limits' cannot be read"):
        house.settings.limits()
