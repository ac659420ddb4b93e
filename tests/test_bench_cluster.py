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
    words = ["--repeats", "1", "--games", "4", "--quick", "100"]
    command = [sys.executable, str(BENCHMARKS / "cluster.py"), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("workers2_ratio", "coordinator_us", "workers_thinking"):
        assert figures[name] > 0


def test_a_tournament_that_nobody_can_try_out() -> None:
    words = ["--games", "100000", "--workers", "10"]
    command = [sys.executable, str(BENCHMARKS / "scale.py"), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    found = json.loads(output.splitlines()[-1])
    assert 0.5 < found["workers_busy"] <= 1
    assert found["store_gb"] > 0
    assert "Assumed:" in output
