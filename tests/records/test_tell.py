"""A replay tells the game in the words of the rule book, and says who was at fault."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from referee.replaying import replay
from tests.facts import Naming
from tests.records import FAULTY, VARIANTS, faulty, planned, play


class Told(NamedTuple):
    plans: tuple[str, str]
    options: dict[str, Any]
    lines: str
    """Of the story, in this order; with others between them."""


def expected(line: str) -> str | Naming:
    """The line itself; … stands for words that are tested where they are written."""
    return Naming.of(line) if "…" in line else line


STORIES = {
    "difference": Told(
        ("5 1 2 3 4", "1 2 3 4 5"),
        {},
        """\
Game 1 of difference: Ann against Bob
Ann and Bob hold 1 to 5 each and play 5 rounds.

Round 1
  Ann plays 5.
  Bob plays 1.
  Ann wins the round! Points gained: 4
  Points: Ann 4, Bob 0
Round 5
  Bob wins the round! Points gained: 1
Final scores: Ann 4 points, Bob 4 points.
Bob won more rounds, 4 to 1, … winner!""",
    ),
    "underdog": Told(
        ("10 8 6 4", "1 8 7 5"),
        {},
        """\
Ann and Bob hold 1 to 10 each; first to 3 points.
  Ann wins the round!
  Same number: nobody wins the round.
  Current scores: Ann 1, Bob 0
  Ann chose: 6
  Bob chose: 7
  Underdog Rule Activated! Ann wins the round!
Ann has reached 3 points … wins the game 3 to 0!""",
    ),
    "duel": Told(
        ("10 10 9", "1 1 2"),
        {"first": "seat0", "life": 15},
        """\
Ann and Bob have 15 life points each and hold 1 to 10, 2 uses of each.
Ann attacks first.

Round 1
  Ann attacks with 10.
  Bob defends with 1.
  Attack Successful! Bob takes 9 damage.
  Life points: Ann 15, Bob 6
  Roles have switched. It's now Bob's turn to attack.

Round 2
  Bob attacks with 1.
  Ann defends with 10.
  Attack Blocked! No damage dealt.
  Attack Successful! Bob takes 7 damage.

Bob is at -1 life points: Ann wins the game!""",
    ),
    "target": Told(
        ('"+5" "*9" "+8" "*2"', '"*1" "+9" "+2"'),
        {"first": "seat0", "target": 50},
        """\
Target Score: 50
Ann and Bob hold 1 to 9 each. Ann begins.

Ann's Turn. Current Score: 0
  Ann plays +5: 0 + 5 = 5
  Ann's new score is 5

Bob's Turn. Current Score: 0
  Bob plays *1: 0 × 1 = 0
  Ann plays *9: 5 × 9 = 45
  Ann plays +8: 45 + 8 = 53
  Overshot! 53 is over 50: … half the target.
  Ann's new score is 25
Ann has reached 50 … wins the game!""",
    ),
    "deck": Told(
        ("last", "first"),
        {"hp": 4},
        """\
Ann and Bob have 4 HP each and hold 3 cards of a … with 4 × 1 to 9. Ann begins.

Ann's turn. Hand: [4, 8, 8]
  Ann played 8.
  No previous card …. No damage dealt.
  HP: Ann 4, Bob 4.
  Ann draws 5.

Bob's turn. Hand: [3, 6, 9]
  Bob played 3.
  3 < 8, Bob takes 5 damage.
  HP: Ann 4, Bob -1.

Bob's HP is -1: Ann wins the game!""",
    ),
}


def told(variant: str) -> list[str]:
    story = STORIES[variant]
    ann, bob = (plan.split() for plan in story.plans)
    (record,) = play(planned("Ann", *ann), planned("Bob", *bob), variant, options=story.options)
    return list(replay(record).tell())


@pytest.mark.parametrize("variant", STORIES)
def test_the_story_of_a_game(variant: str) -> None:
    lines = told(variant)
    rest = iter(lines)
    for line in STORIES[variant].lines.splitlines():
        assert any(each == expected(line) for each in rest), "\n".join(lines)
    assert "\n\n\n" not in "\n".join(lines)


def test_every_variant_has_its_story() -> None:
    assert set(STORIES) == set(VARIANTS)


FAULTS = {
    "illegal": """\
Round 2
a is at fault at turn 5: illegal, 99 … [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].
  It had sent: {"id": 3, "move": 99}
b wins the game.""",
    "illegal, both at once": """\
Round 1

b is at fault at turn 4: illegal, '3' … send 3.
  It had sent: {"id": 2, "move": "3"}
a wins the game.""",
    "resign": """\
a is at fault at turn 3: resign, the bot resigned.
b wins the game.""",
    "crash": """\
b is at fault at turn 4: crash, the bot exited with status 3.
a wins the game.""",
    "timeout": """\
a attacks first.

a is at fault at turn 1: timeout, no answer within 20 ms; … output?.
b wins the game.""",
    "garbled": """\
b is at fault at turn 4: garbled, … not null.
  It had sent: {"id": 2, "move": null}
a wins the game.""",
    "void": """\
a is at fault at turn 3: illegal, 99 … [2, 3, 4, 5, 6, 7, 8, 9, 10].
  It had sent: {"id": 2, "move": 99}
b is at fault at turn 4: resign, the bot resigned.
Both were at fault in the same round: the game is void.""",
    "void, both illegal": """\
  It had sent: {"id": 2, "move": 0}
Both were at fault in the same round: the game is void.""",
    "no_start": """\
a is at fault at turn 1: no_start, No such file or directory: /nowhere/to/be/found.
b wins the game.""",
    "forfeit": """\
a is at fault at turn 1: forfeit, … 3 times ….
b wins the game.""",
    "void, no start": """\
b is at fault at turn 1: no_start, No such file or directory: /nowhere/to/be/found.
Both were at fault in the same round: the game is void.""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_the_story_of_a_fault(name: str) -> None:
    lines = list(replay(faulty(name)).tell())
    rest = iter(lines)
    for line in FAULTS[name].splitlines():
        assert any(each == expected(line) for each in rest), "\n".join(lines)
    assert list(rest) == []
