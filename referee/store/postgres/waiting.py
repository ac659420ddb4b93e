"""A connection whose every wait for the server has an end.

A server may stand still while its machine answers for it, so that neither keep-alives nor timeouts
of the server's own tell. What counts is silence: an answer that comes bit by bit may take as long
as it takes. The driver wakes ten times a second in a wait, and asks here whether to go on.

A wait that is broken off, by whatever, leaves an answer behind that would be taken for that to the
next question. So the connection is closed, and `explained` says by what: what the driver raises
afterwards, on its way out of a COPY for one, is that there is no connection.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Any

import psycopg
from psycopg import capabilities, waiting
from psycopg.pq import TransactionStatus

from referee.store.postgres.trouble import explain

ANSWER_S = 60.0
"""For a writer, whose questions are small: enough for a commit on a disk that is slow."""
LONG_ANSWER_S = 600.0
"""For a reader: the server may go through a hundred million games before the first row comes."""
_WAKE_S = 0.1
_CANCEL_S = 1.0
"""For telling the server that nobody waits any more."""


class Silent(psycopg.OperationalError):
    """The server has not answered in time."""


def _nothing(_: float) -> None:
    pass


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is given up where the server is silent for too long."""

    while_silent: Callable[[float], None] = staticmethod(_nothing)
    """Called while no answer comes, with the seconds so far; what it raises ends the wait."""
    patience_s = ANSWER_S
    given_up: BaseException | None = None
    """Which exception ended a wait, and the connection with it."""

    def wait(self, gen: Generator[Any, Any, Any], *_: object, **__: object) -> Any:
        try:
            return waiting.wait(self._heard(gen), self.pgconn.socket, interval=_WAKE_S)
        except BaseException as error:
            if isinstance(error, Silent) or self._is_left_by(error):
                self._give_up(error)
            raise

    def explained(self, error: psycopg.Error, named: str, *, writing: bool) -> BaseException:
        """The exception to raise: a sentence, what ended the wait, or the error if it is a bug."""
        if self.given_up is not None:
            if not isinstance(self.given_up, psycopg.Error):
                return self.given_up
            error = self.given_up
        return explain(error, named, lost=self.closed or self.broken, writing=writing)

    def _heard(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The driver's own steps, with a look at the clock where nothing has come."""
        try:
            wanted = next(gen)
            heard = time.monotonic()
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                else:
                    self._check(now - heard)
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value

    def _is_left_by(self, error: BaseException) -> bool:
        """Whether an answer is still to come, and it was not the server that said why not."""
        active = self.info.transaction_status is TransactionStatus.ACTIVE
        return active and not isinstance(error, psycopg.Error)

    def _check(self, silent_s: float) -> None:
        self.while_silent(silent_s)
        if silent_s > self.patience_s:
            raise Silent(f"the server has not answered for {self.patience_s:g} s")

    def _give_up(self, error: BaseException) -> None:
        self.given_up = error
        try:
            if capabilities.has_cancel_safe():  # Others may wait for ever.
                with contextlib.suppress(psycopg.Error):
                    self.cancel_safe(timeout=_CANCEL_S)
        finally:
            self.close()
