"""The API of a daemon somewhere else, for commands: one question, one answer or one sentence."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import msgspec

from referee.mistake import REFUSED, Mistake
from referee.version import __version__

PATIENCE_S = 60.0
LARGEST_ANSWER = 256 * 1024 * 1024


class DaemonRefused(Mistake):
    """The daemon does not do it; the message is its own."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code
        """The HTTP status."""


class Unreachable(Mistake):
    """Nobody answers there, or no daemon does."""

    status = REFUSED


class Remote:
    """A daemon by the address of its pages."""

    def __init__(self, url: str, token: str = "") -> None:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise Mistake(f"{url!r} is no address of a daemon; write http://HOST:PORT")
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise Mistake("a token has no spaces and no special characters")
        self.url = parts.geturl().rstrip("/")
        self._token = token
        # A token must not follow an answer to somewhere else.
        self._opener = urllib.request.build_opener(_Stay, _Pages)

    def get(self, path: str) -> Any:
        """What the API answers. Raises DaemonRefused, Unreachable."""
        return self._ask("GET", path, None, "")

    def post(self, path: str, body: bytes, media_type: str) -> Any:
        """Raises DaemonRefused, Unreachable."""
        return self._ask("POST", path, body, media_type)

    def _ask(self, method: str, path: str, body: bytes | None, media_type: str) -> Any:
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}", data=body, method=method, headers=self._headers(media_type)
        )
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as answer:
                return self._read(answer.read(LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error.code, error.read(65_536)) from None
        except urllib.error.URLError as error:
            raise self._unreachable(error.reason, "cannot be reached") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error, "broke off") from None

    def _unreachable(self, reason: object, what: str) -> Unreachable:
        if isinstance(reason, _PortForBots):
            return Unreachable(
                f"{self.url} is the port for bots; give the address of the pages, which the daemon "
                "says at its start (http://HOST:7780 unless it was told otherwise)"
            )
        if isinstance(reason, ssl.SSLError) and reason.reason in _NO_TLS:
            plain = self.url.replace("https://", "http://", 1)
            return Unreachable(f"{self.url} does not speak https; write {plain}")
        told = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return Unreachable(f"{self.url} {what}: {told}")

    def _headers(self, media_type: str) -> dict[str, str]:
        headers = {"User-Agent": f"referee/{__version__}", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if media_type:
            headers["Content-Type"] = media_type
        return headers

    def _read(self, body: bytes) -> Any:
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError:
            raise Unreachable(f"{self.url} is no daemon of the referee") from None

    def _refused(self, code: int, body: bytes) -> Mistake:
        try:
            sentence = msgspec.json.decode(body, type=dict[str, str])["error"]
        except (msgspec.MsgspecError, KeyError):
            return Unreachable(f"{self.url} is no daemon of the referee (HTTP status {code})")
        return DaemonRefused(sentence, code)


_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
"""What OpenSSL calls an answer in plain HTTP, from version to version."""


class _PortForBots(OSError):
    """ZeroMQ listens there."""


class _Connection(http.client.HTTPConnection):
    """Sees who is there by the first byte: what speaks ZeroMQ greets first, and then waits for a
    greeting that HTTP does not have."""

    def getresponse(self) -> http.client.HTTPResponse:
        self._must_be_pages()
        return super().getresponse()

    def send(self, data: Any) -> None:
        try:
            super().send(data)
        except OSError:
            self._must_be_pages()
            raise

    def _must_be_pages(self) -> None:
        if self.sock is not None and self.sock.recv(1, socket.MSG_PEEK) == b"\xff":
            raise _PortForBots


class _Pages(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def part(text: str) -> str:
    """A name as a part of a path."""
    return urllib.parse.quote(text, safe="")
