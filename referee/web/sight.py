"""What one visitor is shown of things: which names, whose notes, which games.

An organiser sees all. A team sees the notes and the stderr of its own bots. While the public
scoreboard is frozen, tables and lists of games are for everybody else those of that moment, and a
later game is shown to the teams of its two bots alone, by its name. Where the ladder is anonymous,
the bots of other teams have made-up names, the same on every page and for everybody, and their true
ones lead nowhere.

Rows and records are shown by handlers, which ask here; live events by `Library.shown`; what is
refused by `refusing`. Text is never searched for names: a bot may be called as any word is.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.record import BotInfo, Record
from referee.reports.export import without_notes
from referee.store.house.copying import VEIL
from referee.store.house.names import plain
from referee.store.house.rows import EntrantRow, SeasonRow, VersionRow
from referee.web.access import Visitor

_VERSION = re.compile(r"(.*) v(\d+)", re.DOTALL)


class Roster(Struct, frozen=True):
    """All bots and versions as the house knew them at one moment."""

    bots: dict[str, EntrantRow]
    """By plain name."""
    versions: dict[int, VersionRow]
    called: dict[str, VersionRow]
    """By the name that tables use."""

    def bot(self, name: str) -> EntrantRow | None:
        return self.bots.get(plain(name))

    def bot_of(self, version: VersionRow) -> EntrantRow:
        return self.bots[plain(version.bot_name)]


class Veil:
    """Made-up names. Whoever does not know the key cannot tell whose they are."""

    def __init__(self, data: Path) -> None:
        self._key = _key(data / VEIL)

    def name(self, bot: str) -> str:
        digest = hashlib.blake2b(plain(bot).encode(), key=self._key, digest_size=4)
        return f"anon-{digest.hexdigest()}"


def _key(path: Path) -> bytes:
    """Of this data folder; made once."""
    with suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(os.urandom(32))
    return path.read_bytes()[:64]


class Sight:
    """What a visitor may see. Without a veil, names are as they are."""

    def __init__(self, visitor: Visitor, roster: Roster, veil: Veil | None) -> None:
        self.visitor = visitor
        self.roster = roster
        self._veil = None if visitor.organiser else veil

    @property
    def veiled(self) -> bool:
        """Whether there are names that this visitor is not told."""
        return self._veil is not None

    # Names.

    def bot_name(self, bot: EntrantRow) -> str:
        if self._veil is None or self.visitor.owns(bot.team):
            return bot.name
        return self._veil.name(bot.name)

    def called(self, name: str) -> str:
        """What the player that tables call so is called for this visitor."""
        if self._veil is None:
            return name
        found = _VERSION.fullmatch(name)
        bot = self.roster.bot(found[1] if found else name)
        if bot is None:
            return name
        return f"{self.bot_name(bot)} v{found[2]}" if found else self.bot_name(bot)

    def team_name(self, bot: EntrantRow) -> str | None:
        return None if self._veil and not self.visitor.owns(bot.team) else bot.team_name

    def label(self, version: VersionRow) -> str:
        """What its authors call it, which may tell who they are."""
        return "" if self._veil and not self.visitor.owns(version.team) else version.label

    def find_bot(self, name: str) -> EntrantRow | None:
        """The bot that this visitor calls so."""
        bot = self.roster.bot(name)
        if bot is not None and plain(self.bot_name(bot)) == plain(name):
            return bot
        if self._veil is None:
            return None
        return next(
            (each for each in self.roster.bots.values() if self.bot_name(each) == name), None
        )

    def begins_with_name(self, sentence: str) -> bool:
        """Whether it begins with a bot's name, as this visitor knows it."""
        shown = map(self.bot_name, self.roster.bots.values())
        return any(sentence.startswith((f"{name} ", f"{name}'")) for name in shown)

    # Games.

    def until(self, season: SeasonRow | None) -> str | None:
        """The moment at which a season was frozen, where that hides anything from this visitor;
        None where all is shown, as of a tournament. Which games there were then is kept with the
        standings."""
        if season is None or not season.hidden or self.visitor.organiser:
            return None
        return season.frozen_at

    def own_seats(self, record: Record) -> tuple[int, ...]:
        """The seats whose notes and stderr are this visitor's to read."""
        return tuple(seat for seat, name in enumerate(record.players) if self.owns_player(name))

    def owns_player(self, name: str) -> bool:
        version = self.roster.called.get(name)
        # In a tournament a bot is called by its own name.
        bot = self.roster.bot(name) if version is None else self.roster.bot_of(version)
        return self.visitor.organiser if bot is None else self.visitor.owns(bot.team)

    def record(self, record: Record) -> Record:
        """The record without what is others' alone."""
        shown = without_notes(record, self.own_seats(record))
        if self._veil is None:
            return shown
        names = tuple(self.called(name) for name in record.players)
        bots = tuple(
            info if called == name else BotInfo("", "")
            for info, called, name in zip(record.bots, names, record.players, strict=True)
        )
        return replace(shown, players=names, bots=bots)

    def lines(self, lines: list[str], called: Mapping[str, str]) -> list[str]:
        """The lines of a game that is being played. `called` are the two by what they are called in
        them, where these are names that nobody else has; where there are none, the lines have the
        true ones, and nobody could tell them from other words."""
        if not called:
            return [] if self.veiled else lines
        pattern = "|".join(map(re.escape, called))
        return [
            re.sub(pattern, lambda found: self.called(called[found[0]]), line) for line in lines
        ]
