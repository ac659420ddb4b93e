"""Whether the workers of a cluster can do their work: version, level, toolchains, clock."""

from __future__ import annotations

import time
from typing import Any, Literal

from msgspec import Struct

from referee.cluster import station
from referee.cluster.cluster import COMMANDS, Cluster
from referee.cluster.stations import Station

CLOCK_S = 2.0
"""Two clocks that differ by more are told of: records carry the time of the machine that played."""


class Symptom(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    check: str
    status: Literal["pass", "warn", "fail"]
    reason: str


class Examined(Struct, frozen=True, kw_only=True):
    """One worker."""

    address: str
    told: str
    findings: list[Symptom]


def examined(cluster: Cluster) -> list[Examined]:
    """Every worker that is there, in the order of their addresses. Raises NoCluster."""
    stations = cluster.wait_for(lambda each: each.survey is not None)
    clocks = _clocks(cluster, [each.address for each in stations])
    return [
        _examined(each, clocks.get(each.address))
        for each in sorted(stations, key=lambda each: each.address)
    ]


def _clocks(cluster: Cluster, addresses: list[str]) -> dict[str, float]:
    """How far each clock is ahead of this one; the time on the way is split."""
    found: dict[str, float] = {}
    client = cluster.client
    if client is None:
        return found
    for address in addresses:
        began = time.time()
        future = client.submit(station.clock, workers=[address], pure=False)
        there = future.result(timeout=10)
        found[address] = there - (began + time.time()) / 2
    return found


def _examined(where: Station, ahead_s: float | None) -> Examined:
    if where.survey is None:
        trouble = Symptom(check="referee", status="fail", reason=where.unfit)
        return Examined(address=where.address, told="cannot play", findings=[trouble])
    found = where.survey
    told = (
        f"{found['host']}, {where.threads} of {found['cores']} cores, {found['system']} "
        f"{found['machine']}, Python {found['python']}"
    )
    return Examined(address=where.address, told=told, findings=_symptoms(where, found, ahead_s))


def _symptoms(where: Station, found: dict[str, Any], ahead_s: float | None) -> list[Symptom]:
    version = Symptom(
        check="version",
        status="fail" if where.unfit else "pass",
        reason=where.unfit or f"referee {found['version']}",
    )
    confined = where.level != "none"
    mend = f"; to mend it: {found['remedy']}" if found["remedy"] else ""
    level = Symptom(
        check="level",
        status="pass" if confined else "warn",
        reason=where.level if confined else f"bots cannot be confined: {found['lacking']}{mend}",
    )
    missing = found["missing"]
    there = [command for command in COMMANDS if command not in missing]
    reason = f"has {', '.join(there)}" + (f"; lacks {', '.join(missing)}" if missing else "")
    tools = Symptom(check="toolchains", status="warn" if missing else "pass", reason=reason)
    return [version, level, tools, *([_clock(ahead_s)] if ahead_s is not None else [])]


def _clock(ahead_s: float) -> Symptom:
    side = "ahead of" if ahead_s > 0 else "behind"
    off = abs(ahead_s) > CLOCK_S
    reason = f"{abs(ahead_s):.1f} s {side} this machine's" if off else "agrees with this machine's"
    return Symptom(check="clock", status="fail" if off else "pass", reason=reason)
