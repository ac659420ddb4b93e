"""The web process, from the daemon's side: started, listened to, and started anew where it ends."""

from __future__ import annotations

from pathlib import Path

import msgspec

from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.mistake import REFUSED, Mistake

MODULE = "referee.web.main"
AGAIN_S = 5.0
"""From its end to the next start."""
LEAVE_S = 3.0


class PagesBroken(Mistake):
    """The pages could not be served; says where."""

    status = REFUSED


class Pages:
    """The pages and the API."""

    def __init__(self, settings: dict[str, object], data: Path, journal: Journal) -> None:
        """`settings` are what the web process reads from its first line."""
        self.url: str | None = None
        """Where they are, once it listens."""
        self._settings = settings
        self._data = data
        self._journal = journal
        self._child: Child | None = None
        self._buffer = b""
        self._start_at = 0.0

    @property
    def fd(self) -> int | None:
        return None if self._child is None else self._child.fd

    def look(self, now: float) -> None:
        """Start it where it does not run, and hear what it says."""
        if self._child is None:
            if now >= self._start_at:
                self._start_at = now + AGAIN_S
                self._buffer = b""
                self._child = Child(MODULE, "pages", self._journal, cwd=self._data)
                self._child.send(msgspec.json.encode(self._settings) + b"\n")
            return
        data = self._child.read()
        if data is None:
            self._child.close(LEAVE_S)
            child, self._child = self._child, None
            how = child.how_it_ended()
            if self.url is None:
                where = f"{self._settings['host']}:{self._settings['port']}"
                why = (
                    child.last_words().removeprefix("referee: ") or f"what serves them ended {how}"
                )
                raise PagesBroken(f"there are no pages at {where}: {why}")
            self._journal.error("the pages have ended, and are started anew", how=how)
        elif data:
            self._buffer += data
            *lines, self._buffer = self._buffer.split(b"\n")
            for line in lines:
                self._take(line)

    def close(self) -> None:
        if self._child is not None:
            self._child.close(LEAVE_S)
            self._child = None

    def _take(self, line: bytes) -> None:
        try:
            said = msgspec.json.decode(line, type=dict[str, str])
        except msgspec.MsgspecError:
            return
        if "ready" in said:
            self.url = said["ready"]
            self._settings = {**self._settings, "port": _port(self.url)}


def _port(url: str) -> int:
    """So that it comes back where it was, though any free port would have done."""
    return int(url.rstrip("/").rpartition(":")[2])
