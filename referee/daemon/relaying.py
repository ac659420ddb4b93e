"""A relay process: runs one bot of ours and speaks for it in the hall, until its input ends."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from referee.connecting.envoy import Envoy
from referee.connecting.local import LocalBot
from referee.connecting.news import News
from referee.connecting.remote import Destination
from referee.daemon.errand import await_the_end, read_request
from referee.daemon.relays import Request
from referee.mistake import Mistake

LEAVE_S = 5.0
"""To say goodbye to the hall and to see the bot out."""


def main() -> None:
    os.dup(1)  # Open for as long as this process lives: its end is how its end is seen.
    os.dup2(2, 1)
    request = read_request(Request)
    wanted = threading.Event()
    wanted.set()
    threading.Thread(target=_watch, args=(wanted,), daemon=True).start()
    local = LocalBot(
        request.bot,
        request.confinement,
        log=None if request.log is None else Path(request.log),
        startup_ms=request.startup_ms,
    )
    destination = Destination(
        to=request.endpoint,
        name=request.bot.name,
        token=request.token,
        keys=request.keys,
        server_key=request.server_key,
    )
    try:
        Envoy(local, destination, _nobody).run(wanted.is_set)
    except Mistake as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.status)


def _watch(wanted: threading.Event) -> None:
    """Leave when whoever started it has gone, or wants it to."""
    await_the_end()
    wanted.clear()
    threading.Event().wait(LEAVE_S)
    os._exit(1)


def _nobody(_: News) -> None:
    """Nobody listens: the hall tells what happens."""
