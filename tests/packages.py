"""What the tests need beyond Python: Debian packages, installed by root, named to anyone else.

    python -m tests.packages [--full]

With --full also what it takes to boot the machine in which `make test-full` runs. Without that
machine there is nothing to run, which is an error; without the others some tests are skipped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from referee.bots.confinement.walls import search_path
from tests.vm.run_in_vm import lacking, usual_machine

NEEDED = {
    "gcc": "gcc libc6-dev",
    "g++": "g++",
    "rustc": "rustc",
    "go": "golang-go",
    "javac": "default-jdk-headless",
    "java": "default-jre-headless",
    "node": "nodejs",
    "perl": "perl",
    "ruby": "ruby",
    "tclsh": "tcl",
    "bash": "bash",
    "chromium": "chromium",
    "bwrap": "bubblewrap",
    "postgres": "postgresql",
}
"""Command that must be there, and the Debian packages that bring it."""


def missing() -> dict[str, str]:
    return {command: names for command, names in NEEDED.items() if not works(command)}


def works(command: str) -> bool:
    """Whether it is there and does its work: a gcc without a C library compiles nothing.

    There is where confined bots look as well: a compiler in somebody's home is not enough.
    """
    if command == "postgres":
        return postgres_program() is not None
    if shutil.which(command, path=search_path()) is None:
        return False
    if command != "gcc":
        return True
    source = b"#include <stdio.h>\nint main(void) { return 0; }\n"
    compile_it = [command, "-x", "c", "-", "-o", os.devnull]
    return subprocess.run(compile_it, input=source, capture_output=True).returncode == 0


def postgres_program() -> Path | None:
    """The newest server that is installed. Debian keeps them off the path, one for each version."""
    there = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    debian = sorted(there, key=lambda path: float(path.parts[4]))
    found = shutil.which("postgres")
    return debian[-1] if debian else None if found is None else Path(found).resolve()


def install(packages: list[str]) -> bool:
    """Whether they are there now."""
    print(f"Installing what the tests need: {' '.join(packages)}", flush=True)
    for command in (("update",), ("install", "--yes", *packages)):
        if subprocess.run(["apt-get", "--quiet=2", *command], stdout=subprocess.DEVNULL).returncode:
            print(f"apt-get {' '.join(command)} failed", file=sys.stderr)
            return False
    return True


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Install what the tests need, or name it.")
    parser.add_argument("--full", action="store_true", help="what make test-full needs, too")
    machine = lacking(usual_machine()) if parser.parse_args(words).full else []
    some = missing()
    packages = list(dict.fromkeys([*machine, *" ".join(some.values()).split()]))
    if not packages:
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get") and install(packages):
        return 0
    told = f"Some tests need {', '.join(some)}; they are skipped"
    if machine:
        told = "test-full needs another kernel, and what boots it"
    print(f"{told}. To have it: apt-get install --yes {' '.join(packages)}")
    return 2 if machine else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
