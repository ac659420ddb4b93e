"""A long tournament of honest, broken and hostile bots, ended and resumed again and again.

    make soak SECONDS=60
    python -m soak.run --seconds 60 [--sandbox standard] [--json]

The real command plays; it is ended by SIGINT, SIGTERM and SIGKILL in turn and goes on with
`--resume`, until the time is over. Then it must have left no process and no file, its descriptors
and its memory must not have grown, and its database must hold every game that it has told of, once,
with a record that verifies, and no fault of an honest bot. The status is 0 if all of it holds,
1 if not, 2 where a soak cannot be run. Where something does not hold the folder is kept, with the
report in it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bots.confinement.identity import servant
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import EVERYWHERE, choose, said_aloud, why_not
from referee.mistake import Mistake
from referee.store.connect import FILE
from soak import checks
from soak.books import Account, Books, account
from soak.checks import Check
from soak.field import MARK, ROOT, Entrant, Field
from soak.playing import REFEREE, SAFE_S, Ended, Run
from soak.watching import Watch, is_there
from tests.hostile.cases import LIMITS

VARIANTS = ("underdog", "deck")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE_S = 120.0
"""Within which a tournament has to begin to play."""
MOST_BOTS = 30
"""Unless more are asked for: all are started at the beginning of every run."""
EARLY = 5
"""Every so many runs one is ended in its first second, while bots are called."""
LAST_SHARE = 3
"""The last run has at least one part in so many of the time, so that growth would show."""


class Report(Struct, frozen=True, kw_only=True):
    """What came of a soak."""

    held: bool
    seconds: float
    level: str
    seed: str
    """Of what was left to chance: who plays, and when a run is ended."""
    bots: dict[str, list[str]]
    """By kind."""
    games: int
    games_of: dict[str, int]
    """Seats in games, by kind."""
    endings: dict[str, int]
    runs: dict[str, int]
    """By what ended them."""
    longest_ending_s: float
    most_processes: int
    most_fds: dict[str, int]
    """By role, as are those below."""
    most_threads: dict[str, int]
    peak_kb: dict[str, int]
    database_kb: int
    records: dict[str, int]
    checks: list[Check]
    folder: str | None
    """Where it was, if it is kept: because something did not hold."""


def main() -> int:
    options = _options()
    # The user to whom bots are handed has to read them, or copies would be made elsewhere.
    os.umask(0o022)
    # So that nothing is left of a soak that is ended either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if not is_there():
            raise Mistake("this system has no /proc to look at")
        report = Soak(options, choose(said_aloud(options.sandbox))).run()
    except Mistake as mistake:
        print(f"soak: {mistake}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(msgspec.json.encode(report).decode() if options.json else "\n".join(_told(report)))
    return int(not report.held)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Soak a tournament for a given time.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sandbox", choices=[*Level], help="the best that there is, if left out")
    parser.add_argument("--freeze", action="store_true", help="as of the tournament")
    parser.add_argument("--time", default="250ms", help="for a move")
    parser.add_argument(
        "--games", type=int, default=40, help="of a pairing; more when all are played"
    )
    parser.add_argument("--bots", type=int, help="how many; more in a longer soak")
    parser.add_argument("--seed", help="any text: the same bots, ended after the same times")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")
    return parser.parse_args()


class Soak:
    """One soak, in a folder of its own."""

    def __init__(self, options: argparse.Namespace, level: Level) -> None:
        self._options = options
        self._level = level
        self._mark = uuid.uuid4().hex
        self._place = Path(tempfile.gettempdir(), f"referee-soak-{self._mark}")
        self._seed = options.seed or self._mark[:8]
        self._chance = random.Random(self._seed)
        self._games = options.games
        self._books = Books(self._place / "tournament")
        self._began_s = time.monotonic()
        self._watch = Watch(self._began_s)
        self._ended: list[Ended] = []
        self._last_run_s = self._end_s = 0.0
        self._told: list[str] = []

    def run(self) -> Report:
        """Play, and see what holds."""
        kept = False
        try:
            with _victim() as victim:
                field = self._set_up(victim.pid)
                self._play(field)
                self._end_s = self._now_s()
                if not (self._place / "tournament" / FILE).exists():
                    why = "; ".join(self._ended[-1].trouble)
                    raise Mistake(f"the tournament did not begin: {why}")
                report = self._report(field, victim)
            if not report.held:
                kept = True
                keep(report, self._told, self._place)
            return report
        finally:
            if not kept:
                shutil.rmtree(self._place, ignore_errors=True)

    def _now_s(self) -> float:
        return time.monotonic() - self._began_s

    def _tell(self, line: str) -> None:
        self._told.append(line)
        if not self._options.json:
            print(line, flush=True)

    def _set_up(self, victim: int) -> list[Entrant]:
        place = self._place
        for name in ("tmp", "cache"):
            (place / name).mkdir(parents=True)
        neighbour = place / "neighbour.txt"
        neighbour.write_text("not for you")
        values = {
            "opponent": str(place / "bots" / "highest"),
            "database": str(place / "tournament" / FILE),
            "logs": str(place / "tournament" / "logs"),
            "neighbour": str(neighbour),
            "secret": MARK,
            "tcp": "9",
            "udp": "9",
            "abstract": "nobody",
            "path": str(place / "nobody"),
            "victims": str(victim),
        }
        compiler = shutil.which("gcc") or shutil.which("cc")
        size = self._options.bots or min(8 + int(self._options.seconds) // 5, MOST_BOTS)
        makes = Field(place, self._level.value, self._mark, compiler, values)
        field = makes.make(size, self._chance)
        self._tell(f"soak: {self._options.seconds:g} s at level {self._level}, seed {self._seed}")
        for kind, names in _by_kind(field).items():
            self._tell(f"  {kind}: {', '.join(names)}")
        for level in (Level.FULL, Level.STANDARD):
            if lacking := why_not(level):
                self._tell(f"  level {level} is not to be had here: {lacking.reason}")
        if compiler is None:
            self._tell("  there is no C compiler; what is written in C does not take part")
        return field

    def _env(self) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name != EVERYWHERE}
        own = {"TMPDIR": f"{self._place}/tmp", "XDG_CACHE_HOME": f"{self._place}/cache"}
        return {**env, "PYTHONPATH": str(ROOT), MARK: self._mark, **own}

    def _words(self, field: list[Entrant]) -> list[object]:
        """Of the command line: to begin with, or to go on."""
        options, folder = self._options, self._place / "tournament"
        if (folder / FILE).exists():
            return ["--resume", "tournament", "--games", self._games]
        words: list[object] = ["--out", "tournament", "--name", "soak", "--games", self._games]
        words += [word for variant in VARIANTS for word in ("--variant", variant)]
        words += [word for entrant in field for word in ("--bot", entrant.folder)]
        words += ["--time", options.time, "--jobs", options.jobs, "--sandbox", self._level]
        if self._level is not Level.NONE:
            words += [word for item in LIMITS.items() for word in ("--limit", "=".join(item))]
            words += ["--freeze"] if options.freeze else []
        return words

    def _play(self, field: list[Entrant]) -> None:
        """Run after run, until the time is over."""
        seconds, given, last = self._options.seconds, 0, False
        # First one that is cut off amid what comes before the games, such as a build.
        going_on = self._play_once(
            field, signal.SIGKILL, lambda run: run.wait(self._chance.uniform(0.2, 2.0))
        )
        while going_on and (self._now_s() < seconds or not last):
            # Each signal once at least, however slow the machine is.
            last = given >= len(SIGNALS) and self._now_s() >= seconds * (1 - 1 / LAST_SHARE)
            number = signal.SIGINT if last else SIGNALS[given % len(SIGNALS)]
            let_play = self._to_the_end if last else partial(self._for_a_while, before=number)
            going_on = self._play_once(field, number, let_play)
            given += self._ended[-1].by == number.name

    def _play_once(
        self, field: list[Entrant], number: signal.Signals, let_play: Callable[[Run], object]
    ) -> bool:
        """One run, ended by this signal; whether it makes sense to go on."""
        self._last_run_s = self._now_s()
        run = Run(self._words(field), self._place, self._mark, self._env())
        try:
            with self._watch.over(run.process.pid, run.is_playing):
                let_play(run)
                ended = run.end(number)
        finally:
            run.stop()
        self._books.compare(run.told.keys(), run.surely_kept(ended))
        self._ended.append(ended)
        if run.finished:
            self._games += self._options.games
        told = f"{len(run.told)} games, ended by {ended.by} in {ended.ending_s:.1f} s"
        self._tell(f"  {self._now_s():.0f} s: {told}")
        for trouble in (*ended.trouble, *ended.left):
            self._tell(f"    {trouble}")
        return not ended.trouble

    def _to_the_end(self, run: Run) -> None:
        run.await_games(PATIENCE_S)
        run.wait(self._options.seconds - self._now_s())

    def _for_a_while(self, run: Run, before: signal.Signals) -> None:
        """Before this signal comes."""
        if len(self._ended) % EARLY == EARLY - 1:
            run.wait(PATIENCE_S, run.started)
            run.wait(self._chance.uniform(0.0, 1.0))
            return
        run.await_games(PATIENCE_S)
        usual_s = min(max(self._options.seconds / 15, 0.5), 15.0)
        pause_s = usual_s * self._chance.uniform(0.5, 1.5)
        # After a SIGKILL, only games that were told of some time before must have been kept.
        run.wait(pause_s + (SAFE_S if before is signal.SIGKILL else 0.0))

    def _checks(self, field: list[Entrant], counted: Account, records: Check) -> list[Check]:
        samples, place = self._watch.samples, self._place
        found = [
            checks.ended_well(self._ended),
            checks.nobody_left(self._ended),
            *checks.no_growth(samples, self._last_run_s),
            checks.small_enough(samples),
            checks.no_files_left(place, self._mark),
            checks.logs_are_short(place / "tournament"),
            checks.books_hold(counted, self._books.trouble, self._standings()),
            records,
            checks.honest_are_blameless(field, counted),
        ]
        if self._level is Level.FULL:
            found.append(checks.no_groups_left())
        return found

    def _standings(self) -> dict[str, int]:
        command = [*REFEREE, "standings", "tournament", "--json"]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, cwd=self._place, env=self._env(), check=True
        )
        standings: dict[str, int] = json.loads(done.stdout)
        return standings

    def _report(self, field: list[Entrant], victim: subprocess.Popen[bytes]) -> Report:
        counted = account(self._place / "tournament")
        records, verified = checks.records_hold(self._place, self._env())
        found = [*self._checks(field, counted, records), checks.lives(victim)]
        held = all(check.held for check in found)
        games_of: Counter[str] = Counter()
        for entrant in field:
            games_of[entrant.kind] += counted.games_of.get(entrant.name, 0)
        return Report(
            held=held,
            seconds=round(self._end_s, 1),
            level=self._level.value,
            seed=self._seed,
            bots=_by_kind(field),
            games=counted.games,
            games_of=dict(games_of),
            endings=counted.endings,
            runs=dict(Counter(run.by for run in self._ended)),
            longest_ending_s=round(max(run.ending_s + run.gone_s for run in self._ended), 2),
            most_processes=self._watch.most_processes,
            most_fds=self._most("fds"),
            most_threads=self._most("threads"),
            peak_kb=self._most("peak_kb"),
            database_kb=(self._place / "tournament" / FILE).stat().st_size // 1024,
            records=verified,
            checks=found,
            folder=None if held else str(self._place),
        )

    def _most(self, field: str) -> dict[str, int]:
        most: dict[str, int] = {}
        for sample in self._watch.samples:
            most[sample.role] = max(most.get(sample.role, 0), getattr(sample, field))
        return most


def _by_kind(field: list[Entrant]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for entrant in field:
        names.setdefault(entrant.kind, []).append(entrant.name)
    return names


@contextmanager
def _victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process that hostile bots reach for; of the user that they run as."""
    with subprocess.Popen(["sleep", "infinity"], user=servant()) as victim:
        try:
            yield victim
        finally:
            victim.kill()


def keep(report: Report, told: list[str], folder: Path) -> None:
    """What did not hold, beside what it was seen in: a terminal forgets, and CI keeps folders."""
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    (folder / "report.txt").write_text("\n".join([*told, *_told(report), ""]), "utf-8")


def _told(report: Report) -> Iterator[str]:
    yield f"{report.games} games in {report.seconds:.0f} s, by ending: {_listed(report.endings)}"
    yield f"runs by what ended them: {_listed(report.runs)}"
    yield f"most descriptors: {_listed(report.most_fds)}; threads: {_listed(report.most_threads)}"
    yield f"most processes at a time: {report.most_processes}; database {report.database_kb} kB"
    for check in report.checks:
        yield f"{'pass' if check.held else 'FAIL'}  {check.name}: {check.told}"
    yield "everything holds" if report.held else f"something does not hold; see {report.folder}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())
