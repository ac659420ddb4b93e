"""Where a bot that the referee starts connects: one bot, one connection, and nothing is left."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from referee.links.endpoint import ENDPOINT, LocalEndpoint
from referee.links.pipe import PipeLink
from referee.protocol.framed import FramedSession
from referee.protocol.messages import Event, HelloReceived, Misbehaved
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    found = LocalEndpoint()
    yield found
    found.close()


@pytest.fixture
def dealer() -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as found:
        found.linger = 0
        found.rcvtimeo = int(PATIENCE_S * 1000)
        yield found


def connected(endpoint: LocalEndpoint) -> PipeLink:
    return wait_for(endpoint.accept, "a bot that connects")


def hear(link: PipeLink, session: FramedSession) -> list[Event]:
    def heard() -> list[Event]:
        data = link.read()
        if data is None:
            return []
        return list(session.receive(data) if data else session.end_of_input())

    return wait_for(heard, "something that the session understands")


def greeted(
    endpoint: LocalEndpoint, dealer: zmq.Socket[bytes]
) -> tuple[PipeLink, FramedSession, list[Event]]:
    dealer.connect(endpoint.variables()[ENDPOINT])
    dealer.send_json({"type": "hello", "token": endpoint.token})
    link = connected(endpoint)
    session = FramedSession(token=endpoint.token)
    session.reply = link.reply
    link.write(session.hello("test"))
    return link, session, hear(link, session)


def test_a_real_socket_is_understood(endpoint: LocalEndpoint, dealer: zmq.Socket[bytes]) -> None:
    link, session, events = greeted(endpoint, dealer)
    assert isinstance(events[0], HelloReceived)
    assert dealer.recv_json() == {"type": "hello", "protocol": 1, "referee": "test"}
    session.ask()
    dealer.send(b'{"id":1,"move":5,"note":"' + b"n" * 900 + b'"}')
    assert [type(event).__name__ for event in hear(link, session)] == ["OddMoveReceived"]
    link.write(session.bye())
    assert dealer.recv_json() == {"type": "bye"}


def test_the_end_is_heard_though_something_was_unread(
    endpoint: LocalEndpoint, dealer: zmq.Socket[bytes]
) -> None:
    link, session, _ = greeted(endpoint, dealer)
    link.write(session.ping() * 1000)
    dealer.close(0)
    (event,) = hear(link, session)
    assert isinstance(event, Misbehaved)
    assert event.code == "crash"


def test_only_the_bot_can_enter(endpoint: LocalEndpoint) -> None:
    assert stat.S_IMODE(endpoint.folder.stat().st_mode) == 0o700
    (path,) = endpoint.folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(endpoint.token) == 32
    assert len(str(path)) < 100


def test_nobody_comes_after_the_bot(endpoint: LocalEndpoint, dealer: zmq.Socket[bytes]) -> None:
    greeted(endpoint, dealer)
    assert not endpoint.folder.exists()
    assert endpoint.accept() is None


def test_nothing_is_left(dealer: zmq.Socket[bytes]) -> None:
    unused, used = LocalEndpoint(), LocalEndpoint()
    dealer.connect(used.variables()[ENDPOINT])
    link = connected(used)
    for each in (unused, used):
        each.close()
        each.close()
        assert not each.folder.exists()
    for fd in (link.fd, link.out_fd):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)


def test_a_long_path_is_no_trouble(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    found = LocalEndpoint()
    found.close()
    assert found.folder.parent == Path("/tmp")
