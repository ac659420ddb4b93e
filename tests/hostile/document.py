"""The tables of docs/security.md, made from the code.

python -m tests.hostile.document docs/security.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from referee.bots.confinement.limits import RANGES, SIZES, Limits, show_size, shown_limits
from referee.protocol.describe import table
from referee.testing.describe import refresh
from tests.hostile.cases import LEVELS, outcome_rows

MEANINGS = {
    "memory": "bytes that all its processes may fill together",
    "processes": "processes and threads at a time",
    "cpu": "seconds of processor time of a process in one pairing",
    "file_size": "bytes in one file",
    "disk": "bytes in its `/tmp`",
    "stderr": "bytes of its stderr that are kept, the first half and the last",
    "turn": "bytes that it may send from one turn to the next",
}


def limits_table() -> str:
    usual = shown_limits(Limits())
    rows = []
    for name, (least, most) in RANGES.items():
        show = show_size if name in SIZES else str
        rows.append([f"`{name}`", MEANINGS[name], usual[name], f"{show(least)} to {show(most)}"])
    return table(["limit", "meaning", "default", "may be"], rows)


def cases_table() -> str:
    heads = ["case", "a bot that …", *(f"`{level}`" for level in LEVELS)]
    return table(heads, outcome_rows())


PARTS: dict[str, Callable[[], str]] = {"limits": limits_table, "cases": cases_table}


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python -m tests.hostile.document docs/security.md")
    path = Path(arguments[0])
    path.write_text(refresh(path.read_text("utf-8"), PARTS), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
