"""What visitors are told of errors, in one place.

The house speaks plainly: its sentences name bots and teams as they are called. Where names are
hidden, these sentences are for organisers and for those whom they are about, and everybody else is
told what the status means. What a handler refuses itself (`Refusal`) it says in the words of its
visitor, with names as its `sight` has them.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from referee.bots.confinement.identity import NoUser
from referee.mistake import Mistake
from referee.store.house import mistakes as house_mistakes
from referee.store.trouble import BadStore
from referee.web.refusal import Refusal

STATUS: dict[type[Mistake], int] = {
    house_mistakes.Unknown: 404,
    house_mistakes.NotYours: 403,
    house_mistakes.Conflict: 409,
    house_mistakes.TooMany: 409,
    house_mistakes.TooLarge: 413,
    house_mistakes.TooOften: 429,
    house_mistakes.BadHouse: 503,
    BadStore: 503,
    NoUser: 503,
}
"""Of the mistakes that are no bad input."""
IN_GENERAL = {
    400: "this cannot be done as it was asked",
    403: "this is not yours to do",
    404: "there is no such thing here",
    409: "the state of things does not allow this now",
    413: "this is too large",
    429: "this was done too often: come back later",
}
"""What is said in the place of a sentence that may have names in it."""


def refusal_of(error: Exception, *, veiled: bool = False) -> Refusal:
    """What a visitor is told of an error; what nobody foresaw goes to the log. `veiled` is for one
    from whom names are hidden."""
    if isinstance(error, Refusal):
        return error
    if not isinstance(error, Mistake):
        traceback.print_exception(error, file=sys.stderr)
        return Refusal(500, "the referee failed on this; its log says more")
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)
    if isinstance(error, house_mistakes.HouseFull):
        print(f"web: {error}", file=sys.stderr, flush=True)
        return Refusal(
            503, "the disk of this referee is full: nothing is taken until there is room"
        )
    if status == 503:
        print(f"web: {error}", file=sys.stderr, flush=True)
        return Refusal(503, "the data cannot be read or written at the moment")
    wait = {"Retry-After": str(error.wait_s)} if hasattr(error, "wait_s") else {}
    return Refusal(status, IN_GENERAL[status] if veiled else str(error), wait)


@contextmanager
def plainly() -> Iterator[None]:
    """What the house refuses here is about what is the visitor's own, or was said by nobody else:
    it is told in the words of the house."""
    try:
        yield
    except Mistake as mistake:
        raise refusal_of(mistake) from None
