"""Teams: bots of one team do not meet but in a knockout, and a real tournament keeps to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.tournament.begin import line_up, play_tournament
from referee.tournament.changing import changes
from referee.tournament.formats import Pairing
from referee.tournament.plan import plan
from referee.tournament.reading import override
from referee.tournament.spec import BadSpec, Format, Spec, check, check_players, team_of
from tests.cli.running import Mistakes, refuses
from tests.tournament.playing import play, players, stronger_wins

BASE = Spec(name="teams", variants=("underdog",), games=2, sandbox="none", jobs=1)
MEETING: tuple[Format, ...] = ("round-robin", "gauntlet", "swiss")


def mates(spec: Spec, known: list[Pairing]) -> int:
    """How often bots of one team meet."""
    teams = team_of(spec)
    return sum(
        each.first in teams and teams[each.first] == teams.get(each.second) for each in known
    )


@settings(max_examples=80)
@given(
    st.sampled_from(MEETING),
    st.lists(st.sampled_from(["reds", "blues", "greens", ""]), min_size=2, max_size=12),
)
def test_bots_of_one_team_do_not_meet(form: Format, teams: list[str]) -> None:
    entered = players(len(teams))
    names = entered["underdog"]
    given_ = {
        team: tuple(name for name, own in zip(names, teams, strict=True) if own == team)
        for team in dict.fromkeys(teams)
        if team
    }
    spec = replace(BASE, format=form, teams=given_)
    known, _ = play(spec, entered, stronger_wins)
    largest = max(map(len, given_.values()), default=0)
    if form != "swiss" or largest <= len(teams) // 2:
        assert mates(spec, known) == 0
    assert plan(spec, entered).pairings == len(known)
    if form == "round-robin":
        apart, _ = play(replace(BASE, teams={}), entered, stronger_wins)
        assert len(known) == len(apart) - mates(spec, apart)


def test_a_real_tournament_keeps_teams_apart(tmp_path: Path) -> None:
    bots = ("random", "lowest", "highest")
    spec = replace(BASE, bots=bots, teams={"reds": ("random", "lowest")})
    play_tournament(spec, tmp_path / "t")
    with Store.read(tmp_path / "t") as store:
        met = {frozenset({row.first, row.second}) for row in store.pairings()}
    assert met == {frozenset({1, 3}), frozenset({2, 3})}
    assert read_standings(tmp_path / "t").played == 4


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"teams": {"reds": ("p1", "p2"), "blues": ("p2",)}}, ("teams", "blues", 0)),
        ({"teams": {"reds": ("p1", "p2")}, "format": "knockout"}, ("teams",)),
    ],
)
def test_teams_that_cannot_be(given: dict[str, object], key: tuple[object, ...]) -> None:
    with pytest.raises(BadSpec) as refused:
        check(replace(BASE, **given))
    assert refused.value.key == key


def test_somebody_has_to_meet_somebody() -> None:
    spec = replace(BASE, teams={"reds": ("p1", "p2", "p3")})
    check_players(spec, players(4))
    with pytest.raises(BadSpec, match="bots of one team alone"):
        check_players(spec, players(3))


def test_a_team_is_made_of_bots_that_are_there() -> None:
    with pytest.raises(BadSpec) as refused:
        line_up(replace(BASE, bots=("random", "lowest"), teams={"reds": ("random", "lowset")}))
    assert refused.value.key == ("teams", "reds", 1)


def test_other_teams_are_another_tournament() -> None:
    spec = replace(BASE, teams={"reds": ("p1", "p2")})
    assert changes(BASE, spec)
    assert not changes(spec, replace(spec, jobs=2))
    assert override(spec, format="knockout").teams == {}


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    words = ("tournament", "--bot", "random", "--bot", "lowest", "--games", 2)
    mistakes: Mistakes = {
        "no bots": ((*words, "--team", "reds="), "--team takes NAME=BOT,BOT, .* not 'reds='"),
        "no name": ((*words, "--team", "random,lowest"), "--team takes .*"),
        "one team": ((*words, "--team", "reds=random,lowest"), "underdog is played by .*reds.*"),
        "twice": (
            (*words, "--team", "reds=random", "--team", "blues=random"),
            '"random" is in "reds" and again in "blues"',
        ),
        "again": ((*words, "--team", "reds=random,random"), '.*"reds" and again in "reds"'),
        "nobody": ((*words, "--team", "reds=nobody"), 'the team "reds" names "nobody", .*'),
        "knockout": (
            (*words, "--team", "reds=random", "--format", "knockout"),
            "teams is not for a knockout, .*",
        ),
    }
    refuses(tmp_path, mistakes)
