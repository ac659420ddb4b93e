"""How commands speak: results to stdout, all else to stderr, one sentence for a mistake.

Exit statuses, the same for every command:

    0    done
    1    what was checked does not hold (verify, check, check-variant, repro)
    2    bad input: an argument, a bot, a variant, an option, a file
    3    the system refused: disk full, no permission, no database server
    4    the variant's script, or the referee itself, failed in a game; nobody lost by it
    10…  with --strict, the gravest fault of a bot, in the order of the blame codes
    130  interrupted by Ctrl-C; 143 by SIGTERM or a closed terminal
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

import typer

from referee.mistake import BAD_INPUT, REFUSED, Mistake

DOES_NOT_HOLD = 1
INTERRUPTED = 130
TERMINATED = 143
PIPE_CLOSED = 141
GARBAGE_THRESHOLD = 100_000
"""Python looks for garbage after so many objects. At its usual 700, to look through what a command
imports takes a tenth of its start."""

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for arguments that it cannot read, in whichever module it keeps it."""


def __getattr__(name: str) -> Any:
    """`out` and `err`, each a Screen, when they are first asked for: the import of rich takes as
    long as many a command, and what is printed for programs has no use for it."""
    if name not in ("out", "err"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from referee.cli.screen import Screen

    screen = globals()[name] = Screen(stderr=name == "err")
    return screen


class Terminated(BaseException):
    """SIGTERM, or the terminal was closed: end in good order."""


def run(build: Callable[[], typer.Typer], words: list[str]) -> NoReturn:
    """Run a command and exit with its status, never with a traceback for a known trouble.

    The command is built in here too: its imports take a while, in which somebody may interrupt.
    """
    gc.set_threshold(GARBAGE_THRESHOLD)
    signal.signal(signal.SIGTERM, _on_sigterm)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it
        signal.signal(signal.SIGHUP, _on_sigterm)
    try:
        status = _invoke(build(), words)
        sys.stdout.flush()
    except Mistake as mistake:
        for each in (mistake, *mistake.others):
            fail(str(each), each.status)
            for line in quoted(each.quoted):
                print(line, file=sys.stderr)
        status = mistake.status
    except KeyboardInterrupt:
        # A second one would change the status, while Python tidies up.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = fail("interrupted", INTERRUPTED)
    except Terminated:
        status = fail("terminated", TERMINATED)
    except BrokenPipeError:
        # Whoever read our output has had enough.
        status = PIPE_CLOSED
    except MemoryError:
        status = fail("there is not enough memory for this", REFUSED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        status = fail(f"{where}{error.strerror or error}", REFUSED)
    try:
        sys.stdout.flush()
    except OSError:
        # Python would try once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()  # Python would look through it once more, and it ends with the process.
    sys.exit(status)


def _invoke(app: typer.Typer, words: list[str]) -> int:
    """What typer does, less its own ideas of a closed pipe, of Ctrl-C and of a mistake."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("referee", words) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except UsageError as error:
        # The type comes from `__mro__`, so the checker knows no more than that it is an Exception.
        sentence = error.format_message()  # type: ignore[attr-defined]
        if not sentence.strip():  # It was the help, and it has been shown.
            return BAD_INPUT
        context = error.ctx  # type: ignore[attr-defined]
        path = context.command_path if context is not None else "referee"
        # It repeats words of the command, and an address may hold a password.
        told = re.sub(r"(?i)(postgres(ql)?://)[^\s)]*", r"\1…", " ".join(sentence.split()))
        told = told[0].lower() + told[1:].rstrip(".")
        return fail(f"{told}; see {path} --help", BAD_INPUT)
    return 0


def fail(sentence: str, status: int) -> int:
    """Say what is wrong in one line, and give the exit status back."""
    print(f"referee: {printable(sentence)}", file=sys.stderr)
    return status


def tell(sentence: str) -> None:
    """A line to stderr, for people. It needs no rich, which takes long to import."""
    print(printable(sentence), file=sys.stderr, flush=True)


def tell_build(name: str) -> None:
    """A build may take a while: say what is being waited for."""
    tell(f"building {name}")


def quoted(text: str) -> list[str]:
    """What another program said, line by line."""
    return [f"  {printable(line.expandtabs())}" for line in text.splitlines()]


def printable(text: str) -> str:
    """One line that a terminal cannot take for commands, whoever wrote it."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def print_json(value: object) -> None:
    """One JSON object on one line, for scripts."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def open_input(path: str) -> Iterator[IO[bytes]]:
    """A file to read, `-` is standard input. A missing one is a mistake, not a trouble."""
    if path == "-":
        yield sys.stdin.buffer
        return
    if not Path(path).exists():
        raise Mistake(f"{path}: no such file")
    if Path(path).is_dir():
        raise Mistake(f"{path}: a folder, where a file is due")
    with Path(path).open("rb") as file:
        yield file


def read_options(pairs: list[str]) -> dict[str, object]:
    """`--option target=40` as a mapping."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Mistake(f"--option takes name=value, for example target=40, not {pair!r}")
        if name in options:
            raise Mistake(f"--option {name} is given twice")
        options[name] = value
    return options


def _on_sigterm(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
