"""A hall with guests on real sockets, all turned by one hand: the hall steps, the guests react."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import msgpack  # type: ignore[import-untyped]
import zmq

from referee.arena.game import Setting
from referee.arena.hall import Hall
from referee.arena.happenings import (
    Arrived,
    Departed,
    HallTerms,
    Happening,
    Match,
    MatchOver,
    Played,
    Refused,
)
from referee.clock import read_clock
from referee.links.keys import KeyPair, new_keys
from referee.links.router import Router
from referee.protocol.messages import HelloReceived
from referee.record import BotInfo, Record, encode_record, read_record
from referee.rules.registry import build_variant
from referee.schedule import pairing_games
from referee.verifying import verify
from tests.loopback import own_address
from tests.waiting import wait_for

Message = dict[str, Any]
H = TypeVar("H", bound=Happening)


class OpenDoors:
    """Whoever says a name may have it; with keys or tokens, only the name that they prove."""

    def __init__(self, tokens: dict[str, str] | None = None) -> None:
        self.tokens = tokens

    def admit(self, user: str, hello: HelloReceived) -> str | Refused:
        name = hello.name or user
        if user and name != user:
            return Refused(f"the name {name} belongs to another key", "name")
        if self.tokens is not None and self.tokens.get(name) != hello.token:
            return Refused("no such token", "token")
        return name


def first_legal(turn: Message) -> Any:
    return {"id": turn["id"], "move": turn["legal"][0]}


def silence(turn: Message) -> None:
    """No answer at all."""
    assert turn["type"] == "turn"


class Bot:
    """A bot's end of a connection. It reacts when it is told to."""

    def __init__(
        self,
        endpoint: str,
        name: str,
        *,
        packed: bool = False,
        keys: KeyPair | None = None,
        server: str | None = None,
        identity: bytes | None = None,
        rcvhwm: int | None = None,
        answer: Callable[[Message], Any] = first_legal,
    ) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.name = name
        self.packed = packed
        self.answer = answer
        self.heard: list[Message] = []
        self.quiet = False
        """Does not even read."""
        self.socket = socket = self._context.socket(zmq.DEALER)
        socket.linger = 0
        if identity is not None:
            socket.routing_id = identity
        if rcvhwm is not None:
            socket.rcvhwm = rcvhwm
            socket.rcvbuf = 2048
        if keys is not None:
            assert server is not None
            socket.curve_publickey = keys.public.encode()
            socket.curve_secretkey = keys.secret.encode()
            socket.curve_serverkey = server.encode()
        socket.connect(endpoint)

    def say(self, message: Any) -> None:
        if isinstance(message, bytes):
            self.socket.send(message)
        elif isinstance(message, list):
            self.socket.send_multipart(message)
        elif self.packed:
            self.socket.send(msgpack.packb(message))
        else:
            self.socket.send(json.dumps(message).encode())

    def hello(self, **fields: Any) -> None:
        self.say({"type": "hello", "name": self.name, **fields})

    def react(self) -> None:
        while not self.quiet:
            try:
                data = self.socket.recv(zmq.DONTWAIT)
            except zmq.Again:
                return
            packed = data[:1] != b"{"
            message = msgpack.unpackb(data) if packed else json.loads(data)
            assert packed == self.packed or message["type"] == "error"
            self.heard.append(message)
            if message["type"] == "turn":
                said = self.answer(message)
                if said is not None:
                    self.say(said)
            elif message["type"] == "ping":
                self.say({"type": "pong"})

    def told(self, kind: str) -> list[Message]:
        return [message for message in self.heard if message["type"] == kind]

    def close(self) -> None:
        self.socket.close(linger=0)
        self._context.term()


class Host:
    """The hall of a test."""

    def __init__(
        self,
        terms: HallTerms | None = None,
        *,
        keys: dict[str, str] | None = None,
        tokens: dict[str, str] | None = None,
        endpoint: str | None = None,
        most: int | None = None,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.keys = new_keys()
        known = keys.get if keys is not None else None
        secret = self.keys.secret if keys is not None else None
        self.router = Router(
            endpoint or f"tcp://{own_address()}:0", secret=secret, known=known, most=most
        )
        self.hall = Hall(self.router, OpenDoors(tokens), terms or HallTerms(warm_up_ms=0), now_ns)
        self.bots: list[Bot] = []
        self.happened: list[Happening] = []
        self._matches = 0

    def bot(self, name: str, **how: Any) -> Bot:
        if how.get("keys") is not None:
            how["server"] = self.keys.public
        bot = Bot(self.router.endpoint, name, **how)
        self.bots.append(bot)
        return bot

    def guests(self, *names: str, **how: Any) -> list[Bot]:
        """Bots that have said hello and were let in."""
        hello = how.pop("hello", {})
        bots = [self.bot(name, **how) for name in names]
        for bot in bots:
            bot.hello(**hello)
        self.until(lambda: all(name in self.hall.guests for name in names))
        return bots

    def step(self) -> list[Happening]:
        happened = self.hall.step(5)
        self.happened += happened
        for bot in self.bots:
            bot.react()
        return happened

    def until(self, holds: Callable[[], bool]) -> None:
        wait_for(holds, lambda: f"it; what happened: {self.happened[-5:]}", meanwhile=self.step)

    def seat(
        self,
        names: tuple[str, str] = ("a", "b"),
        games: int = 2,
        *,
        variant: str = "underdog",
        time_control: str = "20s",
        at_once: int = 64,
        seed: str = "tests",
        options: Mapping[str, object] | None = None,
    ) -> int:
        self._matches += 1
        script = build_variant(variant, options or {})
        setting = Setting(
            variant=script,
            clock=read_clock(time_control),
            players=names,
            bots=(BotInfo("1", "x"), BotInfo("2", "y")),
        )
        orders = pairing_games(seed, script.name, *names, games, hidden_chance=script.hidden_chance)
        match = Match(
            id=self._matches, setting=setting, guests=names, orders=orders, at_once=at_once
        )
        self.hall.seat(match)
        return self._matches

    def play(self, *args: Any, **how: Any) -> list[Record]:
        """Seat a match and play it to its end; its records in the order of the schedule."""
        match = self.seat(*args, **how)
        self.until(lambda: match in self.over())
        return self.records(match, how.get("variant", "underdog"))

    def all(self, kind: type[H]) -> list[H]:
        return [each for each in self.happened if isinstance(each, kind)]

    def over(self) -> dict[int, MatchOver]:
        return {each.match: each for each in self.all(MatchOver)}

    def records(self, match: int, variant: str = "underdog") -> list[Record]:
        records = [each.record for each in self.all(Played) if each.match == match]
        for record in records:
            assert read_record(encode_record(record)) == record
        report = verify([encode_record(record) + b"\n" for record in records], variant)
        assert report.mismatches == []
        return sorted(records, key=lambda record: int(record.game))

    def arrived(self) -> list[str]:
        return [each.name for each in self.all(Arrived)]

    def departed(self) -> list[tuple[str, str]]:
        return [(each.name, each.why) for each in self.all(Departed)]

    def close(self) -> None:
        for bot in self.bots:
            bot.close()
        self.router.close()


@contextmanager
def hosting(terms: HallTerms | None = None, **how: Any) -> Iterator[Host]:
    host = Host(terms, **how)
    try:
        yield host
    finally:
        host.close()


def endings(records: Sequence[Record]) -> list[str]:
    return [record.ending for record in records]
