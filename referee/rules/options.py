"""The options of a variant: their defaults, their ranges, and the sentence for a bad one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct

from referee.mistake import Mistake

Value = int | str
"""What an option can be set to. A switch is one of the words "yes" and "no"."""


class BadOption(Mistake):
    """An option that makes no game; the message says what is allowed."""


class Option(Struct, frozen=True, kw_only=True):
    """One setting of a variant.

    Either a number from `low` to `high`, or one of `choices`. A default of None means that
    the variant's `settle` derives it from the other options.
    """

    name: str
    default: Value | None
    help: str
    low: int = 1
    high: int = 1_000
    choices: tuple[str, ...] = ()

    def allowed(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        return f"a whole number from {self.low} to {self.high}"

    def read(self, variant: str, given: object) -> Value:
        """The value that was given, as text from a command line or as a value from a file."""
        value = given
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if self.choices:
            if isinstance(value, str) and value in self.choices:
                return value
        else:
            if isinstance(value, str) and value.strip().lstrip("-").isdecimal() and len(value) < 20:
                value = int(value)
            if type(value) is int and self.low <= value <= self.high:
                return value
        raise BadOption(
            f"option {self.name} of {variant} must be {self.allowed()}, not {_short(given)}"
        )


def settle_options(
    variant: str, known: Sequence[Option], given: Mapping[str, object]
) -> dict[str, Value]:
    """Every option with its value: the given one, or else its default if it has one."""
    by_name = {option.name: option for option in known}
    for name in given:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            all_of_them = "it has " + (", ".join(by_name) or "none")
            hint = f"did you mean {near[0]}?" if near else all_of_them
            raise BadOption(f"{variant} has no option {_short(name)}: {hint}")
    settled: dict[str, Value] = {}
    for name, option in by_name.items():
        if name in given:
            settled[name] = option.read(variant, given[name])
        elif option.default is not None:
            settled[name] = option.default
    return settled


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
