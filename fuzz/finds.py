"""What was found: the input as a file, once for each place that gave way, and how to see it."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HOME = Path(".fuzz")
"""Everything that is kept from run to run; git does not look at it."""
SAID = "FOUND "
LONGEST_TOLD = 300
SLOWEST_S = 1.0
"""Of one input, in time of the processor; more is a find."""
ROOT = Path(__file__).parents[1]


class Find(NamedTuple):
    target: str
    what: str
    """The exception, and the line of code that it came from."""
    input: str

    @property
    def command(self) -> str:
        """What shows it again."""
        again = f"python -m fuzz.run {self.target}"
        return f"{again} --input {self.input}" if self.input else again


def folder_of(target: str) -> Path:
    """Where the inputs are kept that broke a target."""
    return HOME / "found" / target


class Watch:
    """Tries inputs and goes on after a find, so that one run can find several."""

    def __init__(self, target: str, try_it: Callable[[bytes], None]) -> None:
        self._target = target
        self._try_it = try_it
        self._known: set[str] = set()

    def __call__(self, data: bytes) -> Find | None:
        began = time.process_time()
        try:
            self._try_it(data)
        except Exception as error:
            place = _place(error)
            return self._keep(data, place, f"{_told(error)} ({place})")
        took = time.process_time() - began
        return self._keep(data, "slow", f"it took {took:.1f} s") if took > SLOWEST_S else None

    def _keep(self, data: bytes, place: str, what: str) -> Find | None:
        if place in self._known:
            return None
        self._known.add(place)
        folder = folder_of(self._target)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha256(data).hexdigest()[:16]
        path.write_bytes(data)
        return Find(self._target, what, str(path))


def _told(error: Exception) -> str:
    """An exception in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…"


def _place(error: Exception) -> str:
    """The innermost line of our own code that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT)]
    inside = [frame for frame in ours if ".venv" not in frame.filename][-1]
    return f"{Path(inside.filename).relative_to(ROOT)}, line {inside.lineno}"
