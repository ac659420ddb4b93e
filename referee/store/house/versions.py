"""The versions of bots: which there are, which one plays, and what their authors are told."""

from __future__ import annotations

from typing import Any

from referee.store.house.books import Books
from referee.store.house.bots import Bots
from referee.store.house.mistakes import Conflict, TooMany, Unknown
from referee.store.house.names import must_be_line
from referee.store.house.rows import EntrantRow, VersionRow, VersionState
from referee.store.house.settings import Settings

TOLD_CHARACTERS = 64 * 1024
"""Of what a build or a check said; the end is kept, where the errors are."""
PASSED = ("playing", "retired")
"""The states of versions that can play."""
SELECT = """SELECT version.id, version.bot, bot.name, bot.kind, bot.team, team.name, version.number,
    version.label, version.state, version.definition, version.hello, version.hash, version.size,
    version.room, version.kept, version.submitted, version.changed
    FROM version JOIN bot ON bot.id = version.bot LEFT JOIN team ON team.id = bot.team"""
ADD = """INSERT INTO version
    (bot, number, team, label, state, hello, hash, size, kept, submitted, changed)
    VALUES (?, 1 + (SELECT coalesce(max(number), 0) FROM version WHERE bot = ?1),
        ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def row(found: Any) -> VersionRow:
    *start, kept, submitted, changed = found
    return VersionRow(*(*start, bool(kept), submitted, changed))


class Versions:
    """Every version that was ever submitted or that ever connected."""

    def __init__(self, books: Books, bots: Bots, settings: Settings) -> None:
        self._books = books
        self._bots = bots
        self._settings = settings

    # What there is.

    def all(self) -> list[VersionRow]:
        return [row(found) for found in self._books.rows(f"{SELECT} ORDER BY version.id")]

    def of_bot(self, bot: int) -> list[VersionRow]:
        query = f"{SELECT} WHERE version.bot = ? ORDER BY version.number"
        return [row(found) for found in self._books.rows(query, (bot,))]

    def get(self, number: int) -> VersionRow:
        """By its id. Raises Unknown."""
        found = self._books.first(f"{SELECT} WHERE version.id = ?", (number,))
        if found is None:
            raise Unknown(f"there is no version {number}")
        return row(found)

    def named(self, name: str, number: int) -> VersionRow:
        """By the bot's name and the version's number. Raises Unknown."""
        bot = self._bots.named(name)
        query = f"{SELECT} WHERE version.bot = ? AND version.number = ?"
        found = self._books.first(query, (bot.id, number))
        if found is None:
            there = [str(version.number) for version in self.of_bot(bot.id)]
            known = f"it has {', '.join(there[-20:])}" if there else "it has none yet"
            raise Unknown(f"{bot.name} has no version {number}; {known}")
        return row(found)

    def playing(self) -> list[VersionRow]:
        """The players of the ladder: active, and neither paused nor disqualified."""
        query = f"""{SELECT} WHERE bot.active = version.id AND version.state = 'playing'
            AND NOT bot.paused AND bot.disqualified IS NULL ORDER BY version.id"""
        return [row(found) for found in self._books.rows(query)]

    def why_not_playing(self, name: str) -> str | None:
        """Why a bot of this name is no player of the ladder, in a sentence; None where it is."""
        bot = self._bots.find(name)
        if bot is None:
            return f"there is no bot {name[:80]!r}"
        if bot.disqualified is not None:
            return f"{bot.name} is disqualified: {bot.disqualified}"
        if bot.paused:
            return f"{bot.name} is paused"
        if bot.active is not None:
            return None
        if bot.kind == "connected":
            return f"{bot.name} has not connected yet"
        if any(
            version.state in ("queued", "building", "checking") for version in self.of_bot(bot.id)
        ):
            return f"{bot.name} has not been checked yet"
        return f"no version of {bot.name} has passed its check"

    def told(self, number: int) -> str:
        """What its build and its check said, for its team and the organisers. Raises Unknown."""
        found = self._books.first("SELECT told FROM version WHERE id = ?", (number,))
        if found is None:
            raise Unknown(f"there is no version {number}")
        return str(found[0])

    # Which one plays.

    def activate(self, name: str, number: int, *, by: str) -> VersionRow:
        """Let this version of a bot play instead of the one that does.

        Raises Unknown, and Conflict where the version never passed its check.
        """
        with self._books.changing():
            version = self.named(name, number)
            if version.state not in PASSED:
                raise Conflict(f"{version.name} cannot play: it is {version.state}")
            if version.kind == "submitted" and not version.kept:
                raise Conflict(f"what was submitted as {version.name} is no longer kept")
            self.let_play(version)
            self._books.journal(by, f"{version.name} plays")
            return self.get(version.id)

    def let_play(self, version: VersionRow) -> None:
        """Make it the active one, within a change; the one before is retired."""
        bot = self._bots.get(version.bot)
        if bot.active is not None and bot.active != version.id:
            self.set_state(bot.active, "retired")
        self._books.write("UPDATE bot SET active = ? WHERE id = ?", (version.id, bot.id))
        self.set_state(version.id, "playing")

    def set_state(self, number: int, state: VersionState, told: str | None = None) -> None:
        """Within a change; what is told stays as it is where nothing is."""
        self._books.write(
            "UPDATE version SET state = ?, changed = ?, told = coalesce(?, told) WHERE id = ?",
            (state, self._books.now(), None if told is None else told[-TOLD_CHARACTERS:], number),
        )

    # Those that connect.

    def arrived(self, name: str, label: str, hello: str) -> VersionRow:
        """The version that a connected bot's hello stands for, which plays from now on.

        `label` is what the hello calls its version; one that was seen before is the same player
        again. Raises Unknown, Conflict for a submitted bot, TooMany.
        """
        label = must_be_line("a version", label)
        with self._books.changing():
            bot = self._bots.named(name)
            if bot.kind != "connected":
                raise Conflict(f"{bot.name} is a bot that was submitted; it does not connect")
            version = self._seen(bot, label) or self._new(bot, label)
            if version.id != bot.active:
                self.let_play(version)
            if version.hello != hello:
                self._books.write("UPDATE version SET hello = ? WHERE id = ?", (hello, version.id))
            return self.get(version.id)

    def _seen(self, bot: EntrantRow, label: str) -> VersionRow | None:
        query = f"{SELECT} WHERE version.bot = ? AND version.label = ? ORDER BY number DESC"
        found = self._books.first(query, (bot.id, label))
        return None if found is None else row(found)

    def _new(self, bot: EntrantRow, label: str) -> VersionRow:
        limit = self._settings.limits().versions_a_bot
        (there,) = self._books.first("SELECT count(*) FROM version WHERE bot = ?", (bot.id,))
        if there >= limit:
            raise TooMany(f"{bot.name} has {there} versions, and no bot has more than {limit}")
        now = self._books.now()
        values = (bot.id, bot.team, label, "playing", "", "", 0, 0, now, now)
        return self.get(self._books.write(ADD, values))
