"""Where a request ends, on a socket: nobody smuggles a second one into its body."""

from __future__ import annotations

import pytest

from tests.web.contest import Contest
from tests.web.serving import Web, serving
from tests.web.test_connections import connected, ends

SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"2\r\n{}\r\n0\r\n\r\n"
Served = tuple[Web, Contest]


@pytest.mark.parametrize("method", [b"POST", b"GET"])
@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 12\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 12\r\n",
        b"transfer-encoding: Chunked\r\ncontent-length: 0\r\n",
        b"Content-Length: 12\r\nContent-Length: 3\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Content-Length: 12\r\nTransfer-Encoding: xchunked\r\n",
        b"Content-Length: 12\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    ],
)
def test_a_body_that_ends_in_two_places(shared: Served, method: bytes, lines: bytes) -> None:
    head = method + b" /healthz HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n"
    assert _answers(shared[0], head + CHUNKED + SMUGGLED) == [b"400"]


def test_chunks_of_a_protocol_that_has_none(shared: Served) -> None:
    head = b"POST /healthz HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert _answers(shared[0], head + CHUNKED + SMUGGLED) == [b"400"]


def test_chunks_that_are_none_fill_no_log(own: Contest) -> None:
    """The process says nothing of them, as `serving` sees; each is answered once."""
    with serving(own.data) as web:
        for chunks in (b"-1\r\n{}\r\n", b"0x2\r\n{}\r\n", b'2;a="\r\n";x\r\n{}\r\n', b"2\r\n{}!!"):
            for method, path in ((b"POST", b"/api/v1/submissions"), (b"GET", b"/healthz")):
                head = method + b" " + path + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
                answers = _answers(web, head + b"\r\n\r\n" + chunks + SMUGGLED)
                assert len(answers) <= 1, (chunks, answers)


def test_chunks_that_are_none_after_the_answer_has_begun(own: Contest) -> None:
    head = b"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serving(own.data) as web, connected(web) as connection:
        connection.sendall(head)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 405")
        connection.sendall(b"-1\r\n{}\r\n" + SMUGGLED)
        assert b"HTTP/1.1" not in ends(connection)


def test_plain_requests_are_answered_one_after_the_other(shared: Served) -> None:
    chunked = b"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED
    last = SMUGGLED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert _answers(shared[0], chunked + last) == [b"405", b"200"]


def _answers(web: Web, sent: bytes) -> list[bytes]:
    """The statuses of what is answered until the connection is closed."""
    with connected(web) as connection:
        connection.sendall(sent)
        parts = ends(connection).split(b"HTTP/1.1 ")[1:]
    return [part[:3] for part in parts]
