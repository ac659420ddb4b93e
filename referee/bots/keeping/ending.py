"""How a bot ended, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

CLEANING_S = 5.0
SIGNALLED = 128
LAST_SIGNAL = 64


def told(code: int, *, walled: bool) -> str:
    """How it ended. Bubblewrap tells of a signal as shells do."""
    if walled and SIGNALLED < code <= SIGNALLED + LAST_SIGNAL:
        code = SIGNALLED - code
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def descendants() -> list[int]:
    """Every living process that descends from this one, by a look through /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208  # pathlib costs this script 10 ms
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    unseen = [os.getpid()]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += below
    return found


def leave_nothing(bot: int) -> None:
    """Kill the bot's group and all that descends from it, and wait until it is gone."""
    give_up = time.monotonic() + CLEANING_S
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            os.killpg(bot, signal.SIGKILL)
        if sys.platform == "linux":
            for pid in descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)
