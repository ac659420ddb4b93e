"""The strong sample bots: each claim that they make is checked by searching, or by real matches.

A match is judged by its score less three standard errors, taken between pairs of games. All its
chance comes from the seed, so it comes out the same every time.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import random
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from referee.bots.manifest import Bot, read_bot, sample_folder
from referee.match import play_match
from referee.record import Record
from referee.rules.chance import Seeded
from referee.rules.registry import build_variant
from referee.rules.variant import Variant
from tests.languages.ready import ready
from tests.talking import HELLO, Opposed, Talk, play_at_once, talking_to

SOLVER = "underdog-solver"
NO_CHANCE = Seeded("none of these games has any")
Mix = dict[int, float]


def thinking(bot: str) -> Any:
    """The bot's own functions; nothing is played by loading them."""
    spec = importlib.util.spec_from_file_location("bot", sample_folder() / bot / "bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def solver(tmp_path_factory: pytest.TempPathFactory) -> Bot:
    if shutil.which("cc") is None:
        pytest.skip(f"{SOLVER}: the command cc was not found")
    return ready(read_bot(sample_folder() / SOLVER), tmp_path_factory)


@pytest.fixture
def talk(solver: Bot) -> Iterator[Talk]:
    """The solver as it tells its mixes."""
    with talking_to([*solver.command, "--notes"], solver.folder) as talk:
        yield talk


# Matches.


def surely(bot: Bot | str, rival: str, variant: str, games: int, **terms: Any) -> float:
    """The score of a bot less three standard errors, without a fault on either side."""
    pairs: dict[int, list[float]] = defaultdict(list)

    def add(record: Record) -> None:
        seat = 1 - record.players.index(rival)
        pairs[record.pair].append(record.points()[seat])

    terms = {"time": "10s", "seed": "strong", **terms}
    result = play_match(bot, rival, variant=variant, games=games, on_record=add, **terms)
    assert result.fault_counts == {name: {} for name in result.players}
    scores = [sum(points) / 2 for points in pairs.values()]
    mean = sum(scores) / len(scores)
    # No less than if one pair had come out a point otherwise: luck is never proved absent.
    squares = max(sum((score - mean) ** 2 for score in scores), 0.25)
    return mean - 3 * math.sqrt(squares) / len(scores)


@pytest.mark.parametrize(
    ("bot", "variant", "games", "level"),
    [
        ("difference-solver", "difference", 1500, 0.53),
        ("underdog-mixer", "underdog", 300, 0.8),
        ("duel-wall", "duel", 300, 0.97),
        ("target-racer", "target", 300, 0.97),
        ("deck-odds", "deck", 400, 0.7),
    ],
)
def test_it_beats_random_play(bot: str, variant: str, games: int, level: float) -> None:
    assert surely(bot, "random", variant, games) > level


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ({}, 0.64),
        ({"wrap": "yes"}, 0.6),
        ({"exhausted": "draw"}, 0.6),
        ({"size": 6, "points": 2}, 0.53),
        ({"size": 30, "points": 9}, 0.7),
    ],
)
def test_the_underdog_solver_beats_random_play(
    solver: Bot, options: dict[str, object], level: float
) -> None:
    assert surely(solver, "random", "underdog", 1000, options=options) > level


def test_nobody_beats_the_underdog_solver(solver: Bot) -> None:
    for rival in ("highest", "lowest", "underdog-mixer"):
        assert surely(solver, rival, "underdog", 1000) > 0.45


def test_the_deck_bot_beats_the_highest_card() -> None:
    assert surely("deck-odds", "highest", "deck", 600) > 0.5


def test_what_the_counter_learns_does_not_depend_on_games_at_once() -> None:
    games = []
    for at_once in (1, 64):
        records: list[Record] = []
        terms: dict[str, Any] = {"variant": "difference", "seed": "learn", "time": "10s"}
        result = play_match(
            "counter", "lowest", games=60, at_once=at_once, on_record=records.append, **terms
        )
        games.append([record.moves for record in records])
        assert result.score.wins >= 57, "it takes a few games to learn what the other is used to"
    assert games[0] == games[1]


# Mixes: what the cleverest opponent makes of them, by the referee's own rules.


def held(variant: Variant[Any, Any], mix: Callable[[Any], Mix], position: Any) -> float:
    """What seat 0 gets with these mixes if seat 1 knows them: 1 is a win, -1 a loss."""

    @functools.cache
    def worth(position: Any) -> float:
        outcome = variant.outcome(position)
        if outcome is not None:
            return 0.0 if outcome.winner is None else 1.0 - 2 * outcome.winner
        shares = mix(position)
        assert set(shares) <= set(variant.legal(position, 0) or ())
        assert math.isclose(sum(shares.values()), 1, abs_tol=1e-6)
        return min(
            sum(
                share * worth(variant.apply(position, ((0, number), (1, answer)), NO_CHANCE))
                for number, share in shares.items()
            )
            for answer in variant.legal(position, 1) or ()
        )

    return worth(position)


@pytest.mark.parametrize(
    "options", [{}, {"last_round": "no"}, {"size": 6, "rounds": 3}, {"size": 3}]
)
def test_no_answer_beats_the_difference_solver(options: dict[str, object]) -> None:
    variant = build_variant("difference", options)
    bot = thinking("difference-solver")

    def mix(position: Any) -> Mix:
        view = variant.view(position, 0)
        mine, theirs = view["mine"], view["theirs"]
        left, lead = view["rounds"] - view["round"] + 1, mine["rounds_won"] - theirs["rounds_won"]
        counts = variant.settings["last_round"] == "yes"
        shares = bot.mix(mine["numbers"], theirs["numbers"], left, lead, counts)[1]
        return dict(zip(mine["numbers"], shares, strict=True))

    game = bot.Game({"bot_seed": 1, "options": variant.settings})
    start = variant.setup(NO_CHANCE)
    drawn = Counter(game.choose(variant.view(start, 0), None, []) for _ in range(3000))
    for number, share in mix(start).items():
        assert abs(drawn[number] / 3000 - share) < 0.04
    assert held(variant, mix, start) == pytest.approx(0, abs=1e-9)


class Asked:
    """Asks the underdog solver for its mixes, in one game."""

    def __init__(self, talk: Talk, **options: object) -> None:
        self.variant = build_variant("underdog", options)
        self._talk = talk
        self._turns = 0
        talk.say({**Opposed("underdog", "asked", **options).start(), "seat": 0})

    def told(self, position: Any) -> tuple[float, Mix]:
        """What it thinks a position is worth, and how often it plays each number."""
        self._turns += 1
        view = self.variant.view(position, 0)
        turn = {"type": "turn", "game": "asked", "id": self._turns, "view": view, "events": []}
        self._talk.say({**turn, "legal": view["mine"]["numbers"], "left_ms": 1000})
        answer = self._talk.hear()
        assert answer["id"] == self._turns
        worth, shares = re.fullmatch(r"worth (\S+):((?: \d+ \(\S+\))+)", answer["note"]).groups()  # type: ignore[union-attr]
        mix = {
            int(number): float(share) for number, share in re.findall(r"(\d+) \((\S+)\)", shares)
        }
        assert mix[answer["move"]] > 0
        return float(worth), mix

    def mix(self, position: Any) -> Mix:
        return self.told(position)[1]

    def worth(self, position: Any) -> float:
        outcome = self.variant.outcome(position)
        if outcome is None:
            return self.told(position)[0]
        return 0.0 if outcome.winner is None else 1.0 - 2 * outcome.winner

    def somewhere(self, luck: random.Random, left: int) -> Any:
        """A position with so many numbers left, after random play; never the end of the game."""
        while True:
            position = self.variant.setup(NO_CHANCE)
            while self.variant.outcome(position) is None:
                hands = [self.variant.legal(position, seat) or () for seat in (0, 1)]
                if len(hands[0]) == left:
                    return position
                plays = ((0, luck.choice(hands[0])), (1, luck.choice(hands[1])))
                position = self.variant.apply(position, plays, NO_CHANCE)


@pytest.mark.parametrize(
    "options",
    [
        {"size": 4, "points": 2},
        {"size": 5, "points": 3},
        {"size": 5, "points": 5, "wrap": "yes"},
        {"size": 4, "points": 3, "wrap": "yes", "exhausted": "draw"},
    ],
)
def test_no_answer_beats_the_underdog_solver(talk: Talk, options: dict[str, object]) -> None:
    asked = Asked(talk, **options)
    start = asked.variant.setup(NO_CHANCE)
    assert asked.worth(start) == pytest.approx(0, abs=1e-6)
    assert held(asked.variant, asked.mix, start) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"wrap": "yes"}, {"size": 40, "points": 30}])
def test_the_last_rounds_of_a_large_game_are_solved(talk: Talk, options: dict[str, Any]) -> None:
    asked, luck = Asked(talk, **options), random.Random("last rounds")
    for _ in range(10):
        position = asked.somewhere(luck, left=4)
        worth = asked.worth(position)
        assert held(asked.variant, asked.mix, position) == pytest.approx(worth, abs=1e-6)


@pytest.mark.parametrize("left", [10, 9, 8, 7, 6, 5])
def test_every_round_of_the_default_game_is_solved(talk: Talk, left: int) -> None:
    """One round is enough: what follows it is solved by the same right, down to the last ones."""
    asked, luck = Asked(talk), random.Random("a round")
    for _ in range(3):
        position = asked.somewhere(luck, left)
        worth, mix = asked.told(position)
        for answer in asked.variant.legal(position, 1) or ():
            gained = sum(
                share * asked.worth(asked.variant.apply(position, ((0, a), (1, answer)), NO_CHANCE))
                for a, share in mix.items()
            )
            assert gained > worth - 1e-6
        mirrored = type(position)(position.left[::-1], position.points[::-1], position.played)
        assert asked.worth(mirrored) == pytest.approx(-worth, abs=1e-6)


# The solver is written in C, so that how it reads is to be tested as well.


def test_the_solver_compiles_without_a_warning(solver: Bot) -> None:
    assert solver.folder is not None
    sources = [str(path) for path in sorted(solver.folder.glob("*.c"))]
    words = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *sources]
    subprocess.run(words, check=True)


def test_the_solver_takes_whatever_the_protocol_allows(solver: Bot) -> None:
    game = Opposed("underdog", '7 "quoted" \\ ü')
    start, turn = game.start(), game.turn(12)
    assert turn is not None
    turn["view"]["weather"] = {"sky": ["blue", None, 1.5, '"}]\\'], "mine": {"numbers": [99]}}
    lines = [
        {**HELLO, "motto": "naïve – ☃"},
        {"type": "news", "game": "7", "id": 3},
        {"colour": {"type": "bye"}, **dict(reversed(start.items()))},
        {"type": "error", "code": "illegal", "detail": "…", "game": "6", "id": 2},
        {"big": ["x" * 100_000], **dict(reversed(turn.items())), "mood": "good"},
        {"type": "over", "game": "unheard of", "events": []},
        {"type": "ping"},
    ]
    text = "\r\n\r\n \n".join(json.dumps(line, separators=(" ,", "\t: ")) for line in lines)
    with talking_to(solver.command, solver.folder) as talk:
        for at in range(0, 700, 7):
            talk.send(text[at : at + 7])
        talk.send(text[700:] + "\r\n")
        greeting = {"type": "hello", "protocol": 1, "name": SOLVER, "games_at_once": 64}
        assert talk.hear() == greeting
        answer = talk.hear()
        assert answer["id"] == 12
        game.answer(answer["move"])
        assert talk.hear() == {"type": "pong"}
        talk.say({"type": "bye"})
        assert talk.hang_up() == (b"", 0)


def test_the_moves_of_the_solver_depend_on_the_game_alone(solver: Bot) -> None:
    options: list[dict[str, object]] = [{}, {"size": 1, "points": 1}, {"size": 100}, {"size": 7}]
    together = [Opposed("underdog", f"g{n}", **options[n % 4]) for n in range(40)]
    with talking_to(solver.command, solver.folder) as talk:
        play_at_once(talk, together)
    for n, other in enumerate(together):
        with talking_to(solver.command, solver.folder) as talk:
            alone = Opposed("underdog", other.name, **options[n % 4])
            play_at_once(talk, [alone])
            assert alone.moves == other.moves
            assert talk.hang_up() == (b"", 0)


# Nothing is hidden in target and duel, so they can be searched to the end.


def forced(
    variant: Variant[Any, Any], bot: int, choose: Callable[[Any], Any] | None = None
) -> float:
    """What a seat gets against the best answers: with these moves, or else with its best ones."""

    @functools.cache
    def worth(position: Any) -> float:
        outcome = variant.outcome(position)
        if outcome is not None:
            return 0.0 if outcome.winner is None else 1.0 if outcome.winner == bot else -1.0
        (seat,) = variant.actors(position)
        moves = variant.legal(position, seat) or ()
        if seat == bot and choose is not None:
            moves = [choose(position)]
        ends = [worth(variant.apply(position, ((seat, move),), NO_CHANCE)) for move in moves]
        return max(ends) if seat == bot else min(ends)

    return worth(variant.setup(NO_CHANCE))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("size", "targets"), [(2, range(1, 9)), (3, range(1, 31)), (4, (7, 23, 26, 51, 73, 100))]
)
def test_the_racer_misses_no_forced_win(size: int, targets: range, seat: int) -> None:
    racer = thinking("target-racer")
    for target in targets:
        variant = build_variant("target", {"size": size, "target": target, "first": "seat0"})
        moves = racer.way(target, 0, tuple(range(1, size + 1)))

        def play(position: Any, moves: list[str] = moves) -> str:
            return moves[size - len(position.left[seat])]

        assert forced(variant, seat, play) == forced(variant, seat), target


def quickest(target: int, size: int) -> tuple[int, int]:
    """How many plays lead to the target, or to the highest score where none do; and that score."""
    reached, plays, highest = {(0, frozenset(range(1, size + 1)))}, 0, 0
    while highest < target and plays < size:
        further = set()
        for score, numbers in reached:
            for number in numbers:
                for after in (score + number, score * number):
                    rest = numbers - {number}
                    further.add((after if after <= target else target // 2, rest))
        reached, plays = further, plays + 1
        highest = max(score for score, _ in reached)
    return plays, highest


@pytest.mark.parametrize(
    ("size", "targets"),
    [(5, range(1, 220, 3)), (6, (50, 97, 101, 211, 499, 1080, 2000)), (9, (50, 51, 53, 101))],
)
def test_no_way_is_quicker_than_the_racers(size: int, targets: range) -> None:
    racer = thinking("target-racer")
    for target in targets:
        variant = build_variant("target", {"size": size, "target": target, "first": "seat0"})
        position, plays = variant.setup(NO_CHANCE), 0
        for move in racer.way(target, 0, tuple(range(1, size + 1))):
            position = variant.apply(position, ((0, move),), NO_CHANCE)
            plays += 1
        assert (plays, position.score[0]) == quickest(target, size), target


@pytest.mark.parametrize(("size", "uses"), [(2, 3), (3, 2), (4, 2), (5, 2), (7, 1), (3, 3)])
def test_nothing_gets_through_the_wall(size: int, uses: int) -> None:
    """Every attack and every defence of the other, in every order."""
    variant = build_variant("duel", {"size": size, "uses": uses, "life": 10_000, "first": "seat0"})
    wall = thinking("duel-wall").Game({})
    for seat in (0, 1):
        waiting, seen = [variant.setup(NO_CHANCE)], set()
        while waiting:
            position = waiting.pop()
            assert position.life[seat] == 10_000
            if (position.left, position.attack) in seen or not variant.actors(position):
                continue
            seen.add((position.left, position.attack))
            (actor,) = variant.actors(position)
            moves = variant.legal(position, actor) or ()
            if actor == seat:
                moves = [wall.choose(variant.view(position, seat), moves, [])]
            for move in moves:
                waiting.append(variant.apply(position, ((actor, move),), NO_CHANCE))
