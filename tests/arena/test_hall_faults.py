"""Guests that break the protocol, are late, or do not read: the sentence, the verdict, the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zmq

from referee.arena.happenings import HallTerms
from referee.links.keys import new_keys
from referee.protocol.messages import STALE_LIMIT, Error
from referee.record import Record
from tests.arena.hosting import Bot, Host, Message, endings, first_legal, hosting, silence
from tests.facts import Naming


def lost(record: Record, code: str, loser: str = "bad") -> str:
    """Check that this fault of the loser decided the game; its detail."""
    seat = record.players.index(loser)
    (fault,) = record.faults()
    assert (fault.seat, fault.code, record.ending) == (seat, code, code)
    assert (record.winner, record.at_fault) == (1 - seat, (seat,))
    return fault.detail


def against_good(host: Host, answer: Callable[[Message], Any], **how: Any) -> Bot:
    (bad,) = host.guests("bad", answer=answer, **how)
    host.guests("good", hello={"games_at_once": 64})
    return bad


def still_plays(host: Host) -> None:
    host.guests("x", "y")
    assert endings(host.play(("x", "y"))) == ["rules", "rules"]


NAMES = ("bad", "good")


# Faults that name their game.


def test_an_illegal_move_loses_that_game_alone() -> None:
    with hosting() as host:
        bad = against_good(host, lambda turn: {"id": turn["id"], "move": 99})
        records = host.play(NAMES)
        details = {lost(record, "illegal") for record in records}
        assert all(detail == Naming(99, "legal") for detail in details)
        assert host.departed() == []
        host.until(lambda: len(bad.told("over")) == 2)
        kinds = [message["type"] for message in bad.heard if message["type"] != "turn"]
        assert kinds == ["hello", *["start", "error", "over"] * 2]
        (error, _) = bad.told("error")
        assert (error["code"], error["game"], error["id"]) == ("illegal", "1", 1)


def test_resigning() -> None:
    with hosting() as host:
        against_good(host, lambda turn: {"type": "resign", "id": turn["id"]})
        assert {lost(record, "resign") for record in host.play(NAMES)} == {"the bot resigned"}


# Faults that name no game.


def test_a_late_guest_loses_its_open_games_and_stays() -> None:
    with hosting() as host:
        bad = against_good(host, silence, hello={"games_at_once": 3})
        match = host.seat(NAMES, games=6, time_control="1s")
        host.until(lambda: len(host.records(match)) >= 3)
        bad.answer = first_legal
        host.until(lambda: match in host.over())
        records = host.records(match)
        timeouts = [record for record in records if record.ending == "timeout"]
        assert len(timeouts) == 3
        for record in timeouts:
            assert lost(record, "timeout") == "no answer within 1050 ms (1000 ms, grace 50 ms)"
            assert record.fault is not None
            assert record.fault.spent_us is not None
            assert record.fault.limit_us == 1_050_000
            assert record.fault.spent_us >= 1_050_000
        assert endings([r for r in records if r not in timeouts]) == ["rules"] * 3
        assert host.departed() == []
        (error,) = bad.told("error")
        assert error["code"] == "timeout"
        kinds = [message["type"] for message in bad.heard]
        assert "ping" in kinds[kinds.index("error") :]


def test_the_first_answer_has_extra_time() -> None:
    with hosting(HallTerms(warm_up_ms=300)) as host:
        against_good(host, silence)
        (record, _) = host.play(NAMES, time_control="1s")
        told = "no answer within 1350 ms (1000 ms, grace 50 ms, warm-up 300 ms)"
        assert lost(record, "timeout") == told


def test_a_late_answer_is_dropped_and_counted() -> None:
    with hosting() as host:
        bad = against_good(host, silence)
        match = host.seat(NAMES, games=2, time_control="1s")
        host.until(lambda: bool(bad.told("over")))
        bad.answer = first_legal
        bad.say(first_legal(bad.told("turn")[0]))
        host.until(lambda: match in host.over())
        first, second = host.records(match)
        assert lost(first, "timeout")
        assert (second.ending, second.dropped) == ("rules", 1)


def test_a_turn_is_charged_from_its_own_write() -> None:
    """Of answers that wait for one another, each costs its game the whole wait."""
    waiting: list[Message] = []

    def quick_at_first(turn: Message) -> Any:
        if turn["id"] > 20 and len(waiting) < 4:
            waiting.append(turn)
            return None
        return first_legal(turn)

    with hosting() as host:
        bad = against_good(host, quick_at_first, hello={"games_at_once": 4})
        match = host.seat(NAMES, games=40)
        host.until(lambda: len(waiting) == 4)
        began_ns = time.monotonic_ns()
        least_us: dict[str, float] = {}
        for turn in waiting:
            until = time.monotonic() + 0.05
            host.until(lambda until=until: time.monotonic() > until)  # type: ignore[misc]
            least_us[turn["game"]] = (time.monotonic_ns() - began_ns) / 1000
            bad.say(first_legal(turn))
        host.until(lambda: match in host.over())
        records = host.records(match)
        assert endings(records) == ["rules"] * 40
        for record in records:
            assert max(_spent_us(record)) >= least_us.get(record.game, 0)


def _spent_us(record: Record) -> list[int]:
    """What the answers of `bad` were charged."""
    seat = record.players.index("bad")
    moves = zip(record.moves, record.spent_us, strict=True)
    return [spent for (mover, _), spent in moves if mover == seat]


GARBLED: dict[str, tuple[Any, str, str]] = {
    "print": (b"my move is 5", "garbled", "not JSON (expecting value at column 1)"),
    "empty": (b"", "garbled", "not JSON (expecting value at column 1)"),
    "id": ({"id": 99, "move": 1}, "garbled", "id 99 was never given"),
    "packed": (b"\x82\xa2id\x01\xa4move\x01", "garbled", "MessagePack where JSON is due"),
    "parts": ([b"", b'{"id":1,"move":1}'], "garbled", "a message of 2 parts; each object is"),
    "long": (b'{"x":"' + b"x" * 70_000 + b'"}', "garbled", "a line of 70008 bytes"),
    "unreadable": ({"id": 1, "move": [1]}, "garbled", "a move is an integer"),
}


@pytest.mark.parametrize("name", GARBLED)
def test_a_garbled_guest_is_shown_out_until_it_says_hello(name: str) -> None:
    said, code, told = GARBLED[name]
    with hosting() as host:
        bad = against_good(host, lambda _: said, hello={"games_at_once": 2})
        match = host.seat(NAMES, games=5)
        host.until(lambda: match in host.over())
        records = host.records(match)
        assert len(records) == 2
        for record in records:
            assert lost(record, code).startswith(told)
        assert len(host.over()[match].unplayed) == 3
        ((who, why),) = host.departed()
        assert who == "bad"
        assert why.startswith(told)
        assert host.hall.reception.dropped[code] == 1
        host.until(lambda: bool(bad.told("bye")))
        assert bad.told("error")[0]["detail"].startswith(told)
        # Not heard any more,
        bad.say({"id": 1, "move": 1})
        host.until(lambda: host.hall.reception.dropped["no_hello"] > 0)
        assert "bad" not in host.hall.guests
        # and welcome again.
        bad.answer = first_legal
        bad.hello()
        host.until(lambda: "bad" in host.hall.guests)
        assert endings(host.play(NAMES)) == ["rules", "rules"]


def test_hello_and_hello_again_at_once_is_garbled() -> None:
    with hosting() as host:
        against_good(host, lambda _: {"type": "hello", "name": "bad"})
        (record,) = host.play(NAMES)
        assert lost(record, "garbled") == "a hello where move, resign, pong is due"


def test_a_flood_of_pongs() -> None:
    with hosting() as host:
        bad = against_good(host, silence)
        match = host.seat(NAMES, games=1)
        host.until(lambda: bool(bad.told("turn")))
        for _ in range(STALE_LIMIT + 1):
            bad.say({"type": "pong"})
        host.until(lambda: match in host.over())
        assert lost(host.records(match)[0], "flood") == Naming(STALE_LIMIT, "lines")
        still_plays(host)


def test_a_flood_of_bytes_is_cut_off_and_memory_stays() -> None:
    with hosting(HallTerms(warm_up_ms=0, flood_bytes=200_000)) as host:
        bad = against_good(host, silence)
        match = host.seat(NAMES, games=1)
        host.until(lambda: bool(bad.told("turn")))
        junk = b'{"type":"pong","x":"' + b"x" * 50_000 + b'"}'
        before = resident_bytes()

        def flooding() -> bool:
            for _ in range(20):
                bad.socket.send(junk, 1)
            return match in host.over()

        bad.socket.sndtimeo = 0
        host.until(lambda: try_(flooding))
        assert lost(host.records(match)[0], "flood") == Naming(200_000, "bytes", "last turn")
        connection = host.hall.guests["good"].connection
        host.until(lambda: try_(flooding) and host.hall.reception.dropped["no_hello"] > 200)
        assert resident_bytes() - before < 60_000_000
        assert host.hall.guests["good"].connection == connection
        still_plays(host)


def test_both_at_fault_in_one_round_is_void() -> None:
    with hosting() as host:
        host.guests("bad", answer=lambda turn: {"id": turn["id"], "move": 99})
        host.guests("worse", answer=lambda _: b"oops")
        match = host.seat(("bad", "worse"), games=1)
        host.until(lambda: match in host.over())
        (record,) = host.records(match)
        assert (record.ending, record.winner, record.at_fault) == ("void", None, (0, 1))
        assert [fault.code for fault in record.faults()] == ["garbled", "illegal"]


def test_a_round_waits_for_the_other_though_one_has_left() -> None:
    with hosting() as host:
        host.guests("bad", answer=lambda _: b"oops")
        (slow,) = host.guests("good", answer=silence)
        match = host.seat(NAMES, games=1)
        host.until(lambda: bool(host.departed()))
        assert match not in host.over()
        slow.say(first_legal(slow.told("turn")[0]))
        host.until(lambda: match in host.over())
        assert lost(host.records(match)[0], "garbled")


# Strangers.


@pytest.mark.parametrize(
    "said",
    [b"", b"garbage", b"\x80", b'{"id":1,"move":2}', [b"a", b"b"], [b""] * 50, b"x" * 100_000],
)
def test_a_stranger_costs_a_counter_and_then_his_connection(said: Any) -> None:
    with hosting() as host:
        stranger = host.bot("stranger", packed=said == b"\x80")
        stranger.say(said)
        host.until(lambda: bool(stranger.heard))
        (error,) = stranger.heard
        assert (error["type"], error["code"]) == ("error", "no_hello")
        for _ in range(150):
            stranger.say(said)
        host.until(lambda: host.hall.reception.dropped.total() > 100)
        still_plays(host)
        assert len(stranger.heard) <= 3
        assert sorted(host.arrived()) == ["x", "y"]


def test_a_wrong_protocol_is_told_apart() -> None:
    with hosting() as host:
        bot = host.bot("old")
        bot.hello(protocol=9)
        host.until(lambda: bool(bot.heard))
        assert bot.heard[0]["detail"] == Naming("protocol 9", "referee 1")
        assert host.hall.reception.dropped["wrong_protocol"] == 1


def test_strangers_with_unknown_keys_cost_the_others_nothing() -> None:
    ann, bob = new_keys(), new_keys()
    with hosting(keys={ann.public: "a", bob.public: "b"}) as host:
        for name, keys in (("a", ann), ("b", bob)):
            host.guests(name, keys=keys)
        for _ in range(5):
            host.bot("a", keys=new_keys()).hello()
        assert endings(host.play(games=10)) == ["rules"] * 10
        host.until(lambda: host.router.refused["unknown key"] >= 5)


# Peers that do not read.


def test_one_that_does_not_read_is_away_and_its_memory_is_bounded() -> None:
    with hosting(HallTerms(warm_up_ms=0, away_ms=400)) as host:
        deaf = against_good(host, silence, rcvhwm=1)
        deaf.quiet = True
        guest = host.hall.guests["bad"]
        before = resident_bytes()

        def stuffed() -> bool:
            guest.outbox.extend(Error("illegal", "x" * 4_000) for _ in range(200))
            host.hall._boards.mark(guest)
            return guest.away_ns is not None

        host.until(stuffed)
        host.until(lambda: bool(host.departed()))
        ((_, why),) = host.departed()
        assert why == Naming("bot does not read what is sent to it", "within 400 ms")
        assert resident_bytes() - before < 60_000_000
        still_plays(host)


def try_(act: Callable[[], bool]) -> bool:
    try:
        return act()
    except zmq.Again:
        return True


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
