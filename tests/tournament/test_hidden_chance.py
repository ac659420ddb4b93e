"""Chance that is hidden: what bots of strangers have seen does not help them in another game."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.record import Record
from referee.reports.standings import read_standings
from referee.rules.chance import Seeded
from referee.rules.registry import build_variant
from referee.schedule import game_orders
from referee.store.database import Store
from referee.tournament.begin import play_tournament, resume_tournament
from referee.tournament.events import GamePlayed, Tick, Told
from referee.tournament.spec import Spec
from tests.arena.playing import ROOT, command
from tests.daemon.serving import processes_of
from tests.tournament.playing import SALT

STRANGER = f"stranger={shlex.join(command('honest', 4, 0.002))}"
DECK = Spec(
    name="hidden",
    variants=("deck",),
    bots=("lowest", "random"),
    games=6,
    time="20s",
    seed="hidden",
    salt=SALT,
    jobs=1,
    sandbox="none",
)
MET = replace(DECK, bots=("lowest", STRANGER), games=2000)


class Enough(BaseException):
    """Somebody ends the tournament."""


@pytest.fixture(autouse=True)
def bots_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def hands(folder: Path) -> dict[int, str]:
    """The cards of every game, by its number."""
    with Store.read(folder) as store:
        found = [(number, body) for _, number, body in store.records()]
    records = {number: msgspec.msgpack.decode(body, type=Record) for number, body in found}
    return {number: str(record.chance[0]) for number, record in records.items()}


def as_scheduled(folder: Path) -> set[int]:
    """The games of MET that were dealt the cards of the schedule."""
    found = hands(folder)
    orders = game_orders(f"hidden/{SALT}/deck/lowest/stranger", found, hidden_chance=True)
    same: set[int] = set()
    for order in orders:
        chance = Seeded(order.chance_seed)
        build_variant("deck", {}).setup(chance)
        if found[int(order.game)] == str(chance.outcomes[0]):
            same.add(int(order.game))
    return same


def after_games(count: int, act: Callable[[], None]) -> Callable[[Told | Tick], None]:
    """A listener that does something when so many games have been told of."""
    told = itertools.count(1)

    def hear(event: Told | Tick) -> None:
        if isinstance(event, GamePlayed) and next(told) == count:
            act()

    return hear


def stop() -> None:
    raise Enough


def test_strangers_get_other_cards_in_the_second_game(tmp_path: Path) -> None:
    play_tournament(DECK, tmp_path / "samples")
    play_tournament(replace(MET, games=6), tmp_path / "strangers")
    alike = hands(tmp_path / "samples")
    assert [alike[odd] == alike[odd + 1] for odd in (1, 3, 5)] == [True] * 3
    assert len(set(hands(tmp_path / "strangers").values())) == 6
    (table,) = read_standings(tmp_path / "strangers").tables
    assert [row.games for row in table.rows] == [6, 6]


def test_the_same_seed_and_salt_deal_strangers_the_same_cards(tmp_path: Path) -> None:
    for jobs in (1, 2):
        play_tournament(replace(MET, games=12, jobs=jobs), tmp_path / str(jobs))
        assert as_scheduled(tmp_path / str(jobs)) == set(range(1, 13))


def test_what_is_begun_again_is_dealt_other_cards(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    with pytest.raises(Enough):
        play_tournament(MET, folder, listener=after_games(1, stop), each_game=True)
    kept = set(hands(folder))
    assert 0 < len(kept) < MET.games
    assert as_scheduled(folder) == kept
    with pytest.raises(Enough):
        resume_tournament(folder, listener=after_games(20, stop), each_game=True)
    assert len(hands(folder)) >= len(kept) + 20
    assert as_scheduled(folder) == kept


def test_what_a_lost_worker_had_is_dealt_other_cards(tmp_path: Path) -> None:
    def kill() -> None:
        for pid in processes_of(os.getpid(), b"referee.tournament.worker"):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def hear(event: Told | Tick) -> None:
        lose(event)
        end(event)

    lose, end = after_games(1, kill), after_games(150, stop)
    with pytest.raises(Enough):
        play_tournament(MET, tmp_path / "t", listener=hear, each_game=True)
    assert 0 < len(as_scheduled(tmp_path / "t")) < len(hands(tmp_path / "t"))


def test_the_salt_of_the_first_games_tells_nothing_of_those_that_are_added(tmp_path: Path) -> None:
    """It was shown at their end, and a bot may be allowed to change."""
    play_tournament(replace(MET, games=4), tmp_path / "t")
    resume_tournament(tmp_path / "t", given={"games": 10})
    assert as_scheduled(tmp_path / "t") == set(range(1, 5))
    assert set(hands(tmp_path / "t")) == set(range(1, 11))
