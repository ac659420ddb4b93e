"""The simulation of a tournament that nobody can try out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def simulated(**options: float) -> tuple[str, dict[str, float]]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "benchmarks.scale", *words]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return output, json.loads(output.splitlines()[-1])


def test_what_is_assumed_is_printed() -> None:
    output, found = simulated(games=100_000, workers=10)
    assert 0.5 < found["workers_busy"] <= 1
    assert found["store_gb"] > 0
    assert "Assumed:" in output
    assert "10  dask workers, a core each (as given)" in output


def test_every_bot_has_to_be_sent_built_started_and_rated() -> None:
    _, few = simulated(games=100_000, workers=10, bots=1_000)
    _, many = simulated(games=100_000, workers=10, bots=2_000)
    for name in ("sending_s", "building_s", "calling_s", "sent_gb"):
        assert many[name] == pytest.approx(2 * few[name])
    assert many["rating_s"] == pytest.approx(8 * few["rating_s"])


def test_more_workers_than_the_coordinator_can_serve_bring_nothing() -> None:
    _, one = simulated(games=300_000, bots=100, workers=20, chunk_ms=1_000)
    _, two = simulated(games=300_000, bots=100, workers=40, chunk_ms=1_000)
    assert one["coordinator_workers"] < 3
    assert one["coordinator_busy"] > 0.95
    assert two["playing_s"] == pytest.approx(one["playing_s"], rel=0.1)
