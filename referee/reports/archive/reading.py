"""The records of an archive, piece by piece: whoever wants one game need not unpack the others.

A piece is JSON lines, compressed; `games/index.json` tells its first and last game and its hash.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import msgspec
from msgspec import Struct

from referee.record import LONGEST_LINE, BadRecord, lines_of

INDEX = "games/index.json"
FORMAT = 1


class Piece(Struct, frozen=True, kw_only=True):
    """A file of records."""

    file: str
    """Within the archive."""
    page: str
    """The same games to look at."""
    first: str
    """The first of its games, which are in the order of pairings and numbers."""
    last: str
    games: int
    bytes: int
    sha256: str


class Index(Struct, frozen=True, kw_only=True):
    """All pieces of an archive."""

    format: int = FORMAT
    games: int
    pieces: list[Piece]


def is_archive(path: Path) -> bool:
    return (path / INDEX).is_file()


def read_index(folder: Path) -> Index:
    """Raises BadRecord."""
    path = folder / INDEX
    try:
        index = msgspec.json.decode(path.read_bytes(), type=Index)
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise BadRecord(f"{path} is no index of an archive: {error}") from None
    if index.format != FORMAT:
        raise BadRecord(f"{path}: format is {index.format}; this referee reads {FORMAT}")
    inside = folder.resolve()
    for piece in index.pieces:
        if not (folder / piece.file).resolve().is_relative_to(inside):
            raise BadRecord(f"{path}: {piece.file} is not in the archive")
    return index


def lines_of_archive(folder: Path, game: str | None = None) -> Iterator[bytes]:
    """The lines of all pieces, or of the one that has a game. Raises BadRecord where a piece is
    missing, or is not what the index says."""
    index = read_index(folder)
    for piece in index.pieces if game is None else holding(index.pieces, game):
        path = folder / piece.file
        try:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != piece.sha256:
                    raise BadRecord(f"{path} is not the file of which {INDEX} has the hash")
                file.seek(0)
                yield from unpacked_lines(file)
        except OSError as error:
            raise BadRecord(f"{path} cannot be read: {error.strerror or error}") from None


def holding(pieces: Sequence[Piece], game: str) -> Sequence[Piece]:
    """The piece that a game is in, if it is anywhere; all of them where it is called otherwise."""
    wanted = _order(game)
    if wanted is None:
        return pieces
    found = []
    for piece in pieces:
        first, last = _order(piece.first), _order(piece.last)
        if first is None or last is None or first <= wanted <= last:
            found.append(piece)
    return found


def _order(game: str) -> tuple[int, int] | None:
    pairing, hyphen, number = game.partition("-")
    if not hyphen or not pairing.isdecimal() or not number.isdecimal() or len(game) > 40:
        return None
    return int(pairing), int(number)


def unpacked_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a compressed file; one without end is cut. Raises BadRecord."""
    with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
        try:
            for line in lines_of(cast(IO[bytes], unpacked)):
                if len(line) > LONGEST_LINE + 1:
                    raise BadRecord(f"a line is longer than {LONGEST_LINE} bytes")
                yield line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadRecord(f"the compressed file is cut off or damaged ({error})") from None
