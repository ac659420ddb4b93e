"""The sentence for a mistake in a spec: what is wrong, what is right, and which key it is about."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from referee.mistake import Mistake

Key = tuple[str | int, ...]
"""The way to a value in a spec: `("options", "target", "size")`, `("bots", 2)`."""
LONGEST_QUOTE = 60


class BadSpec(Mistake):
    """A spec that makes no tournament; the message says what is wrong and what is right."""

    def __init__(self, told: str, key: Key = ()) -> None:
        super().__init__(told)
        self.key = key


def did_you_mean(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def quoted(value: object) -> str:
    """A value of a spec as a person wrote it, on one line and not too long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 1] + "…"
    if not isinstance(value, str):
        return text
    shown = [
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    ]
    return f'"{"".join(shown)}"'
