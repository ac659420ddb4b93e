"""Stores of either kind, and a house with two teams, for those who ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.store.house import House
from referee.store.house.rows import TeamRow
from referee.store.place import read_address
from tests.postgres.serving import Server
from tests.store import sample
from tests.store.housing import Clock


@pytest.fixture(params=["file", "server"])
def each_kind(request: pytest.FixtureRequest) -> Iterator[None]:
    """New stores are files, then they are on a PostgreSQL server."""
    if request.param == "server":
        server: Server = request.getfixturevalue("postgres")
        sample.on_server.append(read_address(server.url()))
    yield
    sample.on_server.clear()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house(tmp_path: Path, clock: Clock) -> Iterator[House]:
    with House.open(tmp_path / "data", now=clock) as opened:
        yield opened


@pytest.fixture
def reds(house: House) -> TeamRow:
    house.teams.add("Reds", by="test")
    return house.teams.named("Reds")


@pytest.fixture
def blues(house: House) -> TeamRow:
    house.teams.add("Blues", by="test")
    return house.teams.named("Blues")
