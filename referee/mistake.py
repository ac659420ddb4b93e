"""What a person can put right: the base of every exception that carries a sentence for people.

A command that ends by one prints the sentence and exits with the status; nobody sees a traceback.
"""

from __future__ import annotations

from typing import ClassVar

BAD_INPUT = 2
REFUSED = 3
FAILED = 4


class Mistake(Exception):
    """One sentence that says what was wrong, where, and what is right."""

    status: ClassVar[int] = BAD_INPUT
    """With which a command exits."""
    quoted: str = ""
    """What another program said of it, in any number of lines; shown below the sentence."""
    others: tuple[Mistake, ...] = ()
    """Mistakes that were found at the same time; each is told after it, in its own sentence."""
