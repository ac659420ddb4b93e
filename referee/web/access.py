"""Who is asking, and what they may do.

A script sends its token as `Authorization: Bearer TOKEN`. A browser that has logged in sends it as
a cookie, which no script of a page can read and no other site can send along; to change anything it
must also show a second token that only our own pages know, made of the first.

Reading is open to everybody unless it is closed. A token that is not known is refused even for what
needs none: whoever sends one means to be somebody.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from referee.links.addresses import network_of
from referee.store.house import House
from referee.web.rates import Rate
from referee.web.refusal import Refusal
from referee.web.settings import Limits, WebSettings

COOKIE = "referee_token"
CSRF_HEADER = "x-csrf-token"
COOKIE_DAYS = 30

Needs = Literal["anyone", "viewer", "team", "organiser"]
_STANDING: dict[str, int] = {"anyone": 0, "viewer": 1, "team": 2, "organiser": 3}
_TOKEN = re.compile(r"[!-~]{8,200}")
_TOKENS: dict[str, tuple[str, str]] = {
    "viewer": ("a token", "your token"),
    "team": ("the token of a team", "the token of your team"),
    "organiser": ("the organiser's token", "the organiser's token"),
}
"""What is needed, and what somebody at a browser logs in with."""
HOW = (
    "the commands take it as --token or from REFEREE_TOKEN, "
    "scripts send it as Authorization: Bearer TOKEN"
)
READ_ONLY = "this referee is read-only over the web: nothing can be handed in or changed here"
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="referee"'}


class Visitor(Struct, frozen=True, kw_only=True):
    """Somebody who asks for something."""

    address: str
    role: Needs = "anyone"
    team: int | None = None
    name: str = ""
    token: str = ""
    """Empty for the public."""
    by_cookie: bool = False

    @property
    def organiser(self) -> bool:
        return self.role == "organiser"

    @property
    def key(self) -> str:
        """By which changes are counted."""
        return f"team {self.team}" if self.team is not None else self.address

    def may(self, needs: Needs) -> bool:
        return _STANDING[self.role] >= _STANDING[needs]

    def owns(self, team: int | None) -> bool:
        """Whether what belongs to a team is this visitor's to see in full."""
        return self.organiser or (self.role == "team" and self.team == team)


class Door:
    """Lets visitors in, at the pace that is good for all."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        limits: Limits = settings.limits
        self._reads = Rate(limits.reads_per_s, limits.reads_burst)
        self._writes = Rate(limits.writes_per_s, limits.writes_burst)
        self._tries = Rate(limits.tries_per_s, limits.tries_burst)
        self._plays = Rate(limits.plays_per_s, limits.plays_burst)
        self.refused = 0
        """For asking too often."""

    def slow_down(self, request: Request) -> None:
        """Raises Refusal where an address asks for too much at once."""
        self._must_wait(self._reads.take(address_of(request)))

    def visitor(self, request: Request, house: House) -> Visitor:
        """Raises Refusal for a token that is not known."""
        address = address_of(request)
        token, by_cookie = presented_token(request)
        if not token:
            return Visitor(address=address)
        team = house.teams.of_token(token) if _TOKEN.fullmatch(token) else None
        if team is None:
            if by_cookie and request.method in ("GET", "HEAD"):
                # A cookie outlives the token that it holds; the page is there for everybody.
                return Visitor(address=address)
            raise self.wrong_token(request)
        return Visitor(
            address=address,
            role=team.role,
            team=team.id,
            name=team.name,
            token=token,
            by_cookie=by_cookie,
        )

    def may_read(self, visitor: Visitor, needs: Needs) -> None:
        """Raises Refusal where this visitor may not see it."""
        self._must_be(
            visitor, "viewer" if not self._settings.public and needs == "anyone" else needs
        )

    def may_change(self, visitor: Visitor, needs: Needs) -> None:
        """Raises Refusal where this visitor may change nothing, or not this, or not so often.

        It is asked before anything of the request's body is read; `must_be_ours` after it.
        """
        if not self._settings.writing:
            raise Refusal(403, READ_ONLY)
        self._must_be(visitor, needs)
        self._must_wait(self._writes.take(visitor.key))

    def may_play(self, visitor: Visitor) -> None:
        """Raises Refusal where this visitor may not play against a bot, or not so fast."""
        self.may_read(visitor, "anyone")
        self._must_wait(self._plays.take(visitor.key))

    def must_be_ours(self, visitor: Visitor, csrf: str) -> None:
        """Raises Refusal where a browser sent it and not from a page of ours; `csrf` is what came
        with the request to prove that."""
        proof = csrf_token(visitor.token).encode()
        if visitor.by_cookie and not hmac.compare_digest(csrf.encode("utf-8", "replace"), proof):
            raise Refusal(403, "this change did not come from a page of this referee; load it anew")

    def wrong_token(self, request: Request) -> Refusal:
        """What is said of a token that nobody has. Only such tries are counted: whoever has the
        right one is let in, however many others at the same address guess. Raises Refusal."""
        self._must_wait(self._tries.take(address_of(request)))
        return Refusal(401, "this token is not known", _CHALLENGE)

    def _must_be(self, visitor: Visitor, needs: Needs) -> None:
        if visitor.may(needs):
            return
        if visitor.role == "anyone":
            token, own = _TOKENS[needs]
            raise Refusal(
                401, f"this needs {token}: {HOW}", _CHALLENGE, on_page=f"log in with {own}"
            )
        who = f"{visitor.name} ({visitor.role})"
        raise Refusal(403, f"this needs the token of {_a(needs)}, and yours is that of {who}")

    def _must_wait(self, seconds: int) -> None:
        if seconds:
            self.refused += 1
            raise Refusal(
                429,
                f"too many requests: come back in {seconds} s",
                {"Retry-After": str(seconds)},
            )


def _a(needs: Needs) -> str:
    return "an organiser" if needs == "organiser" else f"a {needs}"


def presented_token(request: Request) -> tuple[str, bool]:
    """The token that came, and whether by cookie. Raises Refusal for other credentials."""
    header = request.headers.get("authorization")
    if header is None:
        return _token_of_cookie(request), True
    kind, _, token = header.strip().partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Refusal(401, "credentials come as Authorization: Bearer TOKEN", _CHALLENGE)
    return token.strip(), False


def _token_of_cookie(request: Request) -> str:
    """The last one that came, as it came. `request.cookies` would undo quotes in every cookie: in
    Pythons before the mending of CVE-2024-7592, 62,000 bytes of them take seconds."""
    token = ""
    for header in request.headers.getlist("cookie"):
        for cookie in header.split(";"):
            name, _, value = cookie.partition("=")
            if name.strip() == COOKIE:
                token = value.strip()
    return token


def csrf_token(token: str) -> str:
    """What a form of ours carries to prove where it came from; nobody can make it without the
    token itself."""
    return hmac.new(token.encode(), b"referee: a form of ours", hashlib.sha256).hexdigest()[:32]


def address_of(request: Request) -> str:
    """What limits count by."""
    return network_of(request.client.host if request.client is not None else "")


def remember(response: Response, token: str, *, secure: bool) -> None:
    """Let a browser keep a token where no script of a page can read it."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=COOKIE_DAYS * 86_400,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )
