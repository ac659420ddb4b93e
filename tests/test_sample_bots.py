"""The sample bots: each is one file of the standard library that speaks the protocol."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.rules.chance import Seeded
from referee.rules.registry import BUNDLED, build_variant

FOLDER = Path(__file__).parents[1] / "sample_bots"
BOTS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
HELLO = {"type": "hello", "protocol": 1, "referee": "0.1.0"}
PATIENCE_S = 30
Message = dict[str, Any]


def manifest(bot: str) -> Message:
    return tomllib.loads((FOLDER / bot / "bot.toml").read_text("utf-8"))


def source(bot: str) -> str:
    return (FOLDER / bot / "bot.py").read_text("utf-8")


EVERYWHERE = [bot for bot in BOTS if "variants" not in manifest(bot)]
PAIRINGS = [(bot, variant) for bot in BOTS for variant in manifest(bot).get("variants", BUNDLED)]


class Talk:
    """A bot process and the two ends of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *messages: Message) -> None:
        self.send("".join(json.dumps(message) + "\n" for message in messages))

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def hear(self) -> Message:
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert isinstance(message, dict)
        return message

    def hang_up(self) -> tuple[bytes, int]:
        """What the bot still says after the end of its input, and its exit status."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return out, self.process.returncode


@contextmanager
def started(bot: str) -> Iterator[Talk]:
    words = [sys.executable if word == "python3" else word for word in manifest(bot)["command"]]
    with subprocess.Popen(
        words, cwd=FOLDER / bot, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


class Opposed:
    """One game in which the bot meets a player of random moves."""

    def __init__(self, variant: str, name: str, **options: object) -> None:
        self.variant = build_variant(variant, options)
        self.name = name
        self.chance = Seeded(name)
        self.luck = random.Random(name)
        self.seat = self.luck.randrange(2)
        self.position = self.variant.setup(self.chance)
        self.events: list[Message] = []
        self.moves: list[Any] = []

    def start(self) -> Message:
        clock = {"move_ms": 1000, "bank_ms": None, "increment_ms": None, "grace_ms": 50}
        return {
            "type": "start",
            "game": self.name,
            "variant": self.variant.name,
            "rules": 1,
            "options": self.variant.settings,
            "seat": self.seat,
            "players": ["left", "right"],
            "clock": clock,
            "bot_seed": self.luck.getrandbits(53),
        }

    def turn(self, number: int) -> Message | None:
        """The bot's next turn, or None once the game is over."""
        while (actors := self.variant.actors(self.position)) and self.seat not in actors:
            self.apply({})
        if not actors:
            return None
        events, self.events = self.events, []
        return {
            "type": "turn",
            "game": self.name,
            "id": number,
            "view": self.variant.view(self.position, self.seat),
            "events": events,
            "legal": self.variant.legal(self.position, self.seat),
            "left_ms": 1000,
        }

    def answer(self, move: Any) -> None:
        legal = self.variant.legal(self.position, self.seat)
        assert legal is not None
        assert move in legal
        assert type(move) is self.variant.move_type
        self.moves.append(move)
        self.apply({self.seat: move})

    def apply(self, given: dict[int, Any]) -> None:
        plays = []
        for seat in self.variant.actors(self.position):
            legal = self.variant.legal(self.position, seat)
            assert legal is not None
            plays.append((seat, given[seat] if seat in given else self.luck.choice(legal)))
        before = self.position
        self.position = self.variant.apply(before, tuple(plays), self.chance)
        self.events += self.variant.events(before, tuple(plays), self.position, self.seat)


def play_at_once(talk: Talk, games: list[Opposed]) -> None:
    """Play the games side by side: all that is due goes out in one write."""
    talk.say(*(game.start() for game in games))
    number, going = 0, games
    while going:
        due = {}
        for game in going:
            number += 1
            if turn := game.turn(number):
                due[number] = (game, turn)
        over = [game for game in going if all(game is not other for other, _ in due.values())]
        talk.say(
            *({"type": "over", "game": game.name, "result": "draw", "events": []} for game in over),
            *(turn for _, turn in due.values()),
        )
        answers = [talk.hear() for _ in due]
        assert sorted(answer["id"] for answer in answers) == list(due)
        for answer in answers:
            due[answer["id"]][0].answer(answer["move"])
        going = [game for game, _ in due.values()]


@pytest.mark.parametrize("bot", BOTS)
def test_the_folder_is_a_bot(bot: str) -> None:
    told = manifest(bot)
    assert told["name"] == bot
    assert told["command"] == ["python3", "bot.py"]
    assert told["transport"] == "stdio"
    assert told["games_at_once"] == 64
    assert all(told[key] for key in ("author", "version", "description"))
    assert set(told.get("variants", [])) <= set(BUNDLED)
    assert (FOLDER / bot / "bot.py").is_file()


def test_every_variant_has_a_bot_of_its_own() -> None:
    assert {variant for bot in BOTS for variant in manifest(bot).get("variants", [])} == {*BUNDLED}


@pytest.mark.parametrize("bot", BOTS)
def test_it_imports_only_the_standard_library(bot: str) -> None:
    for node in ast.walk(ast.parse(source(bot))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        else:
            continue
        assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_all_talk_to_the_referee_in_the_same_words() -> None:
    assert len({source(bot).partition("\ndef answer(")[2] for bot in BOTS}) == 1


@pytest.mark.parametrize("bot", BOTS)
def test_it_greets_and_leaves(bot: str) -> None:
    with started(bot) as talk:
        talk.say(HELLO)
        assert talk.hear() == {"type": "hello", "protocol": 1, "name": bot, "games_at_once": 64}
        talk.say({"type": "ping"})
        assert talk.hear() == {"type": "pong"}
        talk.say({"type": "bye"})
        assert talk.process.wait(PATIENCE_S) == 0
    with started(bot) as talk:
        talk.say(HELLO, {"type": "ping"}, {"type": "bye"})
        out, status = talk.hang_up()
        assert len(out.splitlines()) == 2
        assert status == 0
    with started(bot) as talk:
        assert talk.hang_up() == (b"", 0)


@pytest.mark.parametrize(("bot", "variant"), PAIRINGS)
def test_it_plays_games_side_by_side(bot: str, variant: str) -> None:
    with started(bot) as talk:
        play_at_once(talk, [Opposed(variant, f"g{number}") for number in range(12)])


@pytest.mark.parametrize(("bot", "variant"), [pair for pair in PAIRINGS if pair[0] != "counter"])
def test_its_moves_depend_on_the_game_alone(bot: str, variant: str) -> None:
    together = [Opposed(variant, f"g{number}") for number in range(4)]
    with started(bot) as talk:
        play_at_once(talk, together)
    with started(bot) as talk:
        for other in reversed(together):
            alone = Opposed(variant, other.name)
            play_at_once(talk, [alone])
            assert alone.moves == other.moves


@pytest.mark.parametrize(
    ("variant", "options"),
    [
        ("difference", {"size": 2, "last_round": "no"}),
        ("difference", {"size": 6}),
        ("difference", {"size": 9, "rounds": 2}),
        ("difference", {"size": 40, "rounds": 39}),
        ("underdog", {"size": 1, "points": 1}),
        ("underdog", {"size": 4, "points": 4, "wrap": "yes", "exhausted": "draw"}),
        ("underdog", {"size": 30, "points": 9}),
        ("duel", {"size": 3, "uses": 1, "life": 1}),
        ("duel", {"size": 25, "uses": 5, "life": 500}),
        ("target", {"target": 1}),
        ("target", {"target": 1_000_000}),
        ("target", {"target": 9973, "size": 40}),
        ("deck", {"hp": 40, "hand": 1, "size": 3}),
        ("deck", {"hp": 200, "hand": 8, "size": 30, "double_knockout": "draw"}),
    ],
)
def test_every_option_can_be_played(variant: str, options: dict[str, object]) -> None:
    for bot in BOTS:
        if (bot, variant) in PAIRINGS:
            with started(bot) as talk:
                play_at_once(talk, [Opposed(variant, f"g{n}", **options) for n in range(3)])


@pytest.mark.parametrize("bot", BOTS)
def test_it_takes_whatever_the_protocol_allows(bot: str) -> None:
    (variant, *_) = manifest(bot).get("variants", ["underdog"])
    game = Opposed(variant, "7")
    start, turn = game.start(), game.turn(12)
    assert turn is not None
    turn["view"]["weather"] = {"sky": ["blue", None, 1.5]}
    lines = [
        {**HELLO, "motto": "naïve – ☃"},
        {"type": "news", "game": "7", "id": 3},
        {"colour": "red", **dict(reversed(start.items()))},
        {"type": "error", "code": "illegal", "detail": "…", "game": "6", "id": 2},
        {**dict(reversed(turn.items())), "mood": "good"},
    ]
    text = "\r\n\r\n \n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\r\n"
    with started(bot) as talk:
        for at in range(0, len(text), 97):
            talk.send(text[at : at + 97])
        assert talk.hear()["type"] == "hello"
        answer = talk.hear()
        assert answer["id"] == 12
        game.answer(answer["move"])
        assert talk.hang_up() == (b"", 0)


@pytest.mark.parametrize("bot", EVERYWHERE)
def test_it_plays_a_variant_that_it_does_not_know(bot: str) -> None:
    start = {**Opposed("deck", "7").start(), "variant": "noughts", "options": {}}
    turn = {"type": "turn", "game": "7", "id": 1, "view": {}, "events": [{"what": 1}]}
    for legal in ([3, 1, 2], ["a1", "b2", '"quoted" – ü'], ["left", "right"]):
        with started(bot) as talk:
            talk.say(start, {**turn, "legal": legal, "left_ms": 1000})
            assert talk.hear()["move"] in legal
    with started(bot) as talk:
        talk.say(start, {**turn, "legal": None, "left_ms": 1000})
        assert talk.hear() == {"type": "resign", "id": 1}


def test_the_wall_never_loses_a_life_point() -> None:
    games = [Opposed("duel", f"wall {number}") for number in range(50)]
    with started("duel-wall") as talk:
        play_at_once(talk, games)
    for game in games:
        assert game.variant.scores(game.position)[game.seat] == 20


def test_the_racer_needs_three_plays() -> None:
    game = Opposed("target", "race")
    with started("target-racer") as talk:
        play_at_once(talk, [game])
    assert len(game.moves) == 3
    assert game.variant.scores(game.position)[game.seat] == 50
