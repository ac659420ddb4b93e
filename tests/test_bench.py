"""The benchmark runs and says what it promises. Its figures are for people, not for tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages import works

BENCH = Path(__file__).parent.parent / "benchmarks" / "bench.py"


@pytest.mark.skipif(not works("gcc"), reason="gcc or its C library is not installed")
def test_the_last_line_is_one_json_object() -> None:
    command = [sys.executable, str(BENCH), "--repeats", "1"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for name in ("floor_us", "single_us", "many_us", "python_us"):
        assert figures[name] > 0
    assert "× floor" in output
    assert ("pinned to core" in output) == figures["pinned"]
