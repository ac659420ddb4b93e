"""Endpoints as routes: let the visitor in, read what was sent, run the function, answer."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.web import bodies
from referee.web.access import CSRF_HEADER, Visitor
from referee.web.endpoint import PREFIX, Archive, Call, Endpoint, Plain
from referee.web.following import stream
from referee.web.live import KINDS, Wanted
from referee.web.openapi import JSON
from referee.web.refusal import not_allowed, refusal_response
from referee.web.refusing import refusal_of
from referee.web.site import Answer, Site

_encode = msgspec.json.Encoder().encode


class Served:
    """All endpoints of one path, as an ASGI application."""

    def __init__(self, site: Site, endpoints: list[Endpoint]) -> None:
        self._site = site
        self._by_method: dict[str, Endpoint] = {each.method: each for each in endpoints}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = self._by_method.get(method)
        name = endpoint.name if endpoint is not None else "unknown"
        began = time.perf_counter()
        try:
            self._site.door.slow_down(request)
            if endpoint is None:
                methods = [*self._by_method, *(["HEAD"] if "GET" in self._by_method else [])]
                raise not_allowed(methods)
            if endpoint.streams:
                await self._follow(endpoint, request, send)
                self._site.requests[name, 200] += 1
                return
            response = await self._answer(endpoint, request)
        except Exception as error:
            response = refusal_response(refusal_of(error))
        self._site.requests[name, response.status_code] += 1
        self._site.seconds[name] += time.perf_counter() - began
        await response(scope, receive, send)

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        site = self._site
        asked = endpoint.asked(request.path_params, request.query_params.multi_items())
        visitor = await site.visitor(request)
        if endpoint.changes:
            return await self._change(endpoint, request, asked, visitor)
        site.door.may_read(visitor, endpoint.needs)

        async def make() -> Answer:
            return await site.handle(visitor, lambda call: _made(endpoint, asked, call))

        public = visitor.role == "anyone"
        answer = await (site.kept((endpoint.name, asked), make) if public else make())
        headers = {"ETag": answer.etag, "Vary": "Authorization, Cookie"}
        shared = "public" if public and site.settings.public else "private"
        if endpoint.keep_s and public:
            headers["Cache-Control"] = f"{shared}, max-age={endpoint.keep_s}"
        else:
            headers["Cache-Control"] = f"{shared}, no-cache"
        if answer.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(answer.body, headers=headers, media_type=answer.media_type)

    async def _change(
        self, endpoint: Endpoint, request: Request, asked: Any, visitor: Visitor
    ) -> Response:
        site = self._site
        site.door.may_change(visitor, endpoint.needs)
        csrf = request.headers.get(CSRF_HEADER, "")
        body: Any = None
        if endpoint.takes is Archive:
            body = await site.handed_in(request, visitor, csrf)
        else:
            site.door.must_be_ours(visitor, csrf)
        if endpoint.takes is not None and endpoint.takes is not Archive:
            limits = site.settings.limits
            raw = await bodies.read_body(request, limits.body_bytes, limits.body_s)
            body = bodies.read_json(raw, bodies.media_type(request), endpoint.takes)
        answer = await site.handle(visitor, lambda call: _made(endpoint, asked, call), body)
        return Response(
            answer.body,
            status_code=endpoint.status,
            headers={"Cache-Control": "no-store"},
            media_type=answer.media_type,
        )

    async def _follow(self, endpoint: Endpoint, request: Request, send: Send) -> None:
        site = self._site
        asked: Any = endpoint.asked(request.path_params, request.query_params.multi_items())
        visitor = await site.visitor(request)
        site.door.may_read(visitor, endpoint.needs)
        kinds = frozenset(KINDS if asked.only is None else asked.only.split(","))
        with site.following(visitor.address):
            frames = site.live.follow(
                Wanted(kinds, asked.game or ""),
                private=visitor.organiser,
                last=request.headers.get("last-event-id", asked.since or ""),
            )
            most_s = site.settings.limits.follow_s
            await stream(site.live, frames, request.receive, send, EVENT_STREAM, most_s)


def _made(endpoint: Endpoint, asked: Any, call: Call) -> Answer:
    """In a thread."""
    value = endpoint.run(call, asked)
    if isinstance(value, Plain):
        return Answer(value.body, value.media_type, etag_of(value.body))
    encoded = _encode(value)
    return Answer(encoded, JSON, etag_of(encoded))


EVENT_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


def etag_of(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def routes(site: Site, endpoints: Iterable[Endpoint]) -> list[Route]:
    """One route for each path; an address without a method that it takes is refused by it."""
    by_path: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(PREFIX + endpoint.path, []).append(endpoint)
    return [
        Route(path, endpoint=Served(site, group), name=group[0].name)
        for path, group in by_path.items()
    ]
