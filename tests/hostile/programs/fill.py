"""Fills the disk on its first turn, and tells how many megabytes, and files, that came to.

    fill.py MEGABYTES FILES PLACES MARK
    fill.py empty FILES MARK

With `empty` it makes nothing but so many empty files, half of them in shared memory.

PLACES are names of the places below, with commas between them.

Every name that it makes has the mark in it, so that the test finds what is left.

Bounded: so many megabytes in each place, in files of four; so many small files.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from tests.hostile.programs.bot import Turn, answer, say, serve, tell

PLACES = {
    "tmp": "/tmp",
    "shared-memory": "/dev/shm",
    "root": "/",
    "devices": "/dev",
    "own-folder": ".",
    "var-tmp": "/var/tmp",
    "system": "/usr",
}
MEGABYTE = b"x" * (1 << 20)
OF_A_FILE = 4

empty = sys.argv[1] == "empty"
most, files = 0 if empty else int(sys.argv[1]), int(sys.argv[2])
wanted, mark = sys.argv[3], sys.argv[-1]
turns = 0


def fill(name: str, folder: str) -> None:
    """The kilobytes that went into large files here; what is half written counts as well."""
    written, why = 0, ""
    try:
        for number in range(0, most, OF_A_FILE):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            fd = os.open(f"{folder}/hostile-{mark}-{number}", flags, 0o600)
            try:
                for _ in range(min(OF_A_FILE, most - number)):
                    data = MEGABYTE
                    while data:
                        sent = os.write(fd, data)
                        written += sent
                        data = data[sent:]
            finally:
                os.close(fd)
    except OSError as error:
        why = str(error)
    tell(name, written > 0, written >> 10, why)


def make_room() -> None:
    for number in range(0, most, OF_A_FILE):
        with contextlib.suppress(OSError):
            Path(f"/tmp/hostile-{mark}-{number}").unlink()


def scatter() -> None:
    """Files of one byte each."""
    made, why = 0, ""
    try:
        for number in range(files):
            fd = os.open(f"/tmp/hostile-{mark}-small-{number}", os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.write(fd, b"x")
            finally:
                os.close(fd)
            made += 1
    except OSError as error:
        why = str(error)
    tell("small files", made > 0, made, why)


def strew() -> None:
    """Files with nothing in them."""
    made, why = 0, ""
    try:
        for number in range(files):
            folder = ("/tmp", "/dev/shm")[number % 2]
            os.close(os.open(f"{folder}/hostile-{mark}-empty-{number}", os.O_CREAT, 0o600))
            made += 1
    except OSError as error:
        why = str(error)
    tell("empty files", made > 0, made, why)


def on_turn(turn: Turn) -> None:
    global turns
    turns += 1
    if turns == 1 and empty:
        strew()
    elif turns == 1:
        for name in wanted.split(","):
            fill(name, PLACES[name])
        make_room()
        scatter()
    say(answer(turn))


signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
serve(on_turn)
