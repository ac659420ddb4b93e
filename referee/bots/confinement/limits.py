"""What a bot may use, and how it is written: `memory = "512M"`, `--limit memory=512M`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.mistake import Mistake

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
LONGEST_QUOTE = 60
_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB}
_SIZE = re.compile(r"(\d{1,15})\s*([KMG]?)(?:i?B)?", re.IGNORECASE | re.ASCII)


class BadLimit(Mistake):
    """A limit that cannot be; the message says what is allowed."""


class Limits(Struct, frozen=True, kw_only=True):
    """What one bot may use. Java starts within 512 MiB and 24 threads, Node within less."""

    memory: int = GIB
    """Bytes that all its processes may fill together."""
    processes: int = 64
    """Processes and threads at a time."""
    cpu: int = 3600
    """Seconds of processor time of one process, in a pairing."""
    file_size: int = 64 * MIB
    """Bytes in one file that it writes."""
    disk: int = 64 * MIB
    """Bytes in its /tmp, the one place where it can write."""
    stderr: int = 64 * KIB
    """Bytes of its stderr that are kept: the first half and the last. The rest is read and thrown
    away."""
    turn: int = MIB
    """Bytes that it may send from one turn to the next."""


RANGES = {
    "memory": (16 * MIB, 1024 * GIB),
    "processes": (1, 100_000),
    "cpu": (1, 10_000_000),
    "file_size": (0, 1024 * GIB),
    "disk": (64 * KIB, 1024 * GIB),
    "stderr": (KIB, 64 * MIB),
    "turn": (KIB, 64 * MIB),
}
"""The least and the most of each."""
SIZES = frozenset({"memory", "file_size", "disk", "stderr", "turn"})
"""Those in bytes."""
EVERYWHERE = frozenset({"stderr", "turn"})
"""Those that hold at every level: the referee's own strictness."""
BUILD_LIMITS = Limits(
    memory=4 * GIB, processes=512, cpu=1800, file_size=GIB, disk=2 * GIB, stderr=64 * KIB
)
"""Of the step that builds a bot: compilers are larger than bots."""


def read_limits(given: Mapping[str, object], base: Limits | None = None) -> Limits:
    """The limits with these of them set. Raises BadLimit."""
    return replace(base or Limits(), **{name: _read(name, value) for name, value in given.items()})


def split_limit(text: str) -> tuple[str, str]:
    """`memory=512M` in its two parts. Raises BadLimit."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadLimit(f"a limit is name=value, for example memory=512M, not {text!r}")
    return name.strip(), value.strip()


def tighter(limits: Limits, wanted: Mapping[str, object]) -> Limits:
    """What a bot's manifest asks for, where that is less than it is given. Raises BadLimit."""
    asked = read_limits(wanted)
    least = {name: min(getattr(limits, name), getattr(asked, name)) for name in wanted}
    return replace(limits, **least)


def shown_limits(limits: Limits) -> dict[str, str]:
    """As they would be written."""
    return {
        name: show_size(value) if name in SIZES else str(value)
        for name, value in asdict(limits).items()
    }


def show_size(size: int) -> str:
    """Bytes in the largest unit that divides them: 512M."""
    for unit in ("G", "M", "K"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)


def _read(name: str, value: object) -> int:
    if name not in RANGES:
        near = get_close_matches(name, RANGES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the limits are {', '.join(RANGES)}"
        raise BadLimit(f"unknown limit {name!r}; {hint}")
    least, most = RANGES[name]
    number = _number(value, in_bytes=name in SIZES)
    if number is None or not least <= number <= most:
        example = "a size such as 512M" if name in SIZES else "a whole number"
        show = show_size if name in SIZES else str
        told = f"{example} from {show(least)} to {show(most)}"
        raise BadLimit(f"the limit {name} is {told}, not {as_written(value)}")
    return number


def as_written(value: object) -> str:
    """What somebody wrote in TOML where something else is due, on one line."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "a table"
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # a whole number of more digits than Python shows
        return "a number as long as that"
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _number(value: object, *, in_bytes: bool) -> int | None:
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if not isinstance(value, str):
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None or (match[2] and not in_bytes):
        return None
    return int(match[1]) * _UNITS[match[2].upper()]
