"""The hall's process, spoken to as the coordinator does, with bots in other processes."""

from __future__ import annotations

import hashlib
import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import zmq

from referee.arena.happenings import HallTerms
from referee.arena.reception import ARRIVALS
from referee.bots.manifest import Bot
from referee.clock import read_clock
from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.daemon.orders import (
    Admit,
    CallOff,
    ChunkFailed,
    Close,
    Counters,
    Follow,
    GuestCame,
    GuestLeft,
    HallOrder,
    HallReport,
    Open,
    Opened,
    Play,
    hall_frame,
    read_hall_reports,
)
from referee.links.keys import KeyPair, new_keys
from referee.record import Record, encode_record
from referee.tournament.chunk import Batch, Chunk, Contestant, Done, Failed, Frames, Manner
from referee.tournament.telling import LiveBegan, LiveMoved
from referee.verifying import verify
from tests.loopback import own_address
from tests.waiting import PATIENCE_S, wait_for

TOKENS = {"a": "token of a", "b": "token of b"}
R = TypeVar("R", bound=HallReport)

BOT = """
import json, sys, time, zmq
settings = json.loads(sys.argv[1])
pause_s = settings.get("pause_s", 0)
socket = zmq.Context().socket(zmq.DEALER)
if "keys" in settings:
    socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = (
        key.encode() for key in settings["keys"]
    )
socket.connect(settings["endpoint"])
socket.send(json.dumps({"type": "hello", **settings["hello"]}).encode())
while True:
    message = json.loads(socket.recv())
    if message["type"] == "turn" and not settings.get("silent"):
        if pause_s:
            time.sleep(pause_s)
        socket.send(json.dumps({"id": message["id"], "move": message["legal"][0]}).encode())
    elif message["type"] == "ping":
        socket.send(b'{"type":"pong"}')
    elif message["type"] == "bye":
        print("bye", flush=True)
        break
"""


class Coordinator:
    """Gives orders and collects reports."""

    def __init__(self) -> None:
        self.child = Child("referee.daemon.hall", "hall", Journal(sys.stderr))
        self.frames = Frames()
        self.reports: list[HallReport] = []
        self.ended = False

    def give(self, order: HallOrder) -> None:
        self.child.send(hall_frame(order))

    def hear(self) -> None:
        select.select([self.child.fd], [], [], 0.05)
        data = self.child.read()
        if data is None:
            self.ended = True
        else:
            self.reports += read_hall_reports(self.frames, data)

    def until(self, holds: Callable[[], bool]) -> None:
        def look() -> bool:
            assert holds() or not self.ended, "the hall's process has ended"
            return holds()

        wait_for(look, lambda: f"it; what came: {self.reports[-5:]}", meanwhile=self.hear)

    def all(self, kind: type[R]) -> list[R]:
        return [report for report in self.reports if isinstance(report, kind)]

    def first(self, kind: type[R]) -> R:
        self.until(lambda: bool(self.all(kind)))
        return self.all(kind)[0]

    def records(self) -> list[Record]:
        rows = [row for batch in self.all(Batch) for row in batch.games]
        return [msgspec.msgpack.decode(row.record, type=Record) for row in rows]

    def played(self) -> int:
        return sum(len(batch.games) for batch in self.all(Batch))

    def here(self) -> list[str]:
        names = {came.name for came in self.all(GuestCame)}
        return sorted(names - {left.name for left in self.all(GuestLeft)})


@contextmanager
def coordinating(
    tokens: dict[str, str] | None = None,
    *,
    keys: dict[str, str] | None = None,
    secret: str | None = None,
) -> Iterator[Coordinator]:
    coordinator = Coordinator()
    try:
        coordinator.give(
            Open(
                endpoint=f"tcp://{own_address()}:0",
                secret=secret,
                admit=admit(TOKENS if tokens is None else tokens, keys),
                terms=HallTerms(away_ms=300),
            )
        )
        yield coordinator
    finally:
        coordinator.child.close(5)


def admit(tokens: dict[str, str], keys: dict[str, str] | None = None) -> Admit:
    hashed = {hashlib.sha256(token.encode()).hexdigest(): name for name, token in tokens.items()}
    return Admit(keys=keys or {}, tokens=hashed)


@contextmanager
def bots(*settings: dict[str, Any]) -> Iterator[list[subprocess.Popen[bytes]]]:
    with ExitStack() as stack:
        processes = []
        for each in settings:
            command = [sys.executable, "-c", BOT, json.dumps(each)]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
            stack.callback(process.kill)
            processes.append(process)
        yield processes


def with_token(coordinator: Coordinator, name: str, **more: Any) -> dict[str, Any]:
    endpoint = coordinator.first(Opened).endpoint
    return {"endpoint": endpoint, "hello": {"name": name, "token": TOKENS[name]}, **more}


def chunk(
    number: int = 7, games: int = 6, variant: str = "underdog", budget_s: float = 60
) -> Chunk:
    manner = Manner(
        tournament="t",
        clock=read_clock("20s"),
        startup_ms=1000,
        warm_up_ms=0,
        think="in turn",
        at_once=4,
    )
    first, second = (
        Contestant(1, Bot(name="a v1", command=("a",))),
        Contestant(2, Bot(name="b v3", command=("b",))),
    )
    return Chunk(
        id=number,
        pairing=12,
        variant=variant,
        options={},
        branch="seed/x",
        first=first,
        second=second,
        numbers=((1, games),),
        own_chance=True,
        budget_s=budget_s,
        manner=manner,
    )


def play(coordinator: Coordinator, number: int = 7, **how: Any) -> Play:
    """An order for those who are there now."""
    last = {came.name: came.arrival for came in coordinator.all(GuestCame)}
    arrivals = (last.get("a", 0), last.get("b", 0))
    return Play(chunk=chunk(number, **how), guests=("a", "b"), arrivals=arrivals)


def test_a_chunk_is_played_and_reported() -> None:
    with coordinating() as coordinator:
        assert coordinator.first(Opened).public is None
        with bots(with_token(coordinator, "a"), with_token(coordinator, "b")):
            coordinator.until(lambda: coordinator.here() == ["a", "b"])
            came = coordinator.first(GuestCame)
            assert (came.hello.token, came.address) == (None, "127.0.0.1")
            coordinator.give(Follow(2))
            for number, variant in enumerate(("underdog", "deck"), start=7):
                coordinator.give(play(coordinator, number, variant=variant))
            coordinator.until(lambda: len(coordinator.all(Done)) == 2)
            records = coordinator.records()
            assert len(records) == 12
            assert {record.ending for record in records} == {"rules"}
            assert verify(encode_record(record) + b"\n" for record in records).mismatches == []
            assert {record.players for record in records} == {("a v1", "b v3"), ("b v3", "a v1")}
            assert {record.game for record in records} == {f"12-{number}" for number in range(1, 7)}
            decks = [record for record in records if record.variant == "deck"]
            assert len({str(record.chance[0]) for record in decks}) == 6
            for kind in (LiveBegan, LiveMoved):
                assert any(isinstance(report, kind) for report in coordinator.reports)
            counters = coordinator.first(Counters)
            coordinator.until(lambda: coordinator.all(Counters)[-1].answers > 0)
            assert counters.refused == {}
            assert coordinator.all(Counters)[-1].connected == 2


def test_whoever_takes_a_name_over_does_not_play_for_it() -> None:
    with coordinating() as coordinator:
        a, b = with_token(coordinator, "a"), with_token(coordinator, "b")
        with bots(a, b):
            coordinator.until(lambda: coordinator.here() == ["a", "b"])
            order = play(coordinator)
            other = {**a, "hello": {**a["hello"], "version": "2"}}
            with bots(other):
                coordinator.until(lambda: len(coordinator.all(GuestCame)) == 3)
                coordinator.give(order)
                coordinator.first(Done)
                assert coordinator.records() == []
                coordinator.give(play(coordinator, 8))
                coordinator.until(lambda: len(coordinator.all(Done)) == 2)
                assert len(coordinator.records()) == 6


def test_a_flood_of_hellos_under_one_name() -> None:
    hellos = 0
    with (
        coordinating({**TOKENS, "c": "token of c"}) as coordinator,
        # They leave the processor to the hall, and never come to the end of their games.
        bots(*(with_token(coordinator, name, pause_s=0.02) for name in TOKENS)),
        zmq.Context() as context,
        ExitStack() as connections,
    ):
        coordinator.until(lambda: coordinator.here() == ["a", "b"])
        coordinator.give(play(coordinator, games=100_000, budget_s=10 * PATIENCE_S))
        coordinator.until(lambda: coordinator.played() > 0)
        began = time.monotonic()

        def hello(version: str) -> None:
            dealer = connections.enter_context(context.socket(zmq.DEALER))
            dealer.linger = 0
            dealer.connect(coordinator.first(Opened).endpoint)
            said = {"type": "hello", "token": "token of c", "version": version}
            dealer.send(json.dumps(said).encode())

        def arrived() -> list[GuestCame]:
            return [came for came in coordinator.all(GuestCame) if came.name == "c"]

        def heard() -> int:
            dropped = [each.dropped.get("hello", 0) for each in coordinator.all(Counters)[-1:]]
            return len(arrived()) + sum(dropped)

        def may_have_arrived() -> float:
            """So many at most, in the time that has passed."""
            return ARRIVALS * (time.monotonic() - began + 1)

        def is_a_flood() -> bool:
            """Whether the hall has heard more hellos than may have arrived; there are more where it
            was so slow that it has not."""
            nonlocal hellos
            # The last one of them may still wait for its turn.
            if heard() < hellos - 1:
                return False
            if hellos > may_have_arrived():
                return True
            for _ in range(100):
                hello("ab"[hellos % 2])
                hellos += 1
            return False

        coordinator.until(is_a_flood)
        assert len(arrived()) <= may_have_arrived()
        hello("newest")
        coordinator.until(lambda: arrived()[-1].hello.version == "newest")
        assert len(arrived()) <= may_have_arrived()
        played = coordinator.played()
        coordinator.until(lambda: coordinator.played() > played)
        assert {left.name for left in coordinator.all(GuestLeft)} == {"c"}


def test_closing_says_bye_and_ends() -> None:
    with coordinating() as coordinator:
        silent = with_token(coordinator, "b", silent=True)
        with bots(with_token(coordinator, "a"), silent) as processes:
            coordinator.until(lambda: coordinator.here() == ["a", "b"])
            coordinator.give(play(coordinator))
            coordinator.until(lambda: coordinator.all(Counters)[-1:] != [])
            coordinator.give(Close(0.1))
            coordinator.first(Done)
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == b"bye\n"
            assert coordinator.records() == []
            while not coordinator.ended:
                coordinator.hear()
            assert coordinator.child.process.wait(PATIENCE_S) == 0


def test_the_process_ends_with_its_input() -> None:
    with coordinating() as coordinator:
        coordinator.first(Opened)
        coordinator.child.end_input()
        assert coordinator.child.process.wait(PATIENCE_S) == 0


def test_keys_and_names() -> None:
    ann, server = new_keys(), new_keys()
    with coordinating(keys={ann.public: "a"}, secret=server.secret) as coordinator:
        opened = coordinator.first(Opened)
        assert opened.public == server.public

        def with_key(keys: KeyPair, name: str) -> dict[str, Any]:
            told = [keys.public, keys.secret, server.public]
            return {"endpoint": opened.endpoint, "hello": {"name": name}, "keys": told}

        with bots(with_key(ann, "a"), with_key(new_keys(), "a"), with_key(ann, "b")):
            coordinator.until(lambda: coordinator.here() == ["a"])
            coordinator.until(
                lambda: any(
                    {"unknown key", "name"} <= set(each.refused)
                    for each in coordinator.all(Counters)
                )
            )
            coordinator.give(admit({}))
            left = coordinator.first(GuestLeft)
            assert (left.name, left.why) == ("a", "a may not stay: its key or token was withdrawn")


def test_a_killed_guest_and_a_chunk_that_is_left() -> None:
    with coordinating() as coordinator:
        silent = with_token(coordinator, "b", silent=True)
        with bots(with_token(coordinator, "a"), silent) as (_, bad):
            coordinator.until(lambda: coordinator.here() == ["a", "b"])
            coordinator.give(play(coordinator))
            coordinator.until(
                lambda: any(each.open_games == 1 for each in coordinator.all(Counters))
            )
            bad.kill()
            coordinator.first(Done)
            (record,) = coordinator.records()
            assert (record.ending, record.winner) == ("crash", 0)
            coordinator.until(lambda: coordinator.here() == ["a"])
            # A chunk with somebody who is not there is done at once, with nothing played.
            coordinator.give(play(coordinator, 8))
            coordinator.until(lambda: len(coordinator.all(Done)) == 2)
            assert len(coordinator.records()) == 1


def test_a_chunk_can_be_called_off_or_runs_out_of_time() -> None:
    with (
        coordinating() as coordinator,
        bots(with_token(coordinator, "a"), with_token(coordinator, "b")),
    ):
        coordinator.until(lambda: coordinator.here() == ["a", "b"])
        coordinator.give(play(coordinator, 7, games=20_000, budget_s=0.2))
        coordinator.until(lambda: len(coordinator.all(Done)) == 1)
        played = coordinator.played()
        assert 0 < played < 20_000
        coordinator.give(play(coordinator, 8, games=20_000))
        coordinator.until(lambda: coordinator.played() > played)
        coordinator.give(CallOff(8))
        coordinator.until(lambda: len(coordinator.all(Done)) == 2)


def test_a_variant_that_cannot_be_had_fails_its_chunk_alone(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("print('hello')\nraise SystemExit(3)\n")
    with (
        coordinating() as coordinator,
        bots(with_token(coordinator, "a"), with_token(coordinator, "b")),
    ):
        coordinator.until(lambda: coordinator.here() == ["a", "b"])
        coordinator.give(play(coordinator, 7, variant=str(script)))
        failed = coordinator.first(ChunkFailed)
        assert failed.chunk == 7
        coordinator.give(play(coordinator, 8))
        coordinator.first(Done)


def test_an_endpoint_in_use_is_told() -> None:
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.ROUTER)
    here = own_address()
    port = socket.bind_to_random_port(f"tcp://{here}")
    coordinator = Coordinator()
    try:
        endpoint = f"tcp://{here}:{port}"
        coordinator.give(Open(endpoint=endpoint, secret=None, admit=admit({})))
        failed = coordinator.first(Failed)
        assert failed.why == f"cannot listen on {endpoint}: address already in use"
        assert coordinator.child.process.wait(PATIENCE_S) == 1
    finally:
        coordinator.child.close(5)
        socket.close(0)
