"""Finals: the best of a season meet again, as they were handed in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.bots.manifest import read_bot
from referee.daemon.samples import packed
from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.store.house import House
from referee.tournament.begin import stored_spec
from referee.tournament.spec import Spec
from tests.arena.playing import ROOT
from tests.cli.running import referee, refuses
from tests.confinement.offered import walls
from tests.records import games
from tests.reports.stored import make_real
from tests.store.housing import contents

FINALS = ("tournament", "--from-season", "1", "--games", 2, "--jobs", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five have played; in this order: one that is paused, one that connects, three that do."""
    with House.open(tmp_path / "referee-data") as house:
        spec = Spec(name="ladder", variants=("duel",), time="100ms", sandbox="none", prior=True)
        season = house.seasons.start(msgspec.json.encode(spec).decode(), by="test")
        house.teams.add("Reds", by="test")
        teams = dict.fromkeys(("lowest", "random"), house.teams.named("Reds"))
        for name in ("paused", "lowest", "rocky", "random"):
            sample = (
                ROOT / "sample_bots" / {"lowest": "lowest", "random": "random"}.get(name, "highest")
            )
            version = house.submissions.keep(name, teams.get(name), packed(sample))
            house.submissions.claim()
            house.submissions.accept(version.id, "{}")
        house.bots.pause("paused", by="test")
        house.bots.add("guest", "connected", by="test")
        house.versions.arrived("guest", "", "{}")
        order = ["paused v1", "guest v1", "rocky v1", "lowest v1", "random v1"]
        _fill(house.seasons.folder(season), order, spec)
    return tmp_path


def _fill(place: Path, order: list[str], spec: Spec) -> None:
    """Whoever stands before another has won against it."""
    won = next(each for each in games("duel") if each.winner == 0)
    pairs = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :]]
    make_real(place, {pair: [replace(won, players=pair)] * 2 for pair in pairs})
    _keep(place, replace(spec, freeze=False))


def _keep(place: Path, spec: Spec) -> None:
    """The spec of a season, settled."""
    with Store.open(place) as store:
        store.set_value("spec", msgspec.json.encode(spec).decode())
        store.commit()


def test_the_best_that_were_handed_in_meet_again(folder: Path) -> None:
    done = referee(folder, *FINALS, "--top", 2, "--json")
    assert done.status == 0, done.err
    assert "paused v1 is passed over: it plays no more" in done.err
    assert "guest v1 is passed over: it connects from elsewhere" in done.err
    assert "random" not in done.err
    found = read_standings(folder / "tournaments/finals-1")
    assert (found.variants, found.played) == (["duel"], 2)
    with Store.read(folder / "tournaments/finals-1") as store:
        rows = store.bots()
        spec = msgspec.json.decode(store.value("spec") or "", type=Spec)
    # In the order of the season, under the names that they have there.
    assert [row.name for row in rows] == ["rocky", "lowest"]
    assert (spec.time, spec.sandbox, spec.prior) == ("100ms", "none", False)
    assert rows[1].hash == read_bot(ROOT / "sample_bots/lowest").hash
    again = referee(folder, "tournament", "--resume", "tournaments/finals-1", "--games", 4)
    assert again.status == 0, again.err


def test_bots_of_one_team_do_not_meet(folder: Path) -> None:
    done = referee(folder, *FINALS, "--top", 3)
    assert done.status == 0, done.err
    with Store.read(folder / "tournaments/finals-1") as store:
        names = {row.id: row.name for row in store.bots()}
        met = {frozenset((names[row.first], names[row.second])) for row in store.pairings()}
    assert met == {frozenset(("rocky", "lowest")), frozenset(("rocky", "random"))}


def test_in_a_knockout_whoever_does_not_play_every_variant_is_passed_over(folder: Path) -> None:
    with House.open(folder / "referee-data") as house:
        rocky = house.versions.named("rocky", 1)
        submissions = house.submissions
        version = submissions.keep("rocky", None, submissions.archive(rocky) + b"\0" * 10_240)
        submissions.claim()
        submissions.accept(version.id, '{"variants":["deck"]}')
    order = ["rocky v2", "lowest v1", "random v1"]
    spec = Spec(name="ladder", variants=("duel", "deck"), time="100ms", sandbox="none", prior=True)
    place = folder / "referee-data/seasons/1"
    shutil.rmtree(place)
    _fill(place, order, spec)
    knockout = (*FINALS, "--format", "knockout", "--top", 2)
    before = contents(folder)
    done = referee(folder, *knockout, "--plan", "--out", "planned")
    assert done.status == 0, done.err
    assert "rocky v2 is passed over: it does not play duel\n" in done.err
    assert contents(folder) == before
    # What is wrong with the tournament comes out when the bots have been unpacked.
    done = referee(folder, *knockout, "--option", "nonsense=1")
    assert done.status == 2, done
    assert contents(folder) == before
    with House.open(folder / "referee-data") as house:
        house.bots.pause("random", by="a test")
    told = referee(folder, *knockout)
    assert told.err.splitlines()[-1] == (
        "referee: the season 1 has 1 bot to play finals of duel, deck: --variant names fewer; "
        "it takes 2"
    )


@walls
def test_whether_bots_stand_still_is_settled_anew(folder: Path) -> None:
    done = referee(folder, *FINALS, "--top", 2, "--sandbox", "standard")
    assert done.status == 0, done.err
    with Store.read(folder / "tournaments/finals-1") as store:
        spec = stored_spec(store)
    assert (spec.sandbox, spec.freeze) == ("standard", True)
    _keep(folder / "referee-data/seasons/1", replace(spec, name="ladder"))
    for otherwise in (("--think", "parallel"), ("--sandbox", "none")):
        done = referee(folder, *FINALS, "--plan", *otherwise)
        assert done.status == 0, done.err


def test_a_plan_leaves_nothing_behind(folder: Path) -> None:
    before = contents(folder)
    done = referee(folder, *FINALS, "--plan", "--json", "--variant", "underdog", "--time", "1s")
    assert done.status == 0, done.err
    assert json.loads(done.out)["games"] == 4, "two of the three are of one team"
    assert contents(folder) == before


def test_mistakes_are_told_in_a_sentence(folder: Path) -> None:
    _fill(folder / "t", ["a", "b"], Spec(name="x", variants=("duel",)))
    no_games = ("tournament", "--from-season", "2")
    refuses(
        folder,
        {
            "unknown": (no_games, ".* season '2'; .* 1"),
            "top alone": (("tournament", "--top", 3), "--top is for the finals of a season; .*"),
            "bots": (
                (*FINALS, "--bot", "random"),
                "--from-season says who plays: no --bot with it",
            ),
            "spec": ((*FINALS, "x.toml"), "--from-season says who plays: no SPEC with it"),
            "there": ((*FINALS, "--out", "t"), "t already holds .*"),
            "no data": ((*FINALS, "--data", "gone"), "gone holds no house.db: .*"),
        },
        contents,
    )
