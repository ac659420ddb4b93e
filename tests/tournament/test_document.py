"""docs/tournaments.md says what is true: its spec is one, and no key is left out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from referee.bots.manifest import sample_bots
from referee.tournament.begin import line_up
from referee.tournament.reading import read_spec
from referee.tournament.spec import Spec

TEXT = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text("utf-8")


def test_the_spec_of_the_page(tmp_path: Path) -> None:
    (toml,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "friday.toml").write_text(toml)
    for name in ("mine", "submissions/theirs"):
        shutil.copytree(sample_bots()["random"], tmp_path / name)
        manifest = tmp_path / name / "bot.toml"
        text = manifest.read_text().replace('"random"', f'"{Path(name).name}"')
        manifest.write_text(text)
    (tmp_path / "a.out").write_text("")
    lineup = line_up(read_spec(tmp_path / "friday.toml"))
    assert [entry.bot.name for entry in lineup.entries] == ["mine", "counter", "c", "theirs"]


def test_every_key_is_on_the_page() -> None:
    for key in (*Spec.__struct_fields__, "variant", "bots_dir"):
        assert re.search(rf"\b{key}\b", TEXT), key
