"""The salt of a tournament: bots cannot find a chosen seed, and a repeated salt deals alike."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.match import play_match
from referee.record import Record
from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.tournament.begin import play_tournament, resume_tournament
from referee.tournament.mistakes import BadSpec
from referee.tournament.salt import chance_root
from referee.tournament.spec import Spec
from tests.arena.playing import ROOT, command
from tests.tournament.playing import SALT

GUESSER = f"guesser={shlex.join(command('guesser', 'monday', 'friday'))}"
FRIDAY = Spec(
    name="friday",
    variants=("underdog",),
    bots=("lowest", "random"),
    games=4,
    seed="friday",
    jobs=1,
    sandbox="none",
)


def records(folder: Path) -> list[Record]:
    with Store.read(folder) as store:
        return [msgspec.msgpack.decode(body, type=Record) for _, _, body in store.records()]


def dealt(folder: Path) -> list[object]:
    return [(record.chance, record.bot_seeds) for record in records(folder)]


def test_a_bot_finds_the_seed_of_a_match_and_not_that_of_a_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    seen: list[Record] = []
    play_match(GUESSER, "lowest", games=4, seed="friday", on_record=seen.append)
    assert [record.ending for record in seen] == ["resign"] * 4, "the guesser knows how to guess"
    play_tournament(replace(FRIDAY, bots=(GUESSER, "lowest")), tmp_path / "t")
    assert [record.ending for record in records(tmp_path / "t")] == ["rules"] * 4


def test_seed_and_salt_deal_the_same_games(tmp_path: Path) -> None:
    for name in ("one", "other"):
        play_tournament(FRIDAY, tmp_path / name)
    one, other = (read_standings(tmp_path / name) for name in ("one", "other"))
    assert one.seed == other.seed == "friday"
    assert one.salt is not None
    assert one.salt != other.salt
    assert dealt(tmp_path / "one") != dealt(tmp_path / "other")
    play_tournament(replace(FRIDAY, salt=one.salt), tmp_path / "again")
    assert dealt(tmp_path / "again") == dealt(tmp_path / "one")


def test_a_salt_goes_with_its_seed(tmp_path: Path) -> None:
    with pytest.raises(BadSpec) as bad:
        play_tournament(replace(FRIDAY, seed=None, salt=SALT), tmp_path / "t")
    assert bad.value.key == ("salt",)
    assert not (tmp_path / "t").exists()


def test_what_is_added_after_the_end_has_a_salt_of_its_own(tmp_path: Path) -> None:
    play_tournament(replace(FRIDAY, salt=SALT, games=8), tmp_path / "whole")
    play_tournament(replace(FRIDAY, salt=SALT, games=2), tmp_path / "t")
    for games in (4, 8):
        resume_tournament(tmp_path / "t", spec=replace(FRIDAY, seed=None, games=games))
    found = dealt(tmp_path / "t")
    shown = read_standings(tmp_path / "t").salt or ""
    first, second, third = re.split(", after 2 games |, after 4 games ", shown)
    assert first == SALT
    for salt in (second, third):
        play_tournament(replace(FRIDAY, salt=salt, games=8), tmp_path / salt)
    whole, then, last = (dealt(tmp_path / name) for name in ("whole", second, third))
    assert found == [*whole[:2], *then[2:4], *last[4:]]
    assert not any(each in whole for each in found[2:])


def test_a_store_without_salt_is_read_and_gone_on_with(tmp_path: Path) -> None:
    play_tournament(FRIDAY, tmp_path / "t")
    with Store.open(tmp_path / "t") as store:
        store.set_value("salt", "")
        store.commit()
    with Store.read(tmp_path / "t") as store:
        assert chance_root(store) == "friday/"
    resume_tournament(tmp_path / "t", given={"games": 6})
    assert len(records(tmp_path / "t")) == 6
