"""Which descriptor belongs to whom, and who has not read all that was sent to it."""

from __future__ import annotations

import select

from referee.arena.player import Player
from referee.links.pipe import PipeLink


class Switchboard:
    """The poll object of a slot. `poll` and `speakers` are used by the hot loop as they are."""

    def __init__(self) -> None:
        self._poller = select.poll()
        self.poll = self._poller.poll
        self.speakers: dict[int, Player] = {}
        """Who speaks on which descriptor."""
        self._slow_readers: dict[int, Player] = {}
        """Who has not read all that was sent, by the descriptor to send on."""

    def connect(self, player: Player, link: PipeLink) -> None:
        self.speakers[link.fd] = player
        self._poller.register(link.fd, select.POLLIN)

    def forget(self, player: Player) -> None:
        """Descriptors are numbers that come again: let go of them before they are closed."""
        link = player.link
        if link is not None:
            for fd, known in ((link.fd, self.speakers), (link.out_fd, self._slow_readers)):
                if known.pop(fd, None) is not None:
                    self._poller.unregister(fd)

    def send_later(self, player: Player, data: bytes) -> None:
        """The pipe is full: the rest goes out when the bot has read."""
        link = player.link
        assert link is not None
        link.unsent += data
        if link.out_fd not in self._slow_readers:
            self._slow_readers[link.out_fd] = player
            self._poller.register(link.out_fd, select.POLLOUT)

    def flush(self, fd: int) -> Player | None:
        """A slow reader has read, or closed its end: then it is given back."""
        player = self._slow_readers.get(fd)
        if player is None or player.link is None:
            return None
        try:
            player.link.flush()
        except BrokenPipeError:
            return player
        if not player.link.unsent:
            self._poller.unregister(fd)
            del self._slow_readers[fd]
        return None
