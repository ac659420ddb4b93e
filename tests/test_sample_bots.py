"""The sample bots in Python: each is one file of the standard library that speaks the protocol."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from referee.bots.manifest import read_bot, sample_bots, usual_bots
from referee.rules.registry import BUNDLED
from tests.talking import HELLO, Message, Opposed, Talk, play_at_once, talking_to
from tests.waiting import PATIENCE_S

FOLDER = Path(__file__).parents[1] / "sample_bots"
BOTS = usual_bots()
LEARNER = "counter"
"""The bot that learns from game to game, and so takes one at a time."""


def manifest(bot: str) -> Message:
    return tomllib.loads((FOLDER / bot / "bot.toml").read_text("utf-8"))


def source(bot: str) -> str:
    return (FOLDER / bot / "bot.py").read_text("utf-8")


EVERYWHERE = [bot for bot in BOTS if "variants" not in manifest(bot)]
PAIRINGS = [(bot, variant) for bot in BOTS for variant in manifest(bot).get("variants", BUNDLED)]


def started(bot: str) -> AbstractContextManager[Talk]:
    words = [sys.executable if word == "python3" else word for word in manifest(bot)["command"]]
    return talking_to(words, FOLDER / bot)


@pytest.mark.parametrize("bot", BOTS)
def test_the_folder_is_a_bot(bot: str) -> None:
    told = manifest(bot)
    assert told["name"] == bot
    assert told["command"] == ["python3", "bot.py"]
    assert told["transport"] == "stdio"
    assert told.get("games_at_once", 1) == (1 if bot == LEARNER else 64)
    assert told.get("stateless", False) is (bot != LEARNER)
    assert all(told[key] for key in ("author", "version", "description"))
    assert set(told.get("variants", [])) <= set(BUNDLED)
    assert (FOLDER / bot / "bot.py").is_file()


def test_all_others_keep_nothing_from_game_to_game() -> None:
    stateless = {folder.name for folder in FOLDER.iterdir() if read_bot(folder).stateless}
    assert stateless == set(sample_bots()) - {LEARNER}


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
        many = {} if bot == LEARNER else {"games_at_once": 64}
        assert talk.hear() == {"type": "hello", "protocol": 1, "name": bot, **many}
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


@pytest.mark.parametrize(("bot", "variant"), [pair for pair in PAIRINGS if pair[0] != LEARNER])
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
