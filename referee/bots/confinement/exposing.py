"""Folders of this machine that confined bots are shown, and those that they must not be shown.

Nothing that is somebody's else: other bots, the games, what was built of them. Nor what the walls
themselves put somewhere, or where the sockets of a running system are: a socket in a folder that
bots see is a way out for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.bots.confinement.identity import may_enter, servant
from referee.bots.confinement.limits import BadLimit

EMPTY = "expose: an empty path; name a folder with tools"
WALLS_OWN = ("/", "/etc", "/tmp", "/var")
"""Where the walls put something of their own, or nothing on purpose, but for folders inside."""
CLOSED = ("/bot", "/dev", "/link", "/proc", "/run", "/sys")
"""The same, with all that is inside."""


def exposable(folder: str) -> str:
    """A folder that confined bots may be shown, as a whole path. Raises BadLimit."""
    if not folder.strip():
        raise BadLimit(EMPTY)
    path = Path(folder).absolute()
    if bar := _bar(path, None):
        raise BadLimit(f"expose: {path} cannot be shown to bots: {bar} does not let you in")
    if not path.is_dir():
        raise BadLimit(f"expose: there is no folder {folder!r}")
    whole = path.resolve()
    closed = [place for place in CLOSED if whole.is_relative_to(place)]
    if str(whole) in WALLS_OWN or closed:
        raise BadLimit(f"expose: {whole} cannot be shown to bots; name a folder with tools")
    return str(whole)


def must_show(expose: Sequence[str], hidden: Iterable[tuple[str, Path]]) -> None:
    """That these folders can be shown, and show nothing of those, each with what it is.

    Raises BadLimit.
    """
    user = servant()
    places = [(what, place.resolve()) for what, place in hidden]
    for folder in map(Path, expose):
        if user is not None and (bar := _bar(folder, user)):
            told = f"they run as user {user}, whom {bar} does not let in"
            raise BadLimit(f"expose: {folder} cannot be shown to bots: {told}")
        for what, place in places:
            if place.is_relative_to(folder) or folder.is_relative_to(place):
                holds = "holds" if place.is_relative_to(folder) else "lies in"
                told = f"it {holds} {what}, which bots must not see"
                raise BadLimit(f"expose: {folder} cannot be shown to bots: {told}")


def _bar(folder: Path, user: int | None) -> Path | None:
    """The first folder on the way that this user cannot enter; None asks for our own user."""
    for each in (*reversed(folder.parents), folder):
        try:
            if user is None:
                enters = not each.is_dir() or os.access(each, os.X_OK)
            else:
                enters = may_enter(each, user)
        except OSError:
            return None  # it is not there, or its name cannot be; both are told of elsewhere
        if not enters:
            return each
    return None
