"""What a person at the start has to know, beside the log: the token, and where everything is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TextIO

from referee.daemon.journal import Journal
from referee.daemon.pages import Pages
from referee.daemon.reception import Reception


class Say(Protocol):
    """A sentence for people; a program is told the event and its fields instead."""

    def __call__(self, sentence: str, event: str, /, **fields: object) -> None: ...


def sayer(style: Literal["text", "json"], out: TextIO, print_out: Callable[[str], None]) -> Say:
    """Sentences through `print_out`, or lines of JSON to `out` that look like those of the log."""
    lines = Journal(out, "json")

    def say(sentence: str, event: str, /, **fields: object) -> None:
        if style == "json":
            lines.info(event, **fields)
        else:
            print_out(sentence)

    return say


def listens(pages: Pages | None, reception: Reception | None) -> bool:
    """Whether everything that is wanted has found its port."""
    return (pages is None or pages.url is not None) and (
        reception is None or reception.opened is not None
    )


def greet(pages: Pages | None, reception: Reception | None, say: Say) -> None:
    """Say where everything is, once it listens."""
    if pages is not None:
        say(f"Pages: {pages.url}", "pages", url=pages.url)
    if reception is not None and reception.opened is not None:
        opened = reception.opened
        key = "" if opened.public is None else f", server key {opened.public}"
        say(
            f"Bots connect to {opened.endpoint}{key}",
            "bots",
            endpoint=opened.endpoint,
            server_key=opened.public,
        )
