"""Guests that leave and come back at any time, and relays that end however they do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from referee.bots.confinement import UNCONFINED
from referee.bots.manifest import Bot as BotOfOurs
from referee.daemon.child import PACKAGES, PROGRAM
from referee.daemon.relays import MODULE, Request
from tests.arena.hosting import Bot
from tests.daemon.following import following, heard
from tests.daemon.serving import Daemon, processes_of, serving
from tests.daemon.test_guests import HALL, endpoint, two_tokens
from tests.waiting import PATIENCE_S, wait_for

QUICK = (*HALL, "--pace", "0")

NOT_PLAYED = "could not be played"


def play_until(bots: list[Bot], daemon: Daemon, bot: Bot, kind: str, times: int) -> None:
    """Let them all answer until one has heard so many of a kind."""

    def heard() -> bool:
        assert daemon.process.poll() is None, daemon.said
        for each in bots:
            each.react()
        return len(bot.told(kind)) >= times

    wait_for(heard, f"{kind} of {bot.name}; {bot.heard[-5:]}; {daemon.said[-3000:]}")


def relays_of(daemon: Daemon, but_for: Collection[int]) -> set[int]:
    """The processes that bring bots of the house into the hall, but for those that are known."""
    return set(processes_of(daemon.process.pid, MODULE.encode())).difference(but_for)


def has_left_more_often(daemon: Daemon, than: int) -> bool:
    return daemon.said.count("disconnected bot=beta") > than


def test_a_guest_that_leaves_in_the_middle_is_paired_again_whenever_it_comes(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    with serving(data, *QUICK) as daemon:
        to = endpoint(daemon)
        with closing(Bot(to, "alpha")) as stays, closing(Bot(to, "beta")) as leaves:
            stays.hello(token=alpha)
            for delay_s in (0.0, 0.02, 0.1, 0.2, 0.4, 0.6):
                leaves.heard.clear()
                leaves.hello(token=beta)
                # More than one chunk.
                play_until([stays, leaves], daemon, leaves, "over", 12)
                left = daemon.said.count("disconnected bot=beta")
                leaves.say(b"this is no message")
                play_until([stays, leaves], daemon, leaves, "bye", 1)
                wait_for(partial(has_left_more_often, daemon, than=left), "its leaving")
                time.sleep(delay_s)
        assert daemon.stop() == 0, daemon.said
        assert "does not start" not in daemon.said
        assert NOT_PLAYED not in daemon.said
        assert "relay" not in daemon.said


def test_a_guest_that_leaves_while_its_opponent_is_brought_is_paired_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, _ = two_tokens(data)
    with serving(data, *QUICK, "--samples") as daemon:
        with closing(Bot(endpoint(daemon), "alpha")) as guest:
            seen: set[int] = set()
            for _ in range(3):
                guest.heard.clear()
                guest.hello(token=alpha)
                play_until([guest], daemon, guest, "hello", 1)
                # A bot of the house is being started for it, and comes no further until it left.
                brought = wait_for(partial(relays_of, daemon, frozenset(seen)), "a relay")
                seen |= brought
                for relay in brought:
                    os.kill(relay, signal.SIGSTOP)
                guest.say(b"this is no message")
                play_until([guest], daemon, guest, "bye", 1)
                for relay in brought:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(relay, signal.SIGCONT)
            guest.heard.clear()
            guest.hello(token=alpha)
            play_until([guest], daemon, guest, "over", 25)
            with following(daemon) as follower:
                counted = wait_for(
                    lambda: [each["values"] for each in heard(follower) if "values" in each],
                    "counters",
                )
            # Relays came and left; what was dropped is what the guest said.
            assert set(counted[0]["dropped"]) <= {"garbled", "no_hello"}
        assert daemon.stop() == 0, daemon.said
        assert "does not start" not in daemon.said
        assert NOT_PLAYED not in daemon.said
        assert "may not stay" not in daemon.said


def test_a_relay_whose_bot_does_not_start_ends_with_a_sentence() -> None:
    request = Request(
        bot=BotOfOurs(name="dana", command=("/bin/true",)),
        endpoint="tcp://127.0.0.1:9",
        server_key=None,
        token="x",
        keys=None,
        confinement=UNCONFINED,
        startup_ms=2000,
        log=None,
    )
    # As the daemon starts it: its input stays open all the while.
    with subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM.format(module=MODULE), str(PACKAGES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as relay:
        assert relay.stdin is not None
        assert relay.stderr is not None
        relay.stdin.write(msgspec.json.encode(request, enc_hook=str) + b"\n")
        relay.stdin.flush()
        said = relay.stderr.read().decode()
        assert relay.wait(PATIENCE_S) > 0
    assert said.startswith("dana does not start: ")
    assert said.count("\n") == 1
