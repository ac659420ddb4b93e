"""From a tournament's folder to its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from referee.reports.arrays import game_arrays, in_schedule_order
from referee.reports.html.data import Source, gather
from referee.reports.html.page import page, write_page
from referee.reports.rulings import ruled_games
from referee.reports.standings import setting_of, standings, timings
from referee.reports.variant_table import Terms
from referee.store.database import Store
from referee.store.place import is_address, read_address

REPORT = "report.html"
LOGS = "logs"
MOST_LOGS = 200
LONGEST_LOG = 20_000
"""Bytes of the end of a log that are shown."""


def write_report(
    where: str | Path,
    out: Path | None = None,
    *,
    private: bool = False,
    words: int | None = None,
    scripts: Sequence[str] = (),
) -> Path:
    """Make the report of the tournament in this folder or at this address, finished or not, and
    write it to `out`.

    `words` and `scripts` are those of `gather`. Gives the path back. Raises BadStore, BadVariant.
    """
    with Store.read(where) as store:
        logs = logs_in(Path(where)) if private and not is_address(where) else {}
        source = source_of(store, logs=logs)
        report = gather(source, private=private, words=words, scripts=scripts)
    path = out or _usual_path(where)
    write_page(path, page(report))
    return path


def _usual_path(where: str | Path) -> Path:
    if isinstance(where, str) and is_address(where):
        return Path(f"{read_address(where).name}.html")
    return Path(where) / REPORT


def source_of(store: Store, *, logs: dict[str, str]) -> Source:
    """What a report is made from, read from the store."""
    setting = setting_of(store)
    spec = setting.spec
    games = in_schedule_order(game_arrays(store.columns()))
    return Source(
        standings=standings(store),
        timings=timings(store),
        terms=Terms(spec.ranking, spec.advantage, spec.prior, spec.anchors),
        bots=setting.bots,
        pairings=setting.pairings,
        games=ruled_games(games, setting.rulings),
        records=store.records(),
        started=store.value("started"),
        logs=logs,
    )


def logs_in(folder: Path) -> dict[str, str]:
    """The ends of what bots wrote to stderr, by where it is kept."""
    found: dict[str, str] = {}
    root = folder / LOGS
    for path in sorted(root.rglob("*.txt"))[:MOST_LOGS]:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LONGEST_LOG))
            text = file.read().decode(errors="replace")
        name = str(path.relative_to(root)).removesuffix(".txt").removesuffix(".stderr")
        found[name] = ("… " if size > LONGEST_LOG else "") + text
    return found
