"""Every dependency has a lowest version, and it can be told to pip."""

from __future__ import annotations

import pytest

from tests.lowest import constraints, requirements


def test_a_floor_is_a_constraint() -> None:
    told = ["rich>=13.9.4", "typer>=0.26,<0.29", "psycopg[binary]>=3.2.1", "a-b>=1; os_name == 'x'"]
    assert list(constraints(told)) == ["rich==13.9.4", "typer==0.26", "psycopg==3.2.1", "a-b==1"]


@pytest.mark.parametrize("requirement", ["rich", "rich<14", "rich[all]"])
def test_a_dependency_without_a_floor_is_told(requirement: str) -> None:
    with pytest.raises(ValueError, match="no lowest version"):
        list(constraints([requirement]))


def test_every_dependency_has_a_floor() -> None:
    names = {constraint.partition("==")[0] for constraint in constraints(requirements())}
    assert {"msgspec", "starlette", "pytest", "distributed", "psycopg", "mypy"} <= names
    assert "referee" not in names
