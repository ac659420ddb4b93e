"""Names of bots as names of folders: those of two bots and their versions fit into one."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.bots.manifest import BadBot, check_name
from referee.store.house.mistakes import HouseMistake
from referee.store.house.names import must_be_bot_name

LETTER = "\U00020000"
"""Four bytes in UTF-8."""


def test_the_logs_of_two_bots_with_the_longest_names_have_a_folder(tmp_path: Path) -> None:
    name = must_be_bot_name(LETTER * 30)
    check_name("", name)
    (tmp_path / f"{name} v9999 - {name} v9999").mkdir()


def test_a_longer_name_is_refused() -> None:
    """A daemon would fail at the folder for the logs of a game."""
    with pytest.raises(BadBot):
        check_name("", LETTER * 31)
    with pytest.raises(HouseMistake):
        must_be_bot_name(LETTER * 31)
