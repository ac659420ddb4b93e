"""Endpoints as routes: let the visitor in, read what was sent, run the function, answer."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
import traceback
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.mistake import Mistake
from referee.store.house import House
from referee.store.house import mistakes as house_mistakes
from referee.store.trouble import BadStore
from referee.web import bodies
from referee.web.access import CSRF_HEADER, Visitor, address_of, presented_token
from referee.web.endpoint import PREFIX, Archive, Call, Endpoint, Plain
from referee.web.live import KINDS, Wanted, stream
from referee.web.openapi import FORM, JSON
from referee.web.refusal import Refusal, not_allowed, refusal_response
from referee.web.site import Answer, Site

STATUS: dict[type[Mistake], int] = {
    house_mistakes.Unknown: 404,
    house_mistakes.NotYours: 403,
    house_mistakes.Conflict: 409,
    house_mistakes.TooMany: 409,
    house_mistakes.TooLarge: 413,
    house_mistakes.TooOften: 429,
    house_mistakes.BadHouse: 503,
    BadStore: 503,
}
"""Of the mistakes that are no bad input."""
_UPLOADS_AT_ONCE = 4
_encode = msgspec.json.Encoder().encode


def refusal_of(error: Exception) -> Refusal:
    """What a visitor is told of an error; what nobody foresaw goes to the log."""
    if isinstance(error, Refusal):
        return error
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            wait = {"Retry-After": str(error.wait_s)} if hasattr(error, "wait_s") else {}
            if status == 503:
                print(f"web: {error}", file=sys.stderr, flush=True)
                return Refusal(503, "the data cannot be read or written at the moment")
            return Refusal(status, str(error), wait)
    if isinstance(error, Mistake):
        return Refusal(400, str(error))
    traceback.print_exception(error, file=sys.stderr)
    return Refusal(500, "the referee failed on this; its log says more")


class Served:
    """All endpoints of one path, as an ASGI application."""

    def __init__(self, site: Site, endpoints: list[Endpoint]) -> None:
        self._site = site
        self._by_method: dict[str, Endpoint] = {each.method: each for each in endpoints}
        self._uploads = asyncio.Semaphore(_UPLOADS_AT_ONCE)

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
        visitor = await self._visitor(request)
        if endpoint.changes:
            return await self._change(endpoint, request, asked, visitor)
        site.door.may_read(visitor, endpoint.needs)

        async def make() -> Answer:
            return await site.run(lambda house: self._made(endpoint, asked, visitor, house))

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
        csrf = request.headers.get(CSRF_HEADER, "")
        form = endpoint.takes is Archive and bodies.media_type(request) == FORM
        if not (form and visitor.by_cookie):
            site.door.may_change(visitor, endpoint.needs, csrf)
        elif not visitor.may(endpoint.needs):
            site.door.may_read(visitor, endpoint.needs)
        body: Any = None
        if endpoint.takes is Archive:
            async with self._uploads:
                body, in_form = await self._upload(request)
            if form and visitor.by_cookie:
                site.door.may_change(visitor, endpoint.needs, csrf or in_form)
        elif endpoint.takes is not None:
            limits = site.settings.limits
            raw = await bodies.read_body(request, limits.body_bytes, limits.body_s)
            body = bodies.read_json(raw, bodies.media_type(request), endpoint.takes)
        answer = await site.run(lambda house: self._made(endpoint, asked, visitor, house, body))
        return Response(
            answer.body,
            status_code=endpoint.status,
            headers={"Cache-Control": "no-store"},
            media_type=answer.media_type,
        )

    async def _upload(self, request: Request) -> tuple[Archive, str]:
        limit = await self._site.run(lambda house: house.settings.limits().submission_bytes)
        body = await bodies.read_body(
            request, limit + bodies.FORM_ROOM, self._site.settings.limits.body_s, limit
        )
        return await bodies.read_archive(body, request, limit)

    async def _visitor(self, request: Request) -> Visitor:
        if not presented_token(request)[0]:
            return Visitor(address=address_of(request))
        return await self._site.run(lambda house: self._site.door.visitor(request, house))

    def _made(
        self, endpoint: Endpoint, asked: Any, visitor: Visitor, house: House, body: Any = None
    ) -> Answer:
        """In a thread."""
        site = self._site
        call = Call(
            visitor=visitor,
            sight=site.library.sight(visitor),
            library=site.library,
            house=house,
            running=site.running,
            parlour=site.parlour,
            followers=site.live.followers,
            body=body,
        )
        value = endpoint.run(call, asked)
        if isinstance(value, Plain):
            return Answer(value.body, value.media_type, etag_of(value.body))
        encoded = _encode(value)
        return Answer(encoded, JSON, etag_of(encoded))

    async def _follow(self, endpoint: Endpoint, request: Request, send: Send) -> None:
        site = self._site
        asked: Any = endpoint.asked(request.path_params, request.query_params.multi_items())
        visitor = await self._visitor(request)
        site.door.may_read(visitor, endpoint.needs)
        kinds = frozenset(KINDS if asked.only is None else asked.only.split(","))
        with site.following(visitor.address):
            frames = site.live.follow(
                Wanted(kinds, asked.game or ""),
                private=visitor.organiser,
                last=request.headers.get("last-event-id", ""),
            )
            most_s = site.settings.limits.follow_s
            await stream(site.live, frames, request.receive, send, EVENT_STREAM, most_s)


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
