"""A bot's own process, with no keeper between: for an author who debugs it, unconfined.

It writes to the referee's stderr itself, and has a session of its own, so that Ctrl-C reaches the
referee alone, which then ends the bot and all that it started in that session.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from referee.bots.environment import environment
from referee.bots.keeping.starting import PR_SET_PDEATHSIG, prctl
from referee.bots.manifest import Bot
from referee.bots.process import NoStart, told_status
from referee.bots.starting import open_endpoint

WAIT_S = 0.005
"""Between two looks at a process that may have ended."""

STDERR = 2


def _die_with_us() -> None:
    """In the bot's process, before its command: a referee that is killed leaves it no more time."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class BareProcess:
    """A bot, started. To be used as a BotProcess is."""

    def __init__(self, bot: Bot) -> None:
        """Raises NoStart."""
        self.endpoint = endpoint = open_endpoint(bot)
        env = environment(bot)
        if endpoint is not None:
            env |= endpoint.variables()
        try:
            self._process = subprocess.Popen(
                bot.command,
                stdin=subprocess.PIPE,
                # Over ZeroMQ standard output is no more than a second stderr.
                stdout=subprocess.PIPE if endpoint is None else STDERR,
                bufsize=0,
                cwd=bot.folder,
                env=env,
                start_new_session=True,
                preexec_fn=_die_with_us,
            )
        except OSError as error:
            if endpoint is not None:
                endpoint.close()
            raise NoStart(f"{error.strerror}: {error.filename}") from None
        assert self._process.stdin is not None
        self.pid = self._process.pid
        self.stdin = self._process.stdin.fileno()
        self.stdout = -1
        os.set_blocking(self.stdin, False)
        if self._process.stdout is not None:
            self.stdout = self._process.stdout.fileno()
            os.set_blocking(self.stdout, False)

    def exit_status(self, within_s: float = 0.0) -> int | None:
        """With which it ended, negative for a signal; None if it is still running.

        Not by Popen.wait: a Ctrl-C inside of it can leave its lock taken, and whoever waits next
        waits for ever.
        """
        give_up = time.monotonic() + within_s
        while self._process.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # a Ctrl-C came between the status and its keeping
                self._process.returncode = -signal.SIGINT
                break
            if ended:
                self._process.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() < give_up:
                time.sleep(WAIT_S)
            else:
                break
        return self._process.returncode

    def how_it_ended(self, within_s: float = 0.0) -> str | None:
        """`exited with status 3`, `was killed by SIGSEGV`; None if it is still running."""
        status = self.exit_status(within_s)
        return None if status is None else told_status(status)

    def end_input(self) -> None:
        """Say no more: the process reads the end of its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close(self) -> None:
        """End it, if it has not ended, and all that it has started in its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        while self.exit_status(1.0) is None:
            pass
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        if self.endpoint is not None:
            self.endpoint.close()
