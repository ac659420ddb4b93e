"""Which games there are, which of them are played, and who has the others.

The ledger knows every pairing that follows from the results so far and keeps the count of each
game: in the store, on a desk, or in a chunk that somebody plays. A game is in exactly one place.
There is a desk for each kind of pool: a pairing with a bot that connects is played in the hall. The
ledger is a source of chunks for the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from referee.arena.restart import restart_of
from referee.bots.manifest import is_sample
from referee.rules.registry import find_variant
from referee.store.buckets import times_of
from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.store.tally import KIND_GAMES, KIND_HALF_POINTS
from referee.tournament.chunk import Batch, Chunk, Contestant, Manner, spans, truly_named
from referee.tournament.crew import Place
from referee.tournament.desk import Desk, missing
from referee.tournament.entries import Entry
from referee.tournament.formats import Pairing, Score, games_in_all, pairings
from referee.tournament.salt import add_salt, branch, chance_root
from referee.tournament.spec import Spec
from referee.verdict import Ending

BUDGET_S = 2.0
"""How long a worker stays with a pairing, beyond the start of its bots."""


class Flight(Struct):
    """A chunk that somebody plays."""

    pairing: int
    place: Place
    numbers: set[int]
    """Games that have not come back."""


class Ledger:
    """The games of a tournament."""

    def __init__(
        self,
        store: Store,
        spec: Spec,
        entries: Sequence[Entry],
        players: Mapping[str, Sequence[str]],
        names: Mapping[str, str],
        manner: Manner,
        *,
        ids: Iterator[int] | None = None,
        is_here: Callable[[int], bool] = lambda _: True,
        hidden_names: Callable[[int], tuple[str, str]] | None = None,
    ) -> None:
        """`ids` numbers the chunks. `is_here` says whether a bot can be given games now: one that
        connects may be away. `hidden_names` gives those of a chunk whose bots are not to know each
        other."""
        self.hands = spec.jobs or 1
        """How many chunks are played at a time."""
        self._manner = manner
        self._chunk_ids = count(1) if ids is None else ids
        self._is_here = is_here
        self._hidden_names = hidden_names
        self._dirty = False
        self._store = store
        self._spec = spec
        self._players = players
        self.names = names
        """The names of the variants by what the spec calls them."""
        self._texts = {name: text for text, name in names.items()}
        self.bots: dict[int, BotRow] = {row.id: row for row in store.bots()}
        self._ids = {row.name: row.id for row in self.bots.values()}
        self._entries = {self._ids[entry.bot.name]: entry for entry in entries}
        self._chance = chance_root(store)
        self._hidden = {name for text, name in names.items() if find_variant(text).hidden_chance}
        # As they were found: what is made ready of a sample bot may be a copy elsewhere.
        self._strangers = {
            number for number, entry in self._entries.items() if not is_sample(entry.bot)
        }
        self._stateless = {number for number, entry in self._entries.items() if entry.bot.stateless}
        """Bots that keep nothing from game to game, as far as they have said so."""
        self._begun: set[int] = set()
        """Pairings with hidden chance of which strangers may have begun games that are not kept:
        what is left of these pairings is dealt from other chance."""
        self._pairings: dict[Pairing, int] = {}
        self.rows: dict[int, PairingRow] = {}
        self._tallies: dict[int, Tally] = {}
        self.played = self._known = 0
        """Games of all pairings so far."""
        self._is_drawn = False
        """Whether no pairing follows any more."""
        self._desks: dict[Place, Desk] = {"workers": Desk(), "hall": Desk()}
        self._flights: dict[int, Flight] = {}
        self.out: dict[str, str] = {}
        """Bots that do not come up, and why."""
        self._recall()
        self._goes_on = bool(self.rows) and not store.value("finished")
        """Whether the store may be a backup, after which more was played."""

    # How far it is.

    @property
    def planned(self) -> int:
        """Games in all, as far as the format knows them."""
        if self._is_drawn:
            return self._known
        return games_in_all(self._spec, self._players, self._known)

    @property
    def round(self) -> int:
        return max((row.round for row in self.rows.values()), default=0)

    def meetings(self) -> set[tuple[str, str]]:
        """Who has games to play with whom, by their names."""
        name = {number: row.name for number, row in self.bots.items()}
        left = [row for row in self.rows.values() if self._tallies[row.id].played < row.games]
        return {(name[row.first], name[row.second]) for row in left}

    @property
    def unfinished(self) -> bool:
        return bool(self._flights) or any(desk.waiting for desk in self._desks.values())

    @property
    def waits_for_bots(self) -> bool:
        """Whether nothing is played, and nothing can be before somebody comes to the hall."""
        return bool(self._desks["hall"].waiting) and not (
            self._flights or self._desks["workers"].waiting
        )

    def not_here(self) -> set[int]:
        """Whoever has games in the hall and is not there."""
        rows = [self.rows[pairing] for pairing in self._desks["hall"].pairings()]
        due = {number for row in rows for number in (row.first, row.second)}
        return {number for number in due if not self._is_here(number)}

    def make_ready(self, ready: Callable[[list[Entry]], list[Entry]]) -> None:
        """Have the bots made ready, before the first of them is asked for."""
        self._entries = dict(zip(self._entries, ready(list(self._entries.values())), strict=True))

    def contestants(self) -> list[Contestant]:
        return [self._contestant(number) for number in sorted(self.bots)]

    def variants_of(self, number: int) -> set[str]:
        """The variants in which a bot is entered."""
        name = self.bots[number].name
        return {self.names[text] for text, names in self._players.items() if name in names}

    def is_out(self, number: int, why: str) -> BotRow:
        """The rest of this bot's games is lost by forfeit."""
        row = self.bots[number] = replace(self.bots[number], out=why)
        self.out[row.name] = why
        self._store.set_bot(row)
        self._dirty = True
        return row

    # From results to pairings.

    def _recall(self) -> None:
        """What the store holds of earlier runs."""
        for row in self._store.pairings():
            before, games = row.games, max(row.games, self._spec.games)
            if games > before:
                self._store.set_games(row.id, games)
                row = replace(row, games=games)
            self._know(self._pairing(row), row)
            played = self._store.played(row.id)
            self._desk_of(row).add(row.id, missing(games, played))
            if missing(before, played):
                self._note_begun(row)
        for tallies in self._store.tallies():
            for pairing, *counts in tallies:
                self._tallies[pairing].recall(counts)
                self.played += self._tallies[pairing].played
        self._store.commit()

    def _pairing(self, row: PairingRow) -> Pairing:
        return Pairing(
            round=row.round,
            variant=self._texts[row.variant],
            first=self.bots[row.first].name,
            second=self.bots[row.second].name,
            games=row.games,
            replay=row.replay,
        )

    def draw(self) -> bool:
        """Put the pairings that follow from the results on the desk; False if there are none."""
        scores = {pairing: self._tallies[each].score() for pairing, each in self._pairings.items()}
        new = [
            pairing
            for pairing in pairings(self._spec, self._players, scores)
            if pairing not in self._pairings
        ]
        self._is_drawn = not new and not self.unfinished
        rows: list[PairingRow] = []
        for pairing in new:
            row = PairingRow(
                id=len(self.rows) + 1,
                round=pairing.round,
                variant=self.names[pairing.variant],
                first=self._ids[pairing.first],
                second=self._ids[pairing.second],
                games=pairing.games,
                replay=pairing.replay,
            )
            rows.append(row)
            self._know(pairing, row)
            self._desk_of(row).add(row.id, [(1, row.games)])
            if self._goes_on:
                self._note_begun(row)
        if rows:
            self._store.add_pairings(rows)
            self._store.commit()
        return bool(rows)

    def _know(self, pairing: Pairing, row: PairingRow) -> None:
        self._pairings[pairing] = row.id
        self.rows[row.id] = row
        self._known += row.games
        self._tallies[row.id] = Tally(row.first)

    def _desk_of(self, row: PairingRow) -> Desk:
        elsewhere = any(
            self._entries[each].definition.elsewhere for each in (row.first, row.second)
        )
        return self._desks["hall" if elsewhere else "workers"]

    def begin(self) -> None:
        """Its games are to be played: it is not finished, and no seed or salt of it is told. One
        that was finished, and is extended, has told them."""
        if self._store.value("finished"):
            add_salt(self._store, self.played)
            self._chance = chance_root(self._store)
        self._store.set_value("finished", "")
        self._store.commit()

    # A source of chunks.

    label = ""
    paced = False

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        """What the tables call the two of a chunk, whatever these two are told."""
        return self.bots[chunk.first.id].name, self.bots[chunk.second.id].name

    def widest(self) -> float:
        """No rating is waited for."""
        return 0.0

    def note_stateless(self, number: int) -> None:
        """This bot has started, and says that it keeps nothing from game to game."""
        self._stateless.add(number)

    def next_chunk(
        self,
        place: Place = "workers",
        absent: Collection[int] = (),
        at_hand: Collection[int] = (),
    ) -> Chunk | None:
        """Some games for a pool of this kind, in which these bots cannot play just now. Bots at
        hand need not be started."""
        rows = self.rows
        piece = self._desks[place].take(
            self.hands,
            None if place == "workers" else lambda each: self._can_meet(rows[each], absent),
            self._block,
            (lambda each: (rows[each].first not in at_hand) + (rows[each].second not in at_hand))
            if at_hand
            else None,
        )
        if piece is None:
            return None
        pairing, numbers = piece
        left = {each for low, high in numbers for each in range(low, high + 1)}
        block = self._block(pairing)
        row = self.rows[pairing]
        if block and not self._has_own_chance(row):
            numbers = from_block_start(numbers, block)
        text = self._texts[row.variant]
        number = next(self._chunk_ids)
        chunk = Chunk(
            id=number,
            pairing=pairing,
            variant=text,
            options=self._spec.options.get(text, {}),
            branch=branch(self._chance, row, self.bots),
            first=self._contestant(row.first),
            second=self._contestant(row.second),
            numbers=numbers,
            own_chance=self._has_own_chance(row),
            budget_s=BUDGET_S,
            block=block,
            manner=self._manner,
            called=None if self._hidden_names is None else self._hidden_names(number),
        )
        self._flights[number] = Flight(pairing, place, left)
        return chunk.dealt_anew() if pairing in self._begun else chunk

    def _block(self, pairing: int) -> int:
        """How many games of this pairing belong together, since a bot keeps something from game to
        game; 0 where none does."""
        row = self.rows[pairing]
        elsewhere = self._desk_of(row) is self._desks["hall"]
        if elsewhere or (self._keeps_nothing(row.first) and self._keeps_nothing(row.second)):
            return 0
        return self._spec.block

    def _keeps_nothing(self, number: int) -> bool:
        stateless = number in self._stateless
        return restart_of(self._spec.restart, stateless=stateless) != "pairing"

    def _can_meet(self, row: PairingRow, absent: Collection[int]) -> bool:
        """Whether both can come; of a bot that is out nobody expects it."""
        both = (row.first, row.second)
        if any(self.bots[number].name in self.out for number in both):
            return True
        return all(number not in absent and self._is_here(number) for number in both)

    def _has_own_chance(self, row: PairingRow) -> bool:
        """Whether no two games of a pairing have the same chance (schedule.py)."""
        return row.variant in self._hidden and bool({row.first, row.second} & self._strangers)

    def _note_begun(self, row: PairingRow) -> None:
        if self._has_own_chance(row):
            self._begun.add(row.id)

    def _contestant(self, number: int) -> Contestant:
        return Contestant(number, self._entries[number].bot, self.bots[number].name in self.out)

    def keep(self, batch: Batch) -> Batch:
        """Games have come back: into the store, to be committed soon. Those that the store has, and
        that were played again for what a bot learns by them, are dropped."""
        flight = self._flights[batch.chunk]
        if any(game.number not in flight.numbers for game in batch.games):
            games = [game for game in batch.games if game.number in flight.numbers]
            faults = [fault for fault in batch.faults if fault.number in flight.numbers]
            batch = Batch(batch.chunk, games, faults, list(times_of(games)))
        if self._hidden_names is not None:
            batch = replace(batch, games=[truly_named(each, self.bots) for each in batch.games])
        self._store.add_games(batch.games, batch.faults, batch.times)
        self._dirty = True
        tally = self._tallies[flight.pairing]
        self.played += len(batch.games)
        for game in batch.games:
            flight.numbers.remove(game.number)
            tally.add(game.first, game.points)
        for fault in batch.faults:
            if fault.code == Ending.FORFEIT and self.bots[fault.bot].name not in self.out:
                self.is_out(fault.bot, fault.detail)
        return batch

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended, however it did: what was not played goes back to its desk.

        `begun` says that some of it may have been begun; in the hall that is never known.
        """
        flight = self._flights.pop(chunk)
        row = self.rows[flight.pairing]
        if flight.numbers and (begun or flight.place == "hall"):
            self._note_begun(row)
        self._desks[flight.place].add(row.id, spans(flight.numbers))

    def broken(self, chunk: Chunk, missing: Collection[int]) -> None:
        """It is tried again."""

    def commit(self) -> None:
        if self._dirty:
            self._dirty = False
            self._store.commit()


def from_block_start(numbers: Sequence[tuple[int, int]], block: int) -> tuple[tuple[int, int], ...]:
    """These games, and those before them in their blocks: a process that learns from game to game
    has to play a block from its beginning."""
    found: dict[int, int] = {}
    for low, high in numbers:
        for each in range((low - 1) // block, (high - 1) // block + 1):
            found[each] = max(found.get(each, 0), min(high, (each + 1) * block))
    return tuple((each * block + 1, last) for each, last in found.items())


class Tally:
    """The points of a pairing so far, forfeits included."""

    __slots__ = ("_decided", "_first", "_half", "played")

    def __init__(self, first: int) -> None:
        self._first = first
        self._half = 0
        self._decided = 0
        self.played = 0

    def add(self, seat0: int, points: int | None) -> None:
        """A game: who had seat 0, and its half points; None for a void game."""
        self.played += 1
        if points is not None:
            self._decided += 1
            self._half += points if seat0 == self._first else 2 - points

    def recall(self, counts: Sequence[int]) -> None:
        """What the store has counted of earlier games: its COLUMNS."""
        played, _, given, lost, *pairs = counts
        self.played += played
        self._decided += given + lost + sum(map(mul, pairs, KIND_GAMES))
        self._half += 2 * given + sum(map(mul, pairs, KIND_HALF_POINTS))

    def score(self) -> Score:
        return Score(self.played, self._half / 2, self._decided - self._half / 2)
