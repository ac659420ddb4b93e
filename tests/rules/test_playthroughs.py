"""One golden game a variant: whatever changes in rules, views or texts shows up as a diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.rules.registry import all_variants
from referee.testing.playthrough import OTHER_OPTIONS, golden_texts, main

FOLDER = Path(__file__).parents[1] / "playthroughs"
ANEW = "python -m referee.testing.playthrough tests/playthroughs"
FILES = [name + end for name in all_variants() for end in (".txt", "-options.txt")]


@pytest.mark.parametrize("file", FILES)
def test_the_game_goes_as_it_went(file: str) -> None:
    assert (FOLDER / file).exists(), f"no play-through is kept as {file}; write it by: {ANEW}"
    kept = (FOLDER / file).read_text(encoding="utf-8")
    assert golden_texts()[file] == kept, f"if this change is meant, write it anew by: {ANEW}"


def test_no_file_is_left_over() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(FILES)


def test_every_second_game_has_no_option_at_its_default() -> None:
    for name, variant in all_variants().items():
        assert name in OTHER_OPTIONS, f"{name} has no second play-through"
        usual = variant().settings
        other = variant(**OTHER_OPTIONS[name]).settings
        assert all(other[option] != usual[option] for option in usual)


def test_the_files_are_written_by_the_command(tmp_path: Path) -> None:
    main(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == (
        golden_texts()
    )
