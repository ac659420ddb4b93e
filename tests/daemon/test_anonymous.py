"""Where the ladder is anonymous: what opponents are told, what viewers see, what is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from referee.record import Record
from referee.store.database import Store
from referee.tournament.spec import Spec
from tests.arena.hosting import Bot, Message
from tests.daemon.following import following, heard
from tests.daemon.serving import Daemon, serving
from tests.daemon.test_guests import HALL, endpoint, two_tokens
from tests.waiting import wait_for

ANONYMOUS = (*HALL, "--anonymous", "--pace", "0")
TRUE = ("alpha", "beta")


def names_told(bot: Bot) -> set[str]:
    return {name for start in bot.told("start") for name in start["players"]}


def said_to(bot: Bot) -> str:
    """All that a bot was told of its games."""
    about: list[Message] = [each for each in bot.heard if "game" in each]
    return msgspec.json.encode(about).decode()


@contextmanager
def both(daemon: Daemon, tokens: tuple[str, str]) -> Iterator[list[Bot]]:
    to = endpoint(daemon)
    bots = [Bot(to, name) for name in TRUE]
    try:
        for bot, token in zip(bots, tokens, strict=True):
            bot.hello(token=token)
        wait_for(lambda: daemon.said.count("connected bot=") == 2, "both")
        yield bots
    finally:
        for bot in bots:
            bot.close()


def test_a_tournament_hides_names_from_opponents_and_keeps_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tokens = two_tokens(data)
    spec = Spec(name="cup", variants=("underdog",), bots=TRUE, games=6)
    with serving(data, *ANONYMOUS) as daemon:
        with both(daemon, tokens) as bots:
            with daemon.house() as house:
                row = house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")

            def over() -> bool:
                for bot in bots:
                    bot.react()
                with daemon.house() as house:
                    return house.tournaments.get(row.id).state == "finished"

            wait_for(over, f"the end of the tournament; {daemon.said}")
            for bot in bots:
                assert all(re.fullmatch("bot-[0-9a-f]{6}", name) for name in names_told(bot))
                assert not any(name in said_to(bot) for name in TRUE)
        assert daemon.stop() == 0, daemon.said
    with Store.read(data / "tournaments" / str(row.id)) as store:
        records = [msgspec.msgpack.decode(body, type=Record) for *_, body in store.records()]
    assert {frozenset(record.players) for record in records} == {frozenset(TRUE)}


def test_viewers_are_told_one_name_from_the_first_move_to_the_end(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tokens = two_tokens(data)
    with serving(data, *ANONYMOUS) as daemon:
        told: dict[str, dict[str, dict[str, Any]]] = {}
        with both(daemon, tokens) as bots, following(daemon) as follower:

            def whole() -> list[dict[str, dict[str, Any]]]:
                for bot in bots:
                    bot.react()
                for event in heard(follower):
                    told.setdefault(event.get("game", ""), {})[event["type"]] = event
                return [each for each in told.values() if {"began", "moved", "ended"} <= set(each)]

            (game, *_) = wait_for(whole, f"a game from its first move to its end; {daemon.said}")
            for bot in bots:
                assert not any(name in said_to(bot) for name in TRUE)
        assert set(game["began"]["players"]) == {"alpha v1", "beta v1"}
        assert game["began"]["players"] == game["ended"]["players"]
        called = game["began"]["called"]
        assert sorted(called.values()) == ["alpha v1", "beta v1"]
        assert game["moved"]["called"] == called
        assert all(re.fullmatch("bot-[0-9a-f]{6}", name) for name in called)
        lines = str(game["moved"]["lines"])
        assert any(name in lines for name in called)
        assert not any(name in lines for name in TRUE)
        assert daemon.stop() == 0, daemon.said
