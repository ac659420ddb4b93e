"""Sentences by the facts that they name, for tests that leave the wording to another test."""

from __future__ import annotations

import re


class Naming:
    """Equal to every sentence that names these facts in this order, whatever stands between."""

    def __init__(self, *facts: object) -> None:
        self.facts = tuple(map(str, facts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.search(self.pattern, other, re.DOTALL) is not None

    def __hash__(self) -> int:
        return hash(self.facts)

    def __repr__(self) -> str:
        return f"Naming({', '.join(map(repr, self.facts))})"

    @classmethod
    def of(cls, told: str) -> Naming:
        """The facts of a sentence in which … stands for words that are tested elsewhere."""
        return cls(*told.split("…"))

    @property
    def pattern(self) -> str:
        """As a regular expression. A fact is not found inside a longer word or number."""
        return ".*".join(map(_whole, self.facts))


def _whole(fact: str) -> str:
    before = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", fact) else ""
    after = r"(?!\w)(?![.,]\d)" if re.search(r"\w$", fact) else ""
    return f"{before}{re.escape(fact)}{after}"
