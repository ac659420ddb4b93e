"""keeper.py, with keepers that can be counted: one that has ended waits for somebody to ask.

The process that forks keepers lets the kernel forget them, and with them what they used. This one
does not, so that whoever takes them over when it ends hears of it. It imports nothing more: a fork
of a larger process costs more.
"""

from __future__ import annotations

import signal

KEEPER = f"{__file__.rpartition('/')[0]}/../referee/bots/keeper.py"
_set = signal.signal


def _remember(number: int, handler: signal._HANDLER) -> signal._HANDLER:
    forgets = number == signal.SIGCHLD and handler is signal.SIG_IGN
    return None if forgets else _set(number, handler)


if __name__ == "__main__":
    vars(signal)["signal"] = _remember
    with open(KEEPER, "rb") as file:
        exec(compile(file.read(), KEEPER, "exec"), {"__name__": "__main__", "__file__": KEEPER})
