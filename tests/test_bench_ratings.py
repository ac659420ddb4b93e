"""The benchmark of ratings at size runs and says what it promises. Its figures are for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_the_last_line_is_one_json_list() -> None:
    command = [sys.executable, str(BENCHMARKS / "ratings.py"), "--bots", "60", "90"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    small, large = json.loads(output.splitlines()[-1])
    assert (small["bots"], large["bots"]) == (60, 90)
    assert large["pairs"] > small["pairs"] > 60
    assert small["rating_s"] > 0
    assert small["peak_mb"] > 0
