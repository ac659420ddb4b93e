"""The application: the API, the pages, and what watches over them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from referee.web import health, serving
from referee.web.asset import Assets
from referee.web.draining import Drained
from referee.web.endpoint import PREFIX
from referee.web.framing import PlainFraming
from referee.web.headers import SecurityHeaders
from referee.web.hearing import endpoint_of, hear
from referee.web.pages import PAGES
from referee.web.paging import Pages
from referee.web.refusal import Refusal, refusal_response
from referee.web.refusing import refusal_of
from referee.web.settings import WebSettings
from referee.web.site import Site
from referee.web.table import ENDPOINTS

FOR_PROGRAMS = (PREFIX.rsplit("/", 1)[0], "/healthz", "/metrics")
"""Where a refusal is JSON and never a page."""


def make_app(data: Path, settings: WebSettings | None = None) -> Starlette:
    """The application for a data folder. Raises BadHouse where that is none."""
    site = Site(replace(settings or WebSettings(data=data), data=data))
    assets = Assets()
    pages = Pages(site, assets, PAGES)

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            error = Refusal(error.status_code, _sentence(error, request), error.headers)
        refusal = refusal_of(error)
        site.requests["unknown", refusal.status] += 1
        if request.url.path.startswith(FOR_PROGRAMS):
            return refusal_response(refusal)
        return pages.refuse(request, refusal)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(hear(site.live, endpoint_of(data))),
            asyncio.create_task(site.live.tick()),
            asyncio.create_task(site.watch()),
        ]
        try:
            yield
        finally:
            site.live.close()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            site.close()

    app = Starlette(
        routes=[
            *serving.routes(site, ENDPOINTS),
            *health.routes(site),
            assets.route(),
            *pages.routes(),
        ],
        middleware=[Middleware(SecurityHeaders), Middleware(PlainFraming), Middleware(Drained)],
        exception_handlers={HTTPException: refused, Refusal: refused, Exception: refused},
        lifespan=life,
    )
    app.router.redirect_slashes = False
    app.state.site = site
    return app


def _sentence(error: HTTPException, request: Request) -> str:
    if error.status_code == 404:
        return "there is nothing at this address"
    if error.status_code == 405:
        return f"this address does not take {request.method}"
    return str(error.detail)
