"""One line that tells a bot's author why it lost: the game, the turn, the blame code, what the bot
was sent, what came back, and where its stderr is.

A turn that is shown has no id: the record does not hold it. `referee repro` gives a bot the whole
of such a game again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from referee.dialogue import dialogue
from referee.mistake import Mistake
from referee.protocol.codec import excerpt
from referee.record import Record
from referee.verdict import AT_START, Ending, Fault

LONGEST_DETAIL = 300
LONGEST_VIEW = 200
LONGEST_LEGAL = 80
LONGEST_ANSWER = 250


def fault_line(
    record: Record,
    fault: Fault,
    log: Path | None = None,
    script: str | None = None,
    *,
    kept: bool = True,
) -> str:
    """A fault in one line, fit for a terminal whatever the bot and its record say.

    `log` is where the stderr is, if the bot wrote any; `kept` is whether it would have been kept;
    `script` is where the variant is, if not under its own name.
    """
    name = record.players[fault.seat]
    told = (
        f"{name}, game {record.game}, turn {fault.turn}: {fault.code}, "
        f"{_cut(fault.detail, LONGEST_DETAIL)}",
        _sent(record, fault, script),
        _came(fault),
        _stderr(log, kept=kept),
    )
    line = "; ".join(told).encode("utf-8", "backslashreplace")
    return excerpt(line, limit=len(line))


def _sent(record: Record, fault: Fault, script: str | None) -> str:
    if fault.code is Ending.FORFEIT:
        return "it was not started any more"
    if fault.code in AT_START:
        return "it was sent nothing but hello"
    try:
        asked = dialogue(record, fault.seat, script).asked_at(fault.turn)
        if asked is None:
            return "it was sent nothing, the other was to move"
        view = excerpt(msgspec.json.encode(asked.turn.view), LONGEST_VIEW)
        legal = excerpt(msgspec.json.encode(asked.turn.legal), LONGEST_LEGAL)
    except (Mistake, TypeError, ValueError) as error:  # the last two from a script's odd views
        return f"what it was sent cannot be told ({_cut(str(error), LONGEST_DETAIL)})"
    return f"it was sent the view {view} and legal {legal}"


def _came(fault: Fault) -> str:
    if fault.received:
        return f"it sent back {_cut(fault.received, LONGEST_ANSWER)}"
    return "it sent a resign back" if fault.code is Ending.RESIGN else "it sent nothing back"


def _stderr(log: Path | None, *, kept: bool) -> str:
    if log is not None:
        return f"its stderr is in {log}"
    return "it wrote nothing to stderr" if kept else "no stderr was kept"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
