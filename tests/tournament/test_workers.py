"""Real worker processes: what goes in, what comes out, and what is left when one is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from referee.arena.player import Player, Upkeep
from referee.arena.process_cache import ProcessCache
from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot, find_bot
from referee.clock import Clock
from referee.record import Record
from referee.schedule import pairing_games
from referee.store.buckets import bucket_of
from referee.tournament import worker
from referee.tournament.chunk import (
    Batch,
    Call,
    Called,
    Chunk,
    Contestant,
    Done,
    Frames,
    Manner,
    Report,
    frame,
    read_order,
)
from referee.tournament.crew import LostWorker
from referee.tournament.workers import Workers
from tests.arena.playing import MARK, all_gone, bot, clocks_of, needs_another_core
from tests.confinement.offered import walls
from tests.waiting import PATIENCE_S, wait_for

ROOT = Path(__file__).parents[2]
MANNER = Manner(
    tournament="t",
    clock=Clock(move_ms=1000),
    startup_ms=10_000,
    warm_up_ms=1000,
    think="in turn",
    at_once=64,
)


def chunk(games: int, *, variant: str = "underdog", **more: object) -> Chunk:
    first, second = find_bot("highest"), find_bot("random")
    given: dict[str, object] = {
        "id": 5,
        "pairing": 3,
        "variant": variant,
        "options": {},
        "branch": f"seed/{variant}/highest/random",
        "first": Contestant(1, first),
        "second": Contestant(2, second),
        "numbers": ((1, games),),
        "own_chance": False,
        "budget_s": 60.0,
        "manner": MANNER,
    }
    return msgspec.convert({**given, **more}, Chunk, from_attributes=True)


@pytest.fixture
def workers() -> Iterator[Workers]:
    crew = Workers(1)
    try:
        yield crew
    finally:
        crew.close()


def reports(workers: Workers) -> list[Report]:
    """All that the one worker says until it is done."""
    said: list[Report] = []

    def hear() -> None:
        for _, heard in workers.hear(0.1):
            assert not isinstance(heard, LostWorker), heard
            said.extend(heard)

    wait_for(
        lambda: said and isinstance(said[-1], Done | Called), "the worker's end", meanwhile=hear
    )
    return said


def records(said: list[Report]) -> dict[int, Record]:
    decoder = msgspec.msgpack.Decoder(Record)
    rows = [row for report in said if isinstance(report, Batch) for row in report.games]
    return {row.number: decoder.decode(row.record) for row in rows}


def test_a_chunk_is_played(workers: Workers) -> None:
    workers.idle()[0].give(chunk(200))
    said = reports(workers)
    done = said[-1]
    assert isinstance(done, Done)
    assert (done.chunk, done.errors) == (5, {})
    played = records(said)
    assert sorted(played) == list(range(1, 201))
    orders = pairing_games("seed", "underdog", "highest", "random", 200, hidden_chance=False)
    for order in orders:
        record = played[int(order.game)]
        assert (record.game, record.bot_seeds) == (f"3-{order.game}", order.bot_seeds)
        assert record.players == (("random", "highest") if order.swapped else ("highest", "random"))
    rows = [row for report in said if isinstance(report, Batch) for row in report.games]
    for row in rows:
        seats = (2, 1) if row.number % 2 == 0 else (1, 2)
        assert (row.pairing, row.first, row.second) == (3, *seats)
        record = played[row.number]
        assert row.points == (1 if record.winner is None else 2 - 2 * record.winner)
    spent = Counter(
        (row.first if seat == 0 else row.second, bucket_of(us))
        for row in rows
        for (seat, _), us in zip(played[row.number].moves, played[row.number].spent_us, strict=True)
    )
    counted: Counter[tuple[int, int]] = Counter()
    for report in said:
        for pairing, id, moves in report.times if isinstance(report, Batch) else ():
            assert pairing == 3
            counted.update({(id, bucket): times for bucket, times in moves.items()})
    assert counted == spent
    assert all(
        (a.digest == b.digest) == (played[a.number].moves == played[b.number].moves)
        for a in rows[:50]
        for b in rows[:50]
    )


def test_what_the_time_does_not_allow_is_left(workers: Workers) -> None:
    workers.idle()[0].give(chunk(100_000, budget_s=0.05))
    said = reports(workers)
    done = said[-1]
    assert isinstance(done, Done)
    played = set(records(said))
    assert 64 <= len(played) < 100_000, "the games of a minute are not played in a moment"
    assert played <= set(range(1, 100_001))


def test_a_bot_that_is_out_loses_without_being_started(workers: Workers, tmp_path: Path) -> None:
    told = tmp_path / "started"
    spy = Bot(name="spy", command=("touch", str(told)), folder=tmp_path)
    workers.idle()[0].give(chunk(4, first=Contestant(1, spy, out=True)))
    played = records(reports(workers))
    assert [(r.ending, r.players[r.at_fault[0]]) for r in played.values()] == [
        ("forfeit", "spy")
    ] * 4
    assert not told.exists()


def test_hidden_luck_is_played_in_legs(workers: Workers) -> None:
    workers.idle()[0].give(chunk(6, variant="deck"))
    played = records(reports(workers))
    assert sorted(played) == [1, 2, 3, 4, 5, 6]
    assert all(played[n].chance == played[n + 1].chance for n in (1, 3, 5))
    first_leg = max(played[n].started for n in (1, 3, 5))
    second_leg = min(played[n].started for n in (2, 4, 6))
    assert first_leg <= second_leg


def test_stalls_are_counted_from_chunk_to_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that stops the referee whenever it is late is excused for a while, and then not."""
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    bad, good = bot("stopping", mark), bot("slow", 0.2, 0.2, name="good")
    manner = structs.replace(MANNER, clock=Clock(move_ms=500), warm_up_ms=0)
    endings: list[str] = []
    crew = Workers(1)
    try:
        (worker,) = crew.idle()
        while "timeout" not in endings and len(endings) < 20:
            number = len(endings) + 1
            order = structs.replace(chunk(1), numbers=((number, number),), manner=manner)
            worker.give(
                structs.replace(order, first=Contestant(1, bad), second=Contestant(2, good))
            )
            (record,) = records(reports(crew)).values()
            late = [record.players[seat] for seat in record.at_fault]
            # On a slow machine an honest bot may be late, too.
            endings.append("" if good.name in late else record.ending)
    finally:
        crew.close()
    assert "host_stall" in endings
    assert "timeout" in endings
    all_gone(mark)


def burning(folder: Path, confinement: Confinement) -> Bot:
    """It takes 0.8 s for an answer, and its children burn the core."""
    for name in ("__init__.py", "bots/__init__.py", "bots/base.py", "bots/burning.py"):
        copy = folder / "tests" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / name, copy)
    words = ("python3", "-m", "tests.bots.burning", "0.8")
    env = {"PYTHONPATH": str(folder) if confinement.level is Level.NONE else "/bot"}
    bad = Bot(name="bad", command=words, folder=folder, env=env, processes=60)
    return built(bad, confinement)


@needs_another_core
@pytest.mark.parametrize("level", [Level.NONE, pytest.param(Level.STANDARD, marks=walls)])
def test_children_that_burn_the_core_are_excused_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, level: Level
) -> None:
    """The worker keeps its clock on another core from chunk to chunk, and it ends with the worker.

    On a machine that is busy the other core may be late in a game, too, but not in all of them.
    """
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # Other workers of this machine have its cores.
    confinement = Confinement(level=level, freeze=level is not Level.NONE)
    bad, good = burning(tmp_path / "bad", confinement), built(find_bot("random"), confinement)
    terms = {"clock": Clock(move_ms=500), "warm_up_ms": 0, "confinement": confinement}
    order = structs.replace(
        chunk(1),
        manner=structs.replace(MANNER, **terms),
        first=Contestant(1, bad),
        second=Contestant(2, good),
    )
    ends: list[tuple[list[str], str, int]] = []
    clocks: set[int] = set()
    lost = (["bad"], "timeout", 1)
    crew = Workers(1)
    try:
        (worker,) = crew.idle()
        for number in range(1, 21):
            had_a_clock = bool(clocks)
            worker.give(structs.replace(order, numbers=((number, number),)))
            (record,) = records(reports(crew)).values()
            clocks.update(clocks_of(worker.process.pid))
            late = [record.players[seat] for seat in record.at_fault]
            ends.append((late, record.ending, record.attempt))
            if had_a_clock and ends[-1] == lost:
                break
        assert len(clocks) == 1
        assert clocks_of(worker.process.pid) == [*clocks]
        assert lost in ends[1:], ends
        worker.process.kill()
        all_gone(mark)
    finally:
        crew.close()


@pytest.mark.parametrize(
    ("command", "trouble"),
    [
        (("true",), "no_start"),
        (("no-such-command",), "no_start"),
        (("sh", "-c", "echo what; exec sleep 60"), "no_hello"),
        (None, None),
    ],
)
def test_a_call(workers: Workers, command: tuple[str, ...] | None, trouble: str | None) -> None:
    bot = find_bot("random") if command is None else Bot(name="odd", command=command)
    workers.idle()[0].give(Call(contestant=Contestant(7, bot), manner=MANNER))
    (called,) = reports(workers)
    assert isinstance(called, Called)
    assert called.id == 7
    if trouble is None:
        assert called.trouble is None
    else:
        assert called.trouble is not None
        assert called.trouble.startswith(trouble)


def test_a_worker_that_is_killed_is_replaced_and_leaves_no_bot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    crew = Workers(1)
    try:
        (worker,) = crew.idle()
        worker.give(chunk(1_000_000))
        while not any(crew.hear(0.1)):
            pass
        os.kill(worker.process.pid, signal.SIGKILL)
        lost: list[LostWorker] = []
        while not lost:
            lost = [said for _, said in crew.hear(0.1) if isinstance(said, LostWorker)]
        assert "signal 9" in str(lost[0])
        (other,) = crew.idle()
        assert other.process.pid != worker.process.pid
        other.give(chunk(2))
        assert sorted(records(reports(crew))) == [1, 2]
    finally:
        crew.close()
    all_gone(mark)


def test_a_worker_that_dies_before_its_order_is_heard_of(workers: Workers) -> None:
    (worker,) = workers.idle()
    worker.process.kill()
    worker.process.wait()
    worker.give(chunk(2))
    lost = [said for _, said in workers.hear(PATIENCE_S)]
    assert [type(said) for said in lost] == [LostWorker]
    workers.idle()[0].give(chunk(2))
    assert sorted(records(reports(workers))) == [1, 2]


def test_a_worker_imports_nothing_from_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('not me')")
    monkeypatch.chdir(tmp_path)
    crew = Workers(1)
    try:
        crew.idle()[0].give(chunk(2))
        assert sorted(records(reports(crew))) == [1, 2]
    finally:
        crew.close()


def test_a_worker_ends_when_its_coordinator_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    code = (
        "import sys, time; from tests.tournament.test_workers import chunk;"
        "from referee.tournament.workers import Workers;"
        "crew = Workers(2); [w.give(chunk(1_000_000)) for w in crew.idle()];"
        "next(crew.hear(60)); print('playing', flush=True); time.sleep(600)"
    )
    coordinator = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert coordinator.stdout is not None
    assert coordinator.stdout.readline() == b"playing\n"
    coordinator.kill()
    coordinator.wait()
    coordinator.stdout.close()
    all_gone(mark)


def test_frames_however_the_bytes_are_cut() -> None:
    orders = [chunk(2), chunk(4, id=6), chunk(6, id=7)]
    data = b"".join(map(frame, orders))
    for size in (1, 3, 7, 100, len(data)):
        frames = Frames()
        bodies = [
            body
            for start in range(0, len(data), size)
            for body in frames.feed(data[start : start + size])
        ]
        assert [read_order(body) for body in bodies] == orders


def test_a_worker_without_orders_keeps_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "IDLE_S", 0.01)
    cache = ProcessCache()
    bot = find_bot("highest")
    player = Player(0, bot, Upkeep(startup_ms=60_000, cache=cache))
    player.start()
    player.keep_or_leave()
    assert bot in cache
    orders = worker.OrderQueue()
    heard: list[object] = []
    waiting = threading.Thread(target=lambda: heard.append(orders.get(cache.close)))
    waiting.start()
    wait_for(lambda: bot not in cache, "the end of what was kept")
    order = Call(contestant=Contestant(1, bot), manner=MANNER)
    orders.put(order)
    waiting.join(PATIENCE_S)
    assert heard == [order]
