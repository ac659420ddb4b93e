"""The `referee` command. Thin: each function parses, calls one thing of the API and prints.

The version is told before anything is imported; app.py has the commands.
"""

from __future__ import annotations

import sys

from referee.version import __version__


def main() -> None:
    words = sys.argv[1:]
    if words == ["--version"]:
        print(f"referee {__version__}")
        sys.exit()
    from functools import partial

    from referee.cli.app import build_app, first_words
    from referee.cli.console import run

    named = next((word for word in words if not word.startswith("-")), None)
    if named == "match":
        from referee.cli.match import gather_sprt

        words = gather_sprt(words)
    is_known = named in first_words()
    run(partial(build_app, named if is_known else None, listed=not is_known), words)
