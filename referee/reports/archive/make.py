"""From the folder of a season or a tournament to its archive.

    README.txt        what is what, for somebody who finds it in ten years
    MANIFEST          the SHA-256 of every other file, for `sha256sum -c MANIFEST`
    facts.json        what it was, who played, with which rules, by which referee
    spec.json         the same as a spec
    tables/           text, Markdown, CSV, JSON
    variants/         the source of the rules
    games/            the records in pieces, compressed, and an index of them
    report/           pages: open index.html

It is read from one state of the store, while games are played too, and written beside its place
under another name: an archive is whole or not there. The same state gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct
from rich.console import Console

from referee.mistake import Mistake
from referee.record import encode_record
from referee.reports.archive import pages, sources
from referee.reports.archive.facts import Entrant, Facts, Player
from referee.reports.archive.packing import compressed, write_tar
from referee.reports.archive.reading import INDEX, Index, Piece
from referee.reports.archive.readme import readme
from referee.reports.export import decoded, without_notes
from referee.reports.html.make import source_of
from referee.reports.standings import Standings, Timing
from referee.reports.tables.csv import crosstable_csv, rulings_csv, standings_csv, timing_csv
from referee.reports.tables.json import as_json
from referee.reports.tables.markdown import as_markdown
from referee.reports.tables.text import as_text, timing_table
from referee.rules.registry import is_path
from referee.store.connect import sync_folder
from referee.store.database import Store
from referee.store.leftovers import beside, part_of
from referee.tournament.begin import stored_spec
from referee.version import __version__

GAMES_A_PIECE = 5_000
MANIFEST = "MANIFEST"
PACKED = (".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".zst")
"""Endings of files that somebody expects who gets a folder of that name."""
TEXT_COLUMNS = 200

Progress = Callable[[int, int], None]
"""Games done, and games in all."""


class BadArchiving(Mistake):
    """An archive that cannot be made; the message says why."""


class Made(Struct, frozen=True, kw_only=True):
    """What was written."""

    path: str
    games: int
    records: int
    pieces: int
    bytes: int


class Wish(Struct, frozen=True, kw_only=True):
    """How an archive is to be."""

    private: bool = False
    games_a_piece: int = GAMES_A_PIECE
    words: int | None = None
    season: str | None = None
    entrants: dict[int, Entrant] = {}
    """By the numbers of bots in the store."""
    scripts: tuple[str, ...] = ()
    """Paths of variants' scripts that may be run."""


def make_archive(
    where: str | Path, out: Path, wish: Wish, tell: Progress = lambda _done, _all: None
) -> Made:
    """Archive the tournament in a folder or at an address; to a new folder or, by its ending, to a
    .tar file.

    Raises BadStore, and BadArchiving where there is something in its place already.
    """
    if os.path.lexists(out):
        raise BadArchiving(f"{out} is there already; give another place by --out")
    if not out.parent.is_dir():
        raise BadArchiving(f"there is no folder {out.parent}")
    as_tar = out.suffix == ".tar"
    if not as_tar and out.suffix in PACKED:
        raise BadArchiving(f"{out}: an archive is a folder, or a file NAME.tar; pack it yourself")
    part = part_of(out)
    try:
        part.mkdir()
        with Store.read(where) as store:
            facts, index = _Archive(store, part, wish, tell).write()
        if as_tar:
            packed = beside(part, "tar")
            try:
                write_tar(part, packed, out.stem)
                packed.rename(out)
            finally:
                packed.unlink(missing_ok=True)
        else:
            part.rename(out)
        sync_folder(out.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Made(
        path=str(out),
        games=facts.games,
        records=facts.records,
        pieces=len(index.pieces),
        bytes=sum(each.stat().st_size for each in ([out] if as_tar else out.rglob("*"))),
    )


class _Archive:
    """An archive being written."""

    def __init__(self, store: Store, root: Path, wish: Wish, tell: Progress) -> None:
        self._store = store
        self._root = root
        self._wish = wish
        self._tell = tell
        self._hashes: dict[str, str] = {}

    def write(self) -> tuple[Facts, Index]:
        store, wish = self._store, self._wish
        source = source_of(store, logs={})
        spec = stored_spec(store)
        marks = msgspec.json.decode(store.value("variants") or "{}", type=dict[str, str])
        rules, files = sources.sources_of(spec, marks, wish.scripts)
        working = {
            Path(text).name
            for text, found in zip(spec.variants, rules, strict=True)
            if is_path(text) and found.rules is not None
        }
        for name, data in files.items():
            self._put(name, data)
        index = self._games(
            pages.Pages(
                source,
                len(store.counts()),
                private=wish.private,
                words=wish.words,
                scripts=[script for script in wish.scripts if Path(script).name in working],
            ),
            source.standings.played,
        )
        facts = self._facts(source.standings, rules, index)
        self._put("facts.json", _pretty(facts))
        shown = sources.shown_spec(spec, finished=facts.finished is not None)
        self._put("spec.json", _pretty(shown))
        self._tables(source.standings, source.timings)
        self._put("README.txt", readme(facts, index, MANIFEST).encode())
        lines = [f"{digest}  {name}\n" for name, digest in sorted(self._hashes.items())]
        self._put(MANIFEST, "".join(lines).encode())
        return facts, index

    def _games(self, made: pages.Pages, games: int) -> Index:
        pieces: list[Piece] = []
        done = 0
        self._tell(done, games)
        for number, records in enumerate(self._pieces(), start=1):
            file, page = f"games/{number:04d}.jsonl.gz", f"games-{number:04d}.html"
            data = compressed(b"".join(self._line(*record) for record in records))
            self._put(file, data)
            self._put(f"{pages.FOLDER}/{page}", made.piece(page, records).encode())
            pieces.append(
                Piece(
                    file=file,
                    page=f"{pages.FOLDER}/{page}",
                    first="{}-{}".format(*records[0]),
                    last="{}-{}".format(*records[-1]),
                    games=len(records),
                    bytes=len(data),
                    sha256=self._hashes[file],
                )
            )
            done += len(records)
            self._tell(done, games)
        index = Index(games=done, pieces=pieces)
        self._put(INDEX, _pretty(index))
        self._put(f"{pages.FOLDER}/{pages.FIRST}", made.first().encode())
        return index

    def _pieces(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        rest = self._store.records()
        while piece := list(islice(rest, self._wish.games_a_piece)):
            yield piece

    def _line(self, pairing: int, number: int, body: bytes) -> bytes:
        record = decoded(self._store, pairing, number, body)
        return encode_record(record if self._wish.private else without_notes(record)) + b"\n"

    def _facts(self, found: Standings, rules: list[sources.Source], index: Index) -> Facts:
        value, wish = self._store.value, self._wish
        return Facts(
            name=found.name,
            season=wish.season,
            referee=__version__,
            played_by=value("referee"),
            started=value("started"),
            finished=value("finished") or None,
            level=found.level,
            seed=found.seed,
            salt=found.salt,
            games=found.played,
            records=index.games,
            private=wish.private,
            variants=rules,
            players=[
                Player(
                    id=row.id,
                    name=row.name,
                    version=row.version,
                    hash=row.hash,
                    entrant=wish.entrants.get(row.id),
                )
                for row in self._store.bots()
            ],
        )

    def _tables(self, found: Standings, times: Sequence[Timing]) -> None:
        files = {
            "standings.txt": _as_text(found, times),
            "standings.md": as_markdown(found),
            "standings.csv": standings_csv(found),
            "standings.json": as_json(found).decode(),
            "crosstable.csv": crosstable_csv(found),
            "timing.csv": timing_csv(times, found.level),
            "rulings.csv": rulings_csv(found),
        }
        for name, text in files.items():
            self._put(f"tables/{name}", text.encode())

    def _put(self, name: str, data: bytes) -> None:
        path = self._root / name
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._hashes[name] = hashlib.sha256(data).hexdigest()


def _as_text(found: Standings, times: Sequence[Timing]) -> str:
    text = io.StringIO()
    console = Console(file=text, width=TEXT_COLUMNS, color_system=None, soft_wrap=True)
    for piece in as_text(found, TEXT_COLUMNS):
        console.print(piece, highlight=False, markup=False, emoji=False)
    if times:
        console.print()
        console.print(timing_table(times, TEXT_COLUMNS))
    return text.getvalue()


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
