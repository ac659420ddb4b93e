"""The benchmark of the hall runs and says what it promises. Its figures are for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent.parent / "benchmarks" / "hall.py"


def test_the_last_line_is_one_json_object() -> None:
    words = ["--repeats", "1", "--answers", "400", "--bots", "12", "--games", "4"]
    command = [sys.executable, str(BENCH), *words]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("bare_delay_us", "hall_delay_us", "delay_ratio", "pace_ratio"):
        assert figures[name] > 0
    assert "12 bots, 4 games at once" in output
