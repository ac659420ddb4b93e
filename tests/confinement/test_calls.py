"""The numbers of system calls are those of the kernel's own headers."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

import pytest

from referee.bots.confinement.calls import TABLES
from referee.bots.confinement.seccomp import newest

HEADERS = ("asm/unistd_64.h", "asm-generic/unistd.h")
"""Of x86-64 and arm64, in the order of the columns."""
WANTED = ("__ARCH_WANT_SYS_CLONE3", "__ARCH_WANT_MEMFD_SECRET")
"""What arm64 defines before it includes the header of all machines."""
DEFINED = re.compile(r"#define __NR(?:3264)?_(\w+) (?:__NR3264_)?(\w+)")


@cache
def numbers(column: int) -> dict[str, int]:
    """Every call that the header of this column knows. Skips where there is no such header."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no gcc")
    words = [compiler, "-E", "-dM", *(f"-D{name}" for name in WANTED), "-"]
    text = f"#include <{HEADERS[column]}>\n"
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if f"{HEADERS[column]}: No such file" in done.stderr:
        pytest.skip(f"there is no {HEADERS[column]}")
    assert done.returncode == 0, done.stderr
    found = DEFINED.findall(done.stdout)
    return {name: int(value) for name, value in found if value.isdigit() and name != "syscalls"}


@pytest.mark.parametrize("column", [0, 1])
def test_every_number_is_the_kernels(column: int) -> None:
    known = numbers(column)
    assert known["getpid"] in (39, 172)
    rows = {name: row[column] for table in TABLES for name, row in table.items()}
    last = max(known.values())
    newer = {name for name, number in rows.items() if number is not None and number > last}
    assert {name: known.get(name) for name in rows if name not in newer} == {
        name: number for name, number in rows.items() if name not in newer
    }


def test_no_call_is_in_two_tables() -> None:
    names = [name for table in TABLES for name in table]
    assert sorted(names) == sorted(set(names))


def test_both_machines_know_calls_of_the_same_age() -> None:
    """Since some years ago a new call has the same number on every machine."""
    assert newest(0) == newest(1)
