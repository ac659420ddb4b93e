"""`referee new-bot`: every template gives a folder that works at once."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import UNCONFINED
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import holds
from referee.bots.manifest import BadBot, Bot, read_bot
from referee.match import play_match
from referee.rules.registry import BUNDLED
from referee.workshop.new_bot import LANGUAGES, TEMPLATES, new_bot
from tests.cli.running import Mistakes, referee, refuses, succeeds
from tests.languages.ready import protocol_block, ready, template
from tests.talking import Opposed, play_at_once, talking_to
from tests.workshop.check.checking import by_result, check
from tests.workshop.confined import STANDARD, open_folder

DOCS = Path(__file__).parents[2] / "docs"
GONE = "def view(self, position, seat):\n        return position.gone"
PLACEHOLDER = re.compile(r"@[A-Z]+@")


def test_every_folder_is_a_language() -> None:
    assert {path.name for path in TEMPLATES.iterdir() if path.is_dir()} == {*LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_author_edits_one_file_and_the_protocol_is_the_other(language: str) -> None:
    files = [path for path in template(language).iterdir() if path.is_file()]
    sources = sorted(path for path in files if path.name != "bot.toml")
    assert [path.stem.lower() for path in sources] == ["bot", "protocol"]
    text = sources[0].read_text("utf-8")
    assert "choose" in text
    assert len(text.splitlines()) <= 50
    assert "choose" in protocol_block(template(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_works_at_once(
    language: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = new_bot("Mine 2", language, parent=tmp_path)
    folder = Path(made.folder)
    for path in folder.iterdir():
        assert not PLACEHOLDER.search(path.read_text("utf-8")), path
    told = read_bot(folder)
    assert (told.name, told.variants, told.games_at_once) == ("Mine 2", None, 64)
    assert told.stateless
    assert Path(made.edit).is_file()
    bot = ready(told, tmp_path_factory)
    with talking_to(bot.command, bot.folder) as talk:
        for variant in BUNDLED:
            games = [Opposed(variant, f"{variant} {number}") for number in range(20)]
            play_at_once(talk, games)
            if variant == "underdog":
                assert len({game.moves[0] for game in games}) >= 4, "it is to move at random"
    result = play_match(bot, "random", games=20, time="10s", seed="new", logs=tmp_path / "logs")
    assert (result.games, result.fault_counts["Mine 2"]) == (20, {})


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_passes_its_check_confined(
    language: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """At level standard, or at none if this machine does not offer that."""
    confinement = STANDARD if holds(Level.STANDARD) else UNCONFINED
    made = ready(
        read_bot(Path(new_bot("Mine 2", language, parent=tmp_path).folder)), tmp_path_factory
    )
    with open_folder() as folder:
        bot = ready(moved(made, folder), tmp_path_factory, confinement)
        report = check(bot, variants=None, time_ms=10_000, confinement=confinement)
    assert report.level == confinement.level
    assert report.failed == []
    assert by_result(report, "passed") == {each.name for each in report.steps}


def moved(bot: Bot, folder: Path) -> Bot:
    """A built bot, copied to where the user of confined bots can read it."""
    assert bot.folder is not None
    return replace(bot, folder=Path(shutil.copytree(bot.folder, folder / "bot")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_luck_comes_from_bot_seed(
    language: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = new_bot("Mine 2", language, parent=tmp_path)
    bot = ready(read_bot(Path(made.folder)), tmp_path_factory)
    names = ["1", "2", "", "@", "a]b", '"$x" \\\\ ü', "x" * 300]
    at_once, by_one = ([Opposed("duel", name) for name in names] for _ in range(2))
    with talking_to(bot.command, bot.folder) as talk:
        play_at_once(talk, at_once)
    with talking_to(bot.command, bot.folder) as talk:
        for game in reversed(by_one):
            play_at_once(talk, [game])
    assert [game.moves for game in by_one] == [game.moves for game in at_once]


def test_one_variant(tmp_path: Path) -> None:
    made = new_bot("racer", "C++", parent=tmp_path / "bots", variant="target")
    assert read_bot(Path(made.folder)).variants == ("target",)
    readme = (Path(made.folder) / "README.md").read_text("utf-8")
    assert "--variant target" in readme
    assert '"target": 50' in readme
    assert "in C++" in readme


def test_what_the_command_says(tmp_path: Path) -> None:
    out = succeeds(tmp_path, "new-bot", "mine", "--language", "python", "--variant", "duel")
    assert out == (
        "mine, a bot in Python, is in mine. Next:\n"
        "  referee check ./mine\n"
        "  referee watch ./mine highest --variant duel\n"
        "  referee match ./mine highest --variant duel --games 200\n"
        "Then write choose() in mine/bot.py.\n"
    )
    out = succeeds(tmp_path, "new-bot", "other", "-l", "python", "--json")
    assert json.loads(out) == {
        "name": "other",
        "language": "python",
        "folder": "other",
        "variant": None,
        "edit": "other/bot.py",
        "commands": [
            "referee check ./other",
            "referee watch ./other highest --variant underdog",
            "referee match ./other highest --variant underdog --games 200",
        ],
    }


def test_names_that_a_shell_would_take_apart(tmp_path: Path) -> None:
    script = tmp_path / "my games" / "goofspiel.py"
    script.parent.mkdir()
    shutil.copy(DOCS / "examples" / "goofspiel.py", script)
    made = new_bot("a (b)", "python", parent=tmp_path, variant=str(script))
    assert read_bot(tmp_path / "a (b)").variants == ("goofspiel",)
    readme = (tmp_path / "a (b)" / "README.md").read_text("utf-8")
    for line in (*made.commands, *re.findall(r"^    (referee .*)$", readme, re.MULTILINE)):
        words = shlex.split(line)
        assert words[2] in ("./a (b)", str(tmp_path / "a (b)"))
        assert words[words.index("--variant") + 1] == str(script)
    for line in re.findall(r"^    referee (.*)$", readme, re.MULTILINE):
        done = referee(tmp_path, *shlex.split(line))
        assert done.status == 0, done.err


def test_the_name_of_a_sample_bot(tmp_path: Path) -> None:
    done = referee(tmp_path, "new-bot", "random")
    assert done.status == 0
    assert done.err.startswith("a sample bot is called random too")


def test_a_script_that_fails(tmp_path: Path) -> None:
    script = tmp_path / "odd.py"
    text = (DOCS / "examples" / "goofspiel.py").read_text("utf-8")
    script.write_text(text.replace("def view(self, position, seat):", GONE), "utf-8")
    done = referee(tmp_path, "new-bot", "x", "--variant", script)
    assert done.status == 2
    assert "odd.py" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "x").exists()


def test_a_missing_toolchain_is_named(tmp_path: Path) -> None:
    done = referee(tmp_path, "new-bot", "ferris", "--language", "rust", PATH=str(tmp_path))
    assert done.status == 0
    assert done.err == "the command rustc was not found: the bot cannot run before it is\n"


def test_mistakes(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("", "utf-8")
    mistakes: Mistakes = {
        "the folder is there": (
            ("new-bot", "there"),
            "there is there already; nothing was written",
        ),
        "no such language": (
            ("new-bot", "x", "--language", "rusty"),
            "no template for 'rusty'; did you mean rust\\?",
        ),
        "nothing like it": (
            ("new-bot", "x", "--language", "cobol"),
            "no template for 'cobol'; there are bash, c, .*, tcl",
        ),
        "a path for a name": (
            ("new-bot", "a/b"),
            "a/b: a bot's name is no path; --out says where its folder goes",
        ),
        "a bad name": (("new-bot", "-"), "-: a bot's name .*"),
        "a file for a folder": (("new-bot", "x", "--out", "file"), "file/x: Not a directory"),
        "no such variant": (
            ("new-bot", "x", "--variant", "underdug"),
            ".*underdug.*did you mean underdog.*",
        ),
    }
    refuses(tmp_path, mistakes)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new_bot("mine", "python", parent=tmp_path)
    (tmp_path / "mine" / "bot.py").write_text("my work", "utf-8")
    with pytest.raises(BadBot, match="is there already"):
        new_bot("mine", "rust", parent=tmp_path)
    assert (tmp_path / "mine" / "bot.py").read_text("utf-8") == "my work"
