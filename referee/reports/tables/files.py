"""The files that a tournament leaves in its folder: whole ones, or those that were there before."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.reports.standings import Standings, Timing
from referee.reports.tables.csv import crosstable_csv, rulings_csv, standings_csv, timing_csv
from referee.reports.tables.json import as_json
from referee.reports.tables.markdown import as_markdown
from referee.store.connect import sync_folder

RULINGS = "rulings.csv"


def write_tables(folder: Path, standings: Standings, timings: Sequence[Timing]) -> list[Path]:
    """Write standings.md, .csv and .json, crosstable.csv, and apart from them timing.csv; where
    there are rulings, or were when the files were written before, rulings.csv.

    Raises OSError where one of them cannot be written; each is then whole, or as it was before.
    """
    files = {
        "standings.md": as_markdown(standings).encode(),
        "standings.csv": standings_csv(standings).encode(),
        "crosstable.csv": crosstable_csv(standings).encode(),
        "standings.json": as_json(standings),
        "timing.csv": timing_csv(timings, standings.level).encode(),
    }
    if standings.rulings or (folder / RULINGS).exists():
        files[RULINGS] = rulings_csv(standings).encode()
    return write_whole(folder, files)


def write_whole(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files under other names, and give them their own when all are safely on the disk."""
    waiting: list[tuple[Path, Path]] = []
    try:
        for name, data in files.items():
            # Of this process: two that write at once do not write into one file.
            other = folder / f".{name}.{os.getpid()}.part"
            waiting.append((other, folder / name))
            # It may be there, of a process that was killed; a link there is not followed.
            other.unlink(missing_ok=True)
            with other.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for other, path in waiting:
            other.replace(path)
    except OSError as error:
        # The name that a person knows, not the passing one.
        error.filename = str(waiting[-1][1]) if waiting else str(folder)
        error.filename2 = None
        raise
    finally:
        for other, _ in waiting:
            other.unlink(missing_ok=True)
    sync_folder(folder)
    return [path for _, path in waiting]
