"""The kit passes what is right and names what is wrong: one small mistake a class."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from referee.rules.chance import Chance, Recorded
from referee.rules.registry import all_variants, find_variant
from referee.rules.variant import IllegalMove, Names, Outcome, Plays, Seat, Variant
from referee.testing.conformance import STEPS, Report, check_variant
from referee.testing.playthrough import OTHER_OPTIONS, random_game, sights

DOCS = Path(__file__).parents[2] / "docs"
GOOFSPIEL = str(DOCS / "examples" / "goofspiel.py")


class Position(Struct, frozen=True):
    cards: tuple[int, ...]
    left: tuple[tuple[int, ...], ...] = ((1, 2, 3), (1, 2, 3))
    totals: tuple[int, int] = (0, 0)


class Good(Variant[Position, int]):
    """Each holds a secret card; two rounds of 1 to 3, once each; card and numbers add up."""

    name = "good"
    summary = "a secret card each and two rounds of numbers"
    reasons = {"sum": "the higher sum wins"}
    hidden_chance = True

    def setup(self, chance: Chance) -> Position:
        return Position(chance.shuffle(range(1, 6)))

    def actors(self, position: Position) -> tuple[Seat, ...]:
        return (0, 1) if len(position.left[0]) > 1 else ()

    def legal(self, position: Position, seat: Seat) -> Any:
        return position.left[seat]

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        (_, one), (_, other) = plays
        left = tuple(tuple(n for n in position.left[seat] if n != move) for seat, move in plays)
        totals = (position.totals[0] + one, position.totals[1] + other)
        return Position(position.cards, left, totals)

    def view(self, position: Position, seat: Seat) -> Any:
        return {"card": position.cards[seat], "totals": position.totals}

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        return [{"mine": plays[seat][1], "theirs": plays[1 - seat][1]}]

    def outcome(self, position: Position) -> Outcome | None:
        if self.actors(position):
            return None
        first, second = self.scores(position)
        return Outcome(None if first == second else int(second > first), "sum")

    def scores(self, position: Position) -> Any:
        return tuple(position.totals[seat] + position.cards[seat] for seat in (0, 1))

    def longest(self) -> Any:
        return 4


BROKEN: list[tuple[type[Good], str, str]] = []


def broken(step: str, told: str) -> Callable[[type[Good]], type[Good]]:
    """This class must fail this step and no other, with this in the sentence."""

    def keep(variant: type[Good]) -> type[Good]:
        BROKEN.append((variant, step, told))
        return variant

    return keep


@broken("text", "reasons['sum'] is empty")
class NoMeaning(Good):
    reasons = {"sum": " "}


@broken("text", "book() is empty")
class NoBook(Good):
    @classmethod
    def book(cls) -> str:
        return ""


@broken("setup", "setup gave unequal positions for the same luck")
class OwnLuck(Good):
    dice = random.Random(1)

    def setup(self, chance: Chance) -> Position:
        cards = list(chance.shuffle(range(1, 6)))
        self.dice.shuffle(cards)
        return Position(tuple(cards))


@broken("setup", "IndexError: tuple index out of range (game 1, set-up)")
class SetupRaises(Good):
    def setup(self, chance: Chance) -> Position:
        return Position((chance.shuffle(range(5))[5],))


@broken("actors", "(0, 1) still play after the outcome (game ")
class PlaysOn(Good):
    def outcome(self, position: Position) -> Outcome | None:
        return Outcome(0, "sum") if position.totals[0] > 2 else None


@broken("actors", "actors is (1, 0)")
class Unsorted(Good):
    def actors(self, position: Position) -> tuple[Seat, ...]:
        return super().actors(position)[::-1]


@broken("legal", "a seat that plays has no legal move")
class Stuck(Good):
    def legal(self, position: Position, seat: Seat) -> Any:
        return [n for n in position.left[seat] if n != 3 or position.totals == (0, 0)][:-1]


@broken("legal", "legal lists a move twice: [1, 2, 3, 1]")
class Twice(Good):
    def legal(self, position: Position, seat: Seat) -> Any:
        return [*position.left[seat], position.left[seat][0]]


@broken("legal", "the legal move '1' is not of move_type")
class Texts(Good):
    def legal(self, position: Position, seat: Seat) -> Any:
        return list(map(str, position.left[seat]))


@broken("legal", "legal is None, so the kit can play it only where propose= is given")
class Unlisted(Good):
    def legal(self, position: Position, seat: Seat) -> Any:
        return None

    def read_move(self, position: Position, seat: Seat, raw: object) -> int:
        if type(raw) is int and raw in position.left[seat]:
            return raw
        raise IllegalMove("no")


@broken("read_move", "read_move takes True for a move")
class Lenient(Good):
    def read_move(self, position: Position, seat: Seat, raw: object) -> int:
        return super().read_move(position, seat, int(raw) if isinstance(raw, bool) else raw)


@broken("read_move", "read_move refuses 3, which is legal")
class Strict(Good):
    def read_move(self, position: Position, seat: Seat, raw: object) -> int:
        if raw == 3:
            raise IllegalMove("not three")
        return super().read_move(position, seat, raw)


@broken("read_move", "TypeError: int() argument must be")
class Crashes(Good):
    def read_move(self, position: Position, seat: Seat, raw: object) -> int:
        return super().read_move(position, seat, int(raw) if raw is None else raw)  # type: ignore[call-overload]


@broken("views", "view['card'] is {")
class ViewOfSet(Good):
    def view(self, position: Position, seat: Seat) -> Any:
        return {"card": {position.cards[seat]}}


@broken("views", "view['hope'][0] is nan, a float that JSON cannot carry")
class ViewOfNaN(Good):
    def view(self, position: Position, seat: Seat) -> Any:
        return super().view(position, seat) | {"hope": [math.nan]}


@broken("views", "view has the key 1, which is not a text")
class ViewOfNumbers(Good):
    def view(self, position: Position, seat: Seat) -> Any:
        return {1: position.cards[seat]}


@broken("apply", "apply changed the position it was given")
class InPlace(Good):
    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        force_setattr(position, "totals", super().apply(position, plays, chance).totals)
        return replace(super().apply(position, plays, chance))


@broken("apply", "apply gave unequal positions for the same luck")
class Counter(Good):
    calls = itertools.count()

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        after = super().apply(position, plays, chance)
        return replace(after, cards=(*after.cards[:2], next(self.calls)))


@broken("apply", "IndexError: tuple index out of range (game 1, play 3)")
class ApplyRaises(Good):
    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        return replace(super().apply(position, plays, chance), cards=(position.left[0][2], 1))


@broken("events", "events is ({")
class EventTuple(Good):
    def events(self, *args: Any) -> Any:
        return tuple(super().events(*args))


@broken("outcome", "the reason 'luck' is not in reasons")
class Undeclared(Good):
    def outcome(self, position: Position) -> Outcome | None:
        outcome = super().outcome(position)
        return outcome and Outcome(outcome.winner, "luck")


@broken("scores", "not a tuple of two whole numbers")
class Halves(Good):
    def outcome(self, position: Position) -> Outcome | None:
        return None if self.actors(position) else Outcome(None, "sum")

    def scores(self, position: Position) -> Any:
        return tuple(total / 2 for total in position.totals)


@broken("length", "a game of 2 plays goes on; longest() is 2 (game 1, play 3)")
class Longer(Good):
    def longest(self) -> Any:
        return 2


@broken("replay", "the replay ends otherwise")
class Unrecorded(Good):
    made = itertools.count()

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        self.handicap = next(self.made)

    def setup(self, chance: Chance) -> Position:
        return Position(chance.shuffle(range(1, 6)), totals=(self.handicap, 0))


@broken("replay", "unexpected keyword argument 'handicap'")
class OtherSettings(Good):
    def __init__(self) -> None:
        super().__init__()
        self.settings["handicap"] = 3


@broken("secrets", "hidden_chance is True, but both seats know all the luck from the start")
class OpenCards(Good):
    def view(self, position: Position, seat: Seat) -> Any:
        return {"mine": position.cards[seat], "theirs": position.cards[1 - seat]}


@broken("secrets", "does not show to both seats at the start: hidden_chance is False")
class Undeclaredly(Good):
    hidden_chance = False


@broken("secrets", "the texts for seat 0 tell what its view does not")
class Gossip(Good):
    def narrate(
        self,
        before: Position,
        plays: Plays[int],
        after: Position,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        return [f"{names[1]} holds {after.cards[1]}."]


@broken("words", "prompt gives 'Your move? ', not a list of texts")
class OneLine(Good):
    def prompt(self, position: Position, seat: Seat, names: Names) -> Any:
        return "Your move? "


@broken("words", "IndexError: list index out of range")
class Question(Good):
    def question(self, position: Position, seat: Seat, typed: str, names: Names) -> None:
        assert typed.split()[0] is not None


@broken("words", "a person who types 1 has not played 1")
class Typed(Good):
    def typed_move(self, typed: str) -> object:
        return typed


def failed(report: Report) -> dict[str, str]:
    unreached = "not reached: "
    steps = [step for step in report.steps if not step.passed]
    return {step.name: step.detail for step in steps if not step.detail.startswith(unreached)}


@pytest.mark.parametrize(("variant", "step", "told"), BROKEN, ids=lambda each: str(each)[-40:])
def test_the_kit_finds_the_mistake(variant: type[Good], step: str, told: str) -> None:
    report = check_variant(variant(), games=30)
    found = failed(report)
    assert list(found) == [step]
    assert told in found[step]
    assert "\n" not in found[step]
    assert not report.passed


def test_the_kit_has_a_broken_variant_for_every_step() -> None:
    assert {step for _, step, _ in BROKEN} == set(STEPS)


def test_an_exception_is_told_with_its_file_and_line() -> None:
    line = SetupRaises.setup.__code__.co_firstlineno + 1
    told = failed(check_variant(SetupRaises(), games=3))["setup"]
    assert told.startswith(f"{__file__}, line {line}: IndexError: tuple index")


def test_a_step_that_no_game_reaches_is_not_passed() -> None:
    steps = {step.name: step for step in check_variant(SetupRaises(), games=3).steps}
    assert list(steps) == list(STEPS)
    assert not steps["replay"].passed and steps["replay"].detail.startswith("not reached: ")
    assert steps["text"].passed


def test_unlisted_moves_can_be_proposed() -> None:
    def propose(position: Position, seat: Seat, chance: Chance) -> int:
        return position.left[seat][chance.pick(len(position.left[seat]))]

    assert not failed(check_variant(Unlisted(), games=20, propose=propose))


@pytest.mark.parametrize("options", ["default", "other"])
@pytest.mark.parametrize("name", list(all_variants()))
def test_registered_variants_pass(name: str, options: str) -> None:
    variant = all_variants()[name](**(OTHER_OPTIONS[name] if options == "other" else {}))
    report = check_variant(variant, games=40)
    assert not failed(report)
    assert report.passed
    assert (report.variant, report.games) == (name, 40)


def test_the_good_one_passes_and_the_same_seed_gives_the_same_report() -> None:
    assert check_variant(Good()).passed
    assert check_variant(Stuck(), seed="a") == check_variant(Stuck(), seed="a")


# The example of the docs.


@pytest.mark.parametrize("options", [{}, {"size": 4, "carry": "yes"}, {"size": 1}])
def test_goofspiel_passes(options: dict[str, object]) -> None:
    assert not failed(check_variant(find_variant(GOOFSPIEL)(**options), games=30))


def test_the_tutorial_shows_the_whole_of_goofspiel() -> None:
    source = Path(GOOFSPIEL).read_text(encoding="utf-8")
    tutorial = (DOCS / "write-a-variant.md").read_text(encoding="utf-8")
    assert f"```python\n{source}```\n" in tutorial
    assert source.count("\n") < 80


def test_goofspiel_tells_nothing_of_the_prizes_to_come() -> None:
    variant = find_variant(GOOFSPIEL)(size=6)
    for number in range(10):
        game = random_game(variant, str(number))
        (prizes,) = game.luck
        assert isinstance(prizes, list)
        for turn in range(6):
            changed = [*prizes[: turn + 1], *reversed(prizes[turn + 1 :])]
            one = list(sights(variant, [prizes], game.rounds[:turn]))
            assert len(one) == turn + 1
            assert one == list(sights(variant, [changed], game.rounds[:turn]))


@pytest.mark.parametrize(("carry", "points"), [("no", (0, 5)), ("yes", (0, 9))])
def test_goofspiel_carries_a_tied_prize_only_if_told(carry: str, points: tuple[int, int]) -> None:
    variant, luck = find_variant(GOOFSPIEL)(size=5, carry=carry), Recorded([[4, 5, 1, 2, 3]])
    tied = variant.apply(variant.setup(luck), ((0, 3), (1, 3)), luck)
    assert variant.scores(variant.apply(tied, ((0, 1), (1, 2)), luck)) == points
