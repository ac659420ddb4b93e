"""Faults in a tournament, told in one line each while it runs.

Only those of this run, where a tournament goes on; its earlier ones were told when they happened.
Only the first few of each bot, so that a broken one does not scroll the others off the screen; all
of them are in the store, in the table and in the report. Forfeits are not told: that the bot is out
has been said when it went.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from referee.record import Record
from referee.reports.fault_line import fault_line
from referee.store.database import Store
from referee.store.rows import BotRow, FaultRow, PairingRow
from referee.tournament.begin import stored_spec
from referee.tournament.entries import variant_names
from referee.verdict import Ending

MOST = 3
"""Of each bot."""

_decode = msgspec.msgpack.Decoder(Record).decode


class FirstFaults:
    """Knows which faults have been told."""

    def __init__(self) -> None:
        self._told: set[tuple[int, int, int]] = set()
        self._counts: Counter[int] = Counter()
        """By bot."""

    def know(self, store: Store) -> None:
        """What is in the store now is not to be told."""
        self._told.update(fault[:3] for fault in store.faults())

    def new_lines(self, store: Store) -> list[str]:
        """What is in the store now and is to be told."""
        new: list[FaultRow] = []
        for fault in store.faults():
            key = fault[:3]
            if fault.code == Ending.FORFEIT or self._counts[fault.bot] >= MOST or key in self._told:
                continue
            self._told.add(key)
            self._counts[fault.bot] += 1
            new.append(fault)
        return _lines(store, new) if new else []


def _lines(store: Store, faults: list[FaultRow]) -> list[str]:
    bots = {row.id: row for row in store.bots()}
    pairings = {row.id: row for row in store.pairings()}
    scripts = {name: text for text, name in variant_names(stored_spec(store)).items()}
    lines: list[str] = []
    for row in faults:
        body = store.record(row.pairing, row.number)
        if body is None:
            continue
        record, pairing = _decode(body), pairings[row.pairing]
        (fault,) = (fault for fault in record.faults() if fault.seat == row.seat)
        log = log_of(store.folder, pairing, bots, bots[row.bot].name)
        lines.append(fault_line(record, fault, log, scripts.get(record.variant)))
    return lines


def log_of(folder: Path, pairing: PairingRow, bots: dict[int, BotRow], bot: str) -> Path | None:
    """Where the stderr of a bot in a pairing is, if it wrote any."""
    both = f"{bots[pairing.first].name} - {bots[pairing.second].name}"
    log = folder / "logs" / pairing.variant / both / f"{bot}.stderr.txt"
    return log if log.exists() else None
