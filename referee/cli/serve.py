"""`referee serve`: the daemon."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from msgspec.structs import replace

from referee.arena.core import own_cores
from referee.cli import console
from referee.cli.confining import exposed_by_daemon, read_given_limits
from referee.cli.keeping import read_size
from referee.cli.options import Expose, Limit, Sandbox
from referee.cli.season import whole_variants
from referee.clock import DEFAULT_TIME
from referee.daemon.journal import Journal
from referee.daemon.pace import PaceTerms
from referee.daemon.readiness import Readiness
from referee.daemon.terms import ServeTerms
from referee.mistake import Mistake
from referee.rules.registry import BUNDLED
from referee.tournament.spec import Spec, check

DATA = Path("referee-data")
BOTS = "tcp://127.0.0.1:7781"
WEB = "127.0.0.1:7780"
NAME = "ladder"
EXAMPLES = """
Everything is kept in one folder, and nothing has to be configured. On the first start the sample
bots are entered, a season begins, and the organiser's token is shown, once. `--variant`, `--time`
and the like say what that first season is; `referee season start` begins others.

Ctrl-C or SIGTERM lets games end for a few seconds and loses nothing; neither does SIGKILL. The exit
status is 0 then.

**Examples**

    referee serve

    referee serve --data /srv/contest --web 0.0.0.0:80 --bots tcp://0.0.0.0:7781 --time 100ms

    referee serve --variant underdog --no-web --pace 0

    referee serve --closed --read-only
"""


class BadAddress(Mistake):
    """An address that is none; the message says what is."""


Data = Annotated[Path, typer.Option(help="Where everything is kept; made if it is not there.")]
Bots = Annotated[str, typer.Option(help="Where bots connect; `none` for nowhere.")]
Web = Annotated[str, typer.Option(help="HOST:PORT of the pages and the API.")]
NoWeb = Annotated[bool, typer.Option("--no-web", help="No pages.")]
Variants = Annotated[
    list[str] | None,
    typer.Option("--variant", "-v", help="What the first season plays; all five. Can be repeated."),
]
Time = Annotated[
    str | None,
    typer.Option("--time", help=f"Time control of the first season; {DEFAULT_TIME}."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Worker processes; one a core but one if not given."),
]
GamesASecond = Annotated[
    float | None,
    typer.Option(help="Games a second at most; 20, or what the house has set. 0: no limit."),
]
Quota = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="What a team may use of the disk, such as 500MB; 1GB, or what the house has set.",
    ),
]
Samples = Annotated[
    bool, typer.Option("--samples", help="Enter the sample bots though there are others.")
]
Anonymous = Annotated[
    bool, typer.Option("--anonymous", help="Hide the names of bots from their opponents.")
]
Closed = Annotated[bool, typer.Option("--closed", help="Reading the pages needs a token too.")]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Nothing can be handed in or changed over the web.")
]
Proxy = Annotated[
    list[str] | None,
    typer.Option(
        help="A proxy before the pages, as an address or a network: it is believed who asks, "
        "by X-Forwarded-For. Can be repeated."
    ),
]
Finish = Annotated[float, typer.Option(help="Seconds that running games have at the end.")]
Log = Annotated[
    Literal["text", "json"], typer.Option(help="Lines for people or for programs, on stderr.")
]


def serve_command(
    data: Data = DATA,
    bots: Bots = BOTS,
    web: Web = WEB,
    no_web: NoWeb = False,
    variant: Variants = None,
    time_limit: Time = None,
    sandbox: Sandbox = None,
    limit: Limit = None,
    expose: Expose = None,
    jobs: Jobs = None,
    pace: GamesASecond = None,
    quota: Quota = None,
    samples: Samples = False,
    anonymous: Anonymous = False,
    closed: Closed = False,
    read_only: ReadOnly = False,
    proxy: Proxy = None,
    finish: Finish = 5.0,
    log: Log = "text",
) -> None:
    """Run the daemon: a ladder that never stops, pages to watch, an endpoint for bots."""
    host, port = _address(web)
    spec, given = _first_season(
        variants=whole_variants(variant),
        time=time_limit,
        sandbox=sandbox,
        limits=read_given_limits(limit),
        expose=exposed_by_daemon(expose, data),
    )
    terms = ServeTerms(
        data=data,
        season=spec,
        given=given,
        bots=_endpoint(bots),
        host=host,
        port=None if no_web else port,
        jobs=_jobs(jobs),
        anonymous=anonymous,
        public=not closed,
        writing=not read_only,
        proxies=_proxies(proxy or []),
        samples=samples,
        pace=None if pace is None else PaceTerms(games_per_s=_not_negative(pace)),
        quota_bytes=None if quota is None else _bytes(quota),
        finish_s=_seconds(finish),
    )
    _serve(terms, log)


def _first_season(**asked: Any) -> tuple[Spec, tuple[str, ...]]:
    """What a season is where none was started yet, and the keys of it that were asked for."""
    given = {key: value for key, value in asked.items() if value is not None}
    spec = replace(Spec(name=NAME, variants=tuple(BUNDLED), prior=True), **given)
    check(spec)  # also where a season goes on and nothing of it will be used
    return spec, tuple(given)


def _serve(terms: ServeTerms, log: Literal["text", "json"]) -> None:
    journal = Journal(sys.stderr, log, marked="JOURNAL_STREAM" in os.environ)
    watchdog = os.environ.get("WATCHDOG_USEC", "")
    readiness = Readiness(
        os.environ.get("NOTIFY_SOCKET"), int(watchdog) if watchdog.isdecimal() else 0
    )
    # Ratings are computed beside games: on one core, not on all of them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # numpy, which reads that when it is imported
    from referee.daemon.greeting import sayer
    from referee.daemon.serve import serve

    serve(terms, journal, readiness, sayer(log, sys.stdout, console.out.print))


serve_command.__doc__ = f"{serve_command.__doc__}\n{EXAMPLES}"


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise BadAddress(f"--web takes HOST:PORT, for example {WEB}, not {text!r}")
    return host.strip("[]"), int(port)


def _proxies(given: list[str]) -> tuple[str, ...]:
    """Each as a network in its plain form: 10.0.0.0/255.0.0.0 is 10.0.0.0/8."""
    return tuple(str(_network(text)) for text in given)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise BadAddress(
            "--proxy takes the address of a proxy or a network of them, "
            f"for example 127.0.0.1 or 10.0.0.0/8, not {text!r}"
        ) from None


def _endpoint(text: str) -> str | None:
    if text == "none":
        return None
    found = re.fullmatch(r"tcp://[^\s/]+:(\d{1,5}|\*)|ipc://\S+", text, re.ASCII)
    if found is None or int((found[1] or "*").replace("*", "0")) >= 2**16:
        raise BadAddress(f"--bots takes tcp://ADDRESS:PORT, for example {BOTS}, not {text!r}")
    return text


def _jobs(jobs: int | None) -> int:
    if jobs is not None and not 1 <= jobs <= 1000:
        raise BadAddress(f"--jobs must be 1 to 1000, not {jobs}")
    return jobs or max(1, own_cores() - 1)


def _not_negative(pace: float) -> float:
    if not 0 <= pace < 1e9:
        raise BadAddress(f"--pace is a number of games a second, or 0, not {pace}")
    return pace


def _bytes(quota: str) -> int:
    size = read_size(quota)
    if size is None or not 10**6 <= size <= 10**18:
        raise BadAddress(f"--quota is a size of 1MB or more, such as 500MB or 2GB, not {quota!r}")
    return size


def _seconds(finish: float) -> float:
    if not 0 <= finish < math.inf:
        raise BadAddress(f"--finish is a number of seconds, 0 or more, not {finish}")
    return finish
