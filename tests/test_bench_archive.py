"""The benchmark of archives runs and says what it promises, on a small season."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "benchmarks" / "archive.py"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here")
def test_the_last_line_is_one_json_object() -> None:
    command = [sys.executable, str(BENCH), "--games", "6000", "--repeats", "1"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    figures = json.loads(output.splitlines()[-1])
    assert (figures["games"], figures["pieces"]) == (5940, 2)
    for name in ("archive_s", "index_open_s", "page_open_s"):
        assert figures[name] > 0
    # The first page does not grow with the games: that is why it opens at once.
    assert figures["index_bytes"] < 500_000
    assert "the first page, 0.2 MB, opens in" in output
