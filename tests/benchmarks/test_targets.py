"""Every bench target of the Makefile runs, at its small size, and prints what it promises.

make itself runs the recipes; only the prerequisites are left out, which install packages. A new
target fails here until it takes `SMALL=1` and EXPECTED says what it prints. The figures are for
people: no test compares them with anything.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.packages import works
from tests.vm.run_in_vm import lacking, usual_machine

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
RULES = dict(re.findall(r"^(bench[\w-]*):(.*)$", MAKEFILE, re.MULTILINE))
"""Each bench target, and what it depends on."""
SETTING_UP = ("packages", "machine", ".venv/.ready-demo", ".venv/.ready-test")


class Expected(NamedTuple):
    """What a target prints."""

    rows: tuple[str, ...]
    """Labels among its lines."""
    figures: str
    """Names in the JSON of its last line."""
    needs: tuple[str, ...] = ()
    """Commands without which it cannot run."""


RATIOS = "single_ratio many_ratio freeze_single_ratio freeze_many_ratio start_ms"
EXPECTED = {
    "bench": Expected(
        ("× floor", "\nfloor ", "\nsingle ", "\nmany ", "\npython ", "\npython_single "),
        "floor_us single_us single_ratio many_us many_ratio python_us python_ratio "
        "python_single_us python_single_ratio pinned",
        ("gcc",),
    ),
    "bench-tournament": Expected(
        ("(a)", " arena ", "(b)", " one worker ", "(c)", " standings of ", " report of "),
        "cores tournament_ratio tournament_cpu_ratio jobs2_ratio standings_s report_s",
        ("gcc",),
    ),
    "bench-contest": Expected(
        ("(a)", " none ", " standard ", "(b)", " bare starts ", " two bots ", "(c)", " java "),
        "start_none_ms start_standard_ms bare_starts_s contest_none_s two_bots_none_s "
        "contest_none_stateless_s two_bots_none_stateless_s ratio_none_stateless "
        "contest_standard_s two_bots_standard_s contest_standard_stateless_s "
        "two_bots_standard_stateless_s ratio_standard_stateless java_s java_stateless_s",
        ("gcc", "bwrap", "javac"),
    ),
    "bench-start": Expected(
        ("(a)", " --version ", " match --help ", "(b)", " match, none ", " tournament, standard "),
        "bare_ms version_ms help_ms match_help_ms match_none_ms match_none_fork_server_ms "
        "tournament_none_ms tournament_none_worker_ms tournament_none_fork_servers_ms "
        "match_standard_ms match_standard_fork_server_ms tournament_standard_ms "
        "tournament_standard_worker_ms tournament_standard_fork_servers_ms probe_ms "
        "match_none_all_ms tournament_none_all_ms match_standard_all_ms "
        "tournament_standard_all_ms",
        ("bwrap",),
    ),
    "bench-store": Expected(
        (" games in ",),
        "bots games write_us write_cpu_us plain_record_bytes bytes_a_game pairings standings_s "
        "standings_json_s standings_peak_mb record_us",
    ),
    "bench-rate": Expected(
        ("\nstart alone ", "\nsmall ", "\nlarge ", " without the start of both: ", "\ntargets: "),
        "rate_small_ratio rate_small_ratio_after_start rate_large_ratio "
        "rate_large_ratio_after_start rate_peak_mb",
    ),
    "bench-ratings": Expected(
        ("{'bots': 60, ", "{'bots': 90, "), "bots pairs rating_s cpu_s peak_mb ns_a_cube"
    ),
    "bench-confinement": Expected(("\nlevel full", "\nlevel standard"), RATIOS, ("gcc",)),
    "bench-full": Expected(("\nlevel full, ", "\nlevel standard, "), RATIOS, ("gcc",)),
    "bench-hall": Expected(
        ("12 bots, 4 games at once", "\ndelay ", "\npace ", "\ncpu "),
        "bare_delay_us hall_delay_us delay_ratio bare_pace_us hall_pace_us pace_ratio bare_cpu_us "
        "hall_cpu_us cpu_ratio",
    ),
    "bench-cluster": Expected(
        ("(a) one worker ", " short chunks: ", "\nIt can take "),
        "workers2_ratio thinking_games_per_s chunk_cpu_ms coordinator_us chunk_busy_ms "
        "game_busy_us commit_ms scheduler_chunk_ms line_bytes quick_games_per_s "
        "quick_games_a_chunk most_chunks_per_s workers_thinking workers_quick",
        ("gcc",),
    ),
    "bench-viewers": Expected(
        ("\nwithout, with ", "\n5 viewers, 7 page views a second: games take "),
        "games_ratio delay_ratio views_per_s",
    ),
    "bench-archive": Expected(
        ("\n660 games written in ", "\narchived in ", "\nthe first page, ", "\na page of games, "),
        "games write_s archive_s pieces bytes index_bytes largest_page_bytes index_open_s "
        "page_open_s",
        ("chromium",),
    ),
}


def make(target: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the recipe of a target with the Python of the tests, and nothing that it depends on."""
    ready = [word for name in SETTING_UP for word in ("--old-file", name)]
    command = ["make", *ready, target, f"BIN={Path(sys.executable).parent}", "VENV=.venv", *words]
    # What an outer make was told is not meant for this one.
    plain = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True)


def recipe(target: str, *words: str) -> list[str]:
    """The words of the one command that the target runs."""
    return make(target, "--dry-run", *words).stdout.replace("\\\n", " ").split()


def measurements(last: Any) -> list[dict[str, float]]:
    """The objects that hold figures: one, or one for each size or each level."""
    if isinstance(last, list):
        return last
    parts = list(last.values())
    return parts if parts and all(isinstance(part, dict) for part in parts) else [last]


def must_be_possible(target: str) -> None:
    """Skip the test where this machine lacks what the target needs."""
    for command in EXPECTED[target].needs:
        if not works(command):
            pytest.skip(f"{command} is not installed")
    if "machine" in RULES[target].split() and (packages := lacking(usual_machine())):
        pytest.skip(f"no virtual machine: make machine installs {' '.join(packages)}")


def test_every_target_is_expected_and_described() -> None:
    described = re.findall(r"^# make (bench[\w-]*) ", MAKEFILE, re.MULTILINE)
    assert set(RULES) == set(EXPECTED) == set(described)


@pytest.mark.slow
@pytest.mark.parametrize("target", RULES)
def test_a_target_prints_its_rows_and_its_figures(target: str) -> None:
    expected = EXPECTED[target]
    must_be_possible(target)
    done = make(target, "SMALL=1")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    for row in expected.rows:
        assert row in done.stdout + done.stderr
    for found in measurements(json.loads(done.stdout.splitlines()[-1])):
        assert list(found) == expected.figures.split()
        assert all(math.isfinite(value) for value in found.values())


def test_the_machine_runs_what_runs_outside_of_it() -> None:
    """So what can break bench-full on a machine without its packages is the machine alone."""
    outside = recipe("bench-confinement", "SMALL=1")
    assert recipe("bench-full", "SMALL=1")[-len(outside) :] == outside
    usual = recipe("bench-confinement")
    assert recipe("bench-full")[-len(usual) - 2 :] == [*usual, "--games", "200"]


def test_a_size_that_is_asked_for_reaches_the_store() -> None:
    assert recipe("bench-store", "GAMES=5000")[-2:] == ["--games", "5000"]
    assert recipe("bench-store", "SMALL=1", "BOTS=7")[-3:] == ["--small", "--bots", "7"]
