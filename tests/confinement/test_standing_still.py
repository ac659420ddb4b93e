"""While one bot thinks, the other one stands still, whatever it is made of."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.arena.player import Player
from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot, read_bot
from referee.bots.process import NO_STOPPER, RAN_ON, BotProcess
from referee.bots.starting import start_bot
from referee.match import play_match
from referee.record import Record
from referee.tournament.confining import at_level, confinement_of
from referee.tournament.spec import BadSpec, Spec
from tests.confinement.burning import CHILDREN, burner, slow, used_between_turns
from tests.confinement.offered import LEVELS, a_bot, walls
from tests.waiting import wait_for

HOPPERS = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
def hop():
    while True:
        for _ in range(100):
            sum(range(1000))
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass
for _ in range(10):
    if os.fork() == 0:
        hop()
"""
COPIERS = """
import ctypes, threading
mmap = ctypes.CDLL(None).mmap
mmap.restype, mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_long] * 5]
READ, PRIVATE_ANONYMOUS_UNRESERVED = 1, 0x4022
zeros = mmap(None, 2 << 30, READ, PRIVATE_ANONYMOUS_UNRESERVED, -1, 0)
memory, page = os.open("/proc/self/mem", os.O_RDONLY), bytearray(1 << 20)
begin, began = os.pipe()
def copy():
    os.read(begin, 1)
    while True:
        os.preadv(memory, [page] * 1000, zeros)
"""
"""One call copies a gigabyte within the bot's own memory, and the kernel does not look up."""
IN_THREADS = "for _ in range(60): threading.Thread(target=copy, daemon=True).start()"
IN_CHILDREN = "for _ in range(35): os.fork() or copy()"


def burned(bot: Bot, other: Bot, confinement: Confinement) -> float:
    """CPU seconds that a bot used while the other one slept over its moves."""
    records: list[Record] = []
    play_match(
        *(bot, other),
        games=2,
        variant="difference",
        time="60s",
        at_once=1,
        confinement=confinement,
        on_record=records.append,
    )
    assert [record.fault for record in records] == [None, None]
    return used_between_turns(records, bot.name)


@walls
@pytest.mark.parametrize("level", LEVELS)
def test_children_do_not_burn_while_the_other_bot_thinks(tmp_path: Path, level: Level) -> None:
    """Threads are in the hostile cases."""
    bots = burner(tmp_path / "burns"), slow(tmp_path / "slow")
    free, frozen = (
        burned(*bots, Confinement(level=level, freeze=freeze)) for freeze in (False, True)
    )
    assert frozen < free / 2, (frozen, free)


STARTED_SLOWLY = "import time\ntime.sleep(0.5)\n"
BURNS_UNTIL_ASKED = """
import threading
asked = threading.Event()
def burn():
    while not asked.is_set():
        pass
threading.Thread(target=burn, daemon=True).start()
"""


@walls
@pytest.mark.parametrize("level", LEVELS)
def test_who_is_up_stands_still_while_the_other_one_starts(tmp_path: Path, level: Level) -> None:
    """Else it could make its opponent start too late, and win by that."""
    folders = tmp_path / "burns", tmp_path / "starts"
    bots = a_bot(folders[0], "asked.set(); return ''"), a_bot(folders[1], "return ''")
    for folder, first in zip(folders, (BURNS_UNTIL_ASKED, STARTED_SLOWLY), strict=True):
        script = folder / "bot.py"
        script.write_text(first + script.read_text())
    burned = {}
    for freeze in (False, True):
        records: list[Record] = []
        play_match(
            *map(read_bot, folders),
            games=1,
            variant="difference",
            time="60s",
            at_once=1,
            confinement=Confinement(level=level, freeze=freeze),
            on_record=records.append,
        )
        (record,) = records
        assert record.fault is None
        first_move = [mover for mover, _ in record.moves].index(record.players.index(bots[0].name))
        burned[freeze] = (record.cpu_us or [])[first_move]
    assert burned[True] < burned[False] / 2, burned


THINKS = """
import time
began = time.monotonic()
time.sleep(0.3)
return str(time.monotonic() - began)
"""
"""Its note is how long it thought."""


@walls
@pytest.mark.parametrize("processes", [1, 2])
def test_a_look_at_the_other_bot_buys_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """A look may give the core away. A bot of one process that waits meanwhile is not charged with
    that; one of several may have children, which nobody counts, and they may have the core."""
    monkeypatch.setattr(Player, "look_at_rest", lambda _: time.sleep(0.05))
    thinks = a_bot(tmp_path / "thinks", THINKS, processes=processes)
    records: list[Record] = []
    play_match(
        *(thinks, a_bot(tmp_path / "moves", "return ''")),
        games=1,
        variant="difference",
        options={"size": 2},
        time="60s",
        at_once=1,
        confinement=Confinement(level=Level.STANDARD, freeze=True),
        on_record=records.append,
    )
    (record,) = records
    assert record.fault is None
    seat = record.players.index("thinks")
    turns = [place for place, (mover, _) in enumerate(record.moves) if mover == seat]
    thought_s = sum(float(record.notes[str(place)]) for place in turns)
    charged_s = sum(record.spent_us[place] for place in turns) / 10**6
    assert (charged_s > thought_s / 2) is (processes > 1), (charged_s, thought_s)


def stopped(pids: list[int]) -> bool:
    for pid in pids:
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            continue
        if stat.rpartition(b")")[2].split()[0] not in (b"T", b"Z", b"X"):
            return False
    return True


def heard(process: BotProcess) -> str:
    try:
        return os.read(process.stdout, 1000).decode()
    except BlockingIOError:
        return ""


def in_namespace_of(bot: int, ours: int) -> list[int]:
    """Every process in the bot's PID namespace but its first, which is bubblewrap's, and ours."""
    space = Path(f"/proc/{bot}/ns/pid").readlink()
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                if (path / "ns/pid").readlink() == space and not is_first(path):
                    found.append(int(path.name))
            except OSError:
                continue
    return [pid for pid in found if pid != ours]


def is_first(process: Path) -> bool:
    """Whether its id is 1 where it runs. Outside the first one need not have the lowest id: the
    kernel begins again at the lowest when it has given out the highest."""
    fields = process.joinpath("status").read_text().partition("NSpid:")[2]
    return fields.partition("\n")[0].split()[-1] == "1"


def started(tmp_path: Path, trouble: str, processes: int = 40) -> BotProcess:
    """A confined bot of so many processes that makes trouble from its first moment on."""
    folder = tmp_path / "many"
    a_bot(folder, "return ''", processes=processes)
    code = (folder / "bot.py").read_text()
    (folder / "bot.py").write_text(f"import os, sys\n{trouble}\n{code}")
    frozen = Confinement(level=Level.STANDARD, freeze=True)
    process = start_bot(built(read_bot(folder), frozen), frozen)
    process.await_start(60)
    return process


@walls
@pytest.mark.parametrize("trouble", [CHILDREN, HOPPERS], ids=["children", "hoppers"])
def test_every_process_is_stopped_at_once(tmp_path: Path, trouble: str) -> None:
    """Children that are nobody's any more, and processes that fork and end all the time."""
    process = started(tmp_path, trouble)
    try:
        assert process.pid is not None
        assert process.stopper is not None
        bot, ours = process.pid, process.stopper.pid
        wait_for(lambda: len(in_namespace_of(bot, ours)) > 8, "the bot's processes")
        for _ in range(20):
            process.hold()
            # One that was about to end may wake its orphans; so the referee stops them again.
            wait_for(lambda: stopped(in_namespace_of(bot, ours)), "a stop", meanwhile=process.hold)
            assert in_namespace_of(bot, ours)
            process.release()
            wait_for(lambda: not stopped(in_namespace_of(bot, ours)), "the bot to go on")
    finally:
        process.close()


@walls
@pytest.mark.parametrize("harm", [signal.SIGKILL, signal.SIGSTOP])
def test_whoever_harms_its_stopper_is_ended(tmp_path: Path, harm: signal.Signals) -> None:
    process = started(tmp_path, "")
    try:
        assert process.stopper is not None
        os.kill(process.stopper.pid, harm)
        process.hold()
        assert process.how_it_ended(60) == NO_STOPPER
    finally:
        process.close()


@walls
@pytest.mark.parametrize(
    ("processes", "many"), [(1, IN_THREADS), (40, IN_CHILDREN)], ids=["threads", "children"]
)
def test_whoever_goes_on_within_the_kernel_is_ended(
    tmp_path: Path, processes: int, many: str
) -> None:
    """A stop takes effect where a thread leaves the kernel, and the other bot would share its core
    with dozens of threads until then."""
    process = started(tmp_path, f"{COPIERS}\n{many}\nos.write(began, bytes(60))", processes)

    def one_turn() -> None:
        process.hold()
        process.release()

    try:
        assert wait_for(process.how_it_ended, "its end", meanwhile=one_turn) == RAN_ON
    finally:
        process.close()


@walls
def test_the_stopper_tells_nothing(tmp_path: Path) -> None:
    """Its command line is the keeper's, with paths of this machine."""
    look = """
for name in os.listdir("/proc"):
    if name.isdigit() and name not in ("1", str(os.getpid())):
        with open(f"/proc/{name}/cmdline", "rb") as file:
            print(name, file.read().strip(bytes(1)), flush=True)
"""
    process = started(tmp_path, look)
    try:
        said = wait_for(lambda: heard(process), "what it sees")
        assert len(said.split()) == 2
        assert said.endswith("b''\n")
    finally:
        process.close()


@walls
def test_a_bot_sets_no_limits_of_other_processes(tmp_path: Path) -> None:
    """Process 1 is bubblewrap's, and its user the bot's, as that of the stopper can be."""
    attempt = """
import resource
resource.prlimit(0, resource.RLIMIT_NOFILE, resource.prlimit(0, resource.RLIMIT_NOFILE))
try:
    resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
except PermissionError:
    print("refused", flush=True)
"""
    process = started(tmp_path, attempt)
    try:
        assert wait_for(lambda: heard(process), "its word") == "refused\n"
    finally:
        process.close()


@walls
def test_a_bot_that_exits_takes_its_stopper_along(tmp_path: Path) -> None:
    process = started(tmp_path, "sys.exit(3)")
    try:
        assert process.exit_status(60) == 3
        assert process.how_it_ended() != NO_STOPPER
    finally:
        process.close()


@walls
def test_a_bot_that_exits_at_once_had_its_stopper(tmp_path: Path) -> None:
    """It runs once its keeper has all that it needs: else it would seem that it was not confined,
    which ends a whole tournament."""
    (tmp_path / "bot.toml").write_text('name = "b"\ncommand = ["false"]\nprocesses = 4\n', "utf-8")
    frozen = Confinement(level=Level.STANDARD, freeze=True)
    bot = built(read_bot(tmp_path), frozen)
    for _ in range(5):
        process = start_bot(bot, frozen)
        try:
            process.await_start(60)
            assert process.exit_status(60) == 1
        finally:
            process.close()


@pytest.mark.parametrize(
    ("level", "strangers", "think", "asked", "settled"),
    [
        (Level.STANDARD, True, "in-turn", None, True),
        (Level.FULL, True, "in-turn", None, True),
        (Level.STANDARD, False, "in-turn", None, False),
        (Level.STANDARD, True, "parallel", None, False),
        (Level.NONE, True, "in-turn", None, False),
        (Level.STANDARD, True, "in-turn", False, False),
        (Level.STANDARD, False, "in-turn", True, True),
    ],
)
def test_when_bots_stand_still_by_default(
    level: Level, strangers: bool, think: str, asked: bool | None, settled: bool
) -> None:
    spec = Spec(name="t", variants=("duel",), think=think, freeze=asked)  # type: ignore[arg-type]
    assert at_level(spec, level, strangers=strangers).freeze is settled


def test_what_is_not_settled_is_not_played() -> None:
    asked = Spec(name="t", variants=("duel",))
    for spec in (asked, replace(asked, sandbox="none"), replace(asked, freeze=False)):
        with pytest.raises(AssertionError, match="is not settled"):
            confinement_of(spec)


def test_without_walls_nobody_can_be_stopped() -> None:
    with pytest.raises(BadSpec):
        at_level(Spec(name="t", variants=("duel",), freeze=True), Level.NONE, strangers=True)
