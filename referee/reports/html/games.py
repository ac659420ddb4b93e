"""The games of a report: one row each for the list, and blocks of stories for the replays.

A page of 100,000 games must stay small and open at once. The list needs a handful of numbers a
game; they are kept in columns. All that a replay needs is packed in blocks of 250 games, each
compressed on its own, and the browser unpacks a block when a game of it is looked at. In a block a
game is

    [opening, [[lines, plays], …], ending]        a play: [seat, move, spent_us] or [… , note]

where the lines are those of the rule book. To play games again and to narrate them takes most of
the time that a report takes; where there are too many, the first games of each pairing are told in
words, and of the others the plays are kept alone: `lines` is then null.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from referee.record import Record
from referee.replaying import Mismatch, fault_lines, replay_by
from referee.reports.export import without_notes
from referee.rules.options import BadOption
from referee.rules.registry import BadVariant, build_variant, find_variant, is_path
from referee.rules.variant import Variant
from referee.store.trouble import BadStore
from referee.verdict import UNRATED, Fault

IN_A_BLOCK = 250
LEVEL = 6
"""Of the compression: it halves what the fastest leaves, and takes a tenth of the whole time."""

Step = tuple[list[str] | None, list[list[int | str]]]
Told = tuple[list[str], list[Step], list[str]]


class Game(Struct, frozen=True, gc=False):
    """One finished game, as the list needs it."""

    pairing: int
    number: int
    players: tuple[str, str]
    winner: int | None
    rated: bool
    ending: str
    reason: str
    scores: tuple[int, int]
    plays: int
    faults: tuple[Fault, ...]

    @property
    def key(self) -> str:
        """What people call it."""
        return f"{self.pairing}-{self.number}"


class Teller:
    """Tells games in the words of their rule books, as long as there is somebody who knows them."""

    def __init__(self, scripts: Sequence[str] = ()) -> None:
        """`scripts` are the variants that are no part of an installed package."""
        self._scripts = {find_variant(script).name: script for script in scripts}
        self._known: dict[str, Variant[Any, Any] | None] = {}
        self.untold: dict[str, str] = {}
        """By variant: why its games are not told in words."""

    def tell(self, record: Record, *, words: bool) -> Told:
        """The game in steps, with its words where they are wanted and can be had."""
        variant = self._variant(record) if words else None
        if variant is not None:
            try:
                return self._in_words(record, variant)
            except (Mismatch, BadVariant) as bad:
                self.untold.setdefault(record.variant, str(bad))
        steps: list[Step] = [(None, [play]) for play in _plays(record)]
        return [], steps, list(fault_lines(record))

    def _in_words(self, record: Record, variant: Variant[Any, Any]) -> Told:
        game = replay_by(variant, record)
        story = game.story()
        plays = iter(_plays(record))
        steps: list[Step] = [
            (lines, list(islice(plays, len(step.plays))))
            for step, lines in zip(game.steps, story.steps, strict=True)
        ]
        return story.opening, steps, story.ending

    def _variant(self, record: Record) -> Variant[Any, Any] | None:
        """The variant of a record, built once for all games with the same options."""
        key = f"{record.variant} {record.options}"
        if key not in self._known:
            self._known[key] = self._build(record)
        return self._known[key]

    def _build(self, record: Record) -> Variant[Any, Any] | None:
        name = self._scripts.get(record.variant, record.variant)
        try:
            if name == record.variant and is_path(name):
                # A database is data, often somebody else's: it must not choose which file is run.
                raise BadVariant("the path of a script is yours to give")
            return build_variant(name, record.options)
        except (BadVariant, BadOption) as bad:
            self.untold.setdefault(record.variant, str(bad))
            return None


def _plays(record: Record) -> list[list[int | str]]:
    """[seat, move, spent_us] of each move, and the note that came with it."""
    plays: list[list[int | str]] = [
        [seat, move, us] for (seat, move), us in zip(record.moves, record.spent_us, strict=True)
    ]
    for place, note in record.notes.items():
        plays[int(place)].append(note)
    return plays


def row_of(pairing: int, number: int, record: Record) -> Game:
    return Game(
        pairing=pairing,
        number=number,
        players=record.players,
        winner=record.winner,
        rated=record.ending not in UNRATED,
        ending=record.ending.value,
        reason=record.reason,
        scores=record.scores,
        plays=len(record.moves),
        faults=record.faults(),
    )


_decode = msgspec.msgpack.Decoder(Record).decode
_encode = msgspec.json.Encoder().encode


class Ration:
    """How many games are told in words: each pairing gets its share of what can be afforded.

    What a pairing of few or short games leaves is for those after it. `each` overrides it all: so
    many games of every pairing.
    """

    EFFORT = 400_000
    """About three seconds' worth, in plays."""
    BY_GAME = 6
    """What a game costs beside its plays."""

    def __init__(self, pairings: int, each: int | None = None, effort: int = EFFORT) -> None:
        self._each = each
        self._pairings = pairings
        self._left = effort
        self._share = 0
        self._pairing: int | None = None
        self.games = 0
        """Told in words so far."""

    def allows(self, pairing: int, number: int, plays: int) -> bool:
        if pairing != self._pairing:
            self._left += self._share
            self._share = self._left // max(1, self._pairings)
            self._left -= self._share
            self._pairings -= 1
            self._pairing = pairing
        cost = plays + self.BY_GAME
        allowed = cost <= self._share if self._each is None else number <= self._each
        # Once it is used up it stays so: a gap in the words would puzzle a reader.
        self._share = self._share - cost if allowed else 0
        self.games += allowed
        return allowed


class Collected(Struct, frozen=True):
    """All games of a report."""

    games: list[Game]
    blocks: list[str]
    """Text that the page unpacks; IN_A_BLOCK games each, the last one fewer."""


def collect(
    records: Iterable[tuple[int, int, bytes]], teller: Teller, ration: Ration, *, private: bool
) -> Collected:
    """Read all games, sorted by pairing and number. Raises BadStore where one is no record."""
    games: list[Game] = []
    blocks: list[str] = []
    for block in _blocks(records):
        stories: list[Told] = []
        for pairing, number, raw in block:
            record = _read(pairing, number, raw)
            if not private:
                record = without_notes(record)
            games.append(row_of(pairing, number, record))
            words = ration.allows(pairing, number, len(record.moves))
            stories.append(teller.tell(record, words=words))
        blocks.append(pack(_encode(stories)))
    return Collected(games, blocks)


def _blocks(
    records: Iterable[tuple[int, int, bytes]],
) -> Iterator[list[tuple[int, int, bytes]]]:
    rest = iter(records)
    while block := list(islice(rest, IN_A_BLOCK)):
        yield block


def _read(pairing: int, number: int, raw: bytes) -> Record:
    try:
        record = _decode(raw)
    except msgspec.DecodeError as error:
        raise BadStore(f"{_named(pairing, number)} cannot be read: {error}") from None
    moves = len(record.moves)
    good = len(record.spent_us) == moves and all(
        place.isdecimal() and len(place) < 9 and int(place) < moves for place in record.notes
    )
    if not good or any(fault.seat not in (0, 1) for fault in record.faults()):
        raise BadStore(f"{_named(pairing, number)} is no record of a game")
    return record


def _named(pairing: int, number: int) -> str:
    return f"the database is damaged: game {number} of pairing {pairing}"


def pack(text: bytes) -> str:
    """Compressed as the browser's DecompressionStream("deflate-raw") reads it, in base64."""
    packer = zlib.compressobj(LEVEL, wbits=-15)
    return base64.b64encode(packer.compress(text) + packer.flush()).decode()
