"""Bots that burn the core in all of their processes, and what they used by their own count."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from referee.bots.manifest import Bot
from referee.record import Record
from tests.confinement.offered import a_bot
from tests.hostile.pace import PACE

CHILDREN = """
def burn():
    while True:
        sum(range(1000))
for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            burn()
        os._exit(0)
"""
FEW_CHILDREN = CHILDREN.replace("range(20)", "range(3)")
"""They burn in the bot's own turn too, and that time is told with the other."""
USED = """
if not hasattr(told, "used"):
    told.used = None
CHILDREN
def used():
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            found += int(fields[11]) + int(fields[12])
    return found / os.sysconf("SC_CLK_TCK")
now = used()
between = 0.0 if told.used is None else now - told.used
told.used = used()
return str(between)
""".replace("CHILDREN", "".join(f"    {line}\n" for line in FEW_CHILDREN.splitlines()))
"""Its note is what CPU time its processes used since its answer before."""
SLOW_S = 0.15 * PACE
"""On a slow machine a turn of the bot that burns takes longer, too."""


def burner(folder: Path) -> Bot:
    """A bot whose children burn from its first turn on."""
    return a_bot(folder, USED, processes=40)


def slow(folder: Path) -> Bot:
    """A bot that sleeps over every move."""
    return a_bot(folder, f"import time; time.sleep({SLOW_S}); return ''")


def used_between_turns(records: Iterable[Record], name: str) -> float:
    """CPU seconds that a bot used from its first turn in each game on, by its notes."""
    seats = [(record, record.players.index(name)) for record in records]
    return sum(
        float(record.notes[str(place)])
        for record, seat in seats
        for place, (mover, _) in enumerate(record.moves)
        if mover == seat
    )
