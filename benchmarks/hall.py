"""The hall's delay per answer, as a ratio to a bare ROUTER–DEALER exchange in the same run.

    make bench-hall

200 bots are connected over tcp, 50 games of underdog are played at once by 100 of them, and every
record is kept. The bare exchange has the same bots in the same process, which do the same work for
the same messages: a loop that receives an answer and sends the next turn to whoever answered, with
as many turns in flight.

delay: from just before a turn is written to when its answer is heard, the median of all answers.
pace:  wall-clock time per answer, which holds whatever is done between hearing and asking.
cpu:   CPU time of the referee's process per answer, libzmq's thread included.

Machines are noisy, so the two are measured in turns, and the medians of the ratios count.
"""

from __future__ import annotations

import gc
import itertools
import json
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import zmq

from benchmarks.sizes import SizeParser
from referee.arena.game import Setting
from referee.arena.hall import Hall
from referee.arena.happenings import HallTerms, Match, MatchOver, Played, Refused
from referee.clock import read_clock
from referee.links.router import Router
from referee.protocol.messages import HelloReceived
from referee.record import BotInfo
from referee.rules.registry import build_variant
from referee.schedule import pairing_games

AIM = 1.5
TURN = (
    b'{"type":"turn","game":"1-1","id":%d,"view":{"round":2,"mine":{"numbers":[2,3,4,5,6,7,8,9,10],'
    b'"points":0},"theirs":{"numbers":[1,2,3,4,5,6,7,8,9],"points":1}},"events":[{"round":1,"mine":'
    b'1,"theirs":10,"result":"lost"}],"legal":[2,3,4,5,6,7,8,9,10],"left_ms":5000}'
)
"""A turn of the game that is played."""

BOTS = r"""
import sys, zmq
endpoint, count = sys.argv[1], int(sys.argv[2])
context = zmq.Context()
poller = zmq.Poller()
for number in range(count):
    socket = context.socket(zmq.DEALER)
    socket.connect(endpoint)
    socket.send(b'{"type":"hello","name":"bot %d"}' % number)
    poller.register(socket, zmq.POLLIN)
while True:
    for socket, _ in poller.poll():
        try:
            while True:
                turn = socket.recv(zmq.DONTWAIT)
                if turn.startswith(b'{"type":"turn"'):
                    at = turn.index(b'"id":') + 5
                    number = turn[at : turn.index(b',', at)]
                    at = turn.rindex(b'"legal":[') + 9
                    end = turn.index(b']', at)
                    moves = turn[at:end].split(b',')
                    move = moves[int(number) % len(moves)]
                    socket.send(b'{"id":' + number + b',"move":' + move + b'}')
                elif turn.startswith(b'{"type":"ping"'):
                    socket.send(b'{"type":"pong"}')
        except zmq.Again:
            pass
"""


class Measurement(NamedTuple):
    delay_us: float
    pace_us: float
    cpu_us: float


class Anybody:
    def admit(self, user: str, hello: HelloReceived) -> str | Refused:
        return hello.name or user


def start_bots(endpoint: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BOTS, endpoint, str(count)])


def bare(bots: int, in_flight: int, answers: int) -> Measurement:
    """Receive and send, and nothing else."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.linger = 0
    port = router.bind_to_random_port("tcp://127.0.0.1")
    process = start_bots(f"tcp://127.0.0.1:{port}", bots)
    now_ns = time.perf_counter_ns
    poller = zmq.Poller()
    poller.register(router, zmq.POLLIN)
    try:
        peers = [router.recv_multipart()[0] for _ in range(bots)]
        numbers = itertools.count(1)
        asked: dict[bytes, int] = {}
        taken: list[int] = []
        for peer in peers[:in_flight]:
            asked[peer] = now_ns()
            router.send_multipart([peer, TURN % next(numbers)])
        warm, began, began_cpu = answers // 10, 0, 0
        while len(taken) < answers + warm:
            poller.poll()
            try:
                while True:
                    peer, _ = router.recv_multipart(zmq.DONTWAIT)
                    at = now_ns()
                    taken.append(at - asked[peer])
                    if len(taken) == warm:
                        began, began_cpu = at, time.process_time_ns()
                    asked[peer] = now_ns()
                    router.send_multipart([peer, TURN % next(numbers)])
            except zmq.Again:
                pass
        counted = 1e3 * (len(taken) - warm)
        return Measurement(
            statistics.median(taken[warm:]) / 1e3,
            (now_ns() - began) / counted,
            (time.process_time_ns() - began_cpu) / counted,
        )
    finally:
        process.kill()
        process.wait()
        router.close()
        context.term()


def hall(bots: int, games: int, answers: int) -> Measurement:
    """The same bots, and whole games."""
    router = Router("tcp://127.0.0.1:0")
    process = start_bots(router.endpoint, bots)
    try:
        host = Hall(router, Anybody(), HallTerms())
        while len(host.guests) < bots:
            host.step(100)
        variant = build_variant("underdog", {})
        enough = answers // games  # A game has more than one answer.
        for match in range(games):
            names = (f"bot {2 * match}", f"bot {2 * match + 1}")
            setting = Setting(
                variant=variant,
                clock=read_clock("5s"),
                players=names,
                bots=(BotInfo("", ""), BotInfo("", "")),
            )
            orders = pairing_games("bench", variant.name, *names, enough, hidden_chance=False)
            host.seat(Match(id=match, setting=setting, guests=names, orders=orders, at_once=1))
        gc.collect()
        gc.freeze()
        while host.answers < answers // 10:
            host.step(100)
        kept: list[Played] = []
        before, began = host.answers, time.perf_counter_ns()
        began_cpu = time.process_time_ns()
        while host.answers - before < answers:
            for each in host.step(100):
                if isinstance(each, Played):
                    kept.append(each)
                elif isinstance(each, MatchOver):
                    sys.exit(f"bench: a match has ended: {each}")
        counted = 1e3 * (host.answers - before)
        pace = (time.perf_counter_ns() - began) / counted
        cpu = (time.process_time_ns() - began_cpu) / counted
        faults = [each.record.fault for each in kept if each.record.fault is not None]
        if faults:
            sys.exit(f"bench: a bot was at fault: {faults[0]}")
        delays = [spent for each in kept for spent in each.record.spent_us]
        return Measurement(statistics.median(delays), pace, cpu)
    finally:
        process.kill()
        process.wait()
        router.close()
        gc.unfreeze()


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 7, 1)
    parser.add_size("--answers", 30_000, 400, about="per measurement")
    parser.add_size("--bots", 200, 12)
    parser.add_size("--games", 50, 4, about="at once")
    arguments = parser.sizes()
    bots, games, answers = arguments.bots, arguments.games, arguments.answers
    taken = []
    for _ in range(arguments.repeats):
        before = bare(bots, 2 * games, answers)
        played = hall(bots, games, answers)
        after = bare(bots, 2 * games, answers)
        floor = Measurement(*((a + b) / 2 for a, b in zip(before, after, strict=True)))
        taken.append((floor, played))
    print(f"{bots} bots, {games} games at once, {arguments.repeats} repeats of {answers} answers")
    print(f"{'':8}{'bare µs':>10}{'hall µs':>10}{'ratio':>8}{'aim':>6}")
    result: dict[str, float] = {}
    for name in Measurement._fields:
        bare_us = statistics.median(getattr(floor, name) for floor, _ in taken)
        hall_us = statistics.median(getattr(played, name) for _, played in taken)
        ratio = statistics.median(
            getattr(played, name) / getattr(floor, name) for floor, played in taken
        )
        short = name.removesuffix("_us")
        aim = f"{AIM:6.1f}" if name != "cpu_us" else ""
        print(f"{short:8}{bare_us:10.1f}{hall_us:10.1f}{ratio:8.2f}{aim}")
        result |= {f"bare_{name}": round(bare_us, 2), f"hall_{name}": round(hall_us, 2)}
        result[f"{short}_ratio"] = round(ratio, 3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
