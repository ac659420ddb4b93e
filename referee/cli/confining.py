"""From the options that say how bots are confined (options.py) to a confinement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from referee.bots.confinement import Confinement, several_told
from referee.bots.confinement.exposing import exposable, must_show
from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import EVERYWHERE, BadLimit, read_limits, split_limit
from referee.bots.confinement.probe import choose, said_aloud, why_not
from referee.bots.hiding import hidden_places
from referee.bots.manifest import Bot
from referee.cli import console


def read_given_limits(words: Sequence[str] | None) -> dict[str, int | str] | None:
    """`memory=512M` and the like, by name; None if there are none. Raises BadLimit."""
    found: dict[str, int | str] = {}
    for word in words or ():
        name, value = split_limit(word)
        if name in found:
            raise BadLimit(f"the limit {name} is given twice")
        found[name] = value
    return found or None


def exposed(folders: Sequence[Path] | None) -> tuple[str, ...] | None:
    """Whole paths; None if there are none. Raises BadLimit."""
    return tuple(exposable(str(folder)) for folder in folders or ()) or None


def exposed_by_daemon(folders: Sequence[Path] | None, data: Path) -> tuple[str, ...] | None:
    """The same for a daemon, whose data bots must not see either. Raises BadLimit."""
    shown = exposed(folders)
    must_show(shown or (), [("the daemon's data", data), *hidden_places()])
    return shown


def confinement(
    sandbox: str | None,
    limit: Sequence[str] | None = None,
    expose: Sequence[Path] | None = None,
    *,
    bots: Iterable[Bot] = (),
    freeze: bool | None = None,
) -> Confinement:
    """As asked for, or the best that holds here; a line on stderr where that is nothing.

    None of these bots sees another one. Raises BadLimit, NotConfined.
    """
    wanted = said_aloud(sandbox)
    level = choose(wanted)
    if level is Level.NONE and wanted is None:
        lacking = why_not(Level.STANDARD)
        reason = f" ({lacking.reason})" if lacking is not None else ""
        console.tell(f"The bots run unconfined{reason}; see referee doctor")
    given = read_given_limits(limit) or {}
    limits = read_limits(given)
    tell_unenforced(given, level)
    shown = exposed(expose) or ()
    if level is not Level.NONE:
        must_show(shown, hidden_places(bots))
    return Confinement(level=level, limits=limits, freeze=bool(freeze), expose=shown)


def tell_unenforced(limits: Iterable[str], level: Level) -> None:
    """A line on stderr for limits that were asked for and that nothing enforces."""
    idle = [name for name in limits if name not in EVERYWHERE]
    if idle and level is Level.NONE:
        word = "limit" if len(idle) == 1 else "limits"
        console.tell(f"At level none nothing enforces the {word} {', '.join(idle)}")


def several_lines(processes: Mapping[str, int]) -> list[str]:
    """A line for each bot that runs several, and how many."""
    return [f"{several_told(name, number)}." for name, number in processes.items()]
