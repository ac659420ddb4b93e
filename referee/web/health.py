"""`/healthz` for whoever watches the daemon, `/metrics` for Prometheus.

Where reading is closed, metrics need a token as everything does: they tell how far the contest is.
`/healthz` stays open and says nothing of it. No address is trusted more than others: behind a proxy
everybody comes from this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.store.house import House
from referee.version import __version__
from referee.web.access import Visitor
from referee.web.refusal import refusal_response
from referee.web.refusing import refusal_of
from referee.web.site import Site

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OF_THE_DAEMON = {
    "workers": ("workers", "gauge", "Worker processes."),
    "room_on_disk": ("room_on_disk", "gauge", "1 where the disk has room for games."),
    "submissions_waiting": ("submissions_waiting", "gauge", "Not yet decided."),
    "games_since_start": ("games_total", "counter", "Games that came back."),
    "chunks_being_played": ("chunks_being_played", "gauge", "Pieces of pairings at play."),
    "errors": ("errors_total", "counter", "Games and chunks that failed by nobody's fault."),
    "games_of_season": ("games_of_season", "gauge", "Games of the season that is played."),
    "players": ("players", "gauge", "Versions of bots that are given games."),
    "connected": ("connected", "gauge", "Bots in the hall, those of the house included."),
    "away": ("away", "gauge", "Of these, those whose connection has ended a moment ago."),
    "open_games": ("open_games", "gauge", "Games at play in the hall."),
    "answers": ("answers_total", "counter", "Moves that were heard in the hall."),
    "refused": ("refused_total", "counter", "Who was not let into the hall, by why."),
    "dropped": ("dropped_total", "counter", "What was not listened to in the hall, by why."),
}
"""What the coordinator counts: its name here, what it is, and what of."""
Samples = Iterable[tuple[dict[str, str], float]]


def routes(site: Site) -> list[Route]:
    async def healthz(_: Request) -> Response:
        try:
            season = await site.run(_season)
        except Exception as error:
            return refusal_response(refusal_of(error))
        heard = site.live.heard_at
        told = {
            "status": "ok",
            "referee": __version__,
            "season": season if site.settings.public else None,
            "room": site.running.has_room,
            "heard_s": None if heard is None else round(time.monotonic() - heard, 1),
        }
        return Response(
            msgspec.json.encode(told),
            headers={"Cache-Control": "no-store"},
            media_type="application/json",
        )

    async def metrics(request: Request) -> Response:
        try:
            site.door.slow_down(request)
            site.door.may_read(await site.visitor(request), "anyone")
            body = await site.run(lambda house: "".join(_all(site, house)))
        except Exception as error:
            return refusal_response(refusal_of(error))
        return Response(body, headers={"Cache-Control": "no-store"}, media_type=PLAIN)

    return [Route("/healthz", healthz), Route("/metrics", metrics)]


def _season(house: House) -> str | None:
    latest = house.seasons.latest()
    return None if latest is None else latest.name


def _all(site: Site, house: House) -> Iterator[str]:
    live = site.live
    requests = {(name, str(status)): count for (name, status), count in list(site.requests.items())}
    yield from _metric(
        "referee_http_requests_total",
        "counter",
        "Requests by endpoint and status.",
        (({"endpoint": n, "status": s}, count) for (n, s), count in requests.items()),
    )
    yield from _metric(
        "referee_http_seconds_total",
        "counter",
        "Time that requests took, by endpoint.",
        (({"endpoint": name}, each) for name, each in list(site.seconds.items())),
    )
    yield from _one(
        "referee_http_too_often_total",
        "counter",
        "Requests that came too often.",
        site.door.refused,
    )
    held = site.connections
    yield from _one("referee_connections", "gauge", "Connections that are open.", held.open)
    yield from _one(
        "referee_connections_refused_total",
        "counter",
        "Connections for which there was no room.",
        held.turned_away,
    )
    yield from _one(
        "referee_connections_cut_total",
        "counter",
        "Connections on which nothing came in time.",
        held.cut,
    )
    yield from _one("referee_followers", "gauge", "Who follow live events.", live.followers)
    yield from _metric(
        "referee_live_events_total",
        "counter",
        "Live events by type, and those that were dropped.",
        (({"type": kind}, count) for kind, count in list(live.counts.items())),
    )
    yield from _one(
        "referee_games_now", "gauge", "Games that are followed.", len(site.running.games())
    )
    yield from _one(
        "referee_guests", "gauge", "Bots that are connected.", len(site.running.guests())
    )
    waiting = len(house.submissions.waiting())
    yield from _one("referee_submissions_waiting", "gauge", "Not yet decided.", waiting)
    yield from _metric("referee_games_total", "counter", "Games of a season.", _games(site))
    states: dict[str, int] = {}
    for version in site.library.roster().versions.values():
        states[version.state] = states.get(version.state, 0) + 1
    yield from _metric(
        "referee_versions",
        "gauge",
        "Versions of bots by state.",
        (({"state": state}, count) for state, count in states.items()),
    )
    yield from _one("referee_web_start_time_seconds", "gauge", "When this began.", site.began)
    for name, value in sorted(site.running.counters.items()):
        if name in OF_THE_DAEMON:
            metric, kind, told = OF_THE_DAEMON[name]
            by = {"": value} if isinstance(value, float) else value
            samples = (({"why": why} if why else {}, each) for why, each in sorted(by.items()))
            yield from _metric(f"referee_daemon_{metric}", kind, told, samples)


def _games(site: Site) -> Samples:
    """Of the latest season; it is no secret how many there are."""
    seasons = site.library.seasons()
    if seasons:
        organiser = site.library.sight(Visitor(address="", role="organiser"))
        stood, _ = site.library.standings(seasons[-1], organiser)
        played = 0 if stood is None else stood.standings.played
        yield {"season": seasons[-1].name}, played


def _one(name: str, kind: str, told: str, value: float) -> Iterator[str]:
    return _metric(name, kind, told, [({}, value)])


def _metric(name: str, kind: str, told: str, samples: Samples) -> Iterator[str]:
    yield f"# HELP {name} {told}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{'{' + shown + '}' if shown else ''} {_number(value)}\n"


def _number(value: float) -> str:
    """Whole numbers with all their digits: `1234567`, not `1.23457e+06`."""
    return f"{value:.0f}" if value == int(value) else repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
