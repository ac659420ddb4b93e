"""What a process of the daemon's own writes to its standard error, as lines of the journal.

It is meant for whoever reads the daemon's log, in the form that was asked for there: a warning of a
library, the last words of something that broke down. A thread for each, since a pipe that nobody
reads would stop whoever writes.
"""

from __future__ import annotations

import os
import threading

from referee.daemon.journal import Journal

READ_BYTES = 1 << 16
LONGEST = 2000
"""Of a line, which is cut there: bytes."""
LATE_S = 1.0
"""For what was written before the end and not yet read."""


class Overhearing:
    """One process's standard error; `fd` is for the process, which writes to it."""

    def __init__(self, who: str, journal: Journal) -> None:
        self._who = who
        self._journal = journal
        self._from, self.fd = os.pipe()
        self.last = ""
        """The last line."""
        self._thread = threading.Thread(target=self._listen, name=f"hears {who}", daemon=True)
        self._thread.start()

    def started(self) -> None:
        """Nobody else is to be given our end of the pipe."""
        os.close(self.fd)

    def close(self) -> None:
        """After the end of the process: hear what is left."""
        self._thread.join(LATE_S)

    def _listen(self) -> None:
        left = b""
        while data := os.read(self._from, READ_BYTES):
            *lines, left = (left + data).split(b"\n")
            for line in lines:
                self._tell(line)
            if len(left) > LONGEST:
                self._tell(left)
                left = b""
        self._tell(left)
        os.close(self._from)

    def _tell(self, line: bytes) -> None:
        text = line[:LONGEST].decode(errors="replace").rstrip()
        if text:
            self.last = text
            self._journal.warning("said", by=self._who, line=text)
