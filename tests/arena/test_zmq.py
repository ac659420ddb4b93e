"""Bots that speak ZeroMQ and that the referee starts: they play and are blamed like any others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from referee.bots.manifest import ZMQ, Bot, read_bot, sample_bots, sample_folder, usual_bots
from referee.match import play_match
from referee.protocol.messages import FLOOD_BYTES
from referee.rules.registry import BUNDLED
from tests.arena.playing import ROOT, all_by_rules, all_lost, honest, play
from tests.facts import Naming
from tests.waiting import PATIENCE_S, wait_for

TWO_SECONDS = "no answer within 2050 ms (2000 ms, grace 50 ms)"


def zmq_bot(*words: str, name: str = "bad") -> Bot:
    script = str(ROOT / "tests/bots/over_zmq.py")
    return Bot(name=name, command=(sys.executable, script, *words), transport=ZMQ)


@pytest.mark.parametrize("how", ["honest", "packed", "heartbeats", "hello again"])
@pytest.mark.parametrize("variant", ["underdog", "target"])
def test_games_are_played(how: str, variant: str) -> None:
    all_by_rules(play(zmq_bot(how, name="z"), honest(), variant=variant, games=4))


def test_two_of_them_side_by_side() -> None:
    first, second = zmq_bot("honest", name="one"), zmq_bot("packed", name="two")
    all_by_rules(play(first, second, games=2, think="parallel"))


def test_started_anew_where_chance_is_hidden() -> None:
    all_by_rules(play(zmq_bot("honest", name="z"), honest(), variant="deck", games=4))


def test_what_it_prints_goes_to_its_log(tmp_path: Path) -> None:
    result = play_match(zmq_bot("prints", name="z"), honest(), games=1, logs=tmp_path, time="10s")
    assert Path(result.logs["z"]).read_text().startswith("heard hello\nheard start\nheard turn\n")


@pytest.mark.parametrize(
    ("words", "code", "detail"),
    [
        (["status"], "crash", "the bot exited with status 3"),
        (["signal"], "crash", "the bot was killed by SIGSEGV"),
        (["closes"], "crash", "the bot closed its connection"),
        (["garbled"], "garbled", "not JSON (expecting value at column 1)"),
        (
            ["garbled", "packed"],
            "garbled",
            Naming("not MessagePack"),
        ),
        (["parts"], "garbled", "a message of several parts; send one object in one part"),
        (["large"], "garbled", Naming("a message of 70032 bytes", 65_536)),
        (
            ["other encoding"],
            "garbled",
            Naming("MessagePack where JSON", "your hello"),
        ),
        (
            ["other encoding", "packed"],
            "garbled",
            Naming("JSON where MessagePack", "your hello"),
        ),
        (["flood"], "flood", Naming(FLOOD_BYTES, "bytes", "last turn")),
        (["hello twice"], "garbled", "a hello where move, resign, pong is due"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_a_fault_in_a_game(words: list[str], code: str, detail: str | Naming) -> None:
    all_lost(play(zmq_bot(*words), honest(), games=2), code, detail)


def test_garbage_without_end() -> None:
    """A flood, unless its library takes a breath just after the first message."""
    for record in play(zmq_bot("garbage"), honest(), games=2).records:
        assert record.ending in ("flood", "garbled")
        assert record.players[record.at_fault[0]] == "bad"


def test_no_answer() -> None:
    played = play(zmq_bot("stall"), honest(), games=1, time="2s", warm_up_ms=0)
    (fault,) = all_lost(played, "timeout", TWO_SECONDS)
    assert fault.spent_us is not None
    assert fault.spent_us < PATIENCE_S * 1e6, "judged when the time was up"


@pytest.mark.parametrize(
    ("how", "code", "detail"),
    [
        ("exits", "no_start", "the bot exited with status 1"),
        ("absent", "no_hello", "no connection to REFEREE_ENDPOINT within 5000 ms"),
        (
            "silent",
            "no_hello",
            "no hello within 5000 ms; it has connected, and over ZeroMQ the bot speaks first",
        ),
        (
            "no token",
            "no_hello",
            "the hello carries no token; send what REFEREE_TOKEN says as its token",
        ),
        (
            "wrong token",
            "no_hello",
            "the hello carries a wrong token; send what REFEREE_TOKEN says as its token",
        ),
        ("protocol 2", "wrong_protocol", Naming("protocol 2", "referee 1")),
        ("request", "no_hello", Naming("'REQ'", "DEALER")),
        ("not zmq", "no_hello", Naming("not ZeroMQ", "DEALER")),
    ],
)
def test_a_bad_start(how: str, code: str, detail: str | Naming) -> None:
    startup_ms = 5_000 if "within" in str(detail) else 60_000
    played = play(zmq_bot(how), honest(), games=1, startup_ms=startup_ms)
    (fault,) = all_lost(played, code, detail)
    assert fault.turn == 1
    assert played.records[0].moves == []


@pytest.mark.parametrize("name", ["zmq-highest", "zmq-random"])
def test_the_sample_bots_play_every_variant(name: str) -> None:
    sample = read_bot(sample_folder() / name)
    assert sample.command == ("python3", "bot.py")
    assert "needs pyzmq" in sample.description
    bot = structs.replace(sample, command=(sys.executable, "bot.py"))
    for variant in BUNDLED:
        all_by_rules(play(bot, honest(games_at_once=8), variant=variant, games=4))


def test_they_do_not_play_unasked() -> None:
    """A plain installation need not have their library where its python3 is."""
    assert {"zmq-highest", "zmq-random"} <= set(sample_bots())
    assert not any(name.startswith("zmq-") for name in usual_bots())


def test_the_bot_of_the_document(tmp_path: Path) -> None:
    document = (ROOT / "protocol.md").read_text("utf-8")
    source = document.partition("```python zmq\n")[2].partition("```\n")[0]
    (tmp_path / "bot.py").write_text(source, "utf-8")
    command = (sys.executable, "bot.py")
    bot = Bot(name="mine", command=command, folder=tmp_path, transport=ZMQ)
    all_by_rules(play(bot, honest(), variant="target", games=2))


def test_a_referee_that_is_killed_leaves_no_socket(tmp_path: Path) -> None:
    """The keeper removes the folder of a bot that had not connected yet."""
    script = "import os, sys, time; open(sys.argv[1], 'w').write(os.environ['REFEREE_ENDPOINT'])"
    waiting = tmp_path / "endpoint"
    (tmp_path / "bot.toml").write_text(
        f'name = "late"\ntransport = "zmq"\ncommand = ["{sys.executable}", "-c", '
        f'"{script}; time.sleep(600)", "{waiting}"]\n'
    )
    program = f"from referee.match import play_match; play_match({str(tmp_path)!r}, 'random')"
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as referee:
        wait_for(lambda: waiting.exists() and waiting.read_text(), "the bot to start")
        path = Path(waiting.read_text().removeprefix("ipc://"))
        assert path.is_socket()
        referee.kill()
    wait_for(lambda: not path.parent.exists(), "the folder to be removed")
