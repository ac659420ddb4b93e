"""Which games there are, which of them are played, and who has the others.

The ledger knows every pairing that follows from the results so far and keeps the count of each
game: in the store, on the desk, or in a chunk that a worker has. A game is in exactly one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import mul

import msgspec

from referee.bots.manifest import is_sample
from referee.rules.registry import find_variant
from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.store.tally import KIND_GAMES, KIND_HALF_POINTS
from referee.tournament.chunk import Batch, Chunk, Contestant, Manner, spans
from referee.tournament.desk import Desk, missing
from referee.tournament.entries import Entry
from referee.tournament.formats import Pairing, Score, pairings
from referee.tournament.salt import branch, chance_root
from referee.tournament.spec import Spec

BUDGET_S = 2.0
"""How long a worker stays with a pairing, beyond the start of its bots."""


class Ledger:
    """The games of a tournament."""

    def __init__(
        self,
        store: Store,
        spec: Spec,
        entries: Sequence[Entry],
        players: Mapping[str, Sequence[str]],
        names: Mapping[str, str],
    ) -> None:
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
        self._begun: set[int] = set()
        """Pairings with hidden chance of which strangers may have begun games that are not kept:
        what is left of these pairings is dealt from other chance."""
        self._pairings: dict[Pairing, int] = {}
        self.rows: dict[int, PairingRow] = {}
        self._tallies: dict[int, Tally] = {}
        self.played = self.planned = 0
        """Games of all pairings so far."""
        self._desk = Desk()
        self._flights: dict[int, tuple[int, set[int]]] = {}
        """Chunks that workers have: the pairing, and the games that have not come back."""
        self._chunks = 0
        self.out: dict[str, str] = {}
        """Bots that do not come up, and why."""
        self._recall()
        self._goes_on = bool(self.rows) and not store.value("finished")
        """Whether the store may be a backup, after which more was played."""

    # How far it is.

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
        return bool(self._desk.waiting or self._flights)

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
        row = self.bots[number] = msgspec.structs.replace(self.bots[number], out=why)
        self.out[row.name] = why
        self._store.set_bot(row)
        return row

    # From results to pairings.

    def _recall(self) -> None:
        """What the store holds of earlier runs."""
        for row in self._store.pairings():
            before, games = row.games, max(row.games, self._spec.games)
            if games > before:
                self._store.set_games(row.id, games)
                row = msgspec.structs.replace(row, games=games)
            self._know(self._pairing(row), row)
            played = self._store.played(row.id)
            self._desk.add(row.id, missing(games, played))
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
            self._desk.add(row.id, [(1, row.games)])
            if self._goes_on:
                self._note_begun(row)
        if rows:
            self._store.add_pairings(rows)
            self._store.commit()
        return bool(rows)

    def _know(self, pairing: Pairing, row: PairingRow) -> None:
        self._pairings[pairing] = row.id
        self.rows[row.id] = row
        self.planned += row.games
        self._tallies[row.id] = Tally(row.first)

    # From pairings to chunks, and back.

    def next_chunk(self, manner: Manner, hands: int) -> Chunk | None:
        """Some games for a worker that is free, one of so many."""
        piece = self._desk.take(hands)
        if piece is None:
            return None
        pairing, numbers = piece
        row = self.rows[pairing]
        text = self._texts[row.variant]
        self._chunks += 1
        chunk = Chunk(
            id=self._chunks,
            pairing=pairing,
            variant=text,
            options=self._spec.options.get(text, {}),
            branch=branch(self._chance, row, self.bots),
            first=self._contestant(row.first),
            second=self._contestant(row.second),
            numbers=numbers,
            own_chance=self._has_own_chance(row),
            budget_s=BUDGET_S,
            manner=manner,
        )
        self._flights[chunk.id] = (pairing, set(chunk.each_number()))
        return chunk.dealt_anew() if pairing in self._begun else chunk

    def _has_own_chance(self, row: PairingRow) -> bool:
        """Whether no two games of a pairing have the same chance (schedule.py)."""
        return row.variant in self._hidden and bool({row.first, row.second} & self._strangers)

    def _note_begun(self, row: PairingRow) -> None:
        if self._has_own_chance(row):
            self._begun.add(row.id)

    def _contestant(self, number: int) -> Contestant:
        return Contestant(number, self._entries[number].bot, self.bots[number].name in self.out)

    def keep(self, batch: Batch) -> None:
        """Games have come back: into the store, to be committed soon."""
        pairing, numbers = self._flights[batch.chunk]
        self._store.add_games(batch.games, batch.faults)
        tally = self._tallies[pairing]
        self.played += len(batch.games)
        for row in batch.games:
            numbers.remove(row.number)
            tally.add(row.first, row.points)

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended, however it did: what was not played goes back to the desk.

        `begun` says that some of it may have been begun.
        """
        pairing, numbers = self._flights.pop(chunk)
        if begun and numbers:
            self._note_begun(self.rows[pairing])
        self._desk.add(pairing, spans(numbers))


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
