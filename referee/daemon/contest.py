"""A tournament that somebody asked the daemon for, played among the bots of the house.

The ledger is that of any tournament; its pairings with a bot that connects wait until that bot is
in the hall and free. The folder is an ordinary one, under `DATA/tournaments`, with the numbers of
the house's versions for its bots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.daemon.journal import stamp
from referee.daemon.logs import trim_logs
from referee.daemon.scoreboard import Scoreboard
from referee.ladder.season import Player
from referee.reports.standings import timings
from referee.reports.tables.files import write_tables
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.rows import BotRow
from referee.tournament.begin import stored_spec
from referee.tournament.chunk import Batch, Chunk
from referee.tournament.confining import for_strangers
from referee.tournament.crew import Place
from referee.tournament.entries import Definition, Entry, variant_marks, variant_names
from referee.tournament.ledger import Ledger
from referee.tournament.run import manner_of
from referee.tournament.salt import chance_values
from referee.tournament.spec import BadSpec, Spec, check_players
from referee.version import __version__

MISSING_S = 600.0
"""How long a bot that is due may be away before the tournament is given up."""
TRIES = 3


class Contest:
    """A tournament that is being played: a source of chunks."""

    def __init__(
        self,
        folder: Path,
        label: str,
        spec: Spec,
        players: Mapping[str, Player],
        *,
        here: Callable[[Player], bool],
        ids: Iterator[int],
        now: Callable[[], float],
        hidden_names: Callable[[int], tuple[str, str]] | None = None,
    ) -> None:
        """`players` by their plain names; `here` says whether one that connects is in the hall;
        `hidden_names` gives those of a chunk whose bots are not to know each other.

        Raises BadSpec, BadStore.
        """
        self.label = label
        self.trouble: str | None = None
        """Why it cannot go on."""
        self.stopped = False
        """Whether it gives out no more."""
        self.board: Scoreboard
        self.folder = folder
        self._now = now
        self._store = _open(folder, spec, players)
        try:
            spec = replace(for_strangers(stored_spec(self._store)), jobs=spec.jobs)
            self._players = {row.id: players[row.name] for row in self._store.bots()}
            self._ledger = Ledger(
                self._store,
                spec,
                [_entry(row.name, self._players[row.id]) for row in self._store.bots()],
                msgspec.json.decode(self._store.value("players") or "{}"),
                variant_names(spec),
                manner_of(spec, folder, told=True),
                ids=ids,
                is_here=lambda number: here(self._players[number]),
                hidden_names=hidden_names,
            )
            self.board = Scoreboard(folder)
        except BaseException:
            self._store.close()
            raise
        self._missing_since: float | None = None
        self._tries: Counter[int] = Counter()
        """How often in a row a pairing could not be played."""
        self._not_come: Counter[int] = Counter()
        """How often in a row a bot that is started here did not come to the hall."""
        self._is_new = False
        """Whether there are games that the tables do not have yet."""
        self._ledger.draw()

    @property
    def players(self) -> Collection[Player]:
        return self._players.values()

    # A source of chunks.

    @property
    def paced(self) -> bool:
        return False

    def true_names(self, chunk: Chunk) -> tuple[str, str]:
        return self._ledger.true_names(chunk)

    def widest(self) -> float:
        return self._ledger.widest()

    def next_chunk(
        self, place: Place, absent: Collection[int] = (), at_hand: Collection[int] = ()
    ) -> Chunk | None:
        if self.stopped or self.trouble is not None:
            return None
        chunk = self._ledger.next_chunk(place, absent, at_hand)
        if chunk is not None:
            self._missing_since = None
        elif self._ledger.waits_for_bots:
            self._missing_since = self._missing_since or self._now()
        return chunk

    def keep(self, batch: Batch) -> Batch:
        kept = self._ledger.keep(batch)
        if kept.games:
            # A block whose games are kept already makes no progress when it is played again.
            met = self._ledger.rows[batch.games[0].pairing]
            self._tries.pop(met.id, None)
            if any(self._players[number].connected for number in (met.first, met.second)):
                self._not_come.pop(met.first, None)
                self._not_come.pop(met.second, None)
            self._is_new = True
        return kept

    def give_back(self, chunk: int, *, begun: bool = False) -> None:
        self._ledger.give_back(chunk, begun=begun)

    def broken(self, chunk: Chunk, missing: Collection[int]) -> None:
        """It is tried again, a few times. A bot that is started here and does not come loses the
        rest of its games by forfeit, as in any tournament."""
        for number in missing:
            self._not_come[number] += 1
            if self._not_come[number] >= TRIES:
                self._ledger.is_out(number, f"it did not come to the hall {TRIES} times in a row")
        if missing:
            return
        self._tries[chunk.pairing] += 1
        if self._tries[chunk.pairing] >= TRIES:
            names = f"{chunk.first.bot.name} and {chunk.second.bot.name}"
            self.trouble = f"{names} could not be brought together, {TRIES} times in a row"

    def commit(self) -> None:
        self._ledger.commit()
        if self._is_new:
            self._is_new = False
            self.board.touch()

    # How far it is.

    def is_over(self) -> bool:
        """Whether every game has been played, of all rounds that follow from the results."""
        return not self._ledger.unfinished and not self._ledger.draw()

    def missing(self) -> str | None:
        """Who has been away for so long that nothing could be played, in a sentence."""
        since = self._missing_since
        if since is None or self._now() - since < MISSING_S:
            return None
        due = {self._players[number].name for number in self._ledger.not_here()}
        who = ", ".join(sorted(due)) or "somebody"
        return f"{who} was not there for {MISSING_S / 60:g} minutes"

    def close(self, *, finished: bool) -> None:
        """Let go of it; where it is finished, with its tables written."""
        try:
            if finished:
                self._store.set_value("finished", stamp())
            self._store.commit()
            self.board.close()
            trim_logs(self.folder)
            if finished:
                write_tables(self.folder, self.board.draw(), timings(self._store))
        finally:
            self.board.close()
            self._store.close()


def _open(folder: Path, spec: Spec, players: Mapping[str, Player]) -> Store:
    if (folder / FILE).exists():
        return Store.open(folder)
    playing = {
        text: [who for who, player in players.items() if player.plays(name)]
        for text, name in variant_names(spec).items()
    }
    spec = with_teams(spec, players)
    check_players(spec, playing)
    _check_restart(spec, [players[who] for names in playing.values() for who in names])
    values = {
        "name": spec.name,
        "spec": msgspec.json.encode(spec).decode(),
        "players": msgspec.json.encode(playing).decode(),
        "variants": msgspec.json.encode(variant_marks(spec)).decode(),
        **chance_values(spec),
        "level": spec.sandbox or "none",
        "referee": __version__,
        "started": stamp(),
    }
    return Store.create(folder, values, [_row(who, player) for who, player in players.items()])


def _check_restart(spec: Spec, players: Sequence[Player]) -> None:
    """Whether these players are started as often as the spec says. Raises BadSpec."""
    connected = [player.name for player in players if player.connected]
    if spec.restart == "game" and connected:
        raise BadSpec(
            f'restart = "game" starts every bot for every game, but {connected[0]} connects and is '
            "started by its author; leave restart out, or name only bots that were handed in",
            ("restart",),
        )


def with_teams(spec: Spec, players: Mapping[str, Player]) -> Spec:
    """The spec with the teams of the house, unless it names teams or is a knockout."""
    if spec.teams or spec.format == "knockout":
        return spec
    teams: dict[str, tuple[str, ...]] = {}
    for name, player in players.items():
        if player.team is not None:
            teams[player.team] = (*teams.get(player.team, ()), name)
    return replace(spec, teams=teams)


def recalled(folder: Path) -> list[BotRow]:
    """The bots of a contest that was begun; none where it was not."""
    if not (folder / FILE).exists():
        return []
    with Store.read(folder) as store:
        return store.bots()


def _definition(name: str, player: Player) -> Definition:
    return Definition(named=name, here="", variants=player.variants, elsewhere=player.connected)


def _row(name: str, player: Player) -> BotRow:
    bot = player.contestant.bot
    return BotRow(
        id=player.id,
        name=name,
        version=player.name.rpartition(" ")[2],
        hash=bot.hash,
        definition=msgspec.json.encode(_definition(name, player)).decode(),
    )


def _entry(name: str, player: Player) -> Entry:
    return Entry(_definition(name, player), player.contestant.bot)


def chosen(
    spec: Spec, everybody: Sequence[Player], why_not: Callable[[str], str | None]
) -> dict[str, Player]:
    """The players that a spec names, by their plain names; without names, all. Raises BadSpec;
    `why_not` says why somebody is not among them, where it is known."""
    known = {player.contestant.bot.name.casefold(): player for player in everybody}
    found: dict[str, Player] = {}
    for name in spec.bots or [player.contestant.bot.name for player in everybody]:
        player = known.get(name.casefold())
        if player is None:
            raise BadSpec(why_not(name) or f"{name} cannot be started here now")
        found[player.contestant.bot.name] = player
    return found
