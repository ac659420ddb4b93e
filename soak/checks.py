"""What must hold at the end of a soak."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from referee.arena.player import LOG_BYTES
from referee.bots.confinement.cgroups import BOT, NoCgroups, unit
from referee.bots.process import LOG_BYTES as LOG_OF_A_PROCESS
from soak.books import Account
from soak.field import Entrant
from soak.playing import REFEREE, Ended
from soak.watching import Sample

MOST_KB = 200 * 1024
FDS, THREADS, UNREAPED = 10, 2, 4
"""What may come on top from the first third to the last: what two bots and their start take, since
there may have been none in the first."""
GROWN_KB = 16 * 1024
UNSETTLED_KB = 64 * 1024
"""The same as long as a coordinator may not have made its first table, which loads numpy."""
SETTLED_S = 15.0
FEWEST = 4
"""Samples in each third: with fewer, there may have been no bots in one of them."""
CORE_LOCK = re.compile(r"referee-\d+-core-\d+\.lock")
CACHED = re.compile(r"(.+?)(?:\.whole|\.lock|\.log)?")
OF_A_TOURNAMENT = re.compile(
    r"\.lock|tournament\.db(-wal|-shm)?|logs|(standings|crosstable|timing)\.(md|csv|json)"
)
PLACES = ("/tmp", "/dev/shm", "/var/tmp", "/", "/dev", "/usr")
"""Where hostile bots try to leave files."""
SHOWN = 5


class Check(Struct, frozen=True):
    """One thing that must hold."""

    name: str
    held: bool
    told: str


def check(name: str, trouble: Iterable[str], otherwise: str) -> Check:
    """It holds where there is no trouble."""
    found = list(trouble)
    more = f" … and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return Check(name, not found, "; ".join(found[:SHOWN]) + more if found else otherwise)


def ended_well(ended: Sequence[Ended]) -> Check:
    slowest = max(run.ending_s for run in ended)
    trouble = [what for run in ended for what in run.trouble]
    return check("endings", trouble, f"every run ended as it was told to, within {slowest:.1f} s")


def nobody_left(ended: Sequence[Ended]) -> Check:
    slowest = max(run.gone_s for run in ended)
    trouble = [f"after {run.by}: {what}" for run in ended for what in run.left]
    return check("processes", trouble, f"none was left, {slowest:.1f} s after a run at the latest")


def lives(victim: subprocess.Popen[bytes]) -> Check:
    trouble = [f"it ended with {victim.returncode}"] if victim.poll() is not None else []
    return check("victim", trouble, "a process that hostile bots reached for lives")


# Descriptors, threads and memory.


def grown(samples: Sequence[Sample], value: Callable[[Sample], int]) -> tuple[int, int] | None:
    """The most of it in the first and the last third of their time; None where it is too short."""
    if not samples:
        return None
    third_s = (samples[-1].at_s - samples[0].at_s) / 3
    first = [value(each) for each in samples if each.at_s <= samples[0].at_s + third_s]
    last = [value(each) for each in samples if each.at_s >= samples[-1].at_s - third_s]
    if min(len(first), len(last)) < FEWEST:
        return None
    return max(first), max(last)


class Span(NamedTuple):
    """Samples in which nothing is to grow."""

    who: str
    samples: list[Sample]
    settled: bool
    """Whether the first table has been made, which loads numpy, before the first of them."""


def spans(samples: Sequence[Sample], last_run_s: float) -> Iterator[Span]:
    """Of the coordinators over all of the time, and of each process within the last run."""
    playing = [each for each in samples if each.playing and each.role != "keeper"]
    yield Span("coordinator", [each for each in playing if each.role == "coordinator"], False)
    last_run = [each for each in playing if each.at_s > last_run_s]
    for pid in dict.fromkeys(each.pid for each in last_run):
        own = [each for each in last_run if each.pid == pid]
        later = [each for each in own if each.at_s > own[0].at_s + SETTLED_S]
        settled = len(later) > len(own) // 2
        yield Span(f"{own[0].role}, last run", later if settled else own, settled)


def no_growth(samples: Sequence[Sample], last_run_s: float) -> Iterator[Check]:
    looked_at = [*spans(samples, last_run_s)]
    for name, value, margin, unsettled in (
        ("descriptors", lambda each: each.fds, FDS, FDS),
        ("threads", lambda each: each.threads, THREADS, THREADS),
        ("memory in kB", lambda each: each.rss_kb, GROWN_KB, UNSETTLED_KB),
        ("unreaped children", lambda each: each.unreaped, UNREAPED, UNREAPED),
    ):
        trouble: list[str] = []
        fine: list[str] = []
        for span in looked_at:
            found = grown(span.samples, value)
            if found is not None:
                fits = found[1] <= found[0] + (margin if span.settled else unsettled)
                (fine if fits else trouble).append(f"{span.who} {found[0]} → {found[1]}")
        yield check(name, trouble, ", ".join(fine) or "nothing was played for long enough")


def small_enough(samples: Sequence[Sample]) -> Check:
    peaks: dict[str, int] = {}
    for each in samples:
        peaks[each.role] = max(peaks.get(each.role, 0), each.peak_kb)
    trouble = [f"{role} {kb} kB" for role, kb in peaks.items() if kb >= MOST_KB]
    told = ", ".join(f"{role} {kb / 1024:.0f} MB" for role, kb in peaks.items())
    return check("peak memory", trouble, f"{told}; at most {MOST_KB // 1024} MB")


# Files.


def no_files_left(place: Path, mark: str) -> Check:
    trouble = [*_strange(place / "tmp", CORE_LOCK), *_half_built(place / "cache")]
    trouble += _strange(place / "tournament", OF_A_TOURNAMENT)
    for folder in map(Path, PLACES):
        trouble += [str(path) for path in folder.glob(f"*{mark}*") if path != place]
    return check("files", trouble, "none in temporary folders, nothing half-built in the cache")


def _strange(folder: Path, known: re.Pattern[str]) -> list[str]:
    return [str(path) for path in folder.glob("*") if not known.fullmatch(path.name)]


def _half_built(cache: Path) -> Iterator[str]:
    """What is in the cache and belongs to nothing that is whole there."""
    builds = cache / "referee" / "builds"
    for path in builds.glob("*"):
        name = CACHED.fullmatch(path.name)
        assert name is not None
        if not (builds / f"{name[1]}.whole").exists():
            yield str(path)


def logs_are_short(folder: Path) -> Check:
    """A log that is full is put aside before the next process adds to it."""
    most = LOG_BYTES + LOG_OF_A_PROCESS + 1024
    sizes = {path: path.stat().st_size for path in (folder / "logs").rglob("*.txt")}
    trouble = [f"{path.name}: {size} bytes" for path, size in sizes.items() if size > most]
    kb = sum(sizes.values()) // 1024
    return check(
        "logs", trouble, f"{len(sizes)} files, {kb} kB, none longer than {most // 1024} kB"
    )


def no_groups_left() -> Check:
    try:
        left = [group.name for group in unit().glob(f"{BOT}*")]
    except NoCgroups as no:
        left = [str(no)]
    return check("control groups", left, "none is left")


# The database.


def books_hold(counted: Account, trouble: Iterable[str], standings: Mapping[str, int]) -> Check:
    found = [*counted.trouble, *trouble]
    if standings.get("played") != counted.games:
        found.append(f"the standings count {standings.get('played')} games of {counted.games}")
    if counted.games > counted.planned:
        found.append(f"{counted.games} games, and {counted.planned} were to be played")
    return check("database", found, f"whole; {counted.games} games, each of which counts once")


def honest_are_blameless(field: Sequence[Entrant], counted: Account) -> Check:
    honest = [entrant.name for entrant in field if entrant.kind == "honest"]
    trouble = [f"{name}: {counted.faults[name]}" for name in honest if name in counted.faults]
    errors = counted.endings.get("referee_error", 0)
    if errors:
        trouble.append(f"{errors} games ended by an error of the referee")
    games = sum(counted.games_of.get(name, 0) for name in honest)
    return check("honest bots", trouble, f"{len(honest)} of them have no fault in {games} seats")


def records_hold(place: Path, env: Mapping[str, str]) -> tuple[Check, dict[str, int]]:
    """Judge every record again, by the commands that a user has."""
    records = place / "records.jsonl"
    with records.open("wb") as out:
        command = [*REFEREE, "export", "tournament"]
        subprocess.run(command, stdout=out, cwd=place, env=env, check=True)
    done = subprocess.run(
        [*REFEREE, "verify", str(records), "--json"],
        capture_output=True,
        text=True,
        cwd=place,
        env=env,
        check=False,
    )
    if done.returncode not in (0, 1):
        return Check("records", False, done.stderr.strip()), {}
    report = json.loads(done.stdout)
    trouble = [
        f"game {each['game']}: {each['field']}: {each['why']}" for each in report["mismatches"]
    ]
    told = f"{report['judged']} judged again, {report['attested']} attested by the referee"
    return check("records", trouble, told), {
        name: report[name] for name in ("records", "judged", "attested")
    }
