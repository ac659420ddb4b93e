"""What the tests need beyond Python: Debian packages, installed by root, named to anyone else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from referee.bots.confinement.walls import search_path

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
}
"""Command that must be there, and the Debian packages that bring it."""


def missing() -> dict[str, str]:
    return {command: names for command, names in NEEDED.items() if not works(command)}


def works(command: str) -> bool:
    """Whether it is there and does its work: a gcc without a C library compiles nothing.

    There is where confined bots look as well: a compiler in somebody's home is not enough.
    """
    if shutil.which(command, path=search_path()) is None:
        return False
    if command != "gcc":
        return True
    source = b"#include <stdio.h>\nint main(void) { return 0; }\n"
    compile_it = [command, "-x", "c", "-", "-o", os.devnull]
    return subprocess.run(compile_it, input=source, capture_output=True).returncode == 0


def main() -> int:
    lacking = missing()
    if not lacking:
        return 0
    packages = " ".join(lacking.values())
    install = f"apt-get install --yes {packages}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(f"Some tests need {', '.join(lacking)}; they are skipped. To have them: {install}")
        return 0
    print(f"Installing what the tests need: {packages}")
    for command in ("apt-get update --quiet=2", install + " --quiet=2"):
        if subprocess.run(command.split(), stdout=subprocess.DEVNULL).returncode:
            print(f"{command} failed; the tests that need it are skipped", file=sys.stderr)
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
