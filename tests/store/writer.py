"""A writer in a process of its own, to be killed: `python -m tests.store.writer WHAT FOLDER`."""

from __future__ import annotations

import itertools
import os
import resource
import sys
import time
from pathlib import Path

from referee.store.database import BadStore, Store, StoreFull
from tests.store.sample import BOTS, VALUES, fault, large_game

BATCH = 50
BATCHES = 3
COMMITTED = BATCH * BATCHES
"""Games in one commit."""


def write(store: Store, commits: int = sys.maxsize) -> None:
    """Add games from the first that is missing; tell how many are there after each commit."""
    there = store.counts().get(1, 0)
    for _ in range(commits):
        for _ in range(BATCHES):
            rows = [large_game(number) for number in range(there + 1, there + BATCH + 1)]
            store.add_games(rows, [fault(there + 1)])
            there += BATCH
        store.commit()
        say(there)


def say(what: object) -> None:
    print(what, flush=True)


def go_on(folder: Path) -> None:
    with Store.open(folder) as store:
        say("ready")
        write(store)


def hold(folder: Path) -> None:
    with Store.open(folder):
        say("ready")
        time.sleep(3600)


def fork(folder: Path) -> None:
    """Hold the folder, with a child that does nothing and does not go when its parent does."""
    with Store.open(folder):
        if os.fork() == 0:
            say(os.getpid())  # It has let go by now.
        time.sleep(3600)


def create(folder: Path) -> None:
    """Make one tournament after another."""
    say("ready")
    for number in itertools.count():
        Store.create(folder / str(number), VALUES, BOTS).close()


def fill(folder: Path) -> None:
    """Write until no file may grow any more; then say why it ended."""
    with Store.open(folder) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        try:
            write(store)
        except StoreFull as full:
            say(full)


if __name__ == "__main__":
    modes = {"go-on": go_on, "hold": hold, "fork": fork, "create": create, "fill": fill}
    try:
        modes[sys.argv[1]](Path(sys.argv[2]))
    except BadStore as trouble:
        say(f"refused: {trouble}")
