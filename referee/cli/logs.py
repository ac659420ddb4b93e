"""What bots wrote to stderr, as far as a few lines of it help.

A log holds what all processes of a bot wrote, one after another, and nothing stands between them.
What its author looks for is the last error. Python tells it in the last line of a trace, most other
languages in the first, above frames that are indented; Go does not indent them, and Tcl gives an
error no name. So the last line that looks like an error is searched for, and shown with what comes
next and with the very end. The first line of the log, where it comes again, is taken for the
beginning of the last process: a bot that breaks down does so in the same words each time.
"""

from __future__ import annotations

import re
from pathlib import Path

from referee.cli.console import printable

LOGS = "referee-logs"
"""The folder for what bots write to stderr, where a command is told of no other."""
LONGEST = 200
MOST_LINES = 6
LOOKED_AT = 64 * 1024
"""Bytes at the end of a log: as much as the referee keeps of one process."""

_ERROR = re.compile(
    r"(error|exception)(:|['\")]*$| in )|\bpanic:"
    r"|\b(panicked|fatal|assertion|uncaught|unhandled|terminate called)\b",
    re.IGNORECASE,
)
_FRAME = re.compile(r"\s+(at|from|while executing)\b")
"""What the line below an error looks like in Node, Java, Ruby and Tcl."""


def log_lines(name: str, log: Path, *, failed: bool) -> list[str]:
    """Where the stderr of a bot is and, if the bot has failed, how it ends."""
    told = [f"stderr of {name}: {log}"]
    if not failed:
        return told
    shown = [printable(line[:LONGEST]) for line in _telling(_lines(log))]
    if len(shown) > 1:
        return [*told, "  which ends:", *(f"    {line}" for line in shown)]
    return [*told, f"  which ends: {''.join(shown).strip()}"]


def last_line(log: Path) -> str:
    """The last line of a log that says something; empty where there is none."""
    lines = _lines(log) if log.exists() else []
    return printable(lines[-1].strip()[:LONGEST]) if lines else ""


def newest_log(folder: Path, bot: str) -> Path | None:
    """The log of a bot that was written to last, wherever it is in a folder."""
    logs = [path for path in folder.rglob("*.stderr.txt") if path.name == f"{bot}.stderr.txt"]
    return max(logs, key=lambda path: path.stat().st_mtime, default=None)


def _lines(log: Path) -> list[str]:
    """The last lines of a log that say something."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOOKED_AT))
        text = file.read(LOOKED_AT).decode("utf-8", "replace")
    return [line.rstrip().expandtabs(4) for line in text.split("\n") if line.strip()]


def _telling(lines: list[str]) -> list[str]:
    """The few of them that tell most."""
    begin = max((at for at, line in enumerate(lines) if line == lines[0]), default=0)
    error = max((at for at in range(len(lines)) if _is_error(lines, at)), default=None)
    if error is None:
        error = begin
    elif error < begin:
        begin = 0
    if len(lines) - error <= MOST_LINES:
        return lines[max(begin, len(lines) - MOST_LINES) :]
    return [*lines[error : error + MOST_LINES - 2], "…", lines[-1]]


def _is_error(lines: list[str], at: int) -> bool:
    """Whether a line says what went wrong. Frames are indented, and Tcl quotes code."""
    if lines[at].startswith((" ", '"')):
        return False
    follows = lines[at + 1] if at + 1 < len(lines) else ""
    return _ERROR.search(lines[at]) is not None or _FRAME.match(follows) is not None
