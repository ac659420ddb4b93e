"""What organisers have set, as JSON by key."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from referee.store.house.books import Books
from referee.store.house.mistakes import HouseMistake
from referee.store.house.rows import Keep, Limits

T = TypeVar("T")
LIMITS = "limits"
KEEP = "keep"


class Settings:
    """Values that outlive the daemon."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def get(self, key: str, kind: type[T], default: T) -> T:
        """The value of a key, or the default where it was never set. Raises HouseMistake."""
        found = self._books.first("SELECT value FROM setting WHERE key = ?", (key,))
        if found is None:
            return default
        try:
            return msgspec.json.decode(found[0], type=kind)
        except msgspec.MsgspecError as error:
            raise HouseMistake(f"the setting {key!r} cannot be read: {error}") from None

    def set(self, key: str, value: object, *, by: str) -> None:
        text = msgspec.json.encode(value).decode()
        with self._books.changing():
            self._books.write("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, text))
            self._books.journal(by, f"set {key} to {text[:200]}")

    def keep(self) -> Keep:
        """How long records are kept."""
        return self.get(KEEP, Keep, Keep())

    def set_keep(self, keep: Keep, *, by: str) -> None:
        self.set(KEEP, keep, by=by)

    def limits(self) -> Limits:
        """What a team may do."""
        return self.get(LIMITS, Limits, Limits())

    def set_quota(self, team_bytes: int, *, by: str) -> None:
        """What a team may use of the disk, from now on."""
        limits = self.limits()
        if limits.team_bytes != team_bytes:
            self.set_limits(replace(limits, team_bytes=team_bytes), by=by)

    def set_limits(self, limits: Limits, *, by: str) -> None:
        low = [name for name in limits.__struct_fields__ if getattr(limits, name) < 1]
        if low:
            raise HouseMistake(f"{low[0]} must be 1 or more")
        self.set(LIMITS, limits, by=by)
