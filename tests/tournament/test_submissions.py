"""A folder of bots as strangers have handed them in: what is no good is named, and stops nobody."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from referee.tournament.mistakes import BadSpec
from referee.tournament.submissions import bots_in
from tests.cli.running import referee, sentence
from tests.facts import Naming

LIKE_OTHER = "\N{CYRILLIC SMALL LETTER O}ther"
BOT = 'name = "{}"\ncommand = ["python3", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good ones, and everything else that a newcomer thought of."""
    folder = tmp_path / "subs"
    for name in ("good", "other", "typo", "broken", "fifo", "inner", "zero", "twin", "nothing"):
        (folder / name).mkdir(parents=True)
    for name in ("good", "other"):
        (folder / name / "bot.toml").write_text(BOT.format(name))
    (folder / "twin/bot.toml").write_text(BOT.format("good"))
    (folder / "twin of other").mkdir()
    (folder / "twin of other/bot.toml").write_text(BOT.format(LIKE_OTHER))
    (folder / "typo/Bot.toml").write_text(BOT.format("typo"))
    (folder / "broken/bot.toml").symlink_to("/nowhere")
    os.mkfifo(folder / "fifo/bot.toml")
    (folder / "inner/bot.toml").mkdir()
    (folder / "zero/bot.toml").symlink_to("/dev/zero")
    (folder / "astray").symlink_to("/nowhere")
    for name, text in (("toml", "name = "), ("limits", BOT.format("x") + "limits.memory = true")):
        (folder / name).mkdir()
        (folder / name / "bot.toml").write_text(text)
    deep = folder / "deep"
    (deep / "d/d/d/d/d/d/d/d/d/d").mkdir(parents=True)
    (deep / "bot.toml").write_text(BOT.format("deep"))
    (deep.joinpath(*70 * ["e"])).mkdir(parents=True)
    (folder / "large").mkdir()
    (folder / "large/bot.toml").write_text(BOT.format("large"))
    with (folder / "large/data").open("wb") as file:
        file.truncate(1 << 42)
    (folder / "pipe").mkdir()
    (folder / "pipe/bot.toml").write_text(BOT.format("pipe"))
    os.mkfifo(folder / "pipe/way")
    (folder / "README.md").write_text("no folder")
    (folder / ".git").mkdir()
    return folder


def test_they_are_in_the_order_of_counting(tmp_path: Path) -> None:
    for name in ("team10", "team2", "team1b", "team1", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(BOT.format(name))
    names = [Path(each).name for each in bots_in(tmp_path).bots]
    assert names == ["a", "team1", "team1b", "team2", "team10"]


def test_each_is_named(folder: Path) -> None:
    found = bots_in(folder)
    assert found.bots == (str(folder / "good"), str(folder / "other"))
    assert found.left_out == {
        "subs/astray": "it cannot be read: No such file or directory",
        "subs/broken": "its bot.toml is no file",
        "subs/deep": Naming("more than 64 folders"),
        "subs/fifo": "its bot.toml is no file",
        "subs/inner": "its bot.toml is no file",
        "subs/large": "larger than 2G in all",
        "subs/limits": Naming("bot.toml: the limit memory", "16M to 1024G, not true"),
        "subs/nothing": "no bot.toml in it",
        "subs/pipe": Naming("way in it is a pipe"),
        "subs/toml": "bot.toml: Invalid value (at end of document)",
        "subs/twin": "good is called good, too",
        "subs/twin of other": f"other is called other, which looks like {LIKE_OTHER}",
        "subs/typo": "no bot.toml in it, but Bot.toml",
        "subs/zero": "its bot.toml is no file",
    }


def test_where_none_is_any_good(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(BadSpec, match=r"no folder in it has a bot\.toml$"):
        bots_in(tmp_path)
    (tmp_path / "a/bot.toml").write_text("name = ")
    with pytest.raises(
        BadSpec, match=r"has a bot\.toml that can be read; .*/a: bot\.toml: Invalid"
    ):
        bots_in(tmp_path)


PLAYS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "name": "b"}), flush=True)
    if message["type"] == "turn":
        print(json.dumps({"id": message["id"], "move": message["legal"][0]}), flush=True)
"""


def test_the_others_play(folder: Path, tmp_path: Path) -> None:
    for name in ("good", "other"):
        (folder / name / "bot.py").write_text(PLAYS)
    words = ["--bots", "subs", "--games", 2, "--time", "30s", "--sandbox", "none"]
    done = referee(tmp_path, "tournament", *words, "--out", "t")
    assert done.status == 0, done.err
    assert "subs/typo is left out: no bot.toml in it, but Bot.toml\n" in done.err
    assert "subs/deep is left out: more than 64 folders " in done.err
    table = json.loads((tmp_path / "t/standings.json").read_text())
    assert set(table["left_out"]) == set(bots_in(folder).left_out)
    assert table["played"] == 2
    (tmp_path / "spec.toml").write_text('variant = "underdog"\nbots_dir = "subs"\n')
    plan = referee(tmp_path, "tournament", "spec.toml", "--plan", "--sandbox", "none")
    assert plan.status == 0, plan.err
    assert "subs/large is left out: larger than 2G in all\n" in plan.err
    assert re.search(r"level none: .* unconfined\n", plan.out)


@pytest.mark.parametrize(("bot", "told"), [("deep", "more than 64 folders"), ("large", "larger")])
def test_by_its_name_it_is_an_error(folder: Path, tmp_path: Path, bot: str, told: str) -> None:
    for command in (("match", f"subs/{bot}", "random"), ("check", f"subs/{bot}")):
        assert told in sentence(referee(tmp_path, *command, "--sandbox", "none"))
    assert (folder / bot).exists()
