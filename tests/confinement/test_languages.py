"""Honest bots in every language live within the walls and the usual limits."""

from __future__ import annotations

import pytest

from referee.bots.manifest import find_bot, sample_bots
from referee.match import play_match
from tests.confinement.offered import confined, walls
from tests.languages.ready import ready

LANGUAGES = sorted(name for name in sample_bots() if name.startswith("highest-"))


@walls
@pytest.mark.parametrize("name", LANGUAGES)
def test_it_is_built_and_plays(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    bot = ready(find_bot(name), tmp_path_factory, confined)
    result = play_match(bot, "highest", games=4, time="5s", confinement=confined)
    assert result.fault_counts == {name: {}, "highest": {}}
    assert result.score.draws == 4


def test_who_asks_for_several_processes() -> None:
    """None of them has to: what is counted and stopped is one process each."""
    assert [name for name in LANGUAGES if find_bot(name).processes > 1] == []
