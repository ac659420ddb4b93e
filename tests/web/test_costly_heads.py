"""What a request may cost before anybody knows who sent it: little, for each byte of it."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
from h11 import _abnf, _readers
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from referee.web.access import COOKIE, presented_token
from referee.web.h11_grammar import make_linear
from referee.web.holding import READ_BYTES
from tests.web.contest import Contest
from tests.web.serving import Web, cpu_s, serving
from tests.web.test_connections import connected, ends

SIZE = 60_000
AT_ONCE = 20
CPU_S = 5.0
"""For all of them: it is many times what they cost, since processor time grows where others use the
same cores and caches. Each kind once cost tens of seconds for so many requests: 30 s or more."""
COOKIE_LINE = b'Cookie: referee_token="' + b'\\"' * (SIZE // 2) + b'"\r\n\r\n'
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
BLANKS = b" " * SIZE
COSTLY = {
    "cookie of the API": (b"GET /api/v1/seasons HTTP/1.1\r\n" + COOKIE_LINE, b"200"),
    "cookie of a page": (b"GET / HTTP/1.1\r\n" + COOKIE_LINE, b"200"),
    "cookie of the metrics": (b"GET /metrics HTTP/1.1\r\n" + COOKIE_LINE, b"200"),
    "blanks in a head": (b"GET / HTTP/1.1\r\nX:" + BLANKS + b"\0\r\n\r\n", b"400"),
    "blanks after a body": (CHUNKED + b"0\r\nX:" + BLANKS + b"\0\r\n\r\n", b"40"),
    "blanks before a chunk": (CHUNKED + b"1;" + BLANKS + b"\n\r\n", b"40"),
}
"""Requests, and how the status begins that they are answered with."""
PIECES = f"""
from uvicorn.protocols.http.h11_impl import H11Protocol
hear = H11Protocol.data_received
def data_received(self, data):
    assert len(data) <= {READ_BYTES}, len(data)
    hear(self, data)
H11Protocol.data_received = data_received
"""
"""An error of the event loop, which is told to stderr, for each piece that is larger."""


@pytest.mark.parametrize("what", COSTLY)
def test_costly_heads_stop_nobody(shared: tuple[Web, Contest], what: str) -> None:
    web, _ = shared
    request, status = COSTLY[what]
    request = request.replace(b"\r\n", b"\r\nHost: x\r\nConnection: close\r\n", 1)
    before = cpu_s(web.process.pid)
    with ExitStack() as held:
        senders = [held.enter_context(connected(web)) for _ in range(AT_ONCE)]
        for sender in senders:
            sender.sendall(request)
        assert web.get("/healthz").status == 200
        for sender in senders:
            assert ends(sender).startswith(b"HTTP/1.1 " + status)
    assert cpu_s(web.process.pid) - before < CPU_S


def test_nobody_waits_for_all_that_another_sends(own: Contest) -> None:
    """A body of the shortest chunks costs most of all bytes."""
    body = b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n"
    head = CHUNKED.replace(b"\r\n", b"\r\nHost: x\r\nConnection: close\r\n", 1)
    with serving(own.data, before=PIECES) as web, connected(web) as sender:
        sender.sendall(head + body)
        assert ends(sender).startswith(b"HTTP/1.1 405")


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ([], ""),
        (["referee_token=abc"], "abc"),
        (["a=1; referee_token=abc ;b"], "abc"),
        (["referee_token=abc", "a=1"], "abc"),
        (["referee_token=; x", "my_referee_token=abc; referee_token"], ""),
        (["referee_token=first; referee_token=last"], "last"),
    ],
)
def test_a_token_comes_by_cookie(headers: list[str], token: str) -> None:
    lines = [(b"cookie", header.encode()) for header in headers]
    assert COOKIE == "referee_token"
    assert presented_token(Request({"type": "http", "headers": lines})) == (token, True)


@given(st.lists(st.sampled_from(["a", "0", ":", ";", " ", "\t", "\r", "\n", "\0", "\r\n"])))
def test_lines_are_read_as_by_h11(pieces: list[str]) -> None:
    make_linear()
    rest = "".join(pieces).encode()
    for line, ours, theirs in (
        (b"a:" + rest, _readers.header_field_re, _abnf.header_field),
        (b"0" + rest + b"\r\n", _readers.chunk_header_re, _abnf.chunk_header),
    ):
        assert ours.pattern != theirs.encode()
        found, wanted = ours.fullmatch(line), re.fullmatch(theirs.encode(), line)
        assert (found and _read(found)) == (wanted and _read(wanted))


def _read(line: re.Match[bytes]) -> dict[str, bytes]:
    """Without what h11 does not look at."""
    return {name: value for name, value in line.groupdict().items() if name != "chunk_ext"}
