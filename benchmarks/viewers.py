"""What people who watch cost those who play.

    make bench-viewers

A real `referee serve` without a limit on its pace, with bots that connect over tcp and take a few
milliseconds over an answer, as if on machines of their own; 500 viewers follow live events over
sockets of their own, while 200 pages a second are looked at. Games are measured with viewers and
without, in turns, and the median of the ratios counts.

games: games a second that began in a stretch of time, by their records.
delay: from when a turn is written to when its answer is heard, the median of all answers.

Everybody shares this machine here, the viewers too, which in a contest would have their own: they
run at the lowest priority, and what they were served is told. With `--think-ms 0` games take all of
the machine that they can get, and viewers what is left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.sizes import SizeParser
from referee.record import Record
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House

AIM = 1.10
PAGES = ("/", "/games", "/bots", "/bots/bot%201", "/live", "/rules", "/api/v1/standings")
PATIENCE_S = 60.0
LOWEST = 19
ROOT = Path(__file__).parents[1]
AUDIENCE = (sys.executable, "-m", "benchmarks.viewers", "--audience")
BOTS = r"""
import collections, json, sys, time, zmq
endpoint, think_s, tokens = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
context = zmq.Context()
poller = zmq.Poller()
for name, token in tokens.items():
    socket = context.socket(zmq.DEALER)
    socket.connect(endpoint)
    socket.send(json.dumps({"type": "hello", "name": name, "token": token}).encode())
    poller.register(socket, zmq.POLLIN)
answers = collections.deque()
while True:
    wait_s = answers[0][0] - time.monotonic() if answers else 1.0
    for socket, _ in poller.poll(max(0.0, wait_s) * 1000):
        try:
            while True:
                turn = socket.recv(zmq.DONTWAIT)
                if turn.startswith(b'{"type":"turn"'):
                    at = turn.index(b'"id":') + 5
                    number = turn[at : turn.index(b',', at)]
                    at = turn.rindex(b'"legal":[') + 9
                    moves = turn[at : turn.index(b']', at)].split(b',')
                    move = moves[int(number) % len(moves)]
                    answer = b'{"id":' + number + b',"move":' + move + b'}'
                    answers.append((time.monotonic() + think_s, socket, answer))
                elif turn.startswith(b'{"type":"ping"'):
                    socket.send(b'{"type":"pong"}')
        except zmq.Again:
            pass
    while answers and answers[0][0] <= time.monotonic():
        _, socket, answer = answers.popleft()
        socket.send(answer)
"""
"""Bots as on machines of their own: each takes a while over its answer, and nothing of this one."""


class Stretch(NamedTuple):
    """A stretch of time, and what was played in it."""

    began: float
    ended: float
    watched: bool
    games: float = 0.0
    """A second."""
    delay_us: float = 0.0


class Served(NamedTuple):
    """What viewers got."""

    following: int
    events_mb: float
    views: int
    refused: int
    slowest_ms: float


# The viewers: a process of their own.


class Audience:
    """Everybody who watches, on one loop."""

    def __init__(self, host: str, port: int, viewers: int, views_per_s: float) -> None:
        self._host, self._port = host, port
        self._viewers = viewers
        self._views_per_s = views_per_s
        self._following = self._bytes = self._views = self._refused = 0
        self._slowest_s = 0.0
        self._open: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until standard input ends."""
        tasks = [asyncio.create_task(self._follow()) for _ in range(self._viewers)]
        deadline = time.monotonic() + PATIENCE_S
        while self._following < self._viewers and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        tasks.append(asyncio.create_task(self._look_at_pages()))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)
        print(
            json.dumps(
                [
                    *(self._following, self._bytes / 1e6, self._views, self._refused),
                    self._slowest_s * 1e3,
                ]
            ),
            flush=True,
        )
        os._exit(0)

    async def _follow(self) -> None:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        writer.write(_request("/api/v1/events", keep=True))
        if b" 200 " not in await reader.readline():
            return
        self._following += 1
        while data := await reader.read(1 << 16):
            self._bytes += len(data)
        self._following -= 1

    async def _look_at_pages(self) -> None:
        """At this pace, whether the last page has come or not, as people do."""
        pages = itertools.cycle(PAGES)
        begin = time.monotonic()
        for number in itertools.count():
            wait = begin + number / self._views_per_s - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            task = asyncio.create_task(self._view(next(pages)))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

    async def _view(self, page: str) -> None:
        began = time.monotonic()
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port)
            writer.write(_request(page, keep=False))
            answer = await reader.read(-1)
            writer.close()
        except OSError:
            answer = b""
        self._views += 1
        self._refused += b" 200 " not in answer[:20]
        self._slowest_s = max(self._slowest_s, time.monotonic() - began)


def _request(path: str, *, keep: bool) -> bytes:
    close = "" if keep else "Connection: close\r\n"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n".encode()


@contextlib.contextmanager
def watching(url: str, viewers: int, views_per_s: float) -> Iterator[list[Served]]:
    """With an audience; at the end the list has what it was served."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    process = subprocess.Popen(
        [*AUDIENCE, host, port, str(viewers), str(views_per_s)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.nice(LOWEST) and None,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    served: list[Served] = []
    try:
        if process.stdout.readline() != b"ready\n":
            sys.exit("bench: there is no audience")
        yield served
        process.stdin.close()
        served.append(Served(*json.loads(process.stdout.readline())))
    finally:
        process.kill()
        process.wait()


# The daemon and its bots.


@contextlib.contextmanager
def playing(data: Path, bots: int, think_s: float, warm: int) -> Iterator[str]:
    """A daemon whose bots have played some games and play on: the address of its pages."""
    with House.open(data) as house:
        names = [f"bot {number}" for number in range(1, bots + 1)]
        tokens = {name: house.bots.new_token(name, by="the benchmark") for name in names}
    log = data.with_name("daemon.log")
    with log.open("wb") as told:
        daemon = subprocess.Popen(
            [
                *(sys.executable, "-m", "referee", "serve", "--data", str(data), "--jobs", "1"),
                *("--sandbox", "none", "--pace", "0", "--variant", "underdog", "--time", "10s"),
                *("--web", "127.0.0.1:0", "--bots", "tcp://127.0.0.1:0"),
            ],
            stdout=told,
            stderr=told,
        )
    crowd: subprocess.Popen[bytes] | None = None
    try:
        url = _said(daemon, log, r"Pages: (\S+)")
        endpoint = _said(daemon, log, r"Bots connect to (\S+)")
        words = (endpoint, str(think_s), json.dumps(tokens))
        crowd = subprocess.Popen([sys.executable, "-c", BOTS, *words])
        _wait(lambda: _games(data) > warm, "games", log)
        yield url
    finally:
        if crowd is not None:
            crowd.kill()
            crowd.wait()
        daemon.terminate()
        daemon.wait(PATIENCE_S)


def _said(daemon: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    def look() -> re.Match[str] | None:
        if daemon.poll() is not None:
            sys.exit(f"bench: the daemon has ended: {log.read_text()}")
        return re.search(pattern, log.read_text())

    _wait(lambda: look() is not None, pattern, log)
    found = look()
    assert found is not None
    return found[1]


def _wait(true: Callable[[], bool], what: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            sys.exit(f"bench: waited in vain for {what}: {log.read_text()}")
        time.sleep(0.1)


def _games(data: Path) -> int:
    folder = data / "seasons" / "1"
    if not (folder / FILE).exists():
        return 0
    with Store.read(folder) as store:
        return sum(store.counts().values())


# Measuring.


def counted(data: Path, stretches: list[Stretch]) -> list[Stretch]:
    """With the games that began in each, by their records."""
    games: list[int] = [0] * len(stretches)
    delays: list[list[int]] = [[] for _ in stretches]
    decode = msgspec.msgpack.Decoder(Record).decode
    with Store.read(data / "seasons" / "1") as store:
        for _, _, body in store.records():
            record = decode(body)
            if record.fault is not None:
                sys.exit(f"bench: a bot was at fault: {record.fault}")
            at = datetime.fromisoformat(record.started).timestamp()
            for place, stretch in enumerate(stretches):
                if stretch.began <= at < stretch.ended:
                    games[place] += 1
                    delays[place] += record.spent_us
    return [
        stretch._replace(
            games=games[place] / (stretch.ended - stretch.began),
            delay_us=statistics.median(delays[place]) if delays[place] else math.nan,
        )
        for place, stretch in enumerate(stretches)
    ]


def measured(arguments: argparse.Namespace, data: Path) -> tuple[list[Stretch], list[Served]]:
    """Without viewers and with them in turns, without at both ends."""
    stretches: list[Stretch] = []
    served: list[Served] = []

    def stretch(*, watched: bool) -> None:
        time.sleep(arguments.settle)
        began = time.time()
        time.sleep(arguments.seconds)
        stretches.append(Stretch(began, time.time(), watched))

    with playing(data, arguments.bots, arguments.think_ms / 1000, arguments.warm) as url:
        stretch(watched=False)
        for _ in range(arguments.repeats):
            with watching(url, arguments.viewers, arguments.views) as told:
                stretch(watched=True)
            served += told
            stretch(watched=False)
    return counted(data, stretches), served


def report(arguments: argparse.Namespace, stretches: list[Stretch], served: list[Served]) -> None:
    """For people, and in the last line for programs."""
    slower, later = [], []
    watched_s = arguments.seconds + arguments.settle
    print("                games/s      delay µs   page views/s  not served  slowest  events MB")
    for place in range(1, len(stretches) - 1, 2):
        before, during, after = stretches[place - 1 : place + 2]
        games = (before.games + after.games) / 2
        delay = (before.delay_us + after.delay_us) / 2
        slower.append(games / during.games if during.games else math.inf)
        later.append(during.delay_us / delay)
        got = served[place // 2]
        print(
            f"without, with {games:6.0f} {during.games:6.0f} {delay:6.0f} {during.delay_us:6.0f}  "
            f"{got.views / watched_s:13.0f}  {got.refused:10}  {got.slowest_ms:4.0f} ms  "
            f"{got.events_mb:9.1f}"
        )
    games_ratio, delay_ratio = statistics.median(slower), statistics.median(later)
    views = statistics.median(got.views for got in served) / watched_s
    print(
        f"{arguments.viewers} viewers, {arguments.views:g} page views a second: games take "
        f"{games_ratio:.2f} times as long (aim: at most {AIM:.2f}), answers {delay_ratio:.2f} times"
    )
    if views < 0.9 * arguments.views:
        print("This machine is too busy: viewers were not served as many pages as they asked for.")
    figures = {"games_ratio": games_ratio, "delay_ratio": delay_ratio, "views_per_s": views}
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def main() -> None:
    if sys.argv[1:2] == ["--audience"]:
        host, port, viewers, views = sys.argv[2:]
        asyncio.run(Audience(host, int(port), int(viewers), float(views)).run())
        return
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 5, 1)
    parser.add_size("--seconds", 8.0, 1.0, read=float, about="per stretch")
    parser.add_size("--settle", 1.0, 0.2, read=float, about="seconds before each stretch")
    parser.add_size("--warm", 100, 1, about="games before the first stretch")
    parser.add_size("--bots", 20, 4)
    parser.add_size("--think-ms", 5.0, 5.0, read=float, about="per answer of a bot")
    parser.add_size("--viewers", 500, 5)
    parser.add_size("--views", 200.0, 7.0, read=float, about="pages a second")
    arguments = parser.sizes()
    with tempfile.TemporaryDirectory() as folder:
        stretches, served = measured(arguments, Path(folder) / "data")
    report(arguments, stretches, served)


if __name__ == "__main__":
    main()
