"""Processes that do one thing for the daemon, when the daemon is gone in the middle of a word."""

from __future__ import annotations

import subprocess
import sys

import pytest

from referee.daemon.child import PACKAGES, PROGRAM
from tests.waiting import PATIENCE_S

ERRANDS = ("examining", "rebuilding", "relaying")


@pytest.mark.parametrize("said", [b"", b'{"bot":'])
@pytest.mark.parametrize("errand", ERRANDS)
def test_half_a_request_is_nobodys(errand: str, said: bytes) -> None:
    program = PROGRAM.format(module=f"referee.daemon.{errand}")
    words = [sys.executable, "-P", "-c", program, str(PACKAGES)]
    done = subprocess.run(words, input=said, capture_output=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
