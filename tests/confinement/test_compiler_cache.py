"""What compilers keep between the builds of one bot: for its author alone, and never in the way."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import referee
from referee.bots import compiler_cache
from referee.bots.building import OWN, BuildFailed, MissingCommand, build_log, built
from referee.bots.cache import COMPILERS
from referee.bots.compiler_cache import LENGTH, CompilerCache
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.contents import hash_folder
from referee.bots.manifest import Bot, read_bot
from tests.cli.running import referee as run_referee
from tests.confinement.offered import BEST, LEVELS, a_bot, confined, walls
from tests.confinement.test_walls import notes

COUNTS = """
cat ~/.cache/count > bot 2>/dev/null
mkdir -p ~/.cache && echo x >> ~/.cache/count
"""
"""The build of a bot that says how many builds before it its `~/.cache` knows of."""
PLANTS = "mkdir -p ~/.cache && echo secret > ~/.cache/word && touch bot"
LOOKS = """
grep -rls secre[t] ~ /compilers /source /bot > bot
ls -A ~ / | grep -e cache -e compilers >> bot
true
"""
"""The build of a bot that says what it finds of PLANTS, or of any compiler's cache."""


@pytest.fixture
def tmp_path(open_path: Path) -> Path:
    """One that the bots' user can enter."""
    return open_path


def manifest(name: str) -> str:
    return f'name = "{name}"\nbuild = ["sh", "build.sh"]\ncommand = ["./bot"]\n'


def edited(folder: Path, build: str, name: str = "made", **files: str) -> Bot:
    """A bot that differs from what it was a moment ago; its manifest is written once."""
    folder.mkdir(exist_ok=True)
    if not (folder / "bot.toml").exists():
        (folder / "bot.toml").write_text(manifest(name))
    (folder / "build.sh").write_text(f"{build}\n# {time.monotonic_ns()}\n")
    for each, text in files.items():
        (folder / each).write_text(text)
    return read_bot(folder)


def made(bot: Bot, cache: Path, how: Confinement = confined, *, own: bool = True) -> Path:
    folder = built(bot, how, cache=cache, compiler_cache=own).folder
    assert folder is not None
    return folder


def known(bot: Bot, cache: Path, *, own: bool = True) -> int:
    """How many builds before this one it knows of, where its build is COUNTS."""
    return len((made(bot, cache, own=own) / "bot").read_text().split())


def archives(cache: Path) -> list[Path]:
    return list(cache.glob(f"*{COMPILERS}*"))


@walls
@pytest.mark.parametrize("level", [*LEVELS, Level.NONE])
def test_go_compiles_what_was_edited_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "author"))
    how = Confinement(level=level)
    folder, cache = tmp_path / "bot", tmp_path / "cache"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "made"\nbuild = ["go", "build", "-v", "-trimpath", "-o", "bot", "bot.go"]\n'
        'command = ["./bot"]\n'
    )

    def compiled(word: str) -> tuple[set[str], str]:
        """The packages, and the hash of what was made."""
        (folder / "bot.go").write_text(f'package main\n\nfunc main() {{ println("{word}") }}\n')
        try:
            copy = made(read_bot(folder), cache, how)
        except MissingCommand as missing:
            if "CI" in os.environ:
                raise
            pytest.skip(str(missing))
        return set(build_log(copy).read_text().split()), hash_folder(copy)

    packages, _ = compiled("first")
    assert {"runtime", "command-line-arguments"} < packages
    packages, content = compiled("second")
    assert packages == {"command-line-arguments"}
    alone = made(read_bot(folder), tmp_path / "other cache", how, own=False)
    assert hash_folder(alone) == content


@walls
def test_c_with_objects_by_content(tmp_path: Path) -> None:
    """As ccache has them."""
    build = """
set -e
mkdir -p ~/.cache/objects
for source in lib.c bot.c; do
    object=~/.cache/objects/$(cat $source | cksum | tr ' ' -).o
    [ -e $object ] || { echo compiled $source; cc -c -o $object $source; }
    objects="$objects $object"
done
cc -o bot $objects
"""
    lib, main = "int three(void) { return 3; }\n", "int three(void); int main(void) { return %s; }"
    folder, cache = tmp_path / "b", tmp_path / "cache"
    for body, said in (("three()", "lib.c bot.c"), ("three() - 3", "bot.c")):
        bot = edited(folder, build, **{"lib.c": lib, "bot.c": main % body})
        log = build_log(made(bot, cache)).read_text()
        assert log.split() == [word for name in said.split() for word in ("compiled", name)]


@walls
def test_none_without_a_word(tmp_path: Path) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    assert [known(edited(folder, COUNTS), cache, own=False) for _ in range(2)] == [0, 0]
    assert archives(cache) == []
    assert [known(edited(folder, COUNTS), cache) for _ in range(3)] == [0, 1, 2]
    assert known(edited(folder, COUNTS), cache, own=False) == 0


@walls
def test_what_is_built_so_is_for_who_builds_so(tmp_path: Path) -> None:
    """A build can make of a cache what it likes, so the name of what it makes says so."""
    folder, cache = tmp_path / "b", tmp_path / "cache"
    known(edited(folder, COUNTS), cache)
    bot = edited(folder, COUNTS)
    own = made(bot, cache)
    alone = made(bot, cache, own=False)
    assert own.name == f"{alone.name}{OWN}"
    assert [(each / "bot").read_text() for each in (own, alone)] == ["x\n", ""]
    assert made(bot, cache) == alone


@walls
@pytest.mark.parametrize("other", ["folder", "name"])
def test_no_bot_sees_that_of_another(tmp_path: Path, other: str) -> None:
    cache = tmp_path / "cache"
    made(edited(tmp_path / "b", PLANTS), cache)
    if other == "folder":
        bot = edited(tmp_path / "c", LOOKS)
    else:  # As the second seat has it where a bot plays itself.
        bot = edited(tmp_path / "b", LOOKS).renamed("another")
    assert (made(bot, cache) / "bot").read_text() == ""
    assert len(archives(cache)) == 1
    again = edited(tmp_path / "b", f"cat ~/.cache/word; {PLANTS}")
    assert build_log(made(again, cache)).read_text() == "secret\n"


FILTERED: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""Debian 12's Python knows no filters, and newer ones ask for one."""


def hand_in(path: Path, build: str) -> Path:
    """An archive with a bot. Every one has the same name, the same manifest and the same times."""
    with tarfile.open(path, "w") as archive:
        for name, text in (("bot.toml", manifest("made")), ("build.sh", build)):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(text), 1_700_000_000
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@walls
@pytest.mark.parametrize("first_goes", [True, False])
def test_no_bot_sees_that_of_one_in_its_place_before(tmp_path: Path, first_goes: bool) -> None:
    """As a teacher unpacks what one pupil after the other handed in, and checks each."""
    folder, cache = tmp_path / "b", tmp_path / "cache"
    found: list[str] = []
    for number, build in enumerate((PLANTS, LOOKS)):
        if first_goes and folder.exists():
            shutil.rmtree(folder)
        with tarfile.open(hand_in(tmp_path / f"{number}.tar", build)) as archive:
            archive.extractall(folder, **FILTERED)
        found.append((made(read_bot(folder), cache) / "bot").read_text())
    assert (folder / "bot.toml").stat().st_mtime == 1_700_000_000
    assert found == ["", ""]


@walls
def test_another_manifest_begins_anew(tmp_path: Path) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    assert [known(edited(folder, COUNTS), cache) for _ in range(2)] == [0, 1]
    (folder / "bot.toml").write_text(manifest("made"))
    assert [known(edited(folder, COUNTS), cache) for _ in range(2)] == [0, 1]


@walls
def test_a_bot_without_a_manifest_has_none(tmp_path: Path) -> None:
    """As a program makes one. What it builds is made of its folder alone, and is for all."""
    folder, cache = tmp_path / "b", tmp_path / "cache"
    for _ in range(2):
        bot = edited(folder, COUNTS)
        (folder / "bot.toml").unlink()
        bot = replace(bot, hash=hash_folder(folder))
        assert known(bot, cache) == 0
        assert archives(cache) == []
        assert made(bot, cache) == made(bot, cache, own=False)


@walls
def test_a_bot_that_plays_sees_nothing_of_it(tmp_path: Path) -> None:
    look = "return ','.join(sorted(os.listdir(os.environ['HOME']))) + str(os.listdir('/'))"
    bot = a_bot(tmp_path / "b", look, build='["sh", "-c", "mkdir ~/.cache; touch ~/.cache/x"]')
    told = notes(built(bot, confined, cache=tmp_path / "cache", compiler_cache=True))[0]
    assert archives(tmp_path / "cache")
    assert told.startswith("[")
    assert "compilers" not in told


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[700] ^= 1
    path.write_bytes(content)


def make_folder(path: Path) -> None:
    path.unlink()
    (path / "in the way").mkdir(parents=True)


def make_dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES: list[Callable[[Path], None]] = [
    *(cut, flip, make_folder, make_dangling, Path.unlink),
    lambda path: os.truncate(path, 0),
    lambda path: os.truncate(path, 20),
    lambda path: path.chmod(0),
]


@walls
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_one_is_done_without(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    assert [known(edited(folder, COUNTS), cache) for _ in range(2)] == [0, 1]
    (archive,) = archives(cache)
    damage(archive)
    assert known(edited(folder, COUNTS), cache) == 0
    assert known(edited(folder, COUNTS), cache) == (0 if archive.is_dir() else 1)
    assert archives(cache) == [archive]


@walls
def test_one_that_goes_while_a_build_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    known(edited(folder, COUNTS), cache)
    seen = CompilerCache.seen

    def gone(self: CompilerCache) -> tuple[tuple[str, str], ...]:
        found = seen(self)
        assert len(found) == 1
        archives(cache)[0].unlink()
        return found

    monkeypatch.setattr(CompilerCache, "seen", gone)
    assert known(edited(folder, COUNTS), cache) == 0


@walls
def test_what_grows_too_large_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    monkeypatch.setattr(compiler_cache, "MOST", 1 << 20)
    assert [known(edited(folder, COUNTS), cache) for _ in range(2)] == [0, 1]
    grows = f"{COUNTS}\nhead -c 2000000 /dev/urandom > ~/.cache/large"
    assert known(edited(folder, grows), cache) == 2
    assert archives(cache) == []
    assert known(edited(folder, COUNTS), cache) == 0


@walls
def test_all_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setattr(compiler_cache, "MOST_IN_ALL", 5_000_000)
    fills = f"{COUNTS}\nhead -c 2000000 /dev/urandom > ~/.cache/large"
    for name in ("a", "b", "a", "c"):
        made(edited(tmp_path / name, fills, name), cache)
    assert sorted(archive.name[:2] for archive in archives(cache)) == ["a-", "c-"]


@walls
def test_unused_for_long_it_goes(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in ("old", "used"):
        known(edited(tmp_path / name, COUNTS, name), cache)
    for archive in archives(cache):
        if archive.name.startswith("old"):
            long_ago = time.time() - 31 * 86_400
            os.utime(archive, (long_ago, long_ago))
    known(edited(tmp_path / "used", COUNTS, "used"), cache)
    assert [archive.name[:4] for archive in archives(cache)] == ["used"]


@walls
def test_a_build_that_fails_leaves_its_own(tmp_path: Path) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    with pytest.raises(BuildFailed, match="the build exited with status 4") as failed:
        made(edited(folder, f"{COUNTS}\necho woe; exit 4"), cache)
    assert failed.value.quoted == "woe"
    assert known(edited(folder, COUNTS), cache) == 1
    with pytest.raises(BuildFailed, match="within 500ms"):
        built(edited(folder, "sleep 60"), confined, cache=cache, limit_ms=500, compiler_cache=True)
    assert known(edited(folder, COUNTS), cache) == 0, "what never ended may be its cache's fault"


@walls
@pytest.mark.parametrize(
    "leaves",
    [
        "rm -rf ~/.cache; ln -s /usr ~/.cache",
        "rm -rf ~/.cache; touch ~/.cache",
        "mkdir -p ~/.packed",
        "mkfifo ~/.cache/pipe; ln -s /etc/passwd ~/.cache/link; chmod 000 ~/.cache/link || true",
        "mkdir -p ~/.cache/closed && chmod 000 ~/.cache/closed ~/.cache",
    ],
)
def test_whatever_a_build_leaves_there(tmp_path: Path, leaves: str) -> None:
    folder, cache = tmp_path / "b", tmp_path / "cache"
    known(edited(folder, COUNTS), cache)
    assert known(edited(folder, f"{COUNTS}\n{leaves}"), cache) == 1
    assert (made(edited(folder, "touch bot"), cache) / "bot").exists()


@pytest.mark.parametrize("end", ["5", "0", "-3", "x", "", "9" * LENGTH])
def test_an_end_that_does_not_fit_is_no_archive(tmp_path: Path, end: str) -> None:
    handed_out = io.BytesIO(content := b"1234" + end.rjust(LENGTH).encode())
    CompilerCache(tmp_path / f"b{COMPILERS}", None).take(handed_out)
    assert (handed_out.getvalue(), handed_out.tell()) == (content, 0)
    assert archives(tmp_path) == []


AUTHORS = {"check", "connect", "match", "play", "repro", "watch"}
"""Commands with which an author runs a bot of his own."""


def test_who_asks_for_it() -> None:
    """The commands of an author, each aloud; nothing that builds what others hand in."""
    package = Path(referee.__file__).parent
    asks = {
        path.relative_to(package)
        for path in package.rglob("*.py")
        if "compiler_cache=True" in path.read_text("utf-8")
    }
    assert asks == {Path("cli", f"{name}.py") for name in AUTHORS}
    for layer in ("cluster", "daemon", "ladder", "tournament", "web"):
        for path in (package / layer).rglob("*.py"):
            assert "compiler_cache" not in path.read_text("utf-8"), path


@walls
def test_the_commands_of_an_author_and_a_tournament(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    count = "cat ~/.cache/count > known; mkdir -p ~/.cache; echo x >> ~/.cache/count"
    a_bot(folder, "return ''", build=f'["sh", "-c", "{count}"]')
    commands = {
        "check": ("check", folder, "--variant", "underdog"),
        "match": ("match", folder, "highest", "--games", 2, "--records", "games.jsonl"),
        "watch": ("watch", folder, "highest", "--pause", "0s"),
        "repro": ("repro", "games.jsonl", 1, "--bot", folder),
        "play": ("play", "--against", folder),
        "tournament": ("tournament", "--bot", folder, "--bot", "random", "--games", 2),
    }
    told: dict[str, int] = {}
    for name, words in commands.items():
        (folder / "edit").write_text(name)
        cache = str(tmp_path / "cache")
        done = run_referee(tmp_path, *words, REFEREE_SANDBOX=BEST.value, XDG_CACHE_HOME=cache)
        copies = list((tmp_path / "cache").rglob(f"b-{read_bot(folder).hash}-*/known"))
        assert len(copies) == 1, done.err
        told[name] = len(copies[0].read_text().split())
    assert told == {
        **{"check": 0, "match": 1, "watch": 2, "repro": 3, "play": 4},
        "tournament": 0,
    }
