"""Connections that bring nothing: how long they are held, and how many."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from tests.waiting import PATIENCE_S, wait_for
from tests.web.contest import Contest
from tests.web.serving import Web, serving

HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))"


@contextmanager
def connected(web: Web) -> Iterator[socket.socket]:
    address = urlsplit(web.url)
    with socket.create_connection((address.hostname, address.port), PATIENCE_S) as connection:
        yield connection


def ends(connection: socket.socket) -> bytes:
    """What comes until the other side ends it."""
    found = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            found += piece
    return found


def trickle_until_cut(connection: socket.socket) -> None:
    """Send a byte now and then, until the other side ends it."""

    def cut() -> bool:
        try:
            connection.sendall(b"x")
        except OSError:
            return True
        return False

    wait_for(cut, "the end of a connection that trickles")


def answer(connection: socket.socket) -> bytes:
    found = b""
    while b"}" not in found:
        piece = connection.recv(65_536)
        assert piece, found
        found += piece
    return found


@pytest.mark.parametrize("start", [b"", b"G", HEAD, HEAD + b"Cookie: x"])
def test_a_head_has_its_time(own: Contest, start: bytes) -> None:
    with serving(own.data, limits={"head_s": 0.5}) as web:
        began = time.monotonic()
        with connected(web) as slow:
            slow.sendall(start)
            assert ends(slow) == b""
        assert time.monotonic() - began > 0.4
        assert b"referee_connections_cut_total 1\n" in web.get("/metrics").body


def test_who_sends_a_byte_now_and_then_is_cut_too(own: Contest) -> None:
    with serving(own.data, limits={"head_s": 1.0}) as web, connected(web) as slow:
        slow.sendall(HEAD)
        trickle_until_cut(slow)


def test_the_head_of_a_later_request_has_its_time(own: Contest) -> None:
    """Beside the time that a connection may be idle: uvicorn stops to count that with a byte."""
    with serving(own.data, limits={"head_s": 1.5, "idle_s": 60.0}) as web, connected(web) as slow:
        for _ in range(2):
            slow.sendall(HEAD + b"\r\n")
            assert answer(slow).startswith(b"HTTP/1.1 200")
            time.sleep(1.7)  # Longer than a head may take.
        slow.sendall(HEAD)
        assert ends(slow) == b""


def test_a_connection_without_a_request_is_let_go(own: Contest) -> None:
    with serving(own.data, limits={"head_s": 600.0, "idle_s": 0.5}) as web, connected(web) as idle:
        idle.sendall(HEAD + b"\r\n")
        answer(idle)
        assert ends(idle) == b""


def test_a_body_that_trickles_after_its_answer_holds_nothing(own: Contest) -> None:
    with serving(own.data, limits={"head_s": 2.0, "idle_s": 0.5}) as web, connected(web) as slow:
        slow.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
        answer(slow)
        trickle_until_cut(slow)


@pytest.mark.parametrize("limit", ["connections", "connections_of_one"])
def test_there_are_no_more_than_are_taken(own: Contest, limit: str) -> None:
    with serving(own.data, limits={limit: 10}) as web, ExitStack() as held:
        for _ in range(10):
            held.enter_context(connected(web))
        with connected(web) as one_more:
            told = ends(one_more)
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: 5" in told
            assert told.endswith(b'{"error":"too many connections: come back in a moment"}')
        held.close()
        wait_for(lambda: web.get("/healthz").status == 200, "room")
        assert b"referee_connections 1\n" in web.get("/metrics").body


def test_a_flood_beyond_all_descriptors_is_survived_in_silence(own: Contest) -> None:
    """`serving` sees to it that nothing was written to stderr."""
    with serving(own.data, before=FEW, limits={"head_s": 2.0}) as web:
        with ExitStack() as held:
            for _ in range(400):
                held.enter_context(connected(web))
            wait_for(lambda: _answers(web), "an answer while they are held")
        assert web.get("/healthz").status == 200


def _answers(web: Web) -> bool:
    try:
        return web.get("/healthz").status == 200
    except OSError:
        return False
