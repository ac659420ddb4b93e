"""The parts of a check that need no process: the ear, the manners, the deals, the figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.protocol.codec import encode
from referee.protocol.describe import EXAMPLES_TO_BOT
from referee.protocol.messages import (
    HelloReceived,
    MoveReceived,
    OddMoveReceived,
    PongReceived,
    ResignReceived,
    Turn,
)
from referee.rules.registry import BUNDLED, BadVariant, build_variant
from referee.verdict import BotFault, Ending
from referee.workshop.check.deal import Deal
from referee.workshop.check.hearing import NO_LINE_END, NO_OBJECT, NOT_ALONE, Ear, Stray
from referee.workshop.check.manners import CRLF, PLAIN, REORDERED, UNKNOWN_EVENTS, UNKNOWN_FIELDS
from referee.workshop.check.remedies import ELSE, REMEDIES, language, remedy
from referee.workshop.check.report import Step, all_passed, figures, show_us
from tests.facts import Naming

CLOCK = Clock(move_ms=1_000)
MOVE = b'{"id": 5, "move": 3}\n'
SILENT_SCRIPT = """
from referee.rules.underdog import Underdog

class Silent(Underdog):
    name = "silent"

    def legal(self, position, seat):
        return None
"""
FAILING_SCRIPT = """
from referee.rules.underdog import Underdog

class Failing(Underdog):
    name = "failing"

    def view(self, position, seat):
        return {}["round"]
"""


# The ear.


@pytest.mark.parametrize("cut", range(1, len(MOVE)))
def test_lines_are_put_together(cut: int) -> None:
    ear = Ear()
    assert ear.receive(b"\r\n \n" + MOVE[:cut]) == []
    assert ear.receive(MOVE[cut:] + b'{"type":"pong"}\r\n') == [MoveReceived(5, 3), PongReceived()]
    assert ear.lines == 2


@pytest.mark.parametrize(
    ("line", "why", "meant"),
    [
        ("thinking...", NO_OBJECT, None),
        ("[1, 2]", NO_OBJECT, None),
        ('hi {"type": "hello"}', NOT_ALONE, None),
        ('sent {"type": "bye"}', NO_OBJECT, None),
        ('{"depth": 3}', "an object with .*", None),
        ('{"id": "5", "move": 3}', "id is a string where .*", "answer"),
        ("{'id': 5, 'move': 3}", "not JSON .*", "answer"),
        ('{"id": 5, "move": 3, "move": 4}', 'the key "move" appears twice', "answer"),
        ('{"type": "hello", "games_at_once": 0}', "games_at_once is 0 where .*", "hello"),
        ("{type: hello}", "not JSON .*", "hello"),
        ('{"type": "bye"}', 'type is "bye"; .*', None),
    ],
)
def test_what_is_no_message_is_set_aside(line: str, why: str, meant: str | None) -> None:
    (stray,) = Ear().receive(line.encode() + b"\n")
    assert isinstance(stray, Stray)
    assert (stray.line, stray.meant) == (line, meant)
    assert stray.why.startswith(why.partition(".*")[0])


def test_a_message_on_several_lines() -> None:
    text = json.dumps({"type": "hello", "name": "mine", "variants": None}, indent=2).encode()
    heard = Ear().receive(text + b"\n" + MOVE)
    assert heard[1:] == [HelloReceived(name="mine"), MoveReceived(5, 3)]
    assert isinstance(heard[0], Stray)
    assert heard[0].why == "a message spread over 5 lines; write each message on one line"


def test_a_message_that_never_ends_is_given_up() -> None:
    ear = Ear()
    assert ear.receive(b'{"id": 5,\n') == []
    given_up = [Stray('{"id": 5,', NO_OBJECT)]
    assert ear.receive(MOVE) == [*given_up, MoveReceived(5, 3)]
    (stray,) = ear.receive(b"x" * 70_000)
    assert isinstance(stray, Stray)
    assert stray.why == Naming("more than 65536 bytes without the end", "of a line")


def test_messages_without_the_ends_of_their_lines() -> None:
    ear = Ear()
    assert ear.receive(b'{"id": 5, "move": 3}') == []
    assert ear.unfinished() == '{"id": 5, "move": 3}'
    stray = Stray('{"id": 5, "move": 3}', NO_LINE_END)
    assert ear.take_unfinished() == [stray, MoveReceived(5, 3)]
    assert ear.eager
    both = ear.receive(b'{"id": 6, "move": "a"}{"type": "resign", "id": 7}{"id": 8')
    assert both[1::2] == [MoveReceived(6, "a"), ResignReceived(7)]
    assert ear.unfinished() == '{"id": 8'
    assert ear.take_unfinished() == []


# The manners.


@pytest.mark.parametrize("kind", EXAMPLES_TO_BOT)
def test_every_manner_says_the_same(kind: str) -> None:
    message = EXAMPLES_TO_BOT[kind]
    plain = json.loads(PLAIN.write([message]))
    assert PLAIN.write([message]) == encode([message])
    assert CRLF.write([message]) == encode([message])[:-1] + b"\r\n"
    reordered = json.loads(REORDERED.write([message]))
    assert reordered == plain
    assert list(reordered) == list(plain)[::-1]
    extended = json.loads(UNKNOWN_FIELDS.write([message]))
    assert next(iter(extended)) == "type"
    assert len(extended) > len(plain)
    assert _without_news(extended, plain) == plain
    told = json.loads(UNKNOWN_EVENTS.write([message]))
    if "events" in plain:
        assert told["events"][1:-1] == plain["events"]
        del told["events"], plain["events"]
    assert told == plain


def _without_news(value: Any, like: Any) -> Any:
    """The fields of one value that another has."""
    if isinstance(like, dict):
        return {key: _without_news(value[key], each) for key, each in like.items()}
    if isinstance(like, list):
        return [_without_news(*pair) for pair in zip(value, like, strict=True)]
    return value


def test_inner_objects_are_reordered_and_extended_too() -> None:
    turn = EXAMPLES_TO_BOT["turn"]
    assert isinstance(turn, Turn)
    reordered = json.loads(REORDERED.write([turn]))
    assert list(reordered["view"]["mine"]) == ["points", "numbers"]
    assert reordered["legal"] == turn.legal
    extended = json.loads(UNKNOWN_FIELDS.write([turn]))
    assert extended["view"]["news"]["legal"] == []
    assert extended["events"][0]["news"]["id"] == 0


# The deals.


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_game_goes_to_its_end(name: str, seat: int) -> None:
    def play() -> list[object]:
        deal = Deal(build_variant(name, {}), seat, 7, "mine", CLOCK)
        told: list[object] = [deal.start()]
        assert deal.start().players[seat] == "mine"
        while (turn := deal.turn(len(told))) is not None:
            assert turn.legal
            deal.answer(MoveReceived(turn.id, turn.legal[-1]))
            told.append(turn)
        assert deal.over
        assert deal.turns == len(told) - 1
        assert deal.end().ending == "rules"
        return [*told, deal.end()]

    assert play() == play()


def test_the_ways_to_end_early() -> None:
    def begun() -> Deal:
        deal = Deal(build_variant("difference", {}), 1, 1, "mine", CLOCK)
        assert deal.turn(3) is not None
        return deal

    deal = begun()
    deal.answer(ResignReceived(3))
    assert deal.resigned
    assert (deal.end().result, deal.end().ending, deal.end().at_fault) == ("loss", "resign", (1,))
    deal = begun()
    deal.answer(OddMoveReceived(3, 5, "a note"))
    deal.call_off()
    assert (deal.called_off, deal.resigned, deal.turn(4)) == (True, False, None)
    assert (deal.end().result, deal.end().ending, deal.end().at_fault) == ("win", "resign", (0,))
    deal = begun()
    assert (deal.break_off().result, deal.break_off().ending) == ("void", "host_stall")
    assert (deal.condemn().result, deal.end().ending) == ("loss", "illegal")
    deal = begun()
    with pytest.raises(BotFault, match="illegal: 9 ") as caught:
        deal.answer(MoveReceived(3, 9))
    assert (caught.value.code, caught.value.received) == (Ending.ILLEGAL, '{"id": 3, "move": 9}')


def test_scripts_that_cannot_be_played(tmp_path: Path) -> None:
    for name, text, told in (
        ("silent", SILENT_SCRIPT, "silent does not list its legal moves, so .*"),
        ("failing", FAILING_SCRIPT, r".*failing\.py, line 8: KeyError: 'round'"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
        deal = Deal(build_variant(str(tmp_path / f"{name}.py"), {}), 0, 1, "mine", CLOCK)
        with pytest.raises(BadVariant, match=told):
            deal.turn(1)


# The figures and the remedies.


def test_figures_are_times_that_were_measured() -> None:
    assert figures([], 1_000, 0) is None
    spent = [number * 1_000_000 for number in range(1, 201)]
    seen = figures(spent[::-1], 1_000, 2)
    assert seen is not None
    assert (seen.answers, seen.median_us, seen.p99_us) == (200, 100_000, 198_000)
    assert (seen.slowest_us, seen.limit_ms, seen.late) == (200_000, 1_000, 2)
    one = figures([5_000], 1_000, 0)
    assert one is not None
    assert (one.median_us, one.p99_us, one.slowest_us) == (5, 5, 5)


@pytest.mark.parametrize(
    ("duration_us", "shown"),
    [(0, "0 µs"), (999, "999 µs"), (1_000, "1.0 ms"), (999_900, "999.9 ms"), (1_250_000, "1.25 s")],
)
def test_durations_are_shown_in_their_unit(duration_us: int, shown: str) -> None:
    assert show_us(duration_us) == shown


def test_only_a_check_without_gaps_is_passed() -> None:
    def step(result: Any) -> Step:
        return Step(name="a", result=result, detail="")

    assert all_passed([step("passed"), step("skipped")])
    assert not all_passed([step("passed"), step("failed")])
    assert not all_passed([step("passed"), step("not tried")])


@pytest.mark.parametrize(
    ("command", "sources", "found"),
    [
        (("python3.12", "bot.py"), (), "Python"),
        (("/usr/bin/node", "bot.js"), (), "JavaScript"),
        (("java", "Bot"), (), "Java"),
        (("./bot",), ("bot.c", "bot.toml"), "C"),
        (("./bot",), ("bot.cpp",), "C++"),
        (("./bot",), ("bot.rs",), "Rust"),
        (("./bot",), ("bot.go",), "Go"),
        (("bash", "bot.sh"), (), "Bash"),
        (("sh", "-c", "exec python3 bot.py"), ("bot.py",), "Python"),
        (("env", "perl", "bot.pl"), (), "Perl"),
        (("./bot",), (), None),
    ],
)
def test_the_remedy_is_that_of_the_language(
    command: tuple[str, ...], sources: tuple[str, ...], found: str | None, tmp_path: Path
) -> None:
    for name in sources:
        (tmp_path / name).touch()
    bot = Bot(name="mine", command=command, folder=tmp_path)
    assert language(bot) == found
    assert remedy(bot) == (REMEDIES[found] if found else ELSE)
