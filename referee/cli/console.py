"""How commands speak: results to stdout, all else to stderr, one sentence for a mistake.

Exit statuses, the same for every command:

    0    done
    1    what was checked does not hold (verify, check-variant)
    2    bad input: an argument, a bot, a variant, an option, a file
    3    the system refused: disk full, no permission
    10…  with --strict, the gravest fault of a bot, in the order of the blame codes
    130  interrupted by Ctrl-C; 143 by SIGTERM
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

import msgspec
from rich.console import Console

from referee.bots.manifest import BadBot
from referee.clock import BadTime
from referee.match import BadMatch
from referee.record import BadRecord
from referee.replay import Mismatch
from referee.rules.options import BadOption
from referee.rules.registry import BadVariant

DOES_NOT_HOLD = 1
BAD_INPUT = 2
REFUSED = 3
INTERRUPTED = 130
TERMINATED = 143
PIPE_CLOSED = 141

MISTAKES = (BadBot, BadMatch, BadOption, BadRecord, BadTime, BadVariant, Mismatch)
"""What a person can put right; each carries the sentence that says how."""

out = Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)


class Terminated(BaseException):
    """SIGTERM: end in good order."""


def run(command: Callable[[], object]) -> NoReturn:
    """Run a command and exit with its status, never with a traceback for a known trouble."""
    signal.signal(signal.SIGTERM, _on_sigterm)
    try:
        command()
        sys.stdout.flush()
    except MISTAKES as mistake:
        fail(str(mistake), BAD_INPUT)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except Terminated:
        fail("terminated", TERMINATED)
    except BrokenPipeError:
        # Whoever read our output has had enough. Python must not try to flush once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(PIPE_CLOSED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}", REFUSED)
    sys.exit(0)


def fail(sentence: str, status: int) -> NoReturn:
    print(f"referee: {sentence}", file=sys.stderr)
    sys.exit(status)


def print_json(value: object) -> None:
    """One JSON object on one line, for scripts."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def open_input(path: str) -> Iterator[IO[bytes]]:
    """A file to read, `-` is standard input. A missing one is a mistake, not a trouble."""
    if path == "-":
        yield sys.stdin.buffer
        return
    if not Path(path).exists():
        fail(f"{path}: no such file", BAD_INPUT)
    if Path(path).is_dir():
        fail(f"{path}: a folder, where a file is due", BAD_INPUT)
    with Path(path).open("rb") as file:
        yield file


def read_options(pairs: list[str]) -> dict[str, object]:
    """`--option target=40` as a mapping."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadOption(f"--option takes name=value, for example target=40, not {pair!r}")
        if name in options:
            raise BadOption(f"--option {name} is given twice")
        options[name] = value
    return options


def _on_sigterm(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
