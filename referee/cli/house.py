"""What the commands have in common that write to the daemon's data, whether it runs or not."""

from __future__ import annotations

import getpass
from pathlib import Path

from referee.store.house import House
from referee.store.house.books import FILE
from referee.store.house.mistakes import BadHouse


def opened(data: Path) -> House:
    """The house of a data folder that is there. Raises BadHouse."""
    return House.open(data, create=False)


def opened_or_made(data: Path, *, create: bool) -> House:
    """For what is prepared before the daemon first starts, where that was asked for: otherwise a
    folder that is mistyped would become a house that no daemon knows. Raises BadHouse."""
    if not create and not (data / FILE).exists():
        raise BadHouse(
            f"{data} holds no {FILE}: it is not the data folder of a referee daemon (--data names "
            "another; --create makes one here, before the first `referee serve`)"
        )
    return House.open(data, create=create)


def person() -> str:
    """Who did it, for the journal and for rulings."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "an organiser"


def team_of(house: House, name: str | None) -> int | None:
    """The number of a team that is named; none is the organisers. Raises Unknown."""
    return None if name is None else house.teams.named(name).id
