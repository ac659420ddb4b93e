"""Results from anywhere as one set of games: what kind of file it is shows in its first bytes."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Literal, NamedTuple, Protocol, cast

from referee.ratings.games import Games
from referee.results.blocks import BadResults, Blocks
from referee.results.collected import Collected

Kind = Literal["csv", "pgn", "records"]

_GZIP = b"\x1f"
"""Gzip data begin with it, and no text does."""
_PGN = re.compile(rb'\s*(?:%[^\n]*\n\s*|;[^\n]*\n\s*)*\[\s*\w+\s*"')
_RECORDS = re.compile(rb'\s*\{\s*"')


class _Reader(Protocol):
    def read(self, blocks: Blocks) -> None: ...


class Results(NamedTuple):
    """All that some files hold."""

    games: Games
    skipped: dict[str, int]
    """How many games say nothing about strength, by the reason: unfinished, unrated, …"""


def read_results(paths: Sequence[str], kind: Kind | None = None) -> Results:
    """The games of these files together; `-` is standard input, and gzip is unpacked.

    Without a kind, each file is taken for what it looks like. Pairs do not reach from one file
    into another. Raises BadResults, and OSError where the system refuses.
    """
    collected = Collected()
    for path in paths:
        name = "standard input" if path == "-" else path
        with _opened(path) as file:
            try:
                read_file(file, collected, kind)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise BadResults(f"{name}: damaged gzip data ({error})") from None
            except BadResults as bad:
                raise BadResults(f"{name}, {bad}") from None
    return Results(collected.games(), dict(sorted(collected.skipped.items())))


def read_file(file: BufferedReader, collected: Collected, kind: Kind | None = None) -> None:
    """One file that is open. Raises BadResults."""
    unpacked: IO[bytes] = file
    if file.peek(1)[:1] == _GZIP:
        unpacked = cast(IO[bytes], gzip.GzipFile(fileobj=file, mode="rb"))
    blocks = Blocks(unpacked)
    _reader(kind or looks_like(blocks.peek()), collected).read(blocks)
    collected.end_file()


def looks_like(block: bytes) -> Kind:
    """What kind of file begins like this."""
    if _RECORDS.match(block):
        return "records"
    return "pgn" if _PGN.match(block) else "csv"


def _reader(kind: Kind, collected: Collected) -> _Reader:
    # Each is imported where it is used: a small file is read in less time than all of them.
    if kind == "csv":
        from referee.results.csv_file import CsvReader

        return CsvReader(collected)
    if kind == "pgn":
        from referee.results.pgn_file import PgnReader

        return PgnReader(collected)
    from referee.results.records_file import RecordsReader

    return RecordsReader(collected)


@contextmanager
def _opened(path: str) -> Iterator[BufferedReader]:
    if path == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    if not Path(path).exists():
        raise BadResults(f"{path}: no such file")
    if Path(path).is_dir():
        raise BadResults(f"{path}: a folder, where a file is due")
    with Path(path).open("rb") as file:
        yield file
