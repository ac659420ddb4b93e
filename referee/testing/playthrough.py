"""One random game of a variant, seen from every side.

`random_game` plays it, `replay` plays it again, `sights` is what each seat sees of it, and
`playthrough` is all of it as text. tests/playthroughs keeps that text for every registered
variant, so that a change of any rule, view or sentence shows up in review as a change of a text
file. To write them anew:

    python -m referee.testing.playthrough tests/playthroughs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.rules.chance import BadChance, Recorded, Seeded
from referee.rules.chance import Outcome as Luck
from referee.rules.registry import all_variants
from referee.rules.variant import IllegalMove, Plays, Seat, UnreadableMove, Variant

AnyVariant = Variant[Any, Any]

NAMES = ("Ann", "Bob")
QUESTIONS = ("hand", "hp", "help", "5")
OTHER_OPTIONS: dict[str, dict[str, object]] = {
    "difference": {"size": 6, "rounds": 4, "last_round": "no"},
    "underdog": {"size": 4, "points": 4, "wrap": "yes", "exhausted": "draw"},
    "duel": {"size": 4, "uses": 1, "life": 4, "first": "seat0", "exhausted": "draw"},
    "target": {"target": 21, "size": 4, "first": "seat0"},
    "deck": {"hp": 12, "size": 3, "copies": 3, "hand": 2, "double_knockout": "draw"},
}
"""What the second play-through of each variant is played with."""


class Game(Struct, frozen=True):
    """What a record keeps of a game, and the positions it went through."""

    luck: list[Luck]
    rounds: list[Plays[Any]]
    positions: list[Any]
    """One more than the rounds."""


class Sight(Struct, frozen=True):
    """What one seat is sent at one moment, and what a person at that seat reads or can ask."""

    sent: bytes
    read: bytes


def random_game(variant: AnyVariant, seed: str) -> Game:
    luck, choice = Seeded(seed), Seeded(f"{seed}/moves")
    positions, rounds = [variant.setup(luck)], []
    while actors := variant.actors(positions[-1]):
        plays = []
        for seat in actors:
            legal = variant.legal(positions[-1], seat)
            assert legal is not None, f"{variant.name} lists no legal moves"
            plays.append((seat, legal[choice.pick(len(legal))]))
        rounds.append(tuple(plays))
        positions.append(variant.apply(positions[-1], rounds[-1], luck))
    return Game(luck.outcomes, rounds, positions)


def replay(variant: AnyVariant, luck: Sequence[Luck], moves: Sequence[tuple[Seat, Any]]) -> Any:
    """The position in which a recorded game ends.

    Raises BadChance or IllegalMove where the record is not that of a whole game.
    """
    recorded, at = Recorded(luck), 0
    position = variant.setup(recorded)
    while actors := variant.actors(position):
        plays = tuple((seat, move) for seat, move in moves[at : at + len(actors)])
        if tuple(seat for seat, _ in plays) != actors:
            raise IllegalMove(f"the seats {list(actors)} are to play, the record has {plays}")
        for seat, move in plays:
            variant.read_move(position, seat, move)
        position = variant.apply(position, plays, recorded)
        at += len(actors)
    recorded.finish()
    if at < len(moves):
        raise IllegalMove(f"the game ends after {at} of {len(moves)} plays")
    return position


def changed(outcome: Luck, choice: Seeded) -> Luck:
    """Another outcome of the same question; the same or a wrong one where there is no other."""
    if isinstance(outcome, int):
        return choice.pick(outcome) if outcome else 1
    cards = list(outcome)
    if cards:
        one, other = choice.pick(len(cards)), choice.pick(len(cards))
        cards[one], cards[other] = cards[other], cards[one]
    return cards


def sights(
    variant: AnyVariant, luck: Sequence[Luck], rounds: Sequence[Plays[Any]]
) -> Iterator[tuple[Sight, Sight]]:
    """What seat 0 and seat 1 see after the set-up and after each of these rounds.

    Ends before the first play that is not legal with this luck.
    """
    recorded = Recorded(luck)
    with suppress(BadChance, IllegalMove, UnreadableMove):
        position = variant.setup(recorded)
        yield _sight(variant, position, [], [], 0), _sight(variant, position, [], [], 1)
        for plays in rounds:
            if variant.actors(position) != tuple(seat for seat, _ in plays):
                return
            for seat, move in plays:
                variant.read_move(position, seat, move)
            before, position = position, variant.apply(position, plays, recorded)
            first, second = (
                _sight(
                    variant,
                    position,
                    variant.events(before, plays, position, seat),
                    variant.narrate(before, plays, position, NAMES, seat),
                    seat,
                )
                for seat in (0, 1)
            )
            yield first, second


def _sight(
    variant: AnyVariant, position: Any, events: list[Any], lines: list[str], seat: Seat
) -> Sight:
    legal, read = None, [lines]
    if seat in variant.actors(position):
        legal = variant.legal(position, seat)
        read = [lines, variant.prompt(position, seat, NAMES)]
        read += [variant.question(position, seat, typed, NAMES) or [] for typed in QUESTIONS]
    sent = [events, variant.view(position, seat), legal]
    return Sight(msgspec.json.encode(sent), msgspec.json.encode(read))


def playthrough(variant: AnyVariant, seed: str) -> str:
    """A random game as text: what luck gave, what was played, what everybody saw."""
    game = random_game(variant, seed)
    text = [
        f"{variant.name}, rules {variant.rules}: {variant.summary}",
        f"seed: {seed}",
        f"options: {_json(variant.settings)}",
        f"chance: {_json(game.luck)}",
        f"longest: {variant.longest()} plays",
        *_said(variant.opening(game.positions[0], NAMES)),
    ]
    for number, plays in enumerate(game.rounds):
        before, after = game.positions[number : number + 2]
        text += ["", f"step {number + 1}", f"actors: {_json(variant.actors(before))}"]
        text += [f"view {seat}: {_json(variant.view(before, seat))}" for seat in (0, 1)]
        text += [f"legal {seat}: {_json(variant.legal(before, seat))}" for seat, _ in plays]
        text += [f"plays: {_json(plays)}"]
        text += [
            f"events {seat}: {_json(variant.events(before, plays, after, seat))}" for seat in (0, 1)
        ]
        told = variant.narrate(before, plays, after, NAMES)
        text += _said(told)
        for seat in (0, 1):
            own = variant.narrate(before, plays, after, NAMES, seat)
            if own != told:
                text += [f"to seat {seat}:", *_said(own)]
    end = game.positions[-1]
    text += ["", f"end after {sum(map(len, game.rounds))} plays"]
    text += [f"view {seat}: {_json(variant.view(end, seat))}" for seat in (0, 1)]
    text += [f"outcome: {_json(variant.outcome(end))}", f"scores: {_json(variant.scores(end))}"]
    text += _said(variant.conclusion(end, NAMES))
    return "\n".join(text) + "\n"


def golden_texts() -> dict[str, str]:
    """The play-throughs that are kept: file name to text."""
    texts = {}
    for name, variant in all_variants().items():
        texts[f"{name}.txt"] = playthrough(variant(), "golden")
        if name in OTHER_OPTIONS:
            other = variant(**OTHER_OPTIONS[name])
            texts[f"{name}-options.txt"] = playthrough(other, "golden")
    return texts


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _said(lines: Sequence[str]) -> list[str]:
    return [f"| {line}" for line in lines]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in golden_texts().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m referee.testing.playthrough FOLDER")
    main(Path(sys.argv[1]))
