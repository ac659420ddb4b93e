"""A contest as visitors find it: a real daemon with the sample bots, and two slow bots that connect
from elsewhere, so that there is always a game to watch."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from referee.store.house import House
from tests.daemon.serving import BOTS, WEB, Daemon, serving
from tests.daemon.test_guests import connected, endpoint
from tests.waiting import wait_for

SLOW_BOT = Path(__file__).parent / "slow_bot.py"
SLOW = {"tortoise": "0.5", "snail": "0.6"}
"""Seconds for a move."""
PACE = "6"
"""Games a second: enough for ratings, and the machine has other things to do."""


class Scene(Struct, frozen=True):
    daemon: Daemon
    url: str
    organiser: str
    reds: str


@contextmanager
def contest(folder: Path) -> Iterator[Scene]:
    """Until the end of the block; everything is gone afterwards."""
    data = folder / "data"
    with House.open(data) as house:
        organiser = house.teams.add("Chief", "organiser", by="tests").token
        reds = house.teams.add("Reds", by="tests").token
        tokens = {name: house.bots.new_token(name, by="tests") for name in SLOW}
    assert organiser is not None
    assert reds is not None
    options = (*WEB, *BOTS, "--samples")
    with ExitStack() as stack:
        daemon = stack.enter_context(
            serving(data, *options, "--time", "10s", "--pace", PACE, "--finish", "1")
        )
        to = endpoint(daemon)
        for name, seconds in SLOW.items():
            command = shlex.join([sys.executable, "-S", str(SLOW_BOT), seconds])
            logs = str(folder / "logs")
            stack.enter_context(
                connected(
                    f"{name}={command}", to, "--token", tokens[name], "--sandbox", "none",
                    "--logs", logs,
                )
            )  # fmt: skip
        yield Scene(daemon, page_url(daemon), organiser, reds)


def page_url(daemon: Daemon) -> str:
    """Where the pages are, by what the daemon said."""

    def look() -> str | None:
        assert daemon.process.poll() is None, daemon.said
        words = [word.rstrip(".,/") for word in daemon.said.split() if word.startswith("http://")]
        return words[0] if words else None

    return wait_for(look, f"the pages; {daemon.said}")
