"""Where a bot that the referee starts finds it, if it speaks ZeroMQ.

A socket of its own for every process, in a folder that only the bot and the referee can enter: a
confined bot has no network, and sees this folder where the walls put it. The first connection is
the bot's; then the folder is gone and nobody else can call.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import tempfile
from pathlib import Path

from referee.bots.confinement.identity import may_pass
from referee.links.pipe import PipeLink

SOCKET_NAME = "referee"
LONGEST_PLACE = 75
"""The system takes paths of sockets up to 103 characters, or 107."""
SHORT_FOLDER = "/tmp"
ENDPOINT, TOKEN = "REFEREE_ENDPOINT", "REFEREE_TOKEN"
"""The variables that tell the bot where to connect, and what its hello must carry."""


class LocalEndpoint:
    """A socket that waits for one bot, and its connection once it is there."""

    def __init__(self, user: int | None = None) -> None:
        """`user` is whom the bot is handed to; None is ourselves. Raises OSError."""
        self.token = secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix="referee-", dir=_place(user)))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection: socket.socket | None = None
        self._out_fd = -1
        try:
            path = self.folder / SOCKET_NAME
            self._listener.setblocking(False)
            self._listener.bind(str(path))
            path.chmod(0o600)
            if user is not None:
                os.chown(path, user, user)
                os.chown(self.folder, user, user)
            self._listener.listen(1)
        except BaseException:
            self.close()
            raise

    @property
    def fd(self) -> int:
        """To be polled for reading until there is a connection."""
        return self._listener.fileno()

    def variables(self, folder: str | None = None) -> dict[str, str]:
        """What the bot finds in its environment; `folder` is what it calls this folder."""
        where = folder or str(self.folder)
        return {ENDPOINT: f"ipc://{where}/{SOCKET_NAME}", TOKEN: self.token}

    def accept(self) -> PipeLink | None:
        """The link to the bot, if it has connected."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return None
        connection.setblocking(False)
        self._connection = connection
        # One number to poll for reading and another for writing, as pipes have them.
        self._out_fd = os.dup(connection.fileno())
        self._shut()
        return PipeLink(self._out_fd, connection.fileno())

    def close(self) -> None:
        self._shut()
        if self._connection is not None:
            self._connection.close()
            os.close(self._out_fd)
            self._connection = None

    def _shut(self) -> None:
        self._listener.close()
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)


def _place(user: int | None) -> str:
    """Where the folder is made: the usual place, unless its path is too long or closed."""
    usual = tempfile.gettempdir()
    closed = user is not None and not may_pass(Path(usual), user)
    return SHORT_FOLDER if closed or len(usual) > LONGEST_PLACE else usual
