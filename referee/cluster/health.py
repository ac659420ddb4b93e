"""Whether the workers of a cluster can do their work: version, level, toolchains, clock."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

from distributed import Client
from msgspec import Struct

from referee.cluster.cluster import COMMANDS, Cluster
from referee.cluster.stations import Station
from referee.rules.numbers import amount

CLOCK_S = 2.0
"""Two clocks that differ by more are told of: records carry the time of the machine that played."""
CLOCK_ASKED = 3
CLOCK_WAIT_S = 10.0
ASKED_AT_ONCE = 16


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
    cluster.wait_for(lambda each: each.survey is not None)
    stations = sorted(cluster.stations.values(), key=lambda each: each.address)
    asking = ThreadPoolExecutor(ASKED_AT_ONCE)
    try:
        clocks = {
            each.address: asking.submit(_ahead_s, cluster.client, each.address)
            for each in stations
            if each.survey is not None and not each.silent
        }
        return [_examined(each, _heard(clocks.get(each.address))) for each in stations]
    finally:
        asking.shutdown(wait=False, cancel_futures=True)


def _ahead_s(client: Client | None, address: str) -> float | None:
    """How far a clock is ahead of this one. The time on the way is split, and the shortest of a few
    ways tells it best. Dask answers this by itself, beside whatever the worker is at."""
    if client is None:
        return None
    found: list[tuple[float, float]] = []
    for _ in range(CLOCK_ASKED):
        began = time.time()
        there = client.run(time.time, workers=[address])[address]
        ended = time.time()
        found.append((ended - began, there - (began + ended) / 2))
    return min(found)[1]


def _heard(asked: Future[float | None] | None) -> float | None:
    if asked is None:
        return None
    try:
        return asked.result(CLOCK_WAIT_S)
    except Exception:  # whatever dask says: it was not heard
        return None


def _examined(where: Station, ahead_s: float | None) -> Examined:
    found = where.survey
    if found is None:
        mute = "it does not answer; is it busy with something else, or stopped?"
        check, why = ("version", where.unfit) if where.unfit else ("answer", mute)
        trouble = Symptom(check=check, status="fail", reason=why)
        return Examined(address=where.address, told="cannot play", findings=[trouble])
    told = (
        f"{found['host']}, {amount(where.threads, 'thread')} on {amount(found['cores'], 'core')}, "
        f"{found['system']} {found['machine']}, Python {found['python']}"
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
    return [version, level, tools, _clock(ahead_s)]


def _clock(ahead_s: float | None) -> Symptom:
    if ahead_s is None:
        reason = f"it did not tell the time within {CLOCK_WAIT_S:.0f} s"
        return Symptom(check="clock", status="fail", reason=reason)
    side = "ahead of" if ahead_s > 0 else "behind"
    off = abs(ahead_s) > CLOCK_S
    reason = f"{abs(ahead_s):.1f} s {side} this machine's" if off else "agrees with this machine's"
    return Symptom(check="clock", status="fail" if off else "pass", reason=reason)
