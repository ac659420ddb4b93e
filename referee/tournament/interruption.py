"""Ctrl-C, SIGTERM and a closed terminal wait until no piece of work is half done.

An exception out of a signal handler may come between two statements that belong together, such as
a game and its times. So while a tournament runs, a signal is noted, and what its handler would do
is done at the next safe point. A second one is not made to wait, and neither is one at all where
the safe point is behind a server that says nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

HURRIED_S = 5.0
"""How long a server may be silent when somebody wants to leave: most commits take less."""
HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Signals that came and were not acted on yet."""

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: int | None = None
        self._let: int | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        if self._came is not None or self._let is not None:
            self._handlers[number](number, frame)
        self._came = number

    def let_it_come(self) -> None:
        """A safe point: what the signal's own handler does, is done now."""
        if self._came is not None:
            number, self._came, self._let = self._came, None, self._came
            self._handlers[number](number, None)

    def while_silent(self, silent_s: float) -> None:
        """No safe point is near: it comes now, or once more where it came before."""
        if silent_s < HURRIED_S:
            return
        self.let_it_come()
        if self._let is not None:
            self._handlers[self._let](self._let, None)

    def hold(self) -> None:
        for number in HELD:
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self.note)

    def release(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)


@contextmanager
def held_signals() -> Iterator[Interruption]:
    """Hold signals back in the main thread, the only one that gets any."""
    interruption = Interruption()
    if threading.current_thread() is threading.main_thread():
        interruption.hold()
    try:
        yield interruption
    finally:
        interruption.release()
