"""The lowest versions that pyproject.toml allows, as constraints for pip.

    python -m tests.lowest > constraints.txt

`make test-lowest` installs them and runs the tests, which shows that the floors are true. The
versions of what the dependencies depend on in turn are left to pip.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("test", "cluster", "postgres", "lint")
"""What the tests use, and the linters, which are installed with it."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?(>=(?P<floor>[\w.]+))?")


def constraints(requirements: Iterable[str]) -> Iterator[str]:
    """`psycopg[binary]>=3.2.1,<4` is `psycopg==3.2.1`. Raises ValueError if there is no floor."""
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        if found is None or found["floor"] is None:
            raise ValueError(f"{requirement}: no lowest version")
        yield f"{found['name']}=={found['floor']}"


def requirements() -> list[str]:
    """Of the project and of its extras, except for the project itself."""
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    everything = [*project["dependencies"], *(each for name in EXTRAS for each in extras[name])]
    return [each for each in everything if not each.startswith(f"{project['name']}[")]


if __name__ == "__main__":
    print("\n".join(constraints(requirements())))
