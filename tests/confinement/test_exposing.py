"""Folders that confined bots are shown, and those that nobody can have meant."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement.exposing import exposable, must_show
from referee.bots.confinement.identity import servant
from referee.bots.confinement.limits import BadLimit
from tests.cli.running import Done, referee, sentence
from tests.confinement.offered import BEST, a_bot, confined, walls
from tests.confinement.test_walls import notes

NOT_SHOWN = "cannot be shown to bots"
TOOLS = "name a folder with tools"


@pytest.mark.parametrize(
    "folder",
    ["/", "/run", "/run/lock", "/var", "/proc", "/sys", "/dev", "/dev/shm", "/etc", "/tmp"],
)
def test_where_the_system_has_its_own(folder: str) -> None:
    if Path(folder).is_dir():
        with pytest.raises(BadLimit, match=f"{NOT_SHOWN}; {TOOLS}"):
            exposable(folder)


@pytest.mark.parametrize("folder", ["", " "])
def test_an_empty_path_is_no_folder(tmp_path: Path, folder: str) -> None:
    told = f"expose: an empty path; {TOOLS}"
    for command in (("match", "highest", "random"), ("tournament",), ("serve", "--no-web")):
        assert told in sentence(referee(tmp_path, *command, "--expose", folder))
    spec = f'variants = ["duel"]\nbots = ["highest", "random"]\nexpose = ["{folder}"]\n'
    (tmp_path / "spec.toml").write_text(spec)
    assert told in sentence(referee(tmp_path, "tournament", "spec.toml"))


def both(folder: Path, expose: Path) -> list[Done]:
    bots = ("--bot", folder / "bots/a", "--bot", folder / "bots/b")
    return [
        referee(folder, *command, "--expose", expose, REFEREE_SANDBOX=BEST.value)
        for command in (
            ("match", folder / "bots/a", folder / "bots/b"),
            ("tournament", "--plan", *bots),
            ("tournament", "--out", folder / "games/t", *bots),
        )
    ]


@walls
def test_what_is_somebody_elses(open_path: Path) -> None:
    for name in ("a", "b"):
        a_bot(open_path / "bots" / name, "return ''")
    (open_path / "bots/b/lib").mkdir()
    (open_path / "games").mkdir()
    for done in both(open_path, open_path / "bots"):
        assert f"{open_path}/bots {NOT_SHOWN}: it holds the folder of the bot a, which" in (
            sentence(done)
        )
    for done in both(open_path, open_path / "bots/b/lib"):
        assert f"b/lib {NOT_SHOWN}: it lies in the folder of the bot b" in sentence(done)
    *_, played = both(open_path, open_path / "games")
    assert f"games {NOT_SHOWN}: it holds the tournament's folder" in sentence(played)
    assert not (open_path / "games/t").exists()


@walls
def test_the_cache_and_the_daemons_data(open_path: Path) -> None:
    (open_path / "cache").mkdir()
    words = ("match", "highest", "random", "--expose", open_path / "cache")
    cache = str(open_path / "cache")
    done = referee(open_path, *words, REFEREE_SANDBOX=BEST.value, XDG_CACHE_HOME=cache)
    assert "it holds the cache of built bots" in sentence(done)
    done = referee(open_path, "serve", "--no-web", "--data", "ladder", "--expose", open_path)
    assert "it holds the daemon's data" in sentence(done)


@walls
@pytest.mark.skipif(os.getuid() != 0, reason="root alone has bots run by somebody else")
def test_what_the_bots_user_may_not_enter(open_path: Path) -> None:
    (open_path / "closed/tools").mkdir(parents=True)
    (open_path / "closed").chmod(0o700)
    words = ("match", "highest", "random", "--expose", open_path / "closed/tools")
    told = f"they run as user {servant()}, whom {open_path}/closed does not let in"
    assert told in sentence(referee(open_path, *words, REFEREE_SANDBOX=BEST.value))


def test_what_lies_beside_is_no_hindrance(open_path: Path) -> None:
    (open_path / "tools").mkdir()
    (open_path / "tools-of-b").mkdir()
    must_show([str(open_path / "tools")], [("a bot", open_path / "tools-of-b")])


@walls
def test_it_is_read_only_and_its_sockets_can_be_reached(open_path: Path) -> None:
    """As docs/security.md says: whoever shows a folder shows the sockets in it."""
    tools = open_path / "tools"
    tools.mkdir(mode=0o777)
    tools.chmod(0o777)
    (tools / "word").write_text("seen")
    look = f"""
import socket
try:
    open({str(tools / "mine")!r}, "w")
    wrote = "wrote"
except OSError:
    wrote = "read-only"
socket.socket(socket.AF_UNIX).connect({str(tools / "socket")!r})
return open({str(tools / "word")!r}).read() + " " + wrote + " reached"
"""
    bot = a_bot(open_path / "b", look)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tools / "socket"))
        (tools / "socket").chmod(0o777)
        listener.listen(64)
        told = notes(bot, replace(confined, expose=(str(tools),)))
    assert set(told) == {"seen read-only reached"}
