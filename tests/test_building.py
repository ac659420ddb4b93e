"""Builds: once for the same content, in a copy, within a limit, with their output kept."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from msgspec import structs

from referee.bots.building import BuildFailed, MissingCommand, OnBuild, build_log, built
from referee.bots.builds import side_by_side
from referee.bots.manifest import BadBot, Bot, read_bot
from tests.arena.playing import MARK, all_gone, left_of
from tests.waiting import PATIENCE_S, wait_for


def a_bot(folder: Path, build: str, mark: str = "", **files: str) -> Bot:
    """A bot whose build is a shell script. All its processes carry the mark."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(
        'name = "made"\nbuild = ["sh", "build.sh"]\ncommand = ["./bot"]\n'
        f'env = {{{MARK} = "{mark}"}}\n',
        "utf-8",
    )
    (folder / "build.sh").write_text(build, "utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return read_bot(folder)


def test_it_is_built_once_and_in_a_copy(tmp_path: Path) -> None:
    told = tmp_path / "told"
    bot = a_bot(tmp_path / "bot", f"echo built >> '{told}'; cp source bot", source="one")
    cache = tmp_path / "cache"
    first = built(bot, cache=cache)
    assert built(bot, cache=cache) == first
    assert built(first, cache=cache) == first
    assert told.read_text("utf-8") == "built\n"
    assert first.folder is not None
    assert (first.folder / "bot").read_text("utf-8") == "one"
    assert first.folder.parent == cache
    assert not (tmp_path / "bot" / "bot").exists()
    assert (first.name, first.command, first.hash) == (bot.name, bot.command, bot.hash)


def test_another_content_is_another_build(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = built(a_bot(tmp_path / "bot", "cp source bot", source="one"), cache=cache)
    second = built(a_bot(tmp_path / "bot", "cp source bot", source="two"), cache=cache)
    assert first.folder is not None
    assert second.folder is not None
    assert (first.folder / "bot").read_text("utf-8") == "one"
    assert (second.folder / "bot").read_text("utf-8") == "two"


def test_different_bots_are_built_side_by_side(tmp_path: Path) -> None:
    """Each build waits until the other one has begun. The third cannot be built."""
    waits = "touch '{0}/{1}'; while [ ! -e '{0}/{2}' ]; do sleep 0.05; done; touch bot"
    bots = [
        a_bot(tmp_path / "one", waits.format(tmp_path, "a", "b")),
        a_bot(tmp_path / "two", waits.format(tmp_path, "b", "a")),
        a_bot(tmp_path / "three", "exit 3"),
    ]

    def build(bot: Bot, on_build: OnBuild) -> Bot:
        return built(bot, cache=tmp_path / "cache", limit_ms=60_000, on_build=on_build)

    begun: list[str] = []
    one, two, three = side_by_side(bots, build, begun.append, 2)
    assert isinstance(one, Bot) and isinstance(two, Bot)
    assert one.folder != two.folder
    assert isinstance(three, BuildFailed)
    assert begun == ["made", "made", "made"]


def test_what_is_wrong_with_a_build_itself_is_not_hidden(tmp_path: Path) -> None:
    def build(_bot: Bot, _on_build: OnBuild) -> Bot:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        list(side_by_side([a_bot(tmp_path / "one", "")], build, print, 2))


def test_two_processes_build_it_once(tmp_path: Path) -> None:
    told = tmp_path / "told"
    a_bot(tmp_path / "bot", f"echo built >> '{told}'; sleep 0.5; touch bot")
    script = (
        "import sys; from pathlib import Path; from referee.bots.manifest import read_bot; "
        "from referee.bots.building import built; "
        "print(built(read_bot(Path(sys.argv[1])), cache=Path(sys.argv[2])).folder)"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "bot"), str(tmp_path / "cache")]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2)]
    folders = {process.communicate(timeout=PATIENCE_S)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(folders) == 1
    assert told.read_text("utf-8") == "built\n"


def test_a_failed_build_shows_what_the_compiler_said(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    bot = a_bot(tmp_path / "bot", "echo 'bot.c:3: no such thing' >&2; echo twice; exit 3")
    with pytest.raises(BuildFailed) as failed:
        built(bot, cache=cache)
    assert str(failed.value) == "made: the build exited with status 3: sh build.sh"
    assert failed.value.quoted == "bot.c:3: no such thing\ntwice"
    (log,) = cache.glob("*.log")
    assert log.read_text("utf-8") == "bot.c:3: no such thing\ntwice\n"
    assert [path.suffix for path in sorted(cache.iterdir())] == [".lock", ".log"]
    with pytest.raises(BuildFailed, match="exited with status 3"):
        built(bot, cache=cache)


def test_a_long_message_is_cut_and_its_log_named(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    bot = a_bot(
        tmp_path / "bot", "i=0; while [ $i -lt 20000 ]; do echo $i$i; i=$((i+1)); done; exit 1"
    )
    with pytest.raises(BuildFailed) as failed:
        built(bot, cache=cache)
    (log,) = cache.glob("*.log")
    lines = failed.value.quoted.splitlines()
    assert lines[0] == "00"
    assert len(lines) == 21
    assert lines[-1].endswith(f"more lines in {log}")
    assert log.stat().st_size < 70_000
    assert log.read_text("utf-8").endswith("1999919999\n")


def test_the_log_of_a_good_build_is_kept_too(tmp_path: Path) -> None:
    ready = built(a_bot(tmp_path / "bot", "echo a warning; touch bot"), cache=tmp_path / "cache")
    assert ready.folder is not None
    assert build_log(ready.folder).read_text("utf-8") == "a warning\n"


def test_a_build_has_a_time_limit_and_leaves_nothing(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    bot = a_bot(tmp_path / "bot", "sleep 600 & echo compiling; setsid sleep 600", mark)
    with pytest.raises(
        BuildFailed, match=r"the build did not end within 1s: sh build\.sh"
    ) as failed:
        built(bot, cache=tmp_path / "cache", limit_ms=1000)
    assert failed.value.quoted == "compiling"
    assert left_of(mark) == []


def test_a_killed_build_is_begun_anew(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    gate = tmp_path / "gate"
    script = f"[ -e '{gate}' ] || {{ touch half '{gate}'; sleep 600; }}; touch bot"
    bot = a_bot(tmp_path / "bot", script, mark)
    code = (
        "import sys; from pathlib import Path; from referee.bots.manifest import read_bot; "
        "from referee.bots.building import built; "
        "built(read_bot(Path(sys.argv[1])), cache=Path(sys.argv[2]))"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "bot"), str(tmp_path / "cache")]
    process = subprocess.Popen(words)
    wait_for(gate.exists, "the build to be half done")
    assert left_of(mark)
    process.send_signal(signal.SIGKILL)
    process.wait()
    ready = built(bot, cache=tmp_path / "cache")
    assert ready.folder is not None
    assert (ready.folder / "bot").exists()
    assert not (ready.folder / "half").exists()
    all_gone(mark)  # The keeper of the killed build may still be at it.


@pytest.mark.parametrize(
    ("build", "command", "missing"),
    [
        ('["no-such-compiler", "x"]', '["./bot"]', "no-such-compiler"),
        ("[]", '["no-such-runtime", "x"]', "no-such-runtime"),
        ('["true"]', '["no-such-runtime"]', "no-such-runtime"),
        ('["sh", "-c", "no-such-compiler x && ./x"]', '["./bot"]', "no-such-compiler"),
        ('["bash", "-c", "echo hm; no-such-compiler x"]', '["./bot"]', "no-such-compiler"),
    ],
)
def test_a_command_that_is_not_there(
    tmp_path: Path, build: str, command: str, missing: str
) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        f'name = "poor"\nbuild = {build}\ncommand = {command}\n', "utf-8"
    )
    with pytest.raises(MissingCommand) as lacking:
        built(read_bot(folder), cache=tmp_path / "cache")
    assert str(lacking.value) == f"poor: the command {missing} was not found"


def test_a_bot_without_a_build_stays_where_it_is(tmp_path: Path) -> None:
    bot = Bot(name="plain", command=("sh", "-c", "true"), folder=tmp_path)
    assert built(bot) is bot


def test_a_cache_that_cannot_be_used(tmp_path: Path) -> None:
    cache = tmp_path / "file"
    cache.write_text("", "utf-8")
    with pytest.raises(BadBot, match=f"^made: cannot be built in {cache}: "):
        built(a_bot(tmp_path / "bot", "true"), cache=cache)


@pytest.mark.parametrize("build", ['[""]', '"make"', "[3]", '["a\\u0000b"]'])
def test_a_build_is_a_list_of_words(tmp_path: Path, build: str) -> None:
    (tmp_path / "bot.toml").write_text(f'name = "odd"\nbuild = {build}\ncommand = ["x"]\n', "utf-8")
    with pytest.raises(BadBot, match=r"bot\.toml: build"):
        read_bot(tmp_path)


def test_a_folder_that_changes_meanwhile_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "bot", "cp source bot", source="one")
    (tmp_path / "bot" / "source").write_text("two", "utf-8")
    with pytest.raises(BadBot, match="since it was read"):
        built(bot, cache=tmp_path / "cache")
    (tmp_path / "bot" / "source").write_text("one", "utf-8")
    ready = built(bot, cache=tmp_path / "cache")
    assert ready.folder is not None
    assert (ready.folder / "bot").read_text("utf-8") == "one"


def test_what_may_be_run_is_content(tmp_path: Path) -> None:
    before = a_bot(tmp_path / "bot", "true", bot="#!/bin/sh\n")
    (tmp_path / "bot" / "bot").chmod(0o755)
    after = read_bot(tmp_path / "bot")
    assert before.hash != after.hash
    ready = built(after, cache=tmp_path / "cache")
    assert ready.folder is not None
    assert os.access(ready.folder / "bot", os.X_OK)


def test_the_copy_is_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / ".git" / "bot"
    (folder / "empty").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / "x").write_text("x", "utf-8")
    (folder / "also").symlink_to("lib")
    (folder / "nowhere").symlink_to("gone")
    bot = a_bot(folder, "cat also/x > empty/bot; test -L nowhere; pwd > where")
    ready = built(bot, cache=tmp_path / "cache")
    assert ready.folder is not None
    assert (ready.folder / "empty" / "bot").read_text("utf-8") == "x"
    assert (ready.folder / "where").read_text("utf-8").strip() == str(ready.folder)


@pytest.mark.parametrize("target", ["../outside", "/proc/kmsg", "../bot/../outside"])
def test_a_link_that_leads_out(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").write_text("one", "utf-8")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "link").symlink_to(target)
    bot = a_bot(tmp_path / "bot", "true")
    with pytest.raises(BadBot, match=r"bot/link: a link that leads out of the bot's folder"):
        built(bot, cache=tmp_path / "cache")


def test_a_path_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mine").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "bin" / "mine").chmod(0o755)
    bot = Bot(name="own", command=("mine",), folder=tmp_path, env={"PATH": "bin:/usr/bin"})
    assert built(bot) is bot


def test_a_name_of_sixty_wide_letters(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "bot", "true").renamed("\U00020000" * 60)
    assert built(bot, cache=tmp_path / "cache").name == bot.name


def test_words_too_long_for_the_system(tmp_path: Path) -> None:
    bot = structs.replace(a_bot(tmp_path / "bot", "true"), build=("true", "x" * 3_000_000))
    with pytest.raises(BuildFailed, match="the build could not be run"):
        built(bot, cache=tmp_path / "cache")


def test_waiting_for_another_process_has_a_limit(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "bot", "touch bot")
    cache = tmp_path / "cache"
    with pytest.raises(BuildFailed):
        built(a_bot(tmp_path / "bot", "exit 1"), cache=cache)
    bot = a_bot(tmp_path / "bot", "touch bot")
    (other,) = cache.glob("*.lock")
    held = other.with_name(other.name.replace(read_hash(other), bot.hash))
    with held.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BuildFailed, match="another process builds it, and did not end"):
            built(bot, cache=cache, limit_ms=200)
    assert built(bot, cache=cache).folder is not None


def read_hash(lock: Path) -> str:
    return lock.name.split("-")[1]


def test_what_nobody_used_for_long_is_taken_away(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    old = built(a_bot(tmp_path / "old", "cp source bot", source="one"), cache=cache)
    used = built(a_bot(tmp_path / "used", "cp source bot", source="two"), cache=cache)
    assert old.folder is not None
    assert used.folder is not None
    long_ago = time.time() - 31 * 86_400
    for folder in (old.folder, used.folder):
        os.utime(folder.with_name(f"{folder.name}.whole"), (long_ago, long_ago))
    built(a_bot(tmp_path / "used", "cp source bot", source="two"), cache=cache)
    built(a_bot(tmp_path / "new", "cp source bot", source="three"), cache=cache)
    assert not old.folder.exists()
    assert used.folder.exists()
    assert not [path for path in cache.iterdir() if path.name.startswith(old.folder.name)]
