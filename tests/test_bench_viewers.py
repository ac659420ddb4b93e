"""The benchmark of viewers runs and says what it promises. Its figures are for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "benchmarks" / "viewers.py"


@pytest.mark.slow
def test_the_last_line_is_one_json_object() -> None:
    words = ["--repeats", "1", "--seconds", "2", "--bots", "4", "--viewers", "5", "--views", "5"]
    command = [sys.executable, str(BENCH), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("games_ratio", "delay_ratio", "views_per_s"):
        assert figures[name] > 0
    assert "5 viewers, 5 page views a second" in output
