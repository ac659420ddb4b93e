"""The control group of a bot: made for it, and removed with all that is left in it."""

from __future__ import annotations

import contextlib
import os
import time

REMOVING_S = 5.0


class Group:
    """The control group of a bot."""

    def __init__(self, path: str, limits: dict[str, int]) -> None:
        self._path = path
        self._limits = limits

    def make(self) -> None:
        """Raises OSError."""
        if self._path:
            os.mkdir(self._path)  # noqa: PTH102  # no pathlib, as in log.py
            for name, value in self._limits.items():
                self._write(name, str(value))

    def join(self) -> None:
        if self._path:
            self._write("cgroup.procs", "0")

    def ran_out_of_memory(self) -> bool:
        counts: dict[str, str] = {}
        if self._path:
            with contextlib.suppress(OSError), open(f"{self._path}/memory.events") as file:
                counts = dict(line.split() for line in file)
        return counts.get("oom_kill", "0") != "0"

    def is_half_full(self) -> bool:
        """Whether its processes have half of the memory that they may have, or more."""
        most = self._limits.get("memory.max", 0)
        if not (self._path and most):
            return False
        try:
            with open(f"{self._path}/memory.current") as file:
                return 2 * int(file.read()) >= most
        except OSError:
            return False

    def remove(self) -> None:
        """With all that is left in it."""
        if not self._path:
            return
        give_up = time.monotonic() + REMOVING_S
        while time.monotonic() < give_up:
            with contextlib.suppress(OSError):
                self._write("cgroup.kill", "1")
            try:
                os.rmdir(self._path)  # noqa: PTH106  # nor here
            except FileNotFoundError:
                return
            except OSError:  # its processes are still on their way out
                time.sleep(0.001)
            else:
                return

    def _write(self, name: str, value: str) -> None:
        with open(f"{self._path}/{name}", "w") as file:
            file.write(value)
