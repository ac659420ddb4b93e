"""The store: one database a tournament, a file or on a server; one writer, any number of readers.

What is added is safe from the moment that `commit` returns: it is written through to the disk, and
after a kill or a power cut the database is what it was at the last commit. Every addition is
whole or undone, and a game that is there already is passed over with its faults and its times, so
that a chunk that comes twice counts once.

Readers take no lock, never wait for the writer and see one state of the database from the moment
they open it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import astuple, replace

from referee.store import blocks
from referee.store.buckets import times_of
from referee.store.contents import DROPPED, Contents
from referee.store.engine import SET_BOT, SET_VALUE, Database, Place
from referee.store.lock import Lock
from referee.store.place import (
    Address,
    in_database,
    is_address,
    make_folder,
    moved_to,
    new_place,
    place_in,
    read_address,
    write_address,
)
from referee.store.rows import (
    BotRow,
    Dropped,
    FaultRow,
    GameRow,
    PairingRow,
    RulingRow,
    TimesRow,
    game_id,
)
from referee.store.sums import Sums
from referee.store.tally import Played
from referee.store.trouble import BadStore, StoreFull, damaged

__all__ = ["BadStore", "Store", "StoreFull"]

_SET_RULING = """INSERT INTO ruling VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (game) DO UPDATE SET
    what = excluded.what, seat = excluded.seat, reason = excluded.reason, by = excluded.by,
    at = excluded.at"""


class Store(Contents):
    """A tournament's database, open. Made by `create`, `open` and `read`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Store.create(folder, {"name": "five"}, []) as store:
    ...         store.set_value("seed", "doc")
    ...         store.commit()
    ...     with Store.read(folder) as store:
    ...         store.value("seed")
    'doc'
    """

    def __init__(self, folder: Path, database: Database, lock: Lock | None) -> None:
        super().__init__(folder, database)
        self._lock = lock
        self._pairings: dict[int, PairingRow] = {}
        self._sums = Sums()
        """Of games that were added since the last commit; not yet in the database."""
        self._waiting = blocks.Waiting()
        """Records that were added since the last commit, as far as they are not yet written."""
        self._moved: Address | None = None
        """Where the database is, if its folder does not say so yet."""

    @classmethod
    def create(
        cls,
        folder: str | Path,
        values: Mapping[str, str],
        bots: Sequence[BotRow],
        address: Address | None = None,
    ) -> Store:
        """A new tournament, to write to; with an address, on a server. Makes the folder. Raises
        BadStore."""
        folder = Path(folder)
        place = new_place(folder, address)
        return cls._locked(folder, make_folder(folder), place, (values, bots))

    @classmethod
    def open(cls, folder: str | Path, address: Address | None = None) -> Store:
        """A tournament that is there, to go on writing to; with an address, one that is on this
        server now, as its folder says from `stay` on. Raises BadStore."""
        folder = Path(folder)
        moved = None if address is None else moved_to(folder, address)
        if moved is None:
            return cls._locked(folder, [], place_in(folder), None)
        place = in_database(moved, folder)
        store = cls._locked(folder, make_folder(folder), place, None)
        store._moved = moved
        return store

    @classmethod
    def _locked(
        cls,
        folder: Path,
        made: Sequence[Path],
        place: Place,
        new: tuple[Mapping[str, str], Sequence[BotRow]] | None,
    ) -> Store:
        lock = Lock(folder, made)
        try:
            if new is not None:
                place.create(*new)
            return cls(folder, place.open_for_writing(), lock)
        except BaseException:
            lock.undo()
            raise

    def stay(self) -> None:
        """The folder says from now on where its database is. Raises BadStore."""
        if self._moved is not None:
            write_address(self.folder, self._moved)
            self._moved = None

    @classmethod
    def read(cls, where: str | Path) -> Store:
        """A tournament as it is now, to read only, while it is played too; by its folder, or by
        its address on a server. Raises BadStore."""
        if isinstance(where, str) and is_address(where):
            address = read_address(where)
            return cls(Path(address.name), in_database(address).open_for_reading(), None)
        folder = Path(where)
        return cls(folder, place_in(folder).open_for_reading(), None)

    def close(self) -> None:
        """Let go of the database. What was not committed is lost."""
        if self._lock is not None:
            self._roll_back()
        self._database.close()
        if self._moved is not None and self._lock is not None:
            self._lock.undo()
        elif self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def while_silent(self, told: Callable[[float], None]) -> None:
        """Have this called now and then while a server does not answer, with the seconds so far.
        What it raises ends the wait; what was not committed is lost then."""
        self._database.while_silent(told)

    # What is written.

    def set_value(self, key: str, text: str) -> None:
        with self._addition():
            self._database.execute(SET_VALUE, (key, text))

    def set_bot(self, bot: BotRow) -> None:
        """Add a bot, or write it anew."""
        with self._addition():
            self._database.execute(SET_BOT, astuple(bot))

    def add_pairings(self, pairings: Iterable[PairingRow]) -> None:
        with self._addition():
            self._database.insert("pairing", [astuple(pairing) for pairing in pairings])

    def set_games(self, pairing: int, games: int) -> None:
        """Change how many games a pairing is to have."""
        with self._addition():
            self._database.execute("UPDATE pairing SET games = ? WHERE id = ?", (games, pairing))
        if pairing in self._pairings:
            self._pairings[pairing] = replace(self._pairings[pairing], games=games)

    def add_games(
        self,
        games: Iterable[GameRow],
        faults: Iterable[FaultRow] = (),
        times: Iterable[TimesRow] | None = None,
    ) -> int:
        """Add finished games and their faults; how many of the games were new.

        The first of two games with the same pairing and number stays; the second, its faults and
        its times are passed over. The pairing has to be there. `times` are those of all moves of
        these games; None: they are read from the records, which takes longer.
        """
        rows, told = list(games), list(faults)
        with self._whole_or_nothing():
            try:
                played, theirs = self._insert(rows, told)
            except self._database.IntegrityError:
                # Hardly ever. If it is not for a repeat, the error comes again and is a bug.
                rows, times = self._not_there(rows), None
                played, theirs = self._insert(rows, told)
            self._sums.add(
                played, theirs, times_of(rows) if times is None else times, self._pairings
            )
            if self._waiting.add(rows):
                with self._addition():
                    self._waiting.write_some(self._database, self._rows, self._pairings)
        return len(rows)

    def add_ruling(self, ruling: RulingRow) -> None:
        """Decide on a game that is there; an earlier ruling on it is replaced."""
        with self._addition():
            key = game_id(ruling.pairing, ruling.number)
            self._database.execute(_SET_RULING, (key, *ruling[2:]))

    def lift_ruling(self, pairing: int, number: int) -> None:
        """The game counts again as its record says."""
        with self._addition():
            key = game_id(pairing, number)
            self._database.execute("DELETE FROM ruling WHERE game = ?", (key,))

    def drop_records(self, keys: Sequence[tuple[int, str]]) -> None:
        """Let the records of these games go, by key and time; their results stay. What went is
        added to what `dropped` tells."""
        self._write_records()
        with self._addition():
            blocks.drop(self._database, self._rows, [key for key, _ in keys])
            before = self.dropped() or Dropped(0, "")
            now = Dropped(before.games + len(keys), max(before.last, *(at for _, at in keys)))
            text = msgspec.json.encode(now).decode()
            self._database.execute(SET_VALUE, (DROPPED, text))

    def commit(self) -> None:
        """Make all that was added safe. Raises StoreFull where the disk does not take it."""
        self._must_write()
        with self._whole_or_nothing():
            self._sum_up()
            self._write_records()
            if self._database.in_transaction:
                with self._explained():
                    self._database.commit()

    def _insert(
        self, games: list[GameRow], faults: list[FaultRow]
    ) -> tuple[list[Played], list[FaultRow]]:
        """Insert games none of which is there, and those of the faults that are theirs."""
        with self._addition():
            self._must_be_paired(games)
            played = [game[:9] for game in games]
            self._database.insert("game", played)
            theirs: list[FaultRow] = []
            if faults:
                new = {game[:2] for game in games}
                theirs = [row for row in faults if row[:2] in new]
                self._database.insert("fault", theirs)
        return played, theirs

    def _not_there(self, games: list[GameRow]) -> list[GameRow]:
        """Those that the database does not hold, the first of each number."""
        first: dict[int, GameRow] = {}
        for game in games:
            first.setdefault(game_id(game.pairing, game.number), game)
        there = "SELECT 1 FROM game WHERE id = ?"
        return [game for key, game in first.items() if self._first(there, (key,)) is None]

    def _must_be_paired(self, games: list[GameRow]) -> None:
        """That the pairings of these games are there, and their bots in them."""
        if not {game[0] for game in games} <= self._pairings.keys():
            self._pairings = {pairing.id: pairing for pairing in self.pairings()}
        try:
            for pairing, *seats in {(game[0], game[3], game[4]) for game in games}:
                row = self._pairings[pairing]
                if not {row.first, row.second}.issuperset(seats):
                    raise KeyError(seats)
        except KeyError as error:
            raise ValueError(f"no such pairing, or no such bot in it: {error}") from None

    def _sum_up(self) -> None:
        """Write what was summed up of games that were added, into their transaction."""
        if self._sums:
            with self._addition():
                self._sums.write(self._database, self._pairings)

    def _write_records(self) -> None:
        """Write the records that were added and are not written yet, into their transaction."""
        if self._waiting:
            with self._addition():
                self._waiting.write(self._database, self._rows, self._pairings)

    # How errors leave.

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """Games are in the transaction before their sums and records are, which wait in memory. A
        signal may come at any line between. Then nothing stays of what was not committed, and
        whoever was interrupted ends: what he has counted himself is not put right."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, Exception):
                self._roll_back()
            raise

    @contextmanager
    def _addition(self) -> Iterator[None]:
        """One addition to the transaction, whole or undone."""
        self._must_write()
        with self._explained():
            self._database.begin_addition()
            try:
                yield
            except BaseException:
                self._database.undo_addition()
                raise
            self._database.end_addition()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors as sentences. After one, nothing stays of what was not committed."""
        try:
            yield
        except (self._database.Error, blocks.BadBlock) as error:
            if isinstance(error, blocks.BadBlock):
                told: BaseException = damaged(self._database.named, error)
            else:
                told = self._database.explained(error, writing=True)
            if told is error:
                raise
            self._roll_back()
            raise told from error

    def _roll_back(self) -> None:
        self._sums.forget()
        self._waiting.forget()
        self._pairings = {}
        # Where even this fails, the next to open the database finds it as it was committed.
        with suppress(self._database.Error):
            self._database.rollback()

    def _must_write(self) -> None:
        if self._lock is None:
            raise RuntimeError("this store was opened to be read")
