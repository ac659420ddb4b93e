"""Pages as rows of a table, like the endpoints of the API: a path, a template, and a function that
gives the template its values.

    Page(path="/bots/{bot}", name="bot", template="bot.html", run=bot, asks=OneBot)

The function gets a Call as an endpoint's does, in a thread. What the public is shown is made once a
second at most and is given to all. A Form takes what a page of ours sent and leads to another page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from referee.version import __version__
from referee.web import bodies
from referee.web.access import (
    COOKIE,
    Needs,
    Visitor,
    csrf_token,
    remember,
)
from referee.web.asset import Assets
from referee.web.endpoint import Call, Endpoint, HandedIn, Nothing
from referee.web.forms import CSRF_FIELD, FORM, PLAIN_FORM, Fields
from referee.web.parlour.parlour import Parlour
from referee.web.refusal import Refusal, not_allowed
from referee.web.refusing import refusal_of
from referee.web.serving import etag_of
from referee.web.site import Answer, Site
from referee.web.words import FILTERS, sentence

TEMPLATES = Path(__file__).parent / "templates"
HTML = "text/html; charset=utf-8"


class Page(Struct, frozen=True, kw_only=True):
    """What is shown at an address."""

    path: str
    name: str
    template: str
    run: Callable[[Call, Any], dict[str, Any]]
    asks: type[Struct] = Nothing
    needs: Needs = "anyone"
    open: bool = False
    """Whether it is there for everybody though reading is closed."""
    before: Callable[[Parlour, Any], Awaitable[None]] | None = None
    """What is waited for first, for a moment. Such a page is another at every look: nobody keeps
    it."""


class Form(Struct, frozen=True, kw_only=True):
    """What a page may send: the function makes the change, and says where to go then."""

    path: str
    name: str
    run: Callable[[Call, Any, Fields], str]
    asks: type[Struct] = Nothing
    needs: Needs = "team"
    uploads: bool = False
    """Whether a bot's folder comes with it, as the body of the call."""
    plays: bool = False
    """Whether it is a move in a game, which changes nothing that is kept: anybody who may read may
    send it."""


class Pages:
    """All pages of a site."""

    def __init__(self, site: Site, assets: Assets, pages: Iterable[Page | Form]) -> None:
        self._site = site
        self._pages = list(pages)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(asset=assets.url, referee=__version__, path=_path)
        self._templates.filters.update(FILTERS)

    def routes(self) -> list[Route]:
        by_path: dict[str, list[Page | Form]] = {}
        for page in self._pages:
            by_path.setdefault(page.path, []).append(page)
        return [
            Route("/login", self._log_in, methods=["POST"], name="log_in"),
            Route("/logout", self._log_out, methods=["POST"], name="log_out"),
            *(Route(path, endpoint=_Shown(self, group)) for path, group in by_path.items()),
        ]

    # Showing.

    async def show(self, page: Page, request: Request) -> Response:
        site = self._site
        asked = _asked(page, request)
        visitor = await site.visitor(request)
        if not page.open:
            site.door.may_read(visitor, page.needs)
        if page.before is not None:
            await page.before(site.parlour, asked)

        async def make() -> Answer:
            return await site.handle(visitor, lambda call: self._made(page, asked, call))

        public = visitor.role == "anyone" and page.before is None
        answer = await (site.kept(("page", page.name, asked), make) if public else make())
        headers = {
            "ETag": answer.etag,
            "Vary": "Authorization, Cookie",
            "Cache-Control": "no-cache" if public else "private, no-cache",
        }
        if answer.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(answer.body, headers=headers, media_type=answer.media_type)

    def _made(self, page: Page, asked: Any, call: Call) -> Answer:
        body = self.render(page.template, call.visitor, **page.run(call, asked))
        return Answer(body, HTML, etag_of(body))

    def render(self, template: str, visitor: Visitor, **values: Any) -> bytes:
        """Every template has `visitor`, `csrf` for its forms, and whether any would be taken."""
        csrf = csrf_token(visitor.token) if visitor.token else ""
        page = self._templates.get_template(template)
        common = {
            "csrf": csrf,
            "csrf_field": CSRF_FIELD,
            "writing": self._site.settings.writing,
            "has_room": self._site.running.has_room,
        }
        return page.render(visitor=visitor, **common, **values).encode()

    def refuse(self, request: Request, refusal: Refusal) -> Response:
        """A refusal as a page."""
        body = self.render(
            "refusal.html",
            Visitor(address=""),
            status=refusal.status,
            sentence=sentence(refusal.on_page, refusal.named),
            login=refusal.status in (401, 403),
            here=_where(request),
        )
        return _refused(body, refusal)

    # Changing.

    async def take(self, form: Form, request: Request) -> Response:
        site = self._site
        asked = _asked(form, request)
        visitor = await site.visitor(request)
        if form.plays:
            _must_be_from_here(request)
            site.door.may_play(visitor)
        else:
            site.door.may_change(visitor, form.needs)
        body: HandedIn | None = None
        fields: Fields = {}
        if form.uploads:
            body = await site.handed_in(request, visitor)
        else:
            fields = await self._fields(request)
            site.door.must_be_ours(visitor, fields.get(CSRF_FIELD, ""))
        where = await site.handle(visitor, lambda call: form.run(call, asked, fields), body)
        return RedirectResponse(where, 303)

    async def _fields(self, request: Request) -> Fields:
        media = bodies.media_type(request)
        if media not in (FORM, PLAIN_FORM):
            raise Refusal(415, f"a form comes as {PLAIN_FORM} or {FORM}")
        limits = self._site.settings.limits
        body = await bodies.read_body(request, limits.body_bytes, limits.body_s)
        return bodies.read_form(body, request)

    # Logging in.

    async def _log_in(self, request: Request) -> Response:
        """A token from our own form, kept in a cookie from now on."""
        fields: Fields = {}
        try:
            self._site.door.slow_down(request)
            _must_be_from_here(request)
            fields = await self._fields(request)
            token = fields.get("token", "").strip()
            team = await self._site.run(lambda house: house.teams.of_token(token))
            if team is None:
                raise self._site.door.wrong_token(request)
        except Exception as error:
            refusal = refusal_of(error)
            if not fields:
                return self.refuse(request, refusal)
            here = _within(fields.get("next", "/"))
            nobody = Visitor(address="")
            told = sentence(refusal.on_page)
            return _refused(self.render("login.html", nobody, here=here, told=told), refusal)
        response = RedirectResponse(_within(fields.get("next", "/")), 303)
        remember(response, token, secure=request.url.scheme == "https")
        return response

    async def _log_out(self, request: Request) -> Response:
        try:
            _must_be_from_here(request)
        except Refusal as refusal:
            return self.refuse(request, refusal)
        response = RedirectResponse("/", 303)
        response.delete_cookie(COOKIE, path="/")
        return response


class _Shown:
    """The page and the form of one path, as an ASGI application."""

    def __init__(self, pages: Pages, group: list[Page | Form]) -> None:
        self._pages = pages
        self._page = next((each for each in group if isinstance(each, Page)), None)
        self._form = next((each for each in group if isinstance(each, Form)), None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        site = self._pages._site
        name = (self._page or self._form).name  # type: ignore[union-attr]
        try:
            site.door.slow_down(request)
            if self._page is not None and request.method in ("GET", "HEAD"):
                response = await self._pages.show(self._page, request)
            elif self._form is not None and request.method == "POST":
                response = await self._pages.take(self._form, request)
            else:
                methods = ["GET", "HEAD"] if self._page else []
                raise not_allowed([*methods, *(["POST"] if self._form else [])])
        except Exception as error:
            response = self._pages.refuse(request, refusal_of(error))
        site.requests[f"page {name}", response.status_code] += 1
        await response(scope, receive, send)


def _refused(body: bytes, refusal: Refusal) -> Response:
    headers = {"Cache-Control": "no-store", **refusal.headers}
    headers.pop("WWW-Authenticate", None)  # A browser would ask for a name and a password.
    return Response(body, refusal.status, headers, media_type=HTML)


def _where(request: Request) -> str:
    """The address of a page, to come back to."""
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _asked(page: Page | Form, request: Request) -> Struct:
    """As for an endpoint: the names in the path, and the query."""
    endpoint = Endpoint(
        method="GET",
        path=page.path,
        name=page.name,
        summary="",
        run=lambda _, __: None,
        asks=page.asks,
        answers=str,
    )
    return endpoint.asked(request.path_params, request.query_params.multi_items())


def _must_be_from_here(request: Request) -> None:
    """That no page of another site makes a browser log in or out. Raises Refusal."""
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    host = request.headers.get("host", "")
    if site not in ("same-origin", "none") or (
        origin is not None and origin.partition("://")[2] != host
    ):
        raise Refusal(403, "this did not come from a page of this referee")


def _within(where: str) -> str:
    """An address of ours, whatever somebody put into the form."""
    good = where.startswith("/") and not where.startswith(("//", "/\\")) and where.isprintable()
    return where if good else "/"


def _path(text: str) -> str:
    """A name as a part of an address, for templates."""
    return quote(text, safe="")
