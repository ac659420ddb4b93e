"""One tournament, played and shown as `referee tournament` does on a terminal.

    python -m benchmarks.live_tournament SPEC FOLDER

A program of its own for tournament.py, which reads a terminal that is this one's standard error.
It calls what the command calls. The last line of standard output is the result, a JSON object.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from referee.cli import console
from referee.cli.cluster import site_at
from referee.cli.tournament_here import played
from referee.tournament.spec import Spec


def main() -> None:
    text, name = sys.argv[1:]
    spec, folder = msgspec.json.decode(text, type=Spec), Path(name)
    if not console.err.is_terminal:
        sys.exit("bench: standard error is no terminal, so there is no live view to measure")
    with site_at(None, spec.jobs, folder) as site:
        result = played(spec, folder, None, site, None)
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main()
