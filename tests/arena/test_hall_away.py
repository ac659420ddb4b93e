"""Guests that vanish, come back in time, come back too late, or come twice."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from referee.arena.happenings import HallTerms
from referee.links.keys import new_keys
from tests.arena.hosting import Host, endings, first_legal, hosting, silence
from tests.links import let_take_over

SOON = HallTerms(warm_up_ms=0, away_ms=300)
LATE = HallTerms(warm_up_ms=0, away_ms=20_000)
GONE = "the bot closed its connection and did not come back within 300 ms"

PROGRAM = """
import json, sys, zmq
socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
socket.send(json.dumps({"type": "hello", "name": sys.argv[2]}).encode())
while True:
    message = json.loads(socket.recv())
    if message["type"] == "turn":
        print("asked", flush=True)
        if len(sys.argv) == 3:
            socket.send(json.dumps({"id": message["id"], "move": message["legal"][0]}).encode())
    elif message["type"] == "ping":
        socket.send(b'{"type":"pong"}')
"""


def process(host: Host, name: str, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, host.router.endpoint, name, *words]
    bot = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    host.until(lambda: name in host.hall.guests)
    return bot


def test_processes_play() -> None:
    with hosting() as host, process(host, "a") as first, process(host, "b") as second:
        assert endings(host.play(games=10)) == ["rules"] * 10
        first.kill()
        second.kill()


def test_a_killed_process_loses_its_game_by_crash() -> None:
    with hosting(SOON) as host:
        host.guests("good")
        with process(host, "bad", "silent") as bad:
            match = host.seat(("bad", "good"), games=3)
            host.until(lambda: bool(host.hall.guests["bad"].turns))
            bad.kill()
            killed = time.monotonic()
            host.until(lambda: match in host.over())
            assert time.monotonic() - killed >= 0.3
        (record,) = host.records(match)
        (fault,) = record.faults()
        assert (record.ending, fault.detail, record.winner) == ("crash", GONE, 1)
        assert host.departed() == [("bad", GONE)]
        assert [order.game for order in host.over()[match].unplayed] == ["2", "3"]


def test_what_was_said_before_the_end_counts() -> None:
    with hosting(SOON) as host:
        (bad,) = host.guests("bad", answer=silence)
        (good,) = host.guests("good", answer=silence)
        match = host.seat(("bad", "good"), games=1)
        host.until(lambda: bool(bad.told("turn")) and bool(good.told("turn")))
        bad.say(first_legal(bad.told("turn")[0]))
        bad.socket.close(linger=5000)
        host.bots.remove(bad)
        host.until(lambda: host.hall.answers == 1)
        good.answer = first_legal
        good.say(first_legal(good.told("turn")[0]))
        host.until(lambda: match in host.over())
        (record,) = host.records(match)
        assert record.ending == "crash"
        assert len(record.moves) == 2


def test_a_new_hello_within_the_time_goes_on_with_the_games() -> None:
    with hosting(LATE) as host:
        (bad,) = host.guests("bad", answer=silence, hello={"games_at_once": 2})
        host.guests("good", hello={"games_at_once": 2})
        match = host.seat(("bad", "good"), games=3)
        host.until(lambda: len(bad.told("start")) == 2 and len(bad.told("turn")) == 1)
        bad.close()
        host.bots.remove(bad)
        host.until(lambda: host.hall.guests["bad"].away_ns is not None)
        again = host.bot("bad", packed=True)
        again.hello(games_at_once=2)
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["rules"] * 3
        # The second turn comes with the answer to the first: nobody knows its pace yet.
        kinds = [message["type"] for message in again.heard[:5]]
        assert kinds == ["hello", "start", "start", "turn", "turn"]
        assert again.told("start")[:2] == bad.told("start")
        before, after = bad.told("turn"), again.told("turn")[:1]
        assert [(turn["game"], turn["view"], turn["events"], turn["legal"]) for turn in before] == [
            (turn["game"], turn["view"], turn["events"], turn["legal"]) for turn in after
        ]
        assert host.departed() == []
        assert host.arrived() == ["bad", "good"]


def test_another_version_does_not_go_on_with_the_games() -> None:
    with hosting(LATE) as host:
        (bad,) = host.guests("bad", answer=silence, hello={"version": "1"})
        host.guests("good")
        match = host.seat(("bad", "good"), games=2)
        host.until(lambda: bool(bad.told("turn")))
        bad.close()
        host.bots.remove(bad)
        host.until(lambda: host.hall.guests["bad"].away_ns is not None)
        host.bot("bad").hello(version="2")
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["crash"]
        assert host.arrived() == ["bad", "good", "bad"]
        assert endings(host.play(("bad", "good"))) == ["rules"] * 2


def test_the_clock_of_a_turn_goes_on_while_the_guest_is_away() -> None:
    with hosting(LATE) as host:
        (bad,) = host.guests("bad", answer=silence)
        host.guests("good")
        match = host.seat(("bad", "good"), games=1, time_control="1s")
        host.until(lambda: bool(bad.told("turn")))
        bad.close()
        host.bots.remove(bad)
        host.until(lambda: match in host.over() or bool(host.records(match)))
        assert endings(host.records(match)) == ["timeout"]


def test_a_newer_hello_wins_over_a_live_connection() -> None:
    with hosting() as host:
        (older,) = host.guests("bad", answer=silence)
        host.guests("good")
        match = host.seat(("bad", "good"), games=3)
        host.until(lambda: bool(older.told("turn")))
        newer = host.bot("bad")
        newer.hello()
        host.until(lambda: match in host.over())
        (record,) = host.records(match)
        told = "another connection said hello under this name"
        assert (record.ending, record.faults()[0].detail) == ("crash", told)
        assert len(host.over()[match].unplayed) == 2
        host.until(lambda: bool(older.told("bye")))
        assert older.told("error") == [
            {"type": "error", "code": "crash", "detail": told, "game": None, "id": None}
        ]
        assert host.departed() == [("bad", told)]
        assert host.arrived() == ["bad", "good", "bad"]
        assert endings(host.play(("bad", "good"))) == ["rules"] * 2
        # The older one is nobody now.
        older.say({"type": "pong"})
        host.until(lambda: host.hall.reception.dropped.total() > 0)
        assert host.hall.guests["bad"].connection != 0


def test_a_name_that_arrives_too_often_waits_for_its_turn() -> None:
    with hosting() as host:
        host.guests("b")
        for version in "123":
            newest = host.bot("a")
            newest.hello(version=version)
            host.until(lambda bot=newest: bot.heard)  # type: ignore[misc]
            assert newest.heard[0]["type"] == "hello"
        assert host.arrived() == ["b", "a", "a", "a"]
        assert endings(host.play()) == ["rules", "rules"]


def test_hello_again_on_the_same_connection_goes_on() -> None:
    with hosting() as host:
        a, _ = host.guests("a", "b", answer=silence)
        match = host.seat(games=1)
        host.until(lambda: bool(a.told("turn")))
        greeted_ns = host.hall.guests["a"].greeted_ns
        host.until(lambda: time.monotonic_ns() - greeted_ns > 1_100_000_000)
        heard = len(a.heard)
        a.hello()
        host.until(lambda: len(a.heard) >= heard + 3)
        kinds = [message["type"] for message in a.heard[heard:]]
        assert kinds == ["hello", "start", "turn"]
        for bot in host.bots:
            bot.answer = first_legal
            bot.say(first_legal(bot.told("turn")[-1]))
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["rules"]


def test_a_known_key_speaks_on_over_a_new_connection() -> None:
    keys = new_keys()
    other = new_keys()
    with hosting(LATE, keys={keys.public: "bad", other.public: "good"}) as host:
        (bad,) = host.guests("bad", keys=keys, answer=silence)
        host.guests("good", keys=other)
        match = host.seat(("bad", "good"), games=1)
        host.until(lambda: bool(bad.told("turn")))
        # Its connection breaks, its DEALER connects again by itself, and it answers.
        host.router.cut(host.hall.guests["bad"].peer)
        host.until(lambda: host.hall.guests["bad"].away_ns is not None)
        bad.answer = first_legal
        bad.say(first_legal(bad.told("turn")[0]))
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["rules"]
        assert host.departed() == []


def test_a_chosen_routing_id_speaks_on_over_a_new_connection() -> None:
    with hosting(LATE) as host:
        let_take_over(host.router)
        (bad,) = host.guests("bad", identity=b"bad", answer=silence)
        host.guests("good")
        match = host.seat(("bad", "good"), games=1)
        host.until(lambda: bool(bad.told("turn")))
        host.router.cut(b"bad")
        host.until(lambda: host.hall.guests["bad"].away_ns is not None)
        bad.answer = first_legal
        bad.say(first_legal(bad.told("turn")[0]))
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["rules"]


def test_a_routing_id_proves_nothing_where_a_token_did() -> None:
    with hosting(SOON, tokens={"bad": "t", "good": "t"}) as host:
        let_take_over(host.router)
        (bad,) = host.guests("bad", identity=b"bad", answer=silence, hello={"token": "t"})
        host.guests("good", hello={"token": "t"})
        match = host.seat(("bad", "good"), games=1)
        host.until(lambda: bool(bad.told("turn")))
        bad.close()
        host.bots.remove(bad)
        host.until(lambda: host.hall.guests["bad"].away_ns is not None)
        thief = host.bot("bad", identity=b"bad")
        thief.say(first_legal(bad.told("turn")[0]))
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["crash"]
        host.until(lambda: bool(thief.heard))
        assert [message["type"] for message in thief.heard] == ["error"]


def test_one_that_answers_no_ping_is_shown_out() -> None:
    with hosting(HallTerms(ping_s=0.1, away_ms=300)) as host:
        (bot,) = host.guests("a")
        bot.quiet = True
        host.until(lambda: bool(host.departed()))
        assert host.departed() == [("a", "the bot did not answer a ping within 300 ms")]
        bot.quiet = False
        host.until(lambda: bool(bot.told("bye")))


def test_coming_and_going_leaves_nothing() -> None:
    with hosting(HallTerms(away_ms=20)) as host:
        for _ in range(15):
            (bot,) = host.guests("a")
            bot.close()
            host.bots.remove(bot)
            host.until(lambda: "a" not in host.hall.guests)
        reception: Any = host.hall.reception
        assert reception.by_peer == {}
        assert reception._by_connection == {}
        assert reception._strays == {}
