"""A manifest that nobody can be asked to read is refused by every command that takes a bot."""

from __future__ import annotations

from pathlib import Path

from referee.bots.manifest_text import LARGEST
from tests.cli.running import refuses

MANIFEST = 'name = "it"\ncommand = ["python3", "bot.py"]\n'
COMMANDS = (
    ("check", "{bot}"),
    ("match", "{bot}", "random", "--games", "2"),
    ("watch", "{bot}", "random"),
    ("tournament", "--variant", "duel", "--bot", "{bot}", "--bot", "random"),
    ("submit", "{bot}", "--to", "http://127.0.0.1:1", "--token", "x"),
    ("connect", "{bot}", "--to", "tcp://127.0.0.1:1", "--token", "x"),
)


def test_a_manifest_is_short_and_flat_for_every_command(tmp_path: Path) -> None:
    mistakes: dict[str, tuple[list[str], str]] = {}
    texts = {"long": f"{MANIFEST}#{'x' * LARGEST}", "deep": f"{MANIFEST}{'a.' * 4000}a = 1\n"}
    for bot, text in texts.items():
        folder = tmp_path / bot
        folder.mkdir()
        (folder / "bot.toml").write_text(text)
        for words in COMMANDS:
            given = [word.format(bot=f"./{bot}") for word in words]
            mistakes[f"{words[0]} {bot}"] = (given, rf"{bot}/bot\.toml: .*")
    refuses(tmp_path, mistakes)
