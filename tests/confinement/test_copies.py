"""Copies of what root alone may read: for the bots' user alone, and none where one is refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from referee.bots.building import built
from referee.bots.confinement.identity import may_read, servant
from referee.bots.manifest import BadBot, Bot, find_bot
from tests.confinement.offered import confined, walls

pytestmark = [
    walls,
    pytest.mark.skipif(os.getuid() != 0, reason="root alone has bots run by somebody else"),
]
STRANGER = 65534


@pytest.fixture
def cache(open_path: Path) -> Path:
    """Where a stranger could get at it, if the cache let him in."""
    return open_path / "cache"


def closed(folder: Path, build: str = "") -> Bot:
    folder.mkdir(mode=0o700)
    lines = ['name = "b"', 'command = ["cat", "secret"]', build]
    (folder / "bot.toml").write_text("\n".join(lines))
    (folder / "secret").write_text("root's")
    (folder / "secret").chmod(0o600)
    return find_bot(str(folder))


def readers(cache: Path) -> dict[int, int]:
    """By user: how many files of the cache it can read."""
    found = {}
    for user in (STRANGER, servant() or 0):
        done = subprocess.run(
            ["find", str(cache), "-type", "f", "-readable"],
            user=user,
            group=user,
            extra_groups=[],
            capture_output=True,
            check=False,
        )
        found[user] = len([line for line in done.stdout.splitlines() if not line.endswith(b"lock")])
    return found


@pytest.mark.parametrize("build", ["", 'build = ["cp", "secret", "made"]'])
def test_the_bots_user_alone_reads_them(tmp_path: Path, cache: Path, build: str) -> None:
    ready = built(closed(tmp_path / "b", build), confined, cache=cache)
    user = servant()
    assert user is not None
    assert ready.folder is not None
    assert ready.folder.parent == cache
    assert may_read(ready.folder, user)
    assert not may_read(ready.folder, STRANGER)
    seen = readers(cache)
    assert seen[STRANGER] == 0
    assert seen[user] >= 2


def test_a_cache_from_before_is_closed(tmp_path: Path, cache: Path) -> None:
    cache = cache / "referee" / "builds"
    bot = closed(tmp_path / "b")
    copy = built(bot, confined, cache=cache).folder
    assert copy is not None
    for folder in (cache, copy):
        folder.chmod(0o755)
    assert readers(cache)[STRANGER] > 0
    built(bot, confined, cache=cache)
    assert readers(cache)[STRANGER] == 0


def test_a_copy_that_is_refused_leaves_none(tmp_path: Path, cache: Path) -> None:
    """What was copied before the one that is refused goes as well."""
    secret = tmp_path / "secret"
    secret.write_text("root's")
    secret.chmod(0o600)
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    (folder / "out").symlink_to("/etc/shadow")
    with pytest.raises(BadBot, match="out: a link that"):
        built(find_bot(f"b=cat {secret} {folder}"), confined, cache=cache)
    assert [path.name for path in cache.iterdir() if path.suffix != ".lock"] == []
