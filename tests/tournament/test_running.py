"""What the coordinator does when things go wrong around it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.tournament.begin import line_up, play_tournament, resume_tournament
from referee.tournament.events import GamePlayed, RoundEnded, Started, Tick, Told
from referee.tournament.run import TournamentBroken
from referee.tournament.spec import Spec

TWO = Spec(name="t", variants=("underdog",), bots=("highest", "random"), games=200, jobs=1)


def stored(folder: Path) -> int:
    with Store.read(folder) as store:
        return sum(store.counts().values())


def test_a_listener_that_fails_costs_nothing_that_was_told(tmp_path: Path) -> None:
    told = 0

    def fails(event: Told | Tick) -> None:
        nonlocal told
        if isinstance(event, GamePlayed):
            told += 1
            if told > 150:
                raise OSError("the listener's disk is full")

    with pytest.raises(OSError, match="the listener's disk is full"):
        play_tournament(TWO, tmp_path / "t", listener=fails, each_game=True)
    assert stored(tmp_path / "t") >= 151
    resume_tournament(tmp_path / "t")
    assert stored(tmp_path / "t") == 200


def test_what_is_extended_is_not_finished(tmp_path: Path) -> None:
    class Enough(BaseException):
        pass

    def stops(event: Told | Tick) -> None:
        if isinstance(event, GamePlayed):
            raise Enough

    short = msgspec.structs.replace(TWO, games=2, seed="secret")
    play_tournament(short, tmp_path / "t")
    before = read_standings(tmp_path / "t")
    assert (before.finished, before.seed, len(before.salt or "")) == (True, "secret", 32)
    with pytest.raises(Enough):
        resume_tournament(tmp_path / "t", given={"games": 400}, listener=stops, each_game=True)
    now = read_standings(tmp_path / "t")
    assert (now.finished, now.seed, now.salt, now.planned) == (False, None, None, 400)


def test_rounds_are_told_once_each(tmp_path: Path) -> None:
    heard: list[RoundEnded] = []

    def hear(event: Told | Tick) -> None:
        if isinstance(event, RoundEnded):
            heard.append(event)

    spec = Spec(
        name="t",
        variants=("duel",),
        bots=("duel-wall", "counter", "lowest", "random"),
        format="knockout",
        games=4,
        best_of=3,
        jobs=2,
        seed="1",
    )
    play_tournament(spec, tmp_path / "t", listener=hear)
    assert [event.round for event in heard] == [1]
    assert heard[0].played <= heard[0].planned


def test_a_swiss_table_counts_byes(tmp_path: Path) -> None:
    spec = Spec(
        name="t",
        variants=("underdog",),
        bots=("highest", "random", "lowest"),
        format="swiss",
        rounds=2,
        games=4,
        jobs=1,
        seed="1",
    )
    planned: set[int] = set()

    def hear(event: Told | Tick) -> None:
        if isinstance(event, RoundEnded | Started):
            planned.add(event.planned)

    play_tournament(spec, tmp_path / "t", listener=hear)
    assert planned == {8}, "the rounds to come are counted from the beginning"
    (table,) = read_standings(tmp_path / "t").tables
    assert table.ranked_by == "points"
    assert "A bye is worth every point" in table.tie_breaks
    assert sum(row.bye_points for row in table.rows) == 2 * 4
    assert sum(row.points for row in table.rows) == 2 * 4 + 2 * 4
    points = [row.points for row in table.rows]
    assert points == sorted(points, reverse=True)


def test_who_plays_none_of_the_variants_is_left_out(tmp_path: Path) -> None:
    spec = msgspec.structs.replace(TWO, bots=("duel-wall", *TWO.bots), games=2)
    assert line_up(spec).idle() == ["duel-wall"]
    play_tournament(spec, tmp_path / "t")
    with Store.read(tmp_path / "t") as store:
        assert [row.name for row in store.bots()] == ["highest", "random"]


def test_a_script_that_exits_is_named(tmp_path: Path) -> None:
    script = tmp_path / "quits.py"
    script.write_text(
        "from referee.rules.underdog import Underdog\n"
        "class Quits(Underdog):\n"
        "    name = 'quits'\n"
        "    def apply(self, position, plays, chance):\n"
        "        raise SystemExit('script gave up')\n"
    )
    spec = msgspec.structs.replace(TWO, variants=(str(script),))
    with pytest.raises(TournamentBroken, match="script gave up"):
        play_tournament(spec, tmp_path / "t")
