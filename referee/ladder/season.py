"""A season: a ledger that never ends.

It has the door of a tournament's ledger (next_chunk, keep, give_back), but nothing is planned: each
chunk is chosen when somebody is free to play it, by what is known at that moment. A pairing comes
into the store when it is first used and grows with its games, so the folder of a season is that of
a tournament, and everything that reads one reads the other.

Chunks are played in two places. Bots that were handed in meet in the workers; whoever has connected
from elsewhere plays in the hall, one chunk at a time. What comes back unplayed keeps its numbers
and its luck for the next time, unless a bot may have seen a hand that should be hidden: all bots of
a ladder count as strangers (schedule.py), samples too, and a number that may have been begun is not
given out again. A season that was opened before may be a backup, or have lost what was not written:
what it gives out with hidden chance is dealt anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from referee.ladder.choices import Choices
from referee.ladder.teams import are_one_team
from referee.ladder.teams import may_meet as by_teams
from referee.rules.registry import find_variant
from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.store.tally import results
from referee.tournament.chunk import Batch, Chunk, Contestant, Manner, spans, truly_named
from referee.tournament.crew import Place
from referee.tournament.desk import missing
from referee.tournament.entries import Definition, variant_names
from referee.tournament.ledger import Flight
from referee.tournament.salt import branch, chance_root
from referee.tournament.spec import Spec
from referee.verdict import UNRATED, Ending

CHUNK_GAMES = {"workers": 20, "hall": 10}
"""An even number. To start two bots costs as much as some games of quick ones; a bot elsewhere is
there already."""
BUDGET_S = 2.0
"""How long a chunk goes on, beyond the start of its bots."""


class Player(Struct, frozen=True, kw_only=True):
    """A version of a bot that plays."""

    contestant: Contestant
    """Its number is that of the version; its bot is called as its authors call it."""
    name: str
    """What tables call it: `rocky v3`."""
    team: str | None = None
    """None: the organisers' own."""
    connected: bool = False
    variants: tuple[str, ...] | None = None
    """None is all of them."""

    @property
    def id(self) -> int:
        return self.contestant.id

    def plays(self, variant: str) -> bool:
        return self.variants is None or variant in self.variants


class Season:
    """The games of a season."""

    def __init__(
        self,
        store: Store,
        spec: Spec,
        ids: Iterator[int],
        *,
        now: Callable[[], float],
        hidden_names: Callable[[int], tuple[str, str]] | None = None,
    ) -> None:
        """`ids` numbers the chunks; `hidden_names` gives those of a chunk whose bots are not to
        know each other."""
        self.spec = spec
        self.rows: dict[int, PairingRow] = {}
        self.bots: dict[int, BotRow] = {row.id: row for row in store.bots()}
        self.players: dict[int, Player] = {}
        """Who plays now."""
        self.played = 0
        self._store = store
        self._ids = ids
        self._now = now
        self._hidden_names = hidden_names
        self._chance = chance_root(store)
        self._texts = {name: text for text, name in variant_names(spec).items()}
        self._hidden = {
            name for name, text in self._texts.items() if find_variant(text).hidden_chance
        }
        self._choices = {name: Choices() for name in self._texts}
        self._turn = deque(self._texts)
        self._pairings: dict[tuple[str, int, int], int] = {}
        self._left: dict[int, list[tuple[int, int]]] = {}
        """Numbers that were given out once and not played, by pairing."""
        self._unread: set[int] = set()
        """Pairings of an earlier run whose left numbers nobody has looked up yet."""
        self._flights: dict[int, Flight] = {}
        self._resting: dict[int, float] = {}
        self._recall()
        self._goes_on = bool(self.rows)
        """Whether games may have been begun of which the store knows nothing."""

    def _recall(self) -> None:
        for row in self._store.pairings():
            self._know(row)
            self._unread.add(row.id)
        for tallies in self._store.tallies():
            for tally in tallies:
                row = self.rows[tally[0]]
                self.played += tally[1]
                for alike in results(tally, row):
                    self._choices[row.variant].count(*alike)

    # Who plays.

    def enter(self, player: Player) -> bool:
        """This version plays from now on; True where the store has changed by it."""
        bot = player.contestant.bot
        definition = Definition(
            named=player.name if player.connected else str(bot.folder or ""),
            here="",
            variants=player.variants,
            elsewhere=player.connected,
        )
        row = BotRow(
            id=player.id,
            name=player.name,
            version=bot.version,
            hash=bot.hash,
            definition=msgspec.json.encode(definition).decode(),
        )
        self.players[player.id] = player
        if self.bots.get(player.id) == row:
            return False
        self._store.set_bot(row)
        self.bots[player.id] = row
        return True

    def leave(self, number: int) -> None:
        """This version is given no more games; those that are on their way are kept."""
        self.players.pop(number, None)
        self._resting.pop(number, None)

    def rest(self, number: int, seconds: float) -> None:
        """Give this version no games for a while."""
        self._resting[number] = self._now() + seconds

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        """What the tables call the two of a chunk, whatever these two are told."""
        return self.bots[chunk.first.id].name, self.bots[chunk.second.id].name

    def widest(self) -> float:
        """The widest 95 % interval of those who play, in Elo; infinite before the first fit."""
        widths = [
            choices.widest
            for variant, choices in self._choices.items()
            if len(self._playing(variant)) > 1
        ]
        return max(widths, default=0.0)

    def is_of_one_team(self) -> bool:
        """Whether nobody can meet anybody, since all who play are of one team."""
        return are_one_team([player.team for player in self.players.values()])

    def at_play(self, place: Place) -> set[int]:
        """Whoever is in a chunk that is being played there."""
        rows = [self.rows[each.pairing] for each in self._flights.values() if each.place == place]
        return {bot for row in rows for bot in (row.first, row.second)}

    # From choices to chunks, and back.

    def next_chunk(
        self, manner: Manner, place: Place = "workers", *, absent: Collection[int] = ()
    ) -> Chunk | None:
        """Some games for whoever is free there; `absent` cannot play in it just now."""
        out = {*absent, *(self.at_play("hall") if place == "hall" else ())}
        now = self._now()
        out |= {number for number, until in self._resting.items() if until > now}
        for _ in range(len(self._turn)):
            variant = self._turn[0]
            self._turn.rotate(-1)
            met = self._choose(variant, place, out)
            if met is not None:
                return self._chunk(self._pairing(variant, *met), place, manner)
        return None

    def keep(self, batch: Batch) -> Batch:
        """Games have come back: into the store, to be committed soon. What was taken of them.

        A game that was lost because a bot does not start tells nothing, and a ladder can wait: it
        is played another time.
        """
        flight = self._flights[batch.chunk]
        forfeited = {game.number for game in batch.games if game.ending == Ending.FORFEIT}
        games = [game for game in batch.games if game.number not in forfeited]
        if self._hidden_names is not None:
            games = [truly_named(game, self.bots) for game in games]
        faults = [fault for fault in batch.faults if fault.number not in forfeited]
        self._store.add_games(games, faults, batch.times)
        variant = self.rows[flight.pairing].variant
        for game in games:
            flight.numbers.discard(game.number)
            self.played += 1
            if game.points is not None and game.ending not in UNRATED:
                self._choices[variant].count(game.first, game.second, game.points, 1)
        return Batch(batch.chunk, games, faults, batch.times)

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        """A chunk has ended, however it did; `begun` says that some of it may have been begun."""
        flight = self._flights.pop(chunk)
        row = self.rows[flight.pairing]
        seen = self._is_hidden(row) and (begun or flight.place == "hall")
        if flight.numbers and not seen:
            self._left.setdefault(row.id, []).extend(spans(flight.numbers))

    def _chunk(self, row: PairingRow, place: Place, manner: Manner) -> Chunk:
        first, second = self.players[row.first], self.players[row.second]
        number = next(self._ids)
        text = self._texts[row.variant]
        numbers = self._numbers(row, CHUNK_GAMES[place])
        chunk = Chunk(
            id=number,
            pairing=row.id,
            variant=text,
            options=self.spec.options.get(text, {}),
            branch=branch(self._chance, row, self.bots),
            first=first.contestant,
            second=second.contestant,
            numbers=numbers,
            own_chance=self._is_hidden(row),
            budget_s=BUDGET_S,
            manner=manner,
            called=(
                (first.name, second.name)
                if self._hidden_names is None
                else self._hidden_names(number)
            ),
        )
        self._flights[number] = Flight(row.id, place, set(chunk.each_number()))
        return chunk.dealt_anew() if self._goes_on else chunk

    def _numbers(self, row: PairingRow, games: int) -> tuple[tuple[int, int], ...]:
        """Those that were left over, then new ones."""
        left = [
            number for low, high in self._left.pop(row.id, []) for number in range(low, high + 1)
        ]
        taken = sorted(left)[:games]
        if kept := sorted(left)[games:]:
            self._left[row.id] = list(spans(kept))
        new = games - len(taken)
        if new > 0:
            new += new % 2
            row = self.rows[row.id] = replace(self.rows[row.id], games=row.games + new)
            self._store.set_games(row.id, row.games)
            taken += range(row.games - new + 1, row.games + 1)
        return spans(taken)

    def _pairing(self, variant: str, first: int, second: int) -> PairingRow:
        number = self._pairings.get((variant, first, second))
        if number is None:
            row = PairingRow(len(self.rows) + 1, 1, variant, first, second, 0)
            self._store.add_pairings([row])
            self._know(row)
            return row
        row = self.rows[number]
        if number in self._unread:
            self._unread.discard(number)
            if not self._is_hidden(row):
                self._left[number] = list(missing(row.games, self._store.played(number)))
        return row

    def _is_hidden(self, row: PairingRow) -> bool:
        """Whether a game that was begun must not be dealt again: bots would know the hands."""
        return row.variant in self._hidden

    def _know(self, row: PairingRow) -> None:
        self.rows[row.id] = row
        self._pairings[row.variant, row.first, row.second] = row.id

    # Who meets whom.

    def _choose(self, variant: str, place: Place, out: Collection[int]) -> tuple[int, int] | None:
        playing = self._playing(variant)
        if len(playing) < 2:
            return None
        free = np.array([number not in out for number in playing])
        elsewhere = np.array([self.players[number].connected for number in playing])
        if place == "hall":
            may_meet = (elsewhere[:, None] | elsewhere) & free[:, None] & free
        else:
            free = free & ~elsewhere
            may_meet = free[:, None] & free
        may_meet &= by_teams([self.players[number].team for number in playing])
        return self._choices[variant].choose(playing, may_meet, place, self._now())

    def _playing(self, variant: str) -> list[int]:
        return sorted(number for number, each in self.players.items() if each.plays(variant))
