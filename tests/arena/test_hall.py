"""The hall with good guests: games, encodings, keys, many at once, several matches, followers."""

from __future__ import annotations

from typing import Any

import pytest

from referee.arena.happenings import Began, Ended, HallTerms, Moved, Played
from referee.links.keys import new_keys
from tests.arena.hosting import Message, endings, hosting, silence

VARIANTS = ("difference", "underdog", "duel", "target", "deck")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("packed", [(False, False), (True, True), (True, False)])
def test_games_are_played_and_their_records_hold(variant: str, packed: tuple[bool, bool]) -> None:
    with hosting() as host:
        for name, each in zip("ab", packed, strict=True):
            host.guests(name, packed=each)
        records = host.play(games=4, variant=variant)
        assert endings(records) == ["rules"] * 4
        assert [record.players for record in records] == [("a", "b"), ("b", "a")] * 2
        assert all(record.level == "none" and record.dropped == 0 for record in records)
        assert host.over()[1].unplayed == []
        a, b = host.bots
        host.until(lambda: len(a.told("over")) == len(b.told("over")) == 4)
        hello, start = a.heard[:2]
        assert (hello["type"], hello["protocol"], start["type"]) == ("hello", 1, "start")
        results = [message["result"] for message in a.told("over")]
        flipped = {"win": "loss", "loss": "win", "draw": "draw"}
        assert [flipped[result] for result in results] == [
            message["result"] for message in b.told("over")
        ]
        assert host.hall.answers == sum(len(record.moves) for record in records)


def test_both_seats_are_asked_at_once() -> None:
    with hosting() as host:
        a, b = host.guests("a", "b", answer=silence)
        host.seat(games=1)
        host.until(lambda: bool(a.told("turn")) and bool(b.told("turn")))


def test_many_games_at_once() -> None:
    with hosting() as host:
        a, _ = host.guests("a", "b", hello={"games_at_once": 16})
        records = host.play(games=60)
        assert endings(records) == ["rules"] * 60
        ids = [message["id"] for message in a.told("turn")]
        assert ids == sorted(set(ids))
        assert most_open(a.heard) == 16


def test_games_at_once_is_the_smaller_of_both() -> None:
    with hosting() as host:
        (a,) = host.guests("a", hello={"games_at_once": 8})
        host.guests("b", hello={"games_at_once": 3})
        host.play(games=12)
        assert most_open(a.heard) == 3
        host.play(games=6, at_once=2)
        assert most_open(a.heard) == 3


def test_a_guest_plays_in_several_matches_within_its_limit() -> None:
    with hosting() as host:
        (a,) = host.guests("a", hello={"games_at_once": 2})
        host.guests("b", "c", "d")
        matches = [host.seat(("a", other), games=4) for other in "bcd"]
        host.until(lambda: set(matches) <= set(host.over()))
        for match in matches:
            assert endings(host.records(match)) == ["rules"] * 4
        assert most_open(a.heard) == 2


def test_hidden_chance_and_a_bank() -> None:
    with hosting() as host:
        a, _ = host.guests("a", "b", hello={"games_at_once": 4})
        records = host.play(games=6, variant="deck", time_control="20s+1s")
        assert endings(records) == ["rules"] * 6
        left = [turn["left_ms"] for turn in a.told("turn")]
        assert all(0 < each <= 60_000 for each in left)


def test_known_keys_play_and_a_name_belongs_to_its_key() -> None:
    ann, bob = new_keys(), new_keys()
    with hosting(keys={ann.public: "a", bob.public: "b"}) as host:
        host.guests("a", keys=ann)
        host.guests("b", keys=bob, packed=True)
        assert endings(host.play()) == ["rules", "rules"]
        thief = host.bot("a", keys=bob)
        thief.hello()
        host.until(lambda: bool(thief.heard))
        (error,) = thief.heard
        assert (error["code"], error["detail"]) == (
            "no_hello",
            "the name a belongs to another key",
        )
        assert host.hall.reception.refused == {"name": 1}
        stranger = host.bot("a", keys=new_keys())
        stranger.hello()
        host.until(lambda: host.router.refused["unknown key"] > 0)
        assert endings(host.play()) == ["rules", "rules"]
        assert host.arrived() == ["a", "b"]
        assert host.departed() == []


def test_a_token_is_asked_for() -> None:
    with hosting(tokens={"a": "secret", "b": "other"}) as host:
        (a,) = host.guests("a", hello={"token": "secret"})
        thief = host.bot("a")
        thief.hello(token="other")
        host.until(lambda: bool(thief.heard))
        assert thief.heard[0]["detail"] == "no such token"
        assert host.arrived() == ["a"]
        assert host.hall.guests["a"].hello.token is None
        assert a.told("bye") == []


def test_notes_and_odd_but_good_answers() -> None:
    def noted(turn: Message) -> Any:
        return {"type": "move", "id": turn["id"], "move": turn["legal"][-1], "note": "hm"}

    with hosting() as host:
        host.guests("a", answer=noted)
        host.guests("b")
        for record in host.play():
            assert set(record.notes.values()) == {"hm"}


@pytest.mark.parametrize("packed", [False, True])
def test_long_notes_are_cut(packed: bool) -> None:
    def noted(turn: Message) -> Any:
        return {"type": "move", "id": turn["id"], "move": turn["legal"][-1], "note": 9_000 * "ü"}

    with hosting() as host:
        host.guests("a", answer=noted, packed=packed)
        host.guests("b")
        for record in host.play():
            assert record.notes and set(record.notes.values()) == {100 * "ü"}


def test_a_match_without_its_guest_is_over_at_once() -> None:
    with hosting() as host:
        host.guests("a")
        match = host.seat(games=4)
        host.until(lambda: match in host.over())
        assert [order.game for order in host.over()[match].unplayed] == ["1", "2", "3", "4"]


def test_a_match_can_be_called_off() -> None:
    with hosting() as host:
        a, _ = host.guests("a", "b", answer=silence)
        match = host.seat(games=4)
        host.until(lambda: bool(a.told("turn")))
        host.hall.call_off(match)
        for bot in host.bots:
            bot.answer = lambda turn: {"id": turn["id"], "move": turn["legal"][0]}
            for turn in bot.told("turn"):
                bot.say(bot.answer(turn))
        host.until(lambda: match in host.over())
        assert endings(host.records(match)) == ["rules"]
        assert len(host.over()[match].unplayed) == 3


def test_idle_guests_are_pinged_for_ever() -> None:
    with hosting(HallTerms(ping_s=0.0, away_ms=20_000)) as host:
        (a,) = host.guests("a")
        host.until(lambda: len(a.told("ping")) > 3)
        # Far more than a guest may say without being asked: these were asked for.
        guest = host.hall.guests["a"]
        for _ in range(150):
            guest.session.ping()
            assert len(guest.session.message(b'{"type":"pong"}')) == 1
        assert "a" in host.hall.guests


def test_no_ping_while_it_is_to_move() -> None:
    with hosting(HallTerms(ping_s=0.0, warm_up_ms=0)) as host:
        a, b = host.guests("a", "b", answer=silence)
        host.seat(games=1, time_control="400ms")
        host.until(lambda: bool(a.told("over")) and bool(b.told("over")))
        kinds = [message["type"] for message in a.heard]
        assert "ping" not in kinds[kinds.index("turn") : kinds.index("error")]


def test_followers_see_what_both_seats_know() -> None:
    with hosting() as host:
        host.guests("a", "b", hello={"games_at_once": 4})
        host.hall.follow = 2
        records = host.play(games=8, variant="deck")
        began, ended = host.all(Began), host.all(Ended)
        assert len(began) == len(ended) >= 2
        by_game = {record.game: record for record in records}
        for end in ended:
            record = by_game[end.game]
            assert (end.winner, end.scores) == (record.winner, record.scores)
            assert end.players == record.players
            moved = [each for each in host.all(Moved) if each.game == end.game]
            assert moved[-1].move_number == len(record.moves)
            # Whoever keeps the record tells of it: nothing may come after that.
            kept = next(each for each in host.all(Played) if each.record.game == end.game)
            assert host.happened.index(moved[-1]) < host.happened.index(kept)
        assert any(line for each in host.all(Moved) for line in each.lines)


def test_closing_finishes_what_is_open() -> None:
    with hosting() as host:
        a, b = host.guests("a", "b")
        match = host.seat(games=50)
        host.until(lambda: bool(a.told("turn")))
        host.hall.close(20.0)
        host.until(lambda: host.hall.closed)
        records = host.records(match)
        assert set(endings(records)) == {"rules"}
        assert len(records) + len(host.over()[match].unplayed) == 50
        host.until(lambda: bool(a.told("bye")) and bool(b.told("bye")))
        assert len(a.told("over")) == len(records)


def test_closing_voids_what_does_not_end() -> None:
    with hosting() as host:
        a, b = host.guests("a", "b", answer=silence)
        match = host.seat(games=3)
        host.until(lambda: bool(a.told("turn")))
        host.hall.close(0.2)
        host.until(lambda: host.hall.closed)
        assert host.records(match) == []
        assert len(host.over()[match].unplayed) == 3
        host.until(lambda: bool(a.told("bye")) and bool(b.told("bye")))
        assert [message["result"] for message in a.told("over")] == ["void"]
        assert a.heard[-1] == {"type": "bye"}


def most_open(heard: list[Message]) -> int:
    most = opened = 0
    for message in heard:
        opened += (message["type"] == "start") - (message["type"] == "over")
        most = max(most, opened)
    return most
