"""Builds one version again, in a process of its own, where what was built of it is gone.

The request is one line of JSON on standard input; what it could not be built for is one line on
standard output, empty where it could. When standard input ends, this process ends with all that it
started.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from referee.bots.building import built
from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.daemon.errand import end_with_the_asker, read_request
from referee.mistake import Mistake


class Request(Struct, frozen=True, kw_only=True):
    """What to build, how confined, and where it is kept."""

    bot: Bot
    confinement: Confinement
    cache: str


def main() -> None:
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    request = read_request(Request)
    end_with_the_asker()
    why = ""
    try:
        built(request.bot, request.confinement, cache=Path(request.cache))
    except Mistake as problem:
        why = " ".join(str(problem).split())
    out.write(f"{why}\n".encode())
