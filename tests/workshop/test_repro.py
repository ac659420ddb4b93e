"""A stored game once more: the same lines, answers and fault, or what is otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.bots.manifest import Bot
from referee.dialogue import dialogue
from referee.mistake import Mistake
from referee.protocol.codec import encode
from referee.record import Record
from referee.verdict import Ending
from referee.workshop.repro import BadRepro, Heard, Repro, Running, Told, repro
from tests.arena.playing import bot, honest, play
from tests.workshop.one_game import game


def again(record: Record, with_bot: Bot, **terms: Any) -> Repro:
    seat = record.players.index(with_bot.name)
    return repro(dialogue(record, seat), with_bot, **terms)


FAULTS: dict[str, tuple[Bot, dict[str, Any]]] = {
    "illegal": (bot("scribe", "/dev/null", "illegal"), {}),
    "illegal, both at once": (bot("scribe", "/dev/null", "illegal"), {"variant": "underdog"}),
    "resign": (bot("scribe", "/dev/null", "resign"), {"variant": "target"}),
    "garbled": (bot("scribe", "/dev/null", "garbled"), {"variant": "deck"}),
    "garbled, no move": (bot("garbage", "move null"), {}),
    "garbled, then more": (bot("garbage", "NaN"), {"variant": "difference"}),
    "crash": (bot("crash", "status"), {}),
    "crash, by a signal": (bot("crash", "signal"), {"variant": "underdog"}),
    "crash, in a line": (bot("crash", "half"), {}),
    "crash, after its answer": (bot("crash", "answered"), {"variant": "underdog"}),
    "crash, out of turn": (bot("crash", "idle"), {}),
    "crash, with children": (bot("children", "child", "crash"), {}),
    "crash, closes its input": (bot("pipes", "closes stdin"), {"variant": "underdog"}),
    "crash, closes its output": (bot("pipes", "closes stdout"), {}),
    "flood": (bot("flood", "line"), {}),
    "flood, of lines": (bot("flood", "garbage"), {}),
    "timeout": (bot("slow", 3, 3), {"time": "1s", "grace_ms": 0}),
    "no_start": (bot("startup", "exits"), {}),
    "no_hello": (bot("startup", "garbage"), {}),
    "wrong_protocol": (bot("startup", "protocol 2"), {}),
}
"""By code: bots that are at fault in every game, and in which game."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_comes_again(name: str) -> None:
    bad, terms = FAULTS[name]
    if name == "crash, out of turn":
        # The other thinks for so long that the bot has ended meanwhile.
        options = {"first": "seat0"}
        others = honest(seconds=2)
        (record,) = play(bad, others, variant="duel", games=1, options=options, pin=False).records
    else:
        record = game(bad, **terms)
    assert record.fault is not None
    assert record.ending == name.partition(",")[0]
    told = again(record, bad)
    assert told.seen is not None
    assert (told.seen.code, told.seen.turn) == (record.fault.code, record.fault.turn)
    assert (told.recorded, told.came_again, told.differences) == (record.fault, True, 0)
    assert told.holds
    if name != "timeout":
        assert told.seen.detail == record.fault.detail
    assert "id" in told.seen.received or told.seen.received == record.fault.received


@pytest.mark.parametrize("name", ["illegal", "garbled", "crash", "no_start"])
def test_a_fault_that_is_mended_does_not_come_again(name: str) -> None:
    bad, terms = FAULTS[name]
    record = game(bad, **terms)
    told = again(record, bot("scribe", "/dev/null"))
    assert (told.came_again, told.seen, told.holds) == (False, None, False)
    assert (told.differences, told.missing) == (0, 0)


def test_another_fault_is_not_the_recorded_one() -> None:
    record = game(bot("scribe", "/dev/null", "illegal"))
    for other, turn in ((("resign",), 5), (("illegal", 2), 0), (("crash", 2), 4)):
        told = again(record, bot("scribe", "/dev/null", *other))
        assert (told.came_again, told.holds) == (False, False)
        # Where the game goes on, that turn's answer is a difference and no fault.
        assert (0 if told.seen is None else told.seen.turn) == turn


@pytest.mark.parametrize(("how", "seat"), [("exits", 0), ("garbage", 1), ("not there", 1)])
def test_a_bot_that_does_not_come_up_any_more(how: str, seat: int) -> None:
    """It was sent no turn, and all its recorded answers are missing."""
    first, *_ = play(honest(name="a"), honest(name="b"), games=1, pin=False).records
    broken = bot("startup", how, name="ab"[seat])
    if how == "not there":
        broken = Bot(name="b", command=("/nowhere/to/be/found",))
    told = again(first, broken)
    assert told.seen is not None
    own = [move for mover, move in first.moves if mover == seat]
    assert (told.seen.turn, told.seen.sent, told.seen.recorded) == (1 + seat, "", own[0])
    assert (told.answers, told.missing, told.holds) == ([], len(own), False)


@pytest.mark.parametrize("how", ["exits", "garbage"])
def test_a_fault_at_the_start_of_seat_1_comes_again(how: str) -> None:
    bad = bot("startup", how)
    (record,) = play(honest(), bad, games=1, pin=False).records
    assert record.at_fault == (1,)
    assert again(record, bad).came_again


@pytest.mark.parametrize("variant", ["difference", "underdog", "duel", "target", "deck"])
def test_the_lines_are_those_of_the_game(variant: str, tmp_path: Path) -> None:
    record = game(bot("scribe", "/dev/null", name="mine"), variant)
    mine = bot("scribe", tmp_path / "book", name="mine")
    told = again(record, mine)
    assert told.holds
    assert (told.recorded, told.seen, told.came_again) == (None, None, None)
    of = dialogue(record, 0)
    hello, *lines, bye = (tmp_path / "book").read_bytes().splitlines(keepends=True)
    assert hello.startswith(b'{"type":"hello"')
    assert lines == [encode([message]) for message in of.messages()]
    assert bye == b'{"type":"bye"}\n'
    assert [heard.turn for heard in told.answers] == [asked.place for asked in of.turns]
    assert all(heard.same for heard in told.answers)


def test_the_game_goes_on_with_the_recorded_answer(tmp_path: Path) -> None:
    """Though the bot answers otherwise, even what would lose the game."""
    record = game(bot("scribe", "/dev/null", name="mine"))
    for how in ("illegal", "resign"):
        path = tmp_path / how
        told = again(record, bot("scribe", path, how, 2, name="mine"))
        lines = path.read_bytes().splitlines(keepends=True)[1:-1]
        assert lines == [encode([message]) for message in dialogue(record, 0).messages()]
        (other,) = [heard for heard in told.answers if not heard.same]
        assert (told.differences, told.holds, told.seen) == (1, False, None)
        assert other.recorded == dialogue(record, 0).turns[1].answer
        assert other.trouble is not None
        assert other.trouble.startswith(how)


def test_answers_before_a_turn_are_heard_and_not_shown() -> None:
    """The bot counts its turns, so a turn left out would change what it plays."""
    mine = bot("scribe", "/dev/null", "illegal", 4, name="mine")
    record = game(mine)
    assert record.fault is not None
    assert record.fault.turn == 8
    shown: list[Told] = []
    pauses: list[int] = []
    told = again(
        record, mine, from_turn=5, tell=shown.append, pause=lambda: pauses.append(len(shown))
    )
    assert told.came_again
    assert [heard.turn for heard in told.answers] == [5]
    assert [type(each) for each in shown[:2]] == [Running, Heard]
    assert pauses == [1], "once, before the first turn that is shown"
    whole = again(record, mine, pause=lambda: pauses.append(-1))
    assert len(whole.answers) == 3
    assert pauses == [1, -1]
    with pytest.raises(BadRepro, match="mine has no turn 9 or later: its last one is 8"):
        again(record, mine, from_turn=9)


def test_a_game_that_was_never_played() -> None:
    record = game(honest(name="mine"), "deck")
    void = replace(
        record,
        ending=Ending.HOST_STALL,
        reason="why",
        attempt=3,
        moves=[],
        chance=[],
        spent_us=[],
    )
    with pytest.raises(Mistake, match="game 1 was never played: host_stall, why"):
        again(void, honest(name="mine"))
