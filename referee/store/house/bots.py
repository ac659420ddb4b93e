"""Bots by name: whose they are, their keys, and whether they may play."""

from __future__ import annotations

from typing import Any

from referee.store.house.books import Books
from referee.store.house.mistakes import Conflict, HouseMistake, Unknown
from referee.store.house.names import must_be_bot_name, must_be_line, must_look_new, plain
from referee.store.house.rows import EntrantRow, Kind
from referee.store.house.tokens import hash_of, new_token

KEY_CHARACTERS = 40
"""Of a CURVE key in Z85."""
_Z85 = set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#")
_SELECT = """SELECT bot.id, bot.name, bot.team, team.name, bot.kind, bot.public_key,
    bot.token IS NOT NULL, bot.paused, bot.disqualified, bot.active, bot.created
    FROM bot LEFT JOIN team ON team.id = bot.team"""


def _row(found: Any) -> EntrantRow:
    *start, has_token, paused, disqualified, active, created = found
    return EntrantRow(*(*start, bool(has_token), bool(paused), disqualified, active, created))


class Bots:
    """All bots that the ladder knows, playing or not."""

    def __init__(self, books: Books) -> None:
        self._books = books

    # Who there is.

    def all(self) -> list[EntrantRow]:
        return [_row(found) for found in self._books.rows(f"{_SELECT} ORDER BY bot.plain")]

    def of_team(self, team: int | None) -> list[EntrantRow]:
        query = f"{_SELECT} WHERE bot.team IS ? ORDER BY bot.plain"
        return [_row(found) for found in self._books.rows(query, (team,))]

    def find(self, name: str) -> EntrantRow | None:
        found = self._books.first(f"{_SELECT} WHERE bot.plain = ?", (plain(name),))
        return None if found is None else _row(found)

    def named(self, name: str) -> EntrantRow:
        """Raises Unknown."""
        bot = self.find(name)
        if bot is None:
            raise Unknown(f"there is no bot {name[:80]!r}")
        return bot

    def get(self, number: int) -> EntrantRow:
        """Raises Unknown."""
        found = self._books.first(f"{_SELECT} WHERE bot.id = ?", (number,))
        if found is None:
            raise Unknown(f"there is no bot {number}")
        return _row(found)

    def _names(self) -> list[str]:
        return [name for (name,) in self._books.rows("SELECT name FROM bot")]

    def add(self, name: str, kind: Kind, team: int | None = None, *, by: str) -> EntrantRow:
        """A new bot, without a version. Raises Conflict where the name is taken, or looks so."""
        must_be_bot_name(name)
        with self._books.changing():
            if self.find(name) is not None:
                raise Conflict(f"there is a bot {name!r} already")
            must_look_new("bot", name, self._names())
            number = self._books.write(
                "INSERT INTO bot (name, plain, team, kind, created) VALUES (?, ?, ?, ?, ?)",
                (name, plain(name), team, kind, self._books.now()),
            )
            self._books.journal(by, f"added the {kind} bot {name}")
            return self.get(number)

    # How connected ones prove who they are.

    def trust(self, name: str, public_key: str, team: int | None = None, *, by: str) -> EntrantRow:
        """From now on the name belongs to this key. A bot that is not there yet is added.

        Raises Conflict for a submitted bot, and where another bot has the key.
        """
        if len(public_key) != KEY_CHARACTERS or not set(public_key) <= _Z85:
            raise HouseMistake(
                f"a public key is {KEY_CHARACTERS} characters of Z85, not {public_key[:60]!r}"
            )
        with self._books.changing():
            bot = self._connected(name, team, by)
            query = "SELECT name FROM bot WHERE public_key = ? AND id <> ?"
            holder = self._books.first(query, (public_key, bot.id))
            if holder is not None:
                raise Conflict(f"this key is {holder[0]}'s; every bot needs its own")
            self._books.write("UPDATE bot SET public_key = ? WHERE id = ?", (public_key, bot.id))
            self._books.journal(by, f"{bot.name} has the public key {public_key}")
            return self.get(bot.id)

    def new_token(self, name: str, team: int | None = None, *, by: str) -> str:
        """A token with which the bot connects where there are no keys; an older one is void.

        A bot that is not there yet is added. Raises Conflict for a submitted bot.
        """
        token = new_token()
        with self._books.changing():
            bot = self._connected(name, team, by)
            self._books.write("UPDATE bot SET token = ? WHERE id = ?", (hash_of(token), bot.id))
            self._books.journal(by, f"new token for the bot {bot.name}")
        return token

    def forget_keys(self, name: str, *, by: str) -> EntrantRow:
        """Neither its key nor its token is taken any more. Raises Unknown, Conflict."""
        with self._books.changing():
            bot = self.named(name)
            if bot.public_key is None and not bot.has_token:
                raise Conflict(f"{bot.name} has no key and no token")
            self._books.write(
                "UPDATE bot SET public_key = NULL, token = NULL WHERE id = ?", (bot.id,)
            )
            self._books.journal(by, f"{bot.name} has no key any more")
            return self.get(bot.id)

    def keys(self) -> dict[str, str]:
        """The names of the bots that may connect, by public key."""
        return self._admitted("public_key")

    def tokens(self) -> dict[str, str]:
        """The names of the bots that may connect, by the SHA-256 of their token."""
        return self._admitted("token")

    def _admitted(self, column: str) -> dict[str, str]:
        return dict(
            self._books.rows(
                f"SELECT {column}, name FROM bot WHERE {column} IS NOT NULL "
                "AND kind = 'connected' AND disqualified IS NULL ORDER BY id"
            )
        )

    def _connected(self, name: str, team: int | None, by: str) -> EntrantRow:
        bot = self.find(name)
        if bot is None:
            return self.add(name, "connected", team, by=by)
        if bot.kind != "connected":
            raise Conflict(f"{bot.name} is a bot that was submitted; it has no use for a key")
        return bot

    # Whether they play.

    def pause(self, name: str, *, by: str) -> EntrantRow:
        """No new games for it until it is resumed. Raises Unknown."""
        return self._set(name, "paused", 1, by, "paused")

    def resume(self, name: str, *, by: str) -> EntrantRow:
        """Raises Unknown, and Conflict while it is disqualified."""
        with self._books.changing():
            bot = self.named(name)
            if bot.disqualified is not None:
                raise Conflict(
                    f"{bot.name} is disqualified ({bot.disqualified}); reinstate it first"
                )
            return self._set(name, "paused", 0, by, "resumed")

    def disqualify(self, name: str, reason: str, *, by: str) -> EntrantRow:
        """It plays no more, and the tables say why. Raises Unknown."""
        reason = must_be_line("a reason", reason)
        if not reason:
            raise HouseMistake("a disqualification needs a reason")
        return self._set(name, "disqualified", reason, by, f"disqualified ({reason})")

    def reinstate(self, name: str, *, by: str) -> EntrantRow:
        """Take a disqualification back. Raises Unknown."""
        return self._set(name, "disqualified", None, by, "reinstated")

    def _set(self, name: str, column: str, value: object, by: str, told: str) -> EntrantRow:
        with self._books.changing():
            bot = self.named(name)
            self._books.write(f"UPDATE bot SET {column} = ? WHERE id = ?", (value, bot.id))
            self._books.journal(by, f"{bot.name} {told}")
            return self.get(bot.id)
