"""How a bot ended, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from .kin import descendants

CLEANING_S = 5.0
PAUSE_S = 0.001
SIGNALLED = 128
LAST_SIGNAL = 64


def told(code: int, *, walled: bool) -> str:
    """How it ended. Bubblewrap tells of a signal as shells do."""
    if walled and SIGNALLED < code <= SIGNALLED + LAST_SIGNAL:
        code = SIGNALLED - code
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def leave_nothing(bot: int) -> None:
    """Kill the bot's group and all that descends from it, and wait until it is gone.

    Orphans of the bot become children of the keeper, so without children nothing is left. Only
    what outlives the bot's group has to be searched for, and that means a look at every process.
    """
    give_up = time.monotonic() + CLEANING_S
    with contextlib.suppress(ChildProcessError):
        kill_group(bot)
        reap()
        time.sleep(PAUSE_S)
        reap()
        while time.monotonic() < give_up:
            kill_group(bot)
            if sys.platform == "linux":
                for pid in descendants(os.getpid()):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            reap()
            time.sleep(PAUSE_S)


def kill_group(leader: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def reap() -> None:
    """Wait for those that have ended. Raises ChildProcessError where nobody is left."""
    while os.waitpid(-1, os.WNOHANG)[0]:
        pass
