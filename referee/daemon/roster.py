"""Who can play: versions of the house as players that can be started, or that are connected.

What is built of a version that was handed in is in a cache, known by content, and is built again
where that was lost: by another process, and until then the version does not play.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.bots.building import BuildFailed, built
from referee.bots.confinement import Confinement
from referee.bots.manifest import BadBot, Bot
from referee.daemon.builder import Builder
from referee.daemon.definition import CACHE, bot_of
from referee.daemon.journal import Journal
from referee.daemon.turns import Turns
from referee.ladder.season import Player
from referee.mistake import Mistake
from referee.protocol.messages import HelloReceived
from referee.store.house.house import House
from referee.store.house.rows import VersionRow
from referee.tournament.chunk import Contestant

FRESHEN_S = 86_400.0
"""How often a build counts as used: one that nobody used for a month is taken away."""


class Guest(Struct, frozen=True, kw_only=True):
    """A connected bot that is here."""

    version: VersionRow
    variants: tuple[str, ...] | None
    """What its hello names; None is everything."""


class Roster:
    """The players of the house."""

    def __init__(
        self,
        house: House,
        confinement: Confinement,
        journal: Journal,
        turns: Turns,
        cores: frozenset[int],
    ) -> None:
        """Versions that are built again take turns, and are built on these cores."""
        self._house = house
        self._confinement = confinement
        self._journal = journal
        self.builder = Builder((house.data / CACHE).resolve(), journal, turns, cores)
        """Builds what has to be built again."""
        self._built: set[int] = set()
        """Versions that were."""
        self._ready: dict[int, Player | None] = {}
        """What has been made ready, by version; None for one that could not be."""
        self._fresh_until = 0.0

    def confine(self, confinement: Confinement) -> None:
        """From now on, bots are made ready to be confined so."""
        if confinement != self._confinement:
            self._confinement = confinement
            self._ready.clear()
            self._built.clear()

    def hear(self) -> bool:
        """Whether a version that was built again can be looked at anew."""
        ended = self.builder.hear()
        for number, why in ended:
            if why:
                self._ready[number] = None
                name = self._house.versions.get(number).name
                self._journal.warning("cannot play", bot=name, why=why)
            self._built.add(number)
        return bool(ended)

    def playing(self, guests: Mapping[str, Guest], now: float) -> list[Player]:
        """Everybody who can be given games, with these bots connected, by their names."""
        if now >= self._fresh_until:
            self._fresh_until = now + FRESHEN_S
            self._ready.clear()
            self._built.clear()
        players: list[Player] = []
        for version in self._house.versions.playing():
            if version.kind == "connected":
                guest = guests.get(version.bot_name)
                if guest is not None and guest.version.id == version.id:
                    players.append(_connected(guest))
            else:
                player = self._submitted(version)
                if player is not None:
                    players.append(player)
        return players

    def everybody(self) -> list[Player]:
        """All who play on the ladder, those included who connect and are not here."""
        found: list[Player] = []
        for version in self._house.versions.playing():
            player = self._player(version)
            if player is not None:
                found.append(player)
        return found

    def of_versions(self, numbers: Mapping[str, int]) -> dict[str, Player]:
        """Players by plain name that were chosen before; without those that are being built.

        Raises BadBot, Unknown.
        """
        found: dict[str, Player] = {}
        for name, number in numbers.items():
            player = self._player(self._house.versions.get(number))
            if player is None and self.builder.has(number):
                continue
            if player is None:
                raise BadBot(f"{name} can no longer be started")
            found[name] = player
        return found

    def _player(self, version: VersionRow) -> Player | None:
        if version.kind == "submitted":
            return self._submitted(version)
        hello = msgspec.json.decode(version.hello, type=HelloReceived)
        return _connected(Guest(version=version, variants=hello.variants))

    def _submitted(self, version: VersionRow) -> Player | None:
        if self.builder.has(version.id):
            return None
        if version.id not in self._ready:
            try:
                self._ready[version.id] = self._made_ready(version)
            except (_MustBeBuilt, BuildFailed):
                if version.id not in self._built:
                    bot = bot_of(version.definition, self._house.data)
                    self.builder.want(version.id, version.team, bot, self._confinement)
                    return None
                self._ready[version.id] = None
                why = "what was built again is not there"
                self._journal.warning("cannot play", bot=version.name, why=why)
            except Mistake as problem:
                self._ready[version.id] = None
                self._journal.warning("cannot play", bot=version.name, why=problem)
        return self._ready[version.id]

    def _made_ready(self, version: VersionRow) -> Player:
        data = self._house.data
        bot = bot_of(version.definition, data)
        cache = (data / CACHE).resolve()
        # What is there is found at once; nobody is waited for, and nothing is built.
        ready = built(bot, self._confinement, cache=cache, limit_ms=0, on_build=_not_here)
        return Player(
            contestant=Contestant(version.id, replace(ready, name=version.bot_name)),
            name=version.name,
            team=version.team_name,
            variants=bot.variants,
        )


class _MustBeBuilt(Exception):
    """What was built of a version is gone."""


def _not_here(_: str) -> None:
    raise _MustBeBuilt


def _connected(guest: Guest) -> Player:
    version = guest.version
    bot = Bot(name=version.bot_name, command=(), version=version.label)
    return Player(
        contestant=Contestant(version.id, bot),
        name=version.name,
        team=version.team_name,
        connected=True,
        variants=guest.variants,
    )
