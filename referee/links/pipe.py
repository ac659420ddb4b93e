"""Bytes to and from a bot over two pipes, or a socket with two numbers. Never blocks."""

from __future__ import annotations

import contextlib
import os

READ_SIZE = 4 * 1024
"""One read. os.read allocates this much each time, so more costs more, even if little comes."""
SMALL_READ = 448
"""Where one short answer is expected: Python has room for this much at hand, without malloc."""


class PipeLink:
    """The two pipes of one bot process."""

    __slots__ = ("fd", "out_fd", "unsent")

    def __init__(self, stdin: int, stdout: int) -> None:
        self.fd = stdout
        """Where the bot's words arrive: to be polled for reading."""
        self.out_fd = stdin
        """Where ours go: to be polled for writing while there is something unsent."""
        self.unsent = b""

    def write(self, data: bytes) -> None:
        """Send what the pipe takes now and keep the rest. Raises BrokenPipeError."""
        if self.unsent:
            self.unsent += data
            data = b""
            self.flush()
            return
        try:
            sent = os.write(self.out_fd, data)
        except BlockingIOError:
            sent = 0
        if sent != len(data):
            self.unsent = data[sent:]

    def flush(self) -> None:
        """Try to send what is unsent. Raises BrokenPipeError."""
        try:
            sent = os.write(self.out_fd, self.unsent)
        except BlockingIOError:
            return
        self.unsent = self.unsent[sent:]

    def reply(self, data: bytes) -> None:
        """Write. Where nobody reads any more, that is found out by whoever listens."""
        with contextlib.suppress(BrokenPipeError):
            self.write(data)

    def read(self) -> bytes | None:
        """What has arrived; empty at the end of the stream, None when nothing is there yet."""
        try:
            return os.read(self.fd, READ_SIZE)
        except BlockingIOError:
            return None
        except ConnectionResetError:  # a socket whose other end was closed with something unread
            return b""
