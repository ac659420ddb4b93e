"""How a bot ended, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from .kin import descendants

CLEANING_S = 5.0
SIGNALLED = 128
LAST_SIGNAL = 64


def told(code: int, *, walled: bool) -> str:
    """How it ended. Bubblewrap tells of a signal as shells do."""
    if walled and SIGNALLED < code <= SIGNALLED + LAST_SIGNAL:
        code = SIGNALLED - code
    return f"exit {code}" if code >= 0 else f"signal {-code}"


def leave_nothing(bot: int) -> None:
    """Kill the bot's group and all that descends from it, and wait until it is gone."""
    give_up = time.monotonic() + CLEANING_S
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            os.killpg(bot, signal.SIGKILL)
        if sys.platform == "linux":
            for pid in descendants(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)
