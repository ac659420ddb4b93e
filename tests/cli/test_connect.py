"""`referee connect`: a bot that runs here plays in a hall elsewhere, whatever befalls either."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import signal
import socket
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import get_args

import pytest
import zmq

from referee.arena.happenings import HallTerms
from referee.connecting.envoy import NO_ZEROMQ
from referee.connecting.news import News
from referee.connecting.remote import REFUSING_ENDS
from referee.links.keys import new_keys, write_keys
from referee.mistake import REFUSED
from referee.protocol.zmtp import GREETING, MORE, frame, ready
from tests.arena.hosting import Host, endings, hosting
from tests.arena.playing import ROOT, command
from tests.cli.connecting import Envoy, connecting, wait
from tests.cli.running import Mistakes, refuses
from tests.loopback import free_port, own_address
from tests.waiting import PATIENCE_S, wait_for

TERMS = HallTerms(warm_up_ms=0, away_ms=4_000)


def line_bot(script: str, *words: object, name: str = "mine") -> str:
    return f"{name}={shlex.join(command(script, *words))}"


def arrived(host: Host, envoy: Envoy, name: str = "mine") -> None:
    host.until(lambda: name in host.hall.guests)
    wait(lambda: envoy.news("connected") != [], host)


def test_it_plays_and_leaves(tmp_path: Path) -> None:
    with hosting(TERMS) as host:
        host.guests("other")
        with connecting(
            tmp_path, "random", "--to", host.router.endpoint, "--name", "mine"
        ) as envoy:
            arrived(host, envoy)
            assert host.hall.guests["mine"].games_at_once == 64, "the manifest's"
            for variant in ("underdog", "deck"):
                records = host.play(("mine", "other"), 4, variant=variant)
                assert endings(records) == ["rules"] * 4
            wait(lambda: len(envoy.news("over")) == 8, host)
            envoy.interrupt()
            assert envoy.finish(host=host) == 130
            assert [each["event"] for each in envoy.news()][:2] == ["running", "connected"]
            assert envoy.news()[-1] == {"event": "left", "bot": "mine", "games": 8}
            assert envoy.said() == "referee: interrupted\n"


def test_a_bot_over_zeromq_is_carried_too(tmp_path: Path) -> None:
    script = ROOT / "tests/bots/over_zmq.py"
    (tmp_path / "bot.toml").write_text(
        f'name = "mine"\ncommand = ["{sys.executable}", "{script}", "packed"]\ntransport = "zmq"\n'
    )
    with hosting(TERMS) as host:
        host.guests("other")
        with connecting(tmp_path, tmp_path, "--to", host.router.endpoint) as envoy:
            arrived(host, envoy)
            assert endings(host.play(("mine", "other"), 2)) == ["rules"] * 2


def test_the_referee_was_away(tmp_path: Path) -> None:
    """Before the bot, and in the middle: it says hello as soon as somebody is there."""
    with hosting(TERMS) as first:
        endpoint = first.router.endpoint
    with connecting(tmp_path, "lowest", "--to", endpoint, "--name", "mine") as envoy:
        wait(lambda: envoy.news("lost") != [])
        for times in (1, 2):
            with hosting(TERMS, endpoint=endpoint) as host:
                host.until(lambda: "mine" in host.hall.guests)
                host.guests("other")
                assert endings(host.play(("mine", "other"), 2)) == ["rules"] * 2
                wait(lambda times=times: len(envoy.news("connected")) == times, host)  # type: ignore[misc]
            wait(lambda times=times: len(envoy.news("lost")) == times + 1)  # type: ignore[misc]


def test_bye_is_not_the_end(tmp_path: Path) -> None:
    with (
        hosting(TERMS) as host,
        connecting(tmp_path, "lowest", "--to", host.router.endpoint) as envoy,
    ):
        arrived(host, envoy, "lowest")
        host.hall.close(0)
        host.until(lambda: host.hall.closed)
        wait(lambda: envoy.news("lost") != [])
        assert envoy.news("lost")[0]["why"] == "the referee said bye"
        assert envoy.process.poll() is None


def test_a_bot_that_breaks_down_is_started_anew(tmp_path: Path) -> None:
    with hosting(TERMS) as host:
        host.guests("other")
        with connecting(
            tmp_path, line_bot("crash", "status"), "--to", host.router.endpoint
        ) as envoy:
            arrived(host, envoy)
            match = host.seat(("mine", "other"), 1, time_control="2s")
            wait(lambda: match in host.over(), host)
            (record,) = host.records(match)
            assert record.ending in ("crash", "timeout")
            assert record.players[record.at_fault[0]] == "mine"
            assert envoy.news("broke_down")[0]["why"] == "the bot exited with status 3"
            wait(lambda: len(envoy.news("connected")) >= 2, host)


@pytest.mark.parametrize(
    ("words", "code"), [(["garbage", "stray print"], "garbled"), (["hang", "silent"], "timeout")]
)
def test_a_bot_that_is_blamed_is_started_anew(words: list[str], code: str, tmp_path: Path) -> None:
    with hosting(TERMS) as host:
        host.guests("other")
        with connecting(tmp_path, line_bot(*words), "--to", host.router.endpoint) as envoy:
            arrived(host, envoy)
            (record,) = host.play(("mine", "other"), 1, time_control="1s")
            assert record.ending == code
            wait(lambda: len(envoy.news("connected")) == 2, host)
            assert envoy.news("error")[0]["code"] == code
            assert envoy.news("broke_down")[0]["why"].startswith(f"the referee's verdict is {code}")


def test_open_games_are_given_up_on_the_way_out(tmp_path: Path) -> None:
    with hosting(HallTerms(warm_up_ms=0, away_ms=60_000)) as host:
        host.guests("other")
        with connecting(
            tmp_path, line_bot("hang", "silent"), "--to", host.router.endpoint
        ) as envoy:
            arrived(host, envoy)
            match = host.seat(("mine", "other"), 1, time_control="60s")
            wait(lambda: envoy.news("start") != [], host)
            envoy.interrupt(signal.SIGTERM)
            wait(lambda: match in host.over(), host)
            assert endings(host.records(match)) == ["resign"]
            assert envoy.finish(host=host) == 143


def test_a_bot_that_does_not_start(tmp_path: Path) -> None:
    with hosting(TERMS) as host:
        with connecting(
            tmp_path, line_bot("startup", "exits"), "--to", host.router.endpoint
        ) as envoy:
            assert envoy.finish(host=host) == 2
            assert len(envoy.news("broke_down")) == 2
            said = envoy.said()
        start = "referee: mine does not start: the bot exited with status 1; "
        assert said == f"{start}see referee-logs/mine.stderr.txt\n"
        with connecting(tmp_path, "x=python3 nofile.py", "--to", host.router.endpoint) as envoy:
            assert envoy.finish(host=host) == 2
            said = envoy.said()
        assert re.fullmatch(
            r"referee: x does not start: the bot exited with status 2; its stderr ends: .*nofile"
            r".*No such file.* \(.* of it is in referee-logs/x.stderr.txt\)\n",
            said,
        ), said


def test_tokens(tmp_path: Path) -> None:
    with hosting(TERMS, tokens={"mine": "right"}) as host:
        to = ("--to", host.router.endpoint, "--name", "mine")
        with connecting(tmp_path, "random", *to, "--token", "right") as envoy:
            arrived(host, envoy)
        with connecting(tmp_path, "random", *to, "--token", "wrong") as envoy:
            assert envoy.finish(host=host) == 3
            said = envoy.said()
        assert said == f"referee: the referee at {host.router.endpoint} refuses: no such token\n"


def test_keys(tmp_path: Path) -> None:
    good, stranger = new_keys(), new_keys()
    files = [write_keys(tmp_path, "good", good), write_keys(tmp_path, "stranger", stranger)]
    with hosting(TERMS, keys={good.public: "mine"}) as host:
        to = host.router.endpoint
        bot = ("random", "--name", "mine", "--to", to)
        server = ("--server-key", host.keys.public)
        with connecting(tmp_path, *bot, "--key", files[0], *server) as envoy:
            arrived(host, envoy)
        with connecting(tmp_path, *bot, "--key", files[1], *server) as envoy:
            assert envoy.finish(host=host) == 3
            assert envoy.said() == f"referee: the referee at {to} does not take this key\n"
        wrong = ("--server-key", new_keys().public)
        with connecting(tmp_path, *bot, "--key", files[0], *wrong) as envoy:
            assert envoy.finish(host=host) == 3
            told = "hangs up: --server-key is not its own, or it does not take this key"
            assert envoy.said() == f"referee: the referee at {to} {told}\n"
        with connecting(tmp_path, *bot) as envoy:
            assert envoy.finish(host=host) == 3
            assert (
                envoy.said() == f"referee: the referee at {to} does not take bots without a key\n"
            )


def test_a_referee_that_is_killed_in_a_handshake_is_waited_for(tmp_path: Path) -> None:
    """It looks like one that does not take the bot, but for what comes next."""
    address = own_address()
    port = free_port(address)
    to = f"tcp://{address}:{port}"
    with connecting(tmp_path, "random", "--name", "mine", "--to", to) as envoy:
        for _ in range(REFUSING_ENDS - 1):
            with socket.create_server((address, port)) as dying:
                dying.settimeout(PATIENCE_S)
                line, _ = dying.accept()
            line.close()
        wait(lambda: envoy.news("lost") != [])
        with hosting(TERMS, endpoint=to) as host:
            arrived(host, envoy)


def test_what_is_no_referee_is_told_and_waited_for(tmp_path: Path) -> None:
    """As a port for pages does: it takes the connection and waits for words that it knows."""
    with socket.create_server((own_address(), 0)) as silent:
        to = "tcp://{}:{}".format(*silent.getsockname())
        with connecting(tmp_path, "random", "--name", "mine", "--to", to) as envoy:
            wait(lambda: envoy.news("lost") != [])
            (lost,) = envoy.news("lost")
            assert (lost["to"], lost["why"]) == (to, NO_ZEROMQ)
            envoy.interrupt()
            assert envoy.finish() == 130


def test_the_newer_one_stays(tmp_path: Path) -> None:
    with hosting(TERMS) as host:
        to = ("random", "--to", host.router.endpoint, "--name", "mine")
        with connecting(tmp_path, *to) as older:
            arrived(host, older)
            with connecting(tmp_path, *to, "--logs", "others") as newer:
                assert older.finish(host=host) == 3
                assert "another connection" in older.said()
                arrived(host, newer)


ADDRESS = r"is no address of a referee; write tcp://HOST:PORT, for example tcp://127.0.0.1:7781"
MISTAKES: Mistakes = {
    "nowhere": (["random", "--to", "nowhere"], rf"'nowhere' {ADDRESS}"),
    "port": (["random", "--to", "tcp://127.0.0.1:99999"], rf"'tcp://127.0.0.1:99999' {ADDRESS}"),
    "both": (
        ["random", "--to", "tcp://127.0.0.1:1", "--key", "a.key", "--token", "t"],
        r"a bot proves who it is by --key or by --token, not by both",
    ),
    "no key": (
        ["random", "--to", "tcp://127.0.0.1:1", "--key", "a.key"],
        r"a.key cannot be read: No such file or directory",
    ),
    "server key alone": (
        ["random", "--to", "tcp://127.0.0.1:1", "--server-key", "x"],
        r"with --server-key comes --key, the file of your bot's own key",
    ),
    "name": (
        ["random", "--to", "tcp://127.0.0.1:1", "--name", "/"],
        r"--name: a bot's name .*",
    ),
    "bot": (["nobody", "--to", "tcp://127.0.0.1:1"], r"no bot 'nobody': .*"),
}


def test_mistakes(tmp_path: Path) -> None:
    commands = {name: (["connect", *words], told) for name, (words, told) in MISTAKES.items()}
    refuses(tmp_path, commands)


def test_every_event_is_documented() -> None:
    page = (ROOT / "docs/events.md").read_text("utf-8").partition("connect --json")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))
    told = {kind.__struct_config__.tag: kind.__struct_fields__ for kind in get_args(News)}
    assert {name: tuple(re.findall(r"`(\w+)`", fields)) for name, fields in rows.items()} == told


DEAF = """
import sys, time
sys.stdin.readline()
print('{"type":"hello","protocol":1,"name":"mine"}', flush=True)
time.sleep(3600)
"""


def an_id(number: int) -> dict[str, object]:
    """Ids count up, as a referee's do."""
    return {"id": number, "game": "g", "view": "x" * 500_000}


def a_long_id(number: int) -> dict[str, object]:
    return {"id": f"{number}" + "x" * 500_000, "game": "g"}


@pytest.mark.parametrize("turn", [an_id, a_long_id])
def test_whoever_asks_without_end_is_left(
    tmp_path: Path, turn: Callable[[int], dict[str, object]]
) -> None:
    """What a server sends and the bot does not read would fill the memory of this machine."""
    (tmp_path / "deaf.py").write_text(DEAF)
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.linger, router.sndtimeo, router.router_mandatory = 0, 100, True
        address = f"tcp://{own_address()}"
        to = f"{address}:{router.bind_to_random_port(address)}"
        words = (f"mine={sys.executable} deaf.py", "--to", to, "--sandbox", "none")
        with connecting(tmp_path, *words) as envoy:
            assert router.poll(int(1000 * PATIENCE_S))
            peer, _ = router.recv_multipart()
            router.send_multipart([peer, b'{"type":"hello","protocol":1,"referee":"1"}'])
            numbers = count()

            def ask() -> None:
                with contextlib.suppress(zmq.ZMQError):  # full, or gone
                    asked = {"type": "turn", **turn(next(numbers))}
                    router.send_multipart([peer, json.dumps(asked).encode()])

            wait_for(lambda: envoy.process.poll() is not None, "its end", meanwhile=ask)
            assert envoy.process.returncode == REFUSED


def test_whoever_sends_a_message_without_end_is_left(tmp_path: Path) -> None:
    """ZeroMQ keeps its parts until the last one has come."""
    (tmp_path / "deaf.py").write_text(DEAF)
    part = frame(bytes(1 << 20), MORE)
    with socket.create_server((own_address(), 0)) as server:
        host, port = server.getsockname()
        words = (f"mine={sys.executable} deaf.py", "--to", f"tcp://{host}:{port}")
        with connecting(tmp_path, *words, "--sandbox", "none") as envoy:
            server.settimeout(PATIENCE_S)
            line, _ = server.accept()
            with line:
                line.sendall(GREETING + ready(b"ROUTER"))
                line.settimeout(PATIENCE_S)

                def send() -> None:
                    with contextlib.suppress(OSError):  # it has hung up
                        line.sendall(part)

                wait_for(lambda: envoy.process.poll() is not None, "its end", meanwhile=send)
            assert envoy.process.returncode == REFUSED
