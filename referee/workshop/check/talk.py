"""One process of the bot under check: bytes to it, bytes from it, and what its stderr says.

Nothing here waits without an end. Time is counted in slices, and no slice for more than its length:
while the check itself stands still (Ctrl-Z, a closed lid), no bot is late.
"""

from __future__ import annotations

import fcntl
import termios
import time
from pathlib import Path

from referee.arena.hints import hints_for
from referee.arena.stall import LATE_NS, SLICE_MS
from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.bots.process import NoStart
from referee.bots.starting import limits_of, start_bot
from referee.clock import NS_PER_MS
from referee.links.lines import lines_of
from referee.protocol.codec import excerpt
from referee.verdict import BotFault, Ending

SHOWN_LINES = 5
"""Of what it was sent and wrote to stdout; of stderr all is kept that the keeper keeps."""
SHOWN_BYTES = 300
"""Of a line that is shown; the rest is cut off."""
READ_AWAY_S = 2.0
"""How long a piece of a line waits for the bot to read it before the next piece follows."""
SETTLE_S = 0.02
LAST_WORDS_S = 2.0
"""How long a process may take to end after its output has, before it is said to live on."""


class Talk:
    """A process and its pipes."""

    def __init__(self, bot: Bot, confinement: Confinement, log: Path, startup_ms: int) -> None:
        """Start it. Raises BotFault where the command cannot be run, NotConfined."""
        self.clock_ns = 0
        """The time that was spent waiting for this bot, from its start on."""
        self._woke_ns = time.monotonic_ns()
        self.sent = bytearray()
        self.heard = bytearray()
        self._log = log
        self._most_bytes = limits_of(bot, confinement).turn
        self._heard_since_sent = 0
        self._marks = (0, 0, 0)
        self._over = False
        try:
            self._process = start_bot(bot, confinement, log=log.resolve())
            try:
                self._process.await_start(startup_ms / 1000)
            except BaseException:
                self._process.close()
                raise
        except NoStart as problem:
            raise BotFault(Ending.NO_START, str(problem)) from None
        self.count()
        self._hints = hints_for(bot)
        self._link = lines_of(self._process)

    def say(self, data: bytes) -> None:
        """Send. A bot that does not listen any more is told apart by its output, which ends."""
        self.sent += data
        self._heard_since_sent = 0
        self._woke_ns = time.monotonic_ns()
        if not self._over:
            try:
                self._link.write(data)
            except BrokenPipeError:
                self._over = True

    def say_in_pieces(self, data: bytes) -> None:
        """Send so that every line comes in two reads, its second half with the next line's first.

        Each piece waits until the bot has read the one before. Where the system does not tell how
        much is unread, a moment has to do.
        """
        lines = data.splitlines(keepends=True)
        halves = [(line[: len(line) // 2], line[len(line) // 2 :]) for line in lines]
        before = b""
        for first, second in halves:
            self.say(before + first)
            before = second
            give_up = time.monotonic() + READ_AWAY_S
            time.sleep(SETTLE_S)
            while self._unread() and time.monotonic() < give_up:
                time.sleep(0.001)
        self.say(before)

    def _unread(self) -> bool:
        if self._over:
            return False
        if self._link.unsent:
            self._push()
            return True
        try:
            return any(fcntl.ioctl(self._link.out_fd, termios.FIONREAD, b"\0" * 4))
        except OSError:
            return False

    def _push(self) -> None:
        try:
            self._link.flush()
        except BrokenPipeError:
            self._link.unsent = b""
            self._over = True

    def read(self, until_ns: int) -> bytes | None:
        """What comes next; empty at the end of its output, None if nothing comes until then.

        The time is that of `clock_ns`. Raises BotFault for a flood.
        """
        while True:
            left_ms = max(0, -(-(until_ns - self.clock_ns) // NS_PER_MS))
            ready = self._link.ready(min(SLICE_MS, left_ms))
            self.count()
            if self._link.unsent and not self._over:
                self._push()
            data = self._link.read() if ready else None
            if data is not None:
                self._hear(data)
                return data
            if self.clock_ns >= until_ns:
                return None

    def count(self) -> None:
        """Let the time pass that has passed."""
        now_ns = time.monotonic_ns()
        self.clock_ns += min(now_ns - self._woke_ns, LATE_NS)
        self._woke_ns = now_ns

    def speaks(self, within_ms: int) -> bool:
        """Whether something of it waits to be read, its end included."""
        return self._link.ready(within_ms)

    def _hear(self, data: bytes) -> None:
        self._heard_since_sent += len(data)
        if self._heard_since_sent > self._most_bytes:
            told = f"more than {self._most_bytes} bytes that nobody asked for"
            raise BotFault(Ending.FLOOD, told)
        self.heard += data

    @property
    def said_all(self) -> bool:
        """Whether everything is on its way; what is not goes out while the bot is heard."""
        return self._over or not self._link.unsent

    def hang_up(self) -> None:
        """Close its input."""
        self._over = True
        self._process.end_input()

    def exit_status(self, within_ms: int) -> int | None:
        """With which it ended, negative for a signal; None if it has not within this time."""
        until_ns = self.clock_ns + within_ms * NS_PER_MS
        while self.clock_ns < until_ns:
            # It might wait for somebody to read what it says on its way out.
            if self.read(until_ns) == b"":
                break
        left_ns = max(0, until_ns - self.clock_ns)
        began_ns = time.monotonic_ns()
        status = self._process.exit_status(left_ns / 1e9)
        self.clock_ns += time.monotonic_ns() - began_ns
        return status

    def last_words(self) -> str:
        """How the process ended, where its output has."""
        ended = self._process.how_it_ended(LAST_WORDS_S)
        return f"the bot {ended or self._hints.closed_output}"

    def close(self) -> None:
        """End it, if it has not ended. Its stderr is complete then."""
        self._over = True
        self._process.close()

    # What it was sent and wrote, for people.

    def mark(self) -> None:
        """From here on, evidence is collected anew."""
        self._marks = (len(self.sent), len(self.heard), len(self._errors()))

    def evidence(self) -> dict[str, list[str]]:
        """Since the mark: the last lines to it and from it, and all of its stderr."""
        sent, heard, errors = self._marks
        return {
            "sent": last_lines(bytes(self.sent[sent:])),
            "stdout": last_lines(bytes(self.heard[heard:])),
            "stderr": all_lines(self._errors()[errors:]),
        }

    def _errors(self) -> bytes:
        try:
            return self._log.read_bytes()
        except OSError:
            return b""


def all_lines(data: bytes) -> list[str]:
    """Those that are not blank, escaped. A tab is for the eye, so it is shown as blanks."""
    lines = [_blanks_for_tabs(line) for line in data.split(b"\n") if line.strip()]
    return [excerpt(line, len(line)) for line in lines]


def last_lines(data: bytes) -> list[str]:
    """Cut and escaped, with a line that says how many are left out before them."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    shown = [excerpt(_blanks_for_tabs(line), SHOWN_BYTES) for line in lines[-SHOWN_LINES:]]
    left_out = len(lines) - len(shown)
    return [f"({left_out} more before)", *shown] if left_out else shown


def _blanks_for_tabs(line: bytes) -> bytes:
    return line.decode("utf-8", "backslashreplace").expandtabs().encode()
