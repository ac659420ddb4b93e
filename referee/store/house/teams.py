"""Teams and their tokens."""

from __future__ import annotations

import csv
import io
import re

from referee.bots.look_alikes import look
from referee.store.house.books import Books
from referee.store.house.mistakes import Conflict, HouseMistake, Unknown
from referee.store.house.names import must_be_name, must_look_new, plain
from referee.store.house.rows import NewTeam, Role, TeamRow
from referee.store.house.tokens import hash_of, new_token

ROLES: tuple[Role, ...] = ("organiser", "team", "viewer")
FIRST = "organiser"
"""What the first organiser is called."""
MOST = 10_000
_SELECT = "SELECT id, name, role, token IS NOT NULL, created FROM team"


def _row(found: tuple[int, str, Role, int, str]) -> TeamRow:
    number, name, role, has_token, created = found
    return TeamRow(number, name, role, bool(has_token), created)


class Teams:
    """All who have a token."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def all(self) -> list[TeamRow]:
        return [_row(found) for found in self._books.rows(f"{_SELECT} ORDER BY plain")]

    def find(self, name: str) -> TeamRow | None:
        found = self._books.first(f"{_SELECT} WHERE plain = ?", (plain(name),))
        return None if found is None else _row(found)

    def named(self, name: str) -> TeamRow:
        """Raises Unknown."""
        team = self.find(name)
        if team is None:
            raise Unknown(f"there is no team {name[:80]!r}")
        return team

    def get(self, number: int) -> TeamRow:
        """Raises Unknown."""
        found = self._books.first(f"{_SELECT} WHERE id = ?", (number,))
        if found is None:
            raise Unknown(f"there is no team {number}")
        return _row(found)

    def of_token(self, token: str) -> TeamRow | None:
        """Whose token it is; None where it is nobody's."""
        found = self._books.first(f"{_SELECT} WHERE token = ?", (hash_of(token),))
        return None if found is None else _row(found)

    def add(self, name: str, role: Role = "team", *, by: str) -> NewTeam:
        """A new team and its token. Raises Conflict where the name is taken, or looks so."""
        must_be_name("a team's name", name)
        with self._books.changing():
            if self.find(name) is not None:
                raise Conflict(f"there is a team {name!r} already")
            must_look_new("team", name, (team.name for team in self.all()))
            return self._add(name, role, by)

    def first_organiser(self) -> NewTeam | None:
        """An organiser, where there is none yet; None where there is one."""
        with self._books.changing():
            if any(team.role == "organiser" for team in self.all()):
                return None
            taken = {plain(team.name) for team in self.all()}
            names = (FIRST, *(f"{FIRST} {number}" for number in range(2, MOST + 3)))
            name = next(name for name in names if plain(name) not in taken)
            return self._add(name, "organiser", "the first start")

    def new_token(self, name: str, *, by: str) -> str:
        """Another token for a team; the one it had is void from now on. Raises Unknown."""
        with self._books.changing():
            team, token = self.named(name), new_token()
            self._books.write("UPDATE team SET token = ? WHERE id = ?", (hash_of(token), team.id))
            self._books.journal(by, f"new token for {team.name}")
        return token

    def import_csv(self, text: str, *, by: str) -> list[NewTeam]:
        """Teams of a list with the columns `name` and, if wanted, `role`: all of it or nothing.

        A team that is there already keeps its token; its role becomes what the list says.
        """
        wanted = _read_list(text)
        with self._books.changing():
            looks = {look(team.name): team.name for team in self.all()}
            return [self._put(name, role, looks, by) for name, role in wanted]

    def _put(self, name: str, role: Role | None, looks: dict[str, str], by: str) -> NewTeam:
        team = self.find(name)
        if team is None:
            must_look_new("team", name, [looks[look(name)]] if look(name) in looks else [])
            looks[look(name)] = name
            return self._add(name, role or "team", by)
        if role is not None and role != team.role:
            self._books.write("UPDATE team SET role = ? WHERE id = ?", (role, team.id))
            self._books.journal(by, f"{team.name} is {role}, no longer {team.role}")
        return NewTeam(team.name, role or team.role, None)

    def _add(self, name: str, role: Role, by: str) -> NewTeam:
        token = new_token()
        self._books.write(
            "INSERT INTO team (name, plain, role, token, created) VALUES (?, ?, ?, ?, ?)",
            (name, plain(name), role, hash_of(token), self._books.now()),
        )
        self._books.journal(by, f"added {name} ({role})")
        return NewTeam(name, role, token)


def _read_list(text: str) -> list[tuple[str, Role | None]]:
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True))
    except csv.Error as error:
        raise HouseMistake(f"the list of teams cannot be read: {error}") from None
    head = [cell.strip().lower() for cell in lines[0]] if lines else []
    if len(head) == 1 and (found_apart := re.search(r"[;\t|]", head[0])):
        apart = {";": "semicolons", "\t": "tabs", "|": "bars"}[found_apart[0]]
        raise HouseMistake(f"the columns of a list of teams are parted by commas, not by {apart}")
    if "name" not in head or len(set(head)) < len(head):
        raise HouseMistake(
            "the first line of a list of teams names its columns, each once: name, and role "
            "if not all of them are teams"
        )
    found: dict[str, tuple[str, Role | None]] = {}
    for number, cells in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        try:
            name, role = _read_line(head, cells)
            if plain(name) in found:
                raise HouseMistake(f"{name} is there twice")
        except HouseMistake as mistake:
            raise HouseMistake(f"line {number}: {mistake}") from None
        found[plain(name)] = (name, role)
    if not found or len(found) > MOST:
        raise HouseMistake(f"a list of teams has 1 to {MOST} teams, and this one has {len(found)}")
    return list(found.values())


def _read_line(head: list[str], cells: list[str]) -> tuple[str, Role | None]:
    if len(cells) != len(head):
        raise HouseMistake(f"{len(cells)} cells, where there are {len(head)} columns")
    values = dict(zip(head, (cell.strip() for cell in cells), strict=True))
    name, word = must_be_name("a team's name", values["name"]), values.get("role", "").lower()
    role = next((role for role in ROLES if role == word), None)
    if word and role is None:
        raise HouseMistake(f"the role is one of {', '.join(ROLES)}, not {word[:80]!r}")
    return name, role
