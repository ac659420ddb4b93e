"""The benchmark of clusters runs and says what it promises. Its figures are for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages import works

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.slow
@pytest.mark.skipif(not works("gcc"), reason="gcc or its C library is not installed")
def test_the_last_line_is_one_json_object() -> None:
    words = ["--repeats", "1", "--games", "4", "--quick", "100", "--bots", "6"]
    command = [sys.executable, str(BENCHMARKS / "cluster.py"), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("workers2_ratio", "chunk_cpu_ms", "chunk_busy_ms", "commit_ms", "line_bytes"):
        assert figures[name] > 0
    # What a game costs is lost in the noise of so few.
    assert figures["coordinator_us"] >= 0
    assert figures["workers_thinking"] == pytest.approx(2 * figures["most_chunks_per_s"], rel=0.01)


def worked_out(**options: float) -> tuple[str, dict[str, float]]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [sys.executable, str(BENCHMARKS / "scale.py"), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return output, json.loads(output.splitlines()[-1])


def test_a_tournament_that_nobody_can_try_out() -> None:
    output, found = worked_out(games=100_000, workers=10)
    assert 0.5 < found["workers_busy"] <= 1
    assert found["store_gb"] > 0
    assert "Assumed:" in output
    assert "10  dask workers, a core each (as given)" in output


def test_every_bot_has_to_be_sent_built_started_and_rated() -> None:
    _, few = worked_out(games=100_000, workers=10, bots=1_000)
    _, many = worked_out(games=100_000, workers=10, bots=2_000)
    for name in ("sending_s", "building_s", "calling_s", "sent_gb"):
        assert many[name] == pytest.approx(2 * few[name])
    assert many["rating_s"] == pytest.approx(8 * few["rating_s"])


def test_more_workers_than_the_coordinator_can_serve_bring_nothing() -> None:
    _, one = worked_out(games=300_000, bots=100, workers=20, chunk_ms=1_000)
    _, two = worked_out(games=300_000, bots=100, workers=40, chunk_ms=1_000)
    assert one["coordinator_workers"] < 3
    assert one["coordinator_busy"] > 0.95
    assert two["playing_s"] == pytest.approx(one["playing_s"], rel=0.1)
