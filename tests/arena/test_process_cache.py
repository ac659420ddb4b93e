"""Bot processes that are kept: stopped, unwatched, taken up again, and gone in time."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.arena.player import Player, Upkeep
from referee.arena.process_cache import Farewell, ProcessCache, settle
from referee.arena.restart import Restart
from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.keeping.kin import is_alive
from referee.bots.keeping.still import stat
from referee.bots.manifest import Bot
from referee.protocol.messages import Error
from tests.arena.test_zmq import zmq_bot
from tests.confinement.offered import LEVELS as OFFERED
from tests.waiting import PATIENCE_S, wait_for

ROOT = Path(__file__).resolve().parents[2]
STOPPED = [b"T"]
LEVELS = [Level.NONE, *OFFERED]


def stands_still(pid: int) -> bool:
    """By a signal, or by its control group, which leaves it in the state that it had."""
    group = Path(f"/proc/{pid}/cgroup").read_text().rpartition("0::/")[2].strip()
    events = Path("/sys/fs/cgroup", group, "cgroup.events")
    is_frozen = events.exists() and "frozen 1" in events.read_text()
    return is_frozen or stat(str(pid))[:1] == STOPPED


def stateless(name: str, folder: Path, level: Level = Level.NONE, habit: str = "plain") -> Bot:
    place = folder / name
    place.mkdir()
    for module in ("lasting", "base"):
        text = (ROOT / "tests/bots" / f"{module}.py").read_text()
        (place / f"{module}.py").write_text(text.replace("tests.bots.base", "base"))
    command = ("python3", "lasting.py", habit)
    bot = Bot(name=name, command=command, folder=place, stateless=True, hash=name)
    return built(bot, Confinement(level=level))


def player(bot: Bot, cache: ProcessCache, logs: Path, level: Level = Level.NONE) -> Player:
    confinement = Confinement(level=level, freeze=level is not Level.NONE)
    upkeep = Upkeep(startup_ms=60_000, cache=cache, logs=logs, confinement=confinement)
    return Player(0, bot, upkeep)


def kept_pid(bot: Bot, cache: ProcessCache, logs: Path, level: Level = Level.NONE) -> int:
    """Start the bot, and have its process kept."""
    first = player(bot, cache, logs, level)
    first.start()
    assert first.process is not None
    assert first.process.pid is not None
    pid = first.process.pid
    first.keep_or_leave()
    return pid


@pytest.mark.parametrize("level", LEVELS)
def test_a_process_is_kept_stopped_and_taken_up(tmp_path: Path, level: Level) -> None:
    bot, cache = stateless("ann", tmp_path, level), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path / "first", level)
    assert bot in cache
    assert stands_still(pid)
    again = player(bot, cache, tmp_path / "second", level)
    again.start()
    assert again.process is not None
    assert again.process.pid == pid
    assert stands_still(pid)
    again.release()
    wait_for(lambda: not stands_still(pid), "the bot to go on")
    again.leave()
    assert "process" in (tmp_path / "first" / "ann.stderr.txt").read_text()
    assert "leaves" in (tmp_path / "second" / "ann.stderr.txt").read_text()
    assert not is_alive(pid)


def test_a_bot_over_zeromq_is_kept(tmp_path: Path) -> None:
    bot = replace(zmq_bot("honest", name="z"), stateless=True, hash="z")
    cache = ProcessCache()
    pid = kept_pid(bot, cache, tmp_path)
    assert bot in cache
    second = player(bot, cache, tmp_path)
    second.start()
    assert second.process is not None
    assert second.process.pid == pid
    second.leave()
    wait_for(lambda: not is_alive(pid), "its end")


@pytest.mark.skipif(Level.STANDARD not in LEVELS, reason="no level standard")
def test_nobody_looks_at_a_kept_bot(tmp_path: Path) -> None:
    bot, cache = stateless("ann", tmp_path, Level.STANDARD), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path, Level.STANDARD)
    keeper = keeper_of(pid)
    wait_for(lambda: sleeps_on(keeper), "the keeper to sleep")
    cache.close()


def sleeps_on(pid: int) -> bool:
    """Whether a process sleeps for much longer than a keeper does that looks at its bot."""
    before = switches(pid)
    time.sleep(0.5)
    return stat(str(pid))[:1] == [b"S"] and switches(pid) == before


def switches(pid: int) -> int:
    """How often a process has gone to sleep."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("voluntary_ctxt_switches:")[2].split()[0])


def test_a_keeper_sleeps_through_a_pairing_in_which_nothing_is_written(tmp_path: Path) -> None:
    bot, cache = stateless("ann", tmp_path), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path)
    cache.close_logs()
    keeper = int(stat(str(pid))[1])
    wait_for(lambda: sleeps_on(keeper), "the keeper to sleep")
    before = switches(keeper)
    assert kept_pid(bot, cache, tmp_path) == pid
    cache.close_logs()
    assert switches(keeper) == before
    cache.close()


@pytest.mark.parametrize("heard", [True, False])
def test_what_is_written_for_a_stopped_bot_reaches_no_other_pairing(
    tmp_path: Path, heard: bool
) -> None:
    """Without walls a process that it has started may go on, also before the keeper's answer is
    heard."""
    bot, cache = stateless("ann", tmp_path), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path / "first")
    if heard:
        cache.close_logs()
    keeper = int(stat(str(pid))[1])
    wait_for(lambda: sleeps_on(keeper), "the keeper to have answered")
    Path(f"/proc/{pid}/fd/2").write_bytes(b"a helper\n")
    assert kept_pid(bot, cache, tmp_path / "second") != pid
    cache.close()
    logs = {at: (tmp_path / at / "ann.stderr.txt").read_text() for at in ("first", "second")}
    assert ["a helper" in text for text in logs.values()] == [True, False]


def test_a_bot_shows_its_pace_anew_where_the_terms_are_others(tmp_path: Path) -> None:
    bot, cache = stateless("ann", tmp_path), ProcessCache()
    found = []
    for terms in ("blitz", "blitz", "bullet"):
        each = Player(0, bot, Upkeep(startup_ms=60_000, cache=cache, terms=terms))
        each.start()
        found.append(each.pace.turns)
        assert each.fresh, "its first answer has the warm-up, wherever it was before"
        each.fresh = False
        each.pace.limit(8)
        each.pace.sent(1)
        each.pace.answered(1, 2, None)
        each.keep_or_leave()
    assert found == [1, 8, 1]
    cache.close()


def test_a_bot_is_heard_though_it_reads_slowly(tmp_path: Path) -> None:
    """Its last messages do not fit into the pipe."""
    bot = stateless("ann", tmp_path)
    each = player(bot, ProcessCache(), tmp_path)
    link = each.start()
    messages = [Error("code", "x" * 10_000)] * 100
    assert settle(link, each.session, messages) is Farewell.PONG
    each.leave()


def test_a_cache_tells_what_it_has(tmp_path: Path) -> None:
    bots = [stateless(name, tmp_path) for name in ("ann", "bob")]
    cache = ProcessCache(0)
    cache.number(bots[0], 5)
    kept_pid(bots[0], cache, tmp_path)
    assert cache.numbers() == ()
    cache = ProcessCache(sys.maxsize)
    for bot, number in zip(bots, (5, 7), strict=True):
        cache.number(bot, number)
        kept_pid(bot, cache, tmp_path)
    assert cache.numbers() == (5, 7)
    cache.close()
    assert cache.numbers() == ()


def test_without_a_log_no_folder_is_made_for_what_a_bot_says_last(tmp_path: Path) -> None:
    bot, cache = stateless("ann", tmp_path), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path / "logs")
    cache.close_logs()
    shutil.rmtree(tmp_path / "logs")
    cache.forget_logs()
    Path(f"/proc/{pid}/fd/2").write_bytes(b"a helper\n")
    wait_for(lambda: sleeps_on(keeper_of(pid)), "the keeper to have read it")
    cache.close()
    assert not (tmp_path / "logs").exists()


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    bots = [stateless(name, tmp_path) for name in ("ann", "bob", "cat")]
    room = ProcessCache(sys.maxsize)
    kept_pid(bots[0], room, tmp_path)
    size = room.used_bytes
    room.close()
    assert size > 0
    cache = ProcessCache(size * 5 // 2)
    pids = [kept_pid(bot, cache, tmp_path) for bot in bots]
    assert [bot in cache for bot in bots] == [False, True, True]
    assert [is_alive(pid) for pid in pids] == [False, True, True]
    kept_pid(bots[1], cache, tmp_path)
    kept_pid(bots[0], cache, tmp_path)
    assert [bot in cache for bot in bots] == [True, True, False]
    cache.close()
    assert not any(map(is_alive, pids))


@pytest.mark.skipif(Level.STANDARD not in LEVELS, reason="no level standard")
def test_memory_is_that_of_all_processes(tmp_path: Path) -> None:
    """One that alone is larger than the budget drives out nobody."""
    small = stateless("ann", tmp_path, Level.STANDARD)
    large = replace(stateless("bob", tmp_path, Level.STANDARD, habit="parent"), processes=2)
    cache = ProcessCache(35_000_000)
    pids = [kept_pid(bot, cache, tmp_path, Level.STANDARD) for bot in (small, large)]
    assert [bot in cache for bot in (small, large)] == [True, False]
    assert [is_alive(pid) for pid in pids] == [True, False]
    cache.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", ["bot", "keeper"])
def test_one_that_ended_meanwhile_is_started_anew(tmp_path: Path, level: Level, who: str) -> None:
    bot, cache = stateless("ann", tmp_path, level), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path, level)
    os.kill(pid if who == "bot" else keeper_of(pid), signal.SIGKILL)
    wait_for(lambda: not is_alive(pid), "the end of the bot")
    assert kept_pid(bot, cache, tmp_path, level) != pid
    cache.close()


def keeper_of(pid: int) -> int:
    """The keeper of this bot, among its ancestors."""
    while b"keeper.py" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(stat(str(pid))[1])
    return pid


@pytest.mark.parametrize("restart", [None, "game"])
def test_one_is_taken_up_by_the_rule_by_which_it_was_kept(
    tmp_path: Path, restart: Restart | None
) -> None:
    """A worker of a server plays tournaments with other rules in turn."""
    bot, cache = replace(stateless("ann", tmp_path), stateless=False), ProcessCache()
    pids = []
    for rule in ("never", restart):
        each = Player(0, bot, Upkeep(startup_ms=60_000, cache=cache, restart=rule))
        each.start()
        assert each.process is not None
        pids.append(each.process.pid)
        each.keep_or_leave()
    assert pids[0] != pids[1]
    cache.close()


def test_a_worker_has_descriptors_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (40, 40))
    bots = [stateless(name, tmp_path) for name in ("ann", "bob", "cat")]
    cache = ProcessCache(sys.maxsize)
    for bot in bots:
        kept_pid(bot, cache, tmp_path)
    assert [bot in cache for bot in bots] == [False, True, True]
    cache.close()


def test_what_a_kept_bot_wrote_is_kept_once(tmp_path: Path) -> None:
    """Its end is written when it is set aside, and not again when it is killed."""
    bot, cache = stateless("ann", tmp_path), ProcessCache()
    assert bot.folder is not None
    script = bot.folder / "lasting.py"
    loud = "import os\nos.write(2, b'x' * 100_000 + b' the end ')\n"
    script.write_text(script.read_text().replace("import os\n", loud, 1))
    pid = kept_pid(bot, cache, tmp_path / "first")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_alive(pid), "the end of the bot")
    kept_pid(bot, cache, tmp_path / "second")
    cache.close()
    assert (tmp_path / "first" / "ann.stderr.txt").read_text().count("the end") == 1


def test_what_a_bot_writes_at_once_belongs_to_the_new_pairing(tmp_path: Path) -> None:
    """Also where its keeper has not yet heard of the new log."""
    bot, cache = stateless("ann", tmp_path, habit="talker"), ProcessCache()
    pid = kept_pid(bot, cache, tmp_path / "first")
    cache.close_logs()
    assert (tmp_path / "first" / "ann.stderr.txt").read_text().count("pinged") == 1
    keeper = int(stat(str(pid))[1])
    os.kill(keeper, signal.SIGSTOP)
    again = player(bot, cache, tmp_path / "second")
    again.start()
    assert again.link is not None
    again.release()
    assert settle(again.link, again.session, []) is Farewell.PONG
    os.kill(keeper, signal.SIGCONT)
    again.leave()
    assert (tmp_path / "second" / "ann.stderr.txt").read_text().count("pinged") == 1
    assert (tmp_path / "first" / "ann.stderr.txt").read_text().count("pinged") == 1


def test_bots_may_open_what_they_could_before() -> None:
    """However many descriptors a worker takes for the processes that it keeps."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    few, many, of_bot = map(int, done.stdout.split())
    assert few < 64
    assert many > 64
    assert of_bot == 512


LIMITED = """
import os, resource, select
resource.setrlimit(resource.RLIMIT_NOFILE, (512, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from referee.arena.process_cache import most_processes
from referee.bots.descriptors import raise_descriptor_limit
from referee.bots.process import BotProcess
few = most_processes()
raise_descriptor_limit(4096)
bot = BotProcess(("sh", "-c", "ulimit -Sn"))
bot.await_start(60)
select.select([bot.stdout], [], [])
print(few, most_processes(), os.read(bot.stdout, 100).decode())
bot.close()
"""
