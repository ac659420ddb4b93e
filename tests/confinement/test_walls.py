"""What a confined bot sees, has and keeps, in real games."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits
from referee.bots.manifest import Bot, find_bot
from referee.match import BadMatch, play_match
from referee.record import Record
from tests.confinement.offered import a_bot, confined, walls
from tests.facts import Naming
from tests.hostile.pace import PACE


def notes(bot: Bot, confinement: Confinement = confined) -> list[str]:
    """What the bot says in a game against an honest one."""
    records: list[Record] = []
    play_match(
        *(bot, find_bot("highest")),
        games=2,
        at_once=1,
        time="30s",
        confinement=confinement,
        on_record=records.append,
    )
    assert [record.fault for record in records] == [None, None]
    assert {record.level for record in records} == {confinement.level.value}
    return [note for record in records for note in record.notes.values()]


@walls
def test_its_environment_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_REFEREE", "xyzzy")
    look = """
everything = open("/proc/self/environ").read() + str(os.environ) + str(os.listdir("/proc/1"))
return "told" if "xyzzy" in everything else ",".join(sorted(os.environ))
"""
    bot = replace(a_bot(tmp_path / "b", look), env={"MINE": "1"})
    assert notes(bot)[0] == "HOME,JDK_JAVA_OPTIONS,LANG,MINE,PATH,PWD"


@walls
def test_it_sees_its_folder_and_not_where_that_lies(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    look = f"""
places = ({str(tmp_path)!r}, "/home", "/root", "/sys", "/var")
seen = [path for path in places if os.path.exists(path)]
return os.getcwd() + " " + ",".join(sorted(os.listdir("."))) + " " + ",".join(seen)
"""
    assert notes(a_bot(tmp_path / "b", look))[0] == "/bot bot.py,bot.toml "


@walls
def test_a_command_line_sees_the_files_that_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    a_bot(folder, "return ','.join(sorted(os.listdir(os.path.dirname(sys.argv[0]))))")
    (folder / "other").write_text("x")
    bot = find_bot(f"b=python3 {folder / 'bot.py'}")
    assert notes(bot)[0] == "bot.py"


@walls
@pytest.mark.skipif(os.getuid() != 0, reason="root alone can hide files from the user of bots")
def test_what_its_user_may_not_read_is_seen_all_the_same(tmp_path: Path) -> None:
    bot = a_bot(tmp_path / "b", "return open('closed').read()")
    closed = tmp_path / "b" / "closed"
    closed.write_text("for the bot")
    closed.chmod(0o600)
    assert notes(find_bot(str(tmp_path / "b")))[0] == "for the bot"
    assert bot.folder is not None
    assert closed.stat().st_mode & 0o777 == 0o600


@walls
def test_a_second_process_is_for_those_who_ask_for_it(tmp_path: Path) -> None:
    fork = """
import subprocess
try:
    return subprocess.run(["echo", "hi"], capture_output=True, text=True).stdout.strip()
except PermissionError:
    return "refused"
"""
    alone = Confinement(level=Level.STANDARD)
    assert set(notes(a_bot(tmp_path / "one", fork), alone)) == {"refused"}
    assert set(notes(a_bot(tmp_path / "more", fork, processes=4), alone)) == {"hi"}


@walls
def test_a_manifest_that_can_do_with_less_gets_less(tmp_path: Path) -> None:
    fill = """
try:
    return str(len(bytearray(100 << 20)))
except MemoryError:
    return "refused"
"""
    assert notes(a_bot(tmp_path / "much", fill))[0] == str(100 << 20)
    assert notes(a_bot(tmp_path / "less", fill, limits='{memory = "64M"}'))[0] == "refused"


def test_freezing_needs_walls_and_turns() -> None:
    for confinement, think, told in (
        (Confinement(freeze=True), "in turn", "level none does not confine them"),
        (Confinement(level=Level.STANDARD, freeze=True), "parallel", "think in turn"),
    ):
        with pytest.raises(BadMatch, match=told):
            play_match("highest", "random", confinement=confinement, think=think)  # type: ignore[arg-type]


@walls
def test_what_it_may_send_in_a_turn_is_a_limit(tmp_path: Path) -> None:
    murmur = "sys.stdout.write(' ' * 20_000 + '\\n'); return ''"
    records: list[Record] = []
    play_match(
        *(a_bot(tmp_path / "b", murmur), "highest"),
        games=2,
        confinement=replace(confined, limits=Limits(turn=10_000)),
        on_record=records.append,
    )
    fault = records[0].fault
    assert fault is not None
    assert fault.code == "flood"
    assert fault.detail == Naming(10_000, "last turn")


@walls
def test_the_time_of_a_move_and_what_of_it_was_cpu(tmp_path: Path) -> None:
    burn = """
import time
end = time.process_time() + 0.03
while time.process_time() < end:
    pass
time.sleep(0.05)
return ""
"""
    records: list[Record] = []
    play_match(
        *(a_bot(tmp_path / "burns", burn), "highest"),
        games=2,
        at_once=1,
        time="5s",
        confinement=confined,
        on_record=records.append,
    )
    for record in records:
        assert len(record.cpu_us) == len(record.moves)
        seat = record.players.index("burns")
        for (who, _), spent, cpu in zip(record.moves, record.spent_us, record.cpu_us, strict=True):
            if who == seat:
                # Some machines count CPU time in ticks of 10 ms.
                assert 20_000 <= cpu <= spent - 30_000


@walls
def test_a_confined_bot_leaves_as_soon_as_it_is_told(tmp_path: Path) -> None:
    """It stands still, and still hears that the games are over: who is killed says nothing more."""
    goodbye = """
if not hasattr(told, "asked"):
    import atexit
    told.asked = True
    atexit.register(lambda: print("I am off", file=sys.stderr))
return ""
"""
    play_match(
        *(a_bot(tmp_path / "b", goodbye), "highest"),
        games=2,
        at_once=1,
        time="30s",
        confinement=replace(confined, freeze=True),
        logs=tmp_path / "logs",
    )
    assert "I am off" in (tmp_path / "logs/b.stderr.txt").read_text()


@walls
@pytest.mark.parametrize(
    "env",
    [
        {"LD_PRELOAD": "/bot/evil.so"},
        {"PYTHONPATH": "/bot", "PYTHONSTARTUP": "/bot/bot.py", "PATH": "/bot:/usr/bin:/bin"},
    ],
)
def test_its_variables_reach_nothing_outside(tmp_path: Path, env: dict[str, str]) -> None:
    """A loader that reads them outside the walls would do as a stranger says, as the referee."""
    tmp_path.chmod(0o777)
    bot = a_bot(tmp_path / "b", "return os.environ['MINE']")
    assert notes(replace(bot, env={**env, "MINE": "a b\n$(c)"}))[0] == "a b\n$(c)"
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@walls
def test_no_loader_outside_writes_where_it_says(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    env = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{tmp_path}/written"}
    bot = replace(a_bot(tmp_path / "b", "return ''"), env=env)
    play_match(bot, "highest", games=2, confinement=confined)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@walls
def test_a_bot_whose_loader_fails_is_to_blame_itself(tmp_path: Path) -> None:
    bot = replace(a_bot(tmp_path / "b", "return ''"), env={"PATH": "/nowhere"})
    result = play_match(bot, "highest", games=2, confinement=confined)
    assert set(result.fault_counts["b"]) == {"no_start"}


@walls
def test_it_cannot_wake_itself_nor_leave_its_core(tmp_path: Path) -> None:
    look = """
import ctypes, fcntl, socket
tried = []
libc = ctypes.CDLL(None, use_errno=True)
timer = ctypes.c_void_p()
tried.append(libc.timer_create(1, None, ctypes.byref(timer)))
for attempt in (
    lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    lambda: fcntl.fcntl(0, 10, 18),
    lambda: fcntl.lockf(open("/tmp/x", "w"), fcntl.LOCK_EX),
    lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
):
    try:
        attempt()
        tried.append("done")
    except OSError:
        tried.append("refused")
return str(tried)
"""
    alone = Confinement(level=Level.STANDARD)
    assert notes(a_bot(tmp_path / "b", look), alone)[0] == str([-1, *["refused"] * 5])


@walls
@pytest.mark.parametrize(("asks", "limit"), [(2, 64), (8, 2)])
def test_two_processes_are_a_bot_and_its_child(tmp_path: Path, asks: int, limit: int) -> None:
    """What stands behind the walls besides is not the bot's, and is not counted as its own."""
    fork = """
def child():
    pid = os.fork()
    if pid == 0:
        import time
        time.sleep(600)
    return pid
import signal
children = []
try:
    while len(children) < 4:
        children.append(child())
except OSError:
    pass
for pid in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
return str(len(children))
"""
    confinement = replace(confined, limits=Limits(processes=limit))
    assert set(notes(a_bot(tmp_path / "b", fork, processes=asks), confinement)) == {"1"}


FORKED = """
import time
if not hasattr(told, "mine"):
    told.mine = bytearray(48 << 20)
    def fill(byte):
        for at in range(0, len(told.mine), 4096):
            told.mine[at] = byte
    fill(1)
    for each in range(3):
        if os.fork() == 0:
            if {own}:
                fill(2)
            time.sleep(600)
    time.sleep({stay})
return "lives"
"""
STAY_S = 0.6 * PACE
"""For a look at its memory."""
LONG_S = 30
"""For its children to fill what they have, page by page: it is killed before that is over."""


@walls
def test_memory_that_forks_share_is_counted_once(tmp_path: Path) -> None:
    sharing = a_bot(tmp_path / "b", FORKED.format(own=False, stay=STAY_S), processes=4)
    level = Confinement(level=Level.STANDARD, limits=Limits(memory=96 << 20))
    assert set(notes(sharing, level)) == {"lives"}


@walls
def test_the_limit_on_memory_is_for_all_processes_together(tmp_path: Path) -> None:
    copying = a_bot(tmp_path / "b", FORKED.format(own=True, stay=LONG_S), processes=4)
    level = Confinement(level=Level.STANDARD, limits=Limits(memory=96 << 20))
    records: list[Record] = []
    play_match(copying, "highest", games=2, confinement=level, on_record=records.append, time="60s")
    faults = [record.fault for record in records if record.fault is not None]
    assert [(fault.code, fault.detail) for fault in faults] == 2 * [
        ("crash", "the bot ran out of memory and was killed")
    ]


@walls
def test_what_the_kernel_counts_for_a_user_is_not_one_bots(tmp_path: Path) -> None:
    hoard = """
import ctypes, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
queued = 0
while queued < 5000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
    queued += 1
return f"{0 < queued <= 128} {libc.inotify_init1(0)} {libc.fanotify_init(0, 0)}"
"""
    assert notes(a_bot(tmp_path / "b", hoard))[0] == "True -1 -1"
