"""Whatever strangers say to the port of the hall: those who play there play on."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import deque

from referee.arena.happenings import HallTerms
from referee.arena.reception import NO_HELLO
from referee.links.router import OLD_PROTOCOL
from referee.links.strangers import NO_ROOM
from tests.arena.hosting import endings, hosting
from tests.waiting import PATIENCE_S

OPENINGS = 3000
AT_ONCE = 40
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


def frame_1(chance: random.Random, data: bytes) -> bytes:
    """As in ZMTP 1.0: the length counts the flags."""
    return bytes([len(data) + 1, chance.randrange(2)]) + data


def frame(flags: int, data: bytes) -> bytes:
    return bytes([flags | 2]) + len(data).to_bytes(8, "big") + data


def a_property(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + len(value).to_bytes(4, "big") + value


def opening(chance: random.Random) -> tuple[bytes, bytes]:
    """Something that somebody might say first, and what once he is answered."""
    noise = chance.randbytes(chance.randrange(1, 80))
    match chance.randrange(7):
        case 0:
            return noise, noise
        case 1:
            identity = chance.choice([b"", b"a", b"b", noise])
            return frame_1(chance, identity) + frame_1(chance, noise), frame_1(chance, b"hi")
        case 2:
            kind = chance.randrange(16)
            return b"\xff" + bytes(7) + b"\x01\x7f\x01" + bytes([kind]) + b"\0\0", b"\0\2hi" + noise
        case 3:
            method = chance.choice([b"GET", b"POST", b"PRI * HTTP/2.0"])
            return method + b" / HTTP/1.1\r\nHost: bots\r\n\r\n", noise * chance.randrange(20)
        case 4:
            names = [b"Identity", b"User-Id", b"Socket-Type", b"__fd", noise]
            properties = a_property(b"Socket-Type", chance.choice([b"DEALER", b"REQ", noise]))
            properties += a_property(chance.choice(names), chance.choice([noise, b"a", b"7"]))
            hello = chance.choice([noise, b'{"type":"hello","name":"x"}', b"{}"])
            return GREETING, frame(4, b"\x05READY" + properties) + frame(0, hello)
        case 5:
            return GREETING, frame(chance.randrange(8), noise)
        case _:
            said = bytearray(GREETING + frame(4, b"\x05READY"))
            said[chance.randrange(len(said))] = chance.randrange(256)
            return bytes(said[: chance.randrange(1, len(said))]), noise


def test_those_who_play_play_on_whatever_strangers_say() -> None:
    chance = random.Random(6)
    with hosting(tokens={"x": "1", "y": "2"}) as host:
        where, port = host.router.endpoint.removeprefix("tcp://").split(":")
        ended = threading.Event()

        def enough_heard() -> bool:
            counts = (host.router.dropped[OLD_PROTOCOL], host.hall.reception.dropped.total())
            return min(counts) > OPENINGS / 20

        def knock() -> None:
            there: deque[socket.socket] = deque()
            # A stranger who is slow on a busy host is not heard: then another one knocks.
            give_up = time.monotonic() + PATIENCE_S
            number = 0
            while number < OPENINGS or (not enough_heard() and time.monotonic() < give_up):
                number += 1
                stranger = socket.create_connection((where, int(port)))
                there.append(stranger)
                stranger.settimeout(0.02)
                first, then = opening(chance)
                with contextlib.suppress(OSError):
                    stranger.sendall(first)
                    stranger.recv(100)
                    stranger.sendall(then)
                if len(there) > AT_ONCE:
                    there.popleft().close()
            for stranger in there:
                stranger.close()
            ended.set()

        for name, token in (("x", "1"), ("y", "2")):
            host.bot(name).hello(token=token)
        host.until(lambda: set(host.hall.guests) == {"x", "y"})
        knocking = threading.Thread(target=knock)
        knocking.start()
        played = []
        while not ended.is_set():
            played += host.play(("x", "y"), games=10)
        knocking.join()
        played += host.play(("x", "y"), games=10)
        assert set(endings(played)) == {"rules"}
        assert host.departed() == []
        assert set(host.hall.guests) == {"x", "y"}
        assert enough_heard()


def test_strangers_make_room_and_guests_do_not() -> None:
    """However many say nothing, or no good hello, a guest can come, and guests stay."""
    with hosting(tokens={"a": "a", "b": "b"}, most=8) as host, contextlib.ExitStack() as strangers:
        host.guests("a", hello={"token": "a"})
        for _ in range(2):
            host.bot("stranger").hello(token="none")
        host.until(lambda: host.hall.reception.refused["token"] == 2)
        where, port = host.router.endpoint.removeprefix("tcp://").split(":")
        for number in range(12):
            address = (f"127.0.0.{2 + number}", 0)
            knock = socket.create_connection((where, int(port)), PATIENCE_S, address)
            strangers.enter_context(knock)
        # Those that said a bad hello are the oldest; they come again, in the place of silent ones.
        host.until(lambda: host.router.refused[NO_ROOM] >= 9)
        host.guests("b", hello={"token": "b"})
        assert endings(host.play()) == ["rules", "rules"]
        assert host.departed() == []


def test_whoever_is_nobody_is_hung_up_on() -> None:
    """One that was not let in, and one whose name another connection has taken over."""
    terms = HallTerms(warm_up_ms=0, hello_s=0.2)
    with hosting(terms, tokens={"a": "a", "b": "b"}) as host:
        (a,) = host.guests("a", hello={"token": "a"})
        host.guests("b", hello={"token": "b"})
        host.bot("stranger").hello(token="none")
        host.until(lambda: host.hall.reception.refused[NO_HELLO] == 1)
        host.bot("a").hello(token="a")
        host.until(lambda: bool(a.told("bye")))
        host.until(lambda: host.hall.reception.refused[NO_HELLO] == 2)
        assert endings(host.play()) == ["rules", "rules"]
