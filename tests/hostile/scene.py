"""What a hostile bot finds around it in the tests: somebody to talk to, to spy on and to kill."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

from referee.bots.confinement.identity import servant

SECRET = "HOSTILE_TEST_SECRET"
"""A variable of the referee's environment."""
PLACES = ("/tmp", "/dev/shm", "/var/tmp", "/", "/dev", "/usr")
"""Where a hostile bot tries to leave files."""
WORD_S = 1.0
"""What a guest has to say its word."""
VICTIM_S = 3600
"""Longer than any test: a victim is to end by somebody's hand."""


class Scene:
    """One test's surroundings. The mark is in the command line of every bot."""

    def __init__(self, folder: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.folder = folder
        """The tournament's."""
        self.heard: list[str] = []
        """Over which sockets a bot was heard."""
        self.victims: list[subprocess.Popen[bytes]] = []

    def words(self, wanted: tuple[str, ...]) -> list[str]:
        """A bot's words, with what they stand for filled in."""
        values = {
            "opponent": str(self.bots / "good"),
            "database": str(self.folder / "tournament.db"),
            "logs": str(self.folder / "logs"),
            "neighbour": str(self.neighbour),
            "secret": SECRET,
            "tcp": str(self.tcp),
            "udp": str(self.udp),
            "abstract": self.abstract,
            "path": self.path,
        }
        found: list[str] = []
        for word in wanted:
            if word == "{victims}":
                found += [str(victim.pid) for victim in self.victims]
            else:
                found.append(word.format(**values))
        return found

    def processes(self) -> list[str]:
        """Those that carry the mark in their command line, as far as /proc tells."""
        found: list[str] = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = os.fsdecode((folder / "cmdline").read_bytes()).split("\0")
                if any(self.mark in word for word in words):
                    found.append(f"{folder.name}: {' '.join(words)}")
        return found

    def files(self) -> list[Path]:
        """Those that have the mark in their name."""
        places = [*map(Path, PLACES), *self.bots.glob("*")]
        found: list[Path] = []
        for place in places:
            with contextlib.suppress(OSError):
                found += place.glob(f"*{self.mark}*")
        return found

    @property
    def victims_live(self) -> bool:
        return all(victim.poll() is None for victim in self.victims)

    @contextlib.contextmanager
    def set(self) -> Iterator[Scene]:
        """Everything is there, and nothing of it afterwards."""
        with contextlib.ExitStack() as stack:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scene-")))
            # Where the user may read to whom bots are handed, so that nobody has to make copies.
            place.chmod(0o755)
            self.bots = place / "bots"
            self.neighbour = place / "neighbour.txt"
            self.neighbour.write_text("not for you")
            self.path = str(place / "socket")
            self._listen(stack)
            self._put_victims(stack)
            os.environ[SECRET] = "not for you"
            stack.callback(os.environ.pop, SECRET)
            stack.callback(self._tidy)
            yield self

    def _tidy(self) -> None:
        for path in self.files():
            path.unlink()

    def _put_victims(self, stack: contextlib.ExitStack) -> None:
        """One of this user, and where root plays also one of the user that bots are handed to."""
        for user in (None, *_servants()):
            victim = subprocess.Popen(["sleep", str(VICTIM_S)], user=user)
            self.victims.append(victim)
            stack.callback(victim.wait)
            stack.callback(victim.kill)

    def _listen(self, stack: contextlib.ExitStack) -> None:
        self.abstract = f"hostile-{self.mark}"
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.tcp = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        self.udp = udp.getsockname()[1]
        listeners = {"tcp": tcp, "udp": udp}
        for name, address in (("abstract", f"\0{self.abstract}"), ("path", self.path)):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            unix.bind(address)
            unix.listen()
            listeners[name] = unix
        Path(self.path).chmod(0o666)
        ended, end = os.pipe()
        thread = threading.Thread(target=self._welcome, args=(listeners, ended))
        thread.start()
        stack.callback(os.close, ended)
        stack.callback(thread.join)
        stack.callback(os.close, end)

    def _welcome(self, listeners: dict[str, socket.socket], ended: int) -> None:
        """Answer everybody, until the other end of the pipe is closed."""
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ, None)
            for name, listener in listeners.items():
                selector.register(listener, selectors.EVENT_READ, name)
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        return
                    self.heard.append(key.data)
                    if key.data == "udp":
                        _, sender = listeners["udp"].recvfrom(16)
                        listeners["udp"].sendto(b"welcome", sender)
                    else:
                        guest, _ = listeners[key.data].accept()
                        with guest:
                            guest.settimeout(WORD_S)
                            if guest.recv(16):
                                guest.sendall(b"welcome")


def _servants() -> list[int]:
    user = servant()
    return [] if user is None else [user]
