"""`highest` in ten more languages: each plays its very moves, whatever the protocol lets come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.bots.manifest import Bot, find_bot, read_bot
from referee.match import play_match
from referee.rules.registry import BUNDLED
from tests.languages.ready import PORTS, protocol_block, ready, template
from tests.talking import HELLO, Opposed, Talk, play_at_once, talking_to
from tests.waiting import PATIENCE_S

ANSWER = {"type": "hello", "protocol": 1, "games_at_once": 64}
TURN: dict[str, Any] = {
    "type": "turn",
    "game": "7",
    "id": 41,
    "view": {},
    "events": [],
    "legal": [],
    "left_ms": 1000,
}


@pytest.fixture(scope="module", params=PORTS)
def bot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bot:
    return ready(read_bot(PORTS[request.param]), tmp_path_factory)


def start(bot: Bot) -> Any:
    return talking_to(bot.command, bot.folder)


@pytest.mark.parametrize("language", PORTS)
def test_the_folder_is_a_manifest_and_one_source(language: str) -> None:
    folder = PORTS[language]
    assert len(list(folder.iterdir())) == 2
    bot = read_bot(folder)
    assert bot.name == folder.name
    assert bot.variants is None
    assert bot.games_at_once == 64
    assert bot.stateless
    assert bot.description
    assert bot.version


@pytest.mark.parametrize("language", PORTS)
def test_it_talks_as_the_template_does(language: str) -> None:
    assert protocol_block(PORTS[language]) == protocol_block(template(language))


@pytest.mark.parametrize("variant", BUNDLED)
def test_it_plays_the_moves_of_highest(bot: Bot, variant: str) -> None:
    names = [f"g{number}" for number in range(12)]
    mine = [Opposed(variant, name) for name in names]
    with start(bot) as talk:
        play_at_once(talk, mine)
    theirs = [Opposed(variant, name) for name in names]
    with start(find_bot("highest")) as talk:
        play_at_once(talk, theirs)
    assert [game.moves for game in mine] == [game.moves for game in theirs]


def test_it_greets_and_leaves(bot: Bot) -> None:
    with start(bot) as talk:
        talk.say(HELLO)
        assert talk.hear() == ANSWER
        talk.say({"type": "ping"})
        assert talk.hear() == {"type": "pong"}
        talk.say({"type": "bye"})
        assert talk.process.wait(PATIENCE_S) == 0
    with start(bot) as talk:
        talk.say(HELLO, {"type": "ping"}, {"type": "bye"})
        out, status = talk.hang_up()
        assert [json.loads(line) for line in out.splitlines()] == [ANSWER, {"type": "pong"}]
        assert status == 0
    with start(bot) as talk:
        assert talk.hang_up() == (b"", 0)


def asked(talk: Talk, **turn: object) -> Any:
    talk.say({**TURN, **turn})
    return talk.hear()


@pytest.mark.parametrize(
    "legal",
    [
        [3, 1, 2],
        [-3, -1, -2],
        [7],
        ["+5", "*5", "*6", "+6"],
        ["*9", "+9"],
        ["a1", "b2", "c2"],
        ["left", "right"],
        ['"quoted" – ü', "back\\slash", "tab\t", "\U0001f600 12", "]", "}{", ","],
        [str(number) for number in range(300)],
    ],
    ids=str,
)
def test_it_chooses_like_highest(bot: Bot, legal: list[int | str]) -> None:
    with start(find_bot("highest")) as talk:
        talk.say({**Opposed("deck", "7").start()})
        due = asked(talk, legal=legal)
    with start(bot) as talk:
        assert asked(talk, legal=legal) == due


def test_no_list_of_moves_is_given_up(bot: Bot) -> None:
    with start(bot) as talk:
        assert asked(talk, legal=None) == {"type": "resign", "id": 41}
        assert asked(talk, legal=[], id=42) == {"type": "resign", "id": 42}


def test_it_takes_whatever_the_protocol_allows(bot: Bot) -> None:
    turn = {
        "mood": {"id": 1, "legal": [99], "deep": [[{"type": "bye"}], None, 1.5e3, True, -0.0]},
        "left_ms": None,
        "legal": [4, 6, 5],
        "events": [{"id": 2, "legal": [98], "what": 'a "legal":[97] – \\ \u2028'}],
        "view": {"id": 3, "legal": [96], "type": "bye", "mine": {"numbers": [95]}},
        "id": 9007199254740992,
        "game": 'the "id":5 game',
        "type": "turn",
    }
    lines = [
        json.dumps({**HELLO, "motto": "naïve – ☃"}, ensure_ascii=False),
        json.dumps({"type": "news", "game": "7", "id": 3}),
        json.dumps(dict(reversed(Opposed("duel", "7").start().items()))),
        json.dumps({"type": "error", "code": "illegal", "detail": "…", "game": "6", "id": 2}),
        json.dumps(turn, ensure_ascii=False),
        json.dumps(turn, indent=None, separators=(" ,  ", "\t:  ")),
        json.dumps({**turn, "big": ["x" * 50_000, [0] * 20_000]}, separators=(",", ":")),
        json.dumps({"type": "over", "game": "unheard of", "events": []}),
    ]
    data = ("\r\n\r\n \n".join(lines) + "\r\n").encode()
    with start(bot) as talk:
        for at in range(0, 3_000, 7):
            talk.send_bytes(data[at : at + 7])
        talk.send_bytes(data[3_003:])
        assert talk.hear() == ANSWER
        for _ in range(3):
            assert talk.hear() == {"id": 9007199254740992, "move": 6}
        assert talk.hang_up() == (b"", 0)


def test_it_plays_a_match(bot: Bot, tmp_path: Path) -> None:
    for variant in BUNDLED:
        result = play_match(
            bot, "random", variant=variant, games=20, time="10s", seed="ports", logs=tmp_path
        )
        assert (result.games, result.fault_counts[bot.name]) == (20, {})
