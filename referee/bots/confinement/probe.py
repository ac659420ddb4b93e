"""What this machine can do, found out by trying.

For every level a real process is confined and tries what it must not be able to do. Versions and
settings are looked at only to say why something failed and what would mend it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from referee.bots.confinement.attempt import Attempt, attempt
from referee.bots.confinement.cgroups import NoCgroups, unit
from referee.bots.confinement.group_attempt import moved_when_frozen, multiplied
from referee.bots.confinement.guard import NotConfined
from referee.bots.confinement.levels import Level
from referee.bots.confinement.seccomp import UnknownMachine, seccomp_filter
from referee.bots.confinement.walls import search_path
from referee.mistake import Mistake

EVERYWHERE = "REFEREE_SANDBOX"
"""The variable that asks for a level wherever a command line or a spec does not."""
OUTSIDE = "/etc/passwd"
"""Everybody may read it, and no bot sees it."""
Status = Literal["pass", "warn", "fail"]
NAMESPACES = {
    "kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for bwrap",
    ),
    "user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=10000"),
}
"""Settings of the kernel that forbid user namespaces, how they say so, and what allows them."""
TRUST = "play elsewhere, or only bots that you trust, with --sandbox none"
UNKNOWN = "no way is known; please report it, see SECURITY.md"
REMEDIES = {
    "seccomp": "a kernel with CONFIG_SECCOMP_FILTER",
    "process limit": "a kernel with CONFIG_CGROUP_PIDS",
    "freezing": "a kernel of version 5.2 or newer, which can freeze control groups",
}
"""Of what a confined process could do and must not, by what was tried."""


class BadLevel(Mistake):
    """A level that does not exist."""


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that a level needs."""

    level: Level
    check: str
    status: Status
    reason: str
    remedy: str = ""
    """The command that would mend it, or what to do."""


def best_level() -> Level:
    """The strongest level that holds here."""
    for level in (Level.FULL, Level.STANDARD):
        if holds(level):
            return level
    return Level.NONE


def holds(level: Level) -> bool:
    """Whether all that a level needs was seen to work."""
    return why_not(level) is None


def why_not(level: Level) -> Finding | None:
    """What keeps this machine from offering a level; None if it does."""
    failed = (finding for finding in findings(level) if finding.status == "fail")
    return next(failed, None)


def said_aloud(wanted: str | None) -> Level | None:
    """The level that was asked for, here or for everything that runs in this environment.

    Raises BadLevel for one that does not exist.
    """
    text = wanted or os.environ.get(EVERYWHERE) or None
    if text is not None and text not in list(Level):
        raise BadLevel(f"there is no level {text!r}; it is full, standard or none")
    return None if text is None else Level(text)


def choose(wanted: Level | None) -> Level:
    """The level that was asked for, or else the best. Raises NotConfined."""
    if wanted is None:
        return best_level()
    lacking = why_not(wanted)
    if lacking is not None:
        mend = f"; {lacking.remedy}" if lacking.remedy else ""
        raise NotConfined(f"level {wanted} is not to be had here: {lacking.reason}{mend}")
    return wanted


@cache
def findings(level: Level) -> tuple[Finding, ...]:
    """Everything that a level needs, one by one, up to what makes the rest pointless to try."""
    if level is Level.NONE:
        return (_finding(level, "strictness", "pass", "the referee's own, always"),)
    found = [*_means(level)]
    if all(finding.status != "fail" for finding in found):
        found += _behaviour(level)
    if all(finding.status != "fail" for finding in found) and level is Level.STANDARD:
        found.append(_python())
    return tuple(found)


def _finding(level: Level, check: str, status: Status, reason: str, remedy: str = "") -> Finding:
    return Finding(level=level, check=check, status=status, reason=reason, remedy=remedy)


def _means(level: Level) -> Iterator[Finding]:
    """What has to be there before anything can be tried."""
    if sys.platform != "linux":
        yield _finding(
            level, "system", "fail", f"confinement needs Linux, not {sys.platform}", TRUST
        )
        return
    if shutil.which("bwrap") is None:
        remedy = "apt-get install bubblewrap"
        yield _finding(level, "bubblewrap", "fail", "there is no bwrap on this machine", remedy)
        return
    yield _finding(level, "bubblewrap", "pass", f"{shutil.which('bwrap')}")
    try:
        seccomp_filter(one_process=True, count_memory=True)
    except UnknownMachine as machine:
        yield _finding(
            level, "seccomp", "fail", f"there is no filter for a processor {machine}", TRUST
        )
    if level is Level.FULL:
        yield _control_groups()


def _control_groups() -> Finding:
    try:
        group = unit()
    except NoCgroups as no:
        return _finding(Level.FULL, "control groups", "fail", str(no), no.remedy)
    return _finding(Level.FULL, "control groups", "pass", f"{group} is the referee's own")


def _behaviour(level: Level) -> Iterator[Finding]:
    """What a confined process could not do, and what it could."""
    try:
        result = attempt(level, OUTSIDE)
    except NotConfined as reason:
        yield _finding(level, "walls", "fail", str(reason), _remedy() or UNKNOWN)
        return
    for check, good, held, broken in _judged(level, result):
        yield _tried(level, check, "" if good else broken, held)
    if level is Level.FULL:
        yield from _groups()


def _groups() -> Iterator[Finding]:
    """What the group of a bot keeps it from."""
    try:
        more = "more processes than the limit are refused"
        yield _tried(Level.FULL, "process limit", multiplied(), more)
        still = "a bot that is to stand still does, and goes on"
        yield _tried(Level.FULL, "freezing", moved_when_frozen(), still)
    except NotConfined as reason:
        yield _finding(Level.FULL, "walls", "fail", str(reason), UNKNOWN)


def _tried(level: Level, check: str, broken: str, held: str) -> Finding:
    """`broken` says what went as it must not; empty where all did as it must."""
    if broken:
        return _finding(level, check, "fail", broken, REMEDIES.get(check, UNKNOWN))
    return _finding(level, check, "pass", held)


def _judged(level: Level, result: Attempt) -> Iterator[tuple[str, bool, str, str]]:
    """What was tried, whether it went as it must, and how that is told, or the opposite."""
    seen = result.seen
    user, wrote = seen.get("user"), seen.get("wrote", "?")
    network = seen.get("network", "?")
    yield (
        *("user", user not in (None, "0")),
        *(f"bots run as user {user}", f"the kernel sees a bot as user {user or '?'}"),
    )
    yield (
        *("files", seen.get("outside") == "hidden"),
        *("files of this machine are hidden", "a file of this machine could be seen"),
    )
    yield (
        *("writing", wrote == ""),
        *("nothing but /tmp can be written to", f"could be written to: {wrote.strip()}"),
    )
    yield (
        *("processes", seen.get("pid") == "2"),
        *("other processes are hidden", "other processes could be seen"),
    )
    yield (
        *("network", network == "lo"),
        *("there is no network", f"there is a network: {network}"),
    )
    if level is Level.STANDARD:
        yield (
            *("one process", not result.forked),
            *("a second process is refused", "a second process could be started"),
        )
    yield (
        *("seccomp", not result.called),
        *("system calls that bots have no use for are refused", result.called),
    )
    yield (
        *("memory", not result.filled),
        *("memory beyond the limit is refused", result.filled),
    )


def _remedy() -> str:
    """The command that would allow what the kernel forbids, if it does."""
    for name, (forbids, remedy) in NAMESPACES.items():
        try:
            if Path("/proc/sys", name).read_text().strip() == forbids:
                return remedy
        except OSError:
            continue
    return ""


def _python() -> Finding:
    """Sample bots need one; others may not."""
    python = shutil.which("python3", path=search_path())
    if python is None:
        reason = "confined bots find no python3, so bots in Python are left out"
        remedy = "apt-get install python3, or --expose a folder that has one"
        return _finding(Level.STANDARD, "python3", "warn", reason, remedy)
    return _finding(Level.STANDARD, "python3", "pass", f"bots in Python run with {python}")
