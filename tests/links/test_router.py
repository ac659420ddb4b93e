"""The ROUTER with real peers: who is who, who is gone, who does not read."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from referee.links.addresses import network_of
from referee.links.doorkeeper import UNKNOWN_KEY
from referee.links.keys import new_keys
from referee.links.router import (
    GUARDED_AT_ONCE,
    HOARDED,
    LARGEST_MESSAGE,
    NEVER_HEARD,
    OLD_PROTOCOL,
    SEND_MARK,
    UNHEARD_BYTES,
    BadEndpoint,
    Delivery,
    Router,
)
from referee.links.strangers import SILENT, TOO_MANY, Strangers
from tests.links import dealer, let_take_over, next_arrival, next_departures
from tests.loopback import own_address
from tests.waiting import PATIENCE_S, wait_for

ZMTP_1 = b"\x01\x00\x03\x00hi"
"""No identity, and one message."""
ZMTP_2 = b"\xff" + bytes(7) + b"\x01\x7f\x01\x05" + b"\x00\x00" + b"\x00\x02hi"
"""The same from a DEALER."""

ROOT = Path(__file__).parents[2]
SOON_S = 30.0
"""Less than the minute for which the system keeps half a connection."""


@pytest.fixture
def plain() -> Iterator[Router]:
    router = Router(f"tcp://{own_address()}:0")
    yield router
    router.close()


def test_a_message_and_its_answer(plain: Router) -> None:
    assert plain.endpoint.startswith("tcp://127.")
    assert plain.receive() is None
    with dealer(plain.endpoint) as bot:
        bot.send(b"one")
        bot.send_multipart([b"two", b"three", b""])
        first, second = next_arrival(plain), next_arrival(plain)
        assert (first.parts, second.parts) == ([b"one"], [b"two", b"three", b""])
        assert (first.peer, first.connection, first.user) == (second.peer, second.connection, "")
        assert plain.send(first.peer, [b"a", b"b"]) is Delivery.SENT
        assert [bot.recv(), bot.recv()] == [b"a", b"b"]
        connection = plain.connection(first.peer)
        assert connection is not None
        assert connection.address == "127.0.0.1"


def test_a_connection_that_ends_is_told_once(plain: Router) -> None:
    with dealer(plain.endpoint) as bot:
        bot.send(b"x")
        arrival = next_arrival(plain)
        assert plain.departures() == []
    departed = next_departures(plain)
    assert departed == [arrival.connection]
    assert plain.departures() == []
    assert plain.send(arrival.peer, [b"x"]) is Delivery.GONE
    assert plain.connection(arrival.peer) is None


def test_what_was_sent_before_the_end_is_heard(plain: Router) -> None:
    with dealer(plain.endpoint) as bot:
        bot.send(b"0")
        arrival = next_arrival(plain)
        bot.send(b"1")
        bot.send(b"2")
        plain_socket = plain.poller_items[0][0]
        assert plain_socket.poll(int(1_000 * PATIENCE_S))
        bot.linger = 5_000
    departed = next_departures(plain)
    late = [next_arrival(plain), next_arrival(plain)]
    assert [each.parts for each in late] == [[b"1"], [b"2"]]
    assert {each.connection for each in late} == {arrival.connection} == set(departed)
    assert plain.departures() == []


def test_one_who_was_gone_before_he_was_heard(plain: Router) -> None:
    with dealer(plain.endpoint) as bot:
        bot.linger = 5_000
        bot.send(b"x")
        monitor = plain.poller_items[1][0]
    assert monitor.poll(int(1_000 * PATIENCE_S))
    arrival = next_arrival(plain)
    wait_for(lambda: plain.departures() == [arrival.connection])
    assert plain.connection(arrival.peer) is None


def test_whoever_says_nothing_is_hung_up_on() -> None:
    router = Router(f"tcp://{own_address()}:0", silent_s=0.2)
    with contextlib.closing(router), dealer(router.endpoint) as bot:
        bot.send(b"here")
        peer = next_arrival(router).peer
        # One shakes hands; the other does not even do that.
        with dealer(router.endpoint), knocking(router):
            wait_for(lambda: router.refused[SILENT] >= 2, "both ends", meanwhile=router.guard)
        bot.send(b"still here")
        assert next_arrival(router).peer == peer


def test_connections_are_looked_at_in_turns(plain: Router) -> None:
    """Whoever opens thousands would else keep all clocks waiting."""
    with contextlib.ExitStack() as stack:
        for _ in range(GUARDED_AT_ONCE + 1):
            stack.enter_context(knocking(plain))
        wait_for(lambda: plain.guard() is False, "more connections than one look takes")
        assert plain.guard() is True


def test_silent_connections_are_ended_in_turns() -> None:
    now_s = 0.0
    refused = Counter[str]()
    strangers = Strangers(refused, silent_s=1.0, now=lambda: now_s)
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            line, other = map(stack.enter_context, socket.socketpair())
            strangers.accepted(line.fileno())
        assert strangers.end_silent(2) is True
        now_s = 2.0
        assert strangers.end_silent(2) is False
        assert refused[SILENT] == 2
        assert strangers.end_silent(2) is True
        assert refused[SILENT] == 3
        assert other.recv(1) == b""


def test_an_address_has_so_many_connections() -> None:
    router = Router(f"tcp://{own_address()}:0", most_of_one=4)
    with contextlib.closing(router):
        with contextlib.ExitStack() as stack:
            for _ in range(9):
                stack.enter_context(knocking(router))
            wait_for(lambda: router.refused[TOO_MANY] >= 5, "five ends", meanwhile=router.guard)
            elsewhere = router.endpoint.replace("tcp://", "tcp://127.0.0.2:0;")
            with dealer(elsewhere) as bot:
                bot.send(b"from elsewhere")
                assert next_arrival(router).parts == [b"from elsewhere"]
        with dealer(router.endpoint) as bot:
            bot.send(b"when they have gone")
            assert next_arrival(router).parts == [b"when they have gone"]


NETWORKS = """
import contextlib, fcntl, socket, struct
from referee.links.router import Router
from referee.links.strangers import TOO_MANY
from tests.waiting import PATIENCE_S, wait_for

with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as line:
    fcntl.ioctl(line, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS: it is up
    for address in ("fd00::1", "fd00::2", "fd00::3:4", "fd00:0:0:1::1"):
        name = socket.inet_pton(socket.AF_INET6, address)
        fcntl.ioctl(line, 0x8916, struct.pack("=16sIi", name, 128, 1))  # SIOCSIFADDR
router = Router("tcp://[::]:0", most_of_one=2)
port = int(router.endpoint.rpartition(":")[2])

def knocking(address):
    def knock():
        with contextlib.suppress(OSError):  # An address may take a moment to be there.
            return socket.create_connection(("fd00::1", port), PATIENCE_S, (address, 0))
    return wait_for(knock, address)

knocks = [knocking(each) for each in ("fd00::1", "fd00::2", "fd00:0:0:1::1", "fd00::3:4")]
wait_for(lambda: router.refused[TOO_MANY] == 1, "one end", meanwhile=router.guard)
with contextlib.suppress(ConnectionError):
    while knocks[-1].recv(100):
        pass
print("the last one alone" if all(each.recv(1) for each in knocks[:-1]) else "others")
"""


def test_an_ipv6_network_has_as_many_as_one_address() -> None:
    words = ["unshare", "--net", "--map-root-user", sys.executable, "-c", NETWORKS]
    if subprocess.run([*words[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made")
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "the last one alone\n", done.stderr


def test_the_parts_of_an_address_that_count() -> None:
    for address, network in (
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::"),
        ("2001:db8:0:0:9::", "2001:db8::"),
        ("2001:db8:0:1::7", "2001:db8:0:1::"),
        ("fe80::1%eth0", "fe80::"),
        ("no address", "no address"),
    ):
        assert network_of(address) == network


@contextmanager
def knocking(router: Router) -> Iterator[socket.socket]:
    """A connection without a word, of ZeroMQ or otherwise."""
    host, port = router.endpoint.removeprefix("tcp://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as line:
        yield line


def test_a_number_is_never_given_twice(plain: Router) -> None:
    let_take_over(plain)
    numbers: list[int] = []
    for _ in range(5):
        with dealer(plain.endpoint, identity=b"same") as bot:
            bot.send(b"x")
            arrival = next_arrival(plain)
            assert arrival.peer == b"same"
            numbers.append(arrival.connection)
        assert next_departures(plain) == numbers[-1:]
    assert numbers == sorted(set(numbers))


def test_a_killed_process_departs(plain: Router) -> None:
    program = """
import sys, time, zmq
socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
socket.send(b"up")
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", program, plain.endpoint]) as process:
        arrival = next_arrival(plain)
        process.kill()
        wait_for(lambda: plain.departures() == [arrival.connection])


def test_a_peer_that_does_not_read_is_full_and_memory_stays(plain: Router) -> None:
    with dealer(plain.endpoint, rcvhwm=1) as deaf, dealer(plain.endpoint) as other:
        deaf.send(b"x")
        peer = next_arrival(plain).peer
        other.send(b"y")
        reader = next_arrival(plain).peer
        data = b"z" * 50_000
        sent = 0
        while plain.send(peer, left := [data] * 10) is Delivery.SENT:
            sent += 10
            assert sent <= 2 * SEND_MARK
        assert left
        before = _resident_bytes()
        for _ in range(20_000):
            assert plain.send(peer, [data]) is Delivery.FULL
        assert _resident_bytes() - before < 20_000_000
        assert plain.send(reader, [b"ok"]) is Delivery.SENT
        assert other.recv() == b"ok"


def test_a_message_without_measure_ends_the_connection(plain: Router) -> None:
    with dealer(plain.endpoint) as bot:
        bot.send(b"x")
        arrival = next_arrival(plain)
        bot.send(b"x" * (LARGEST_MESSAGE + 1))
        wait_for(lambda: plain.departures() == [arrival.connection])
        assert plain.receive() is None


def test_one_can_be_hung_up_on(plain: Router) -> None:
    with dealer(plain.endpoint) as bot, dealer(plain.endpoint) as other:
        bot.send(b"x")
        arrival = next_arrival(plain)
        other.send(b"y")
        peer = next_arrival(plain).peer
        plain.cut(arrival.peer)
        wait_for(lambda: plain.departures() == [arrival.connection])
        plain.cut(arrival.peer)
        assert plain.send(peer, [b"still here"]) is Delivery.SENT
        assert other.recv() == b"still here"


def test_garbage_costs_nothing(plain: Router) -> None:
    with _stranger(plain, b"GET / HTTP/1.1\r\n\r\n" * 10), dealer(plain.endpoint) as bot:
        bot.send(b"x")
        # To libzmq this looks like an ancient version of its protocol: it may make a message of it.
        arrival = next_arrival(plain)
        while arrival.parts != [b"x"]:
            arrival = next_arrival(plain)
        assert plain.send(arrival.peer, [b"ok"]) is Delivery.SENT
        assert bot.recv() == b"ok"


@pytest.mark.parametrize("opening", [ZMTP_1, ZMTP_2, b"POST / HTTP/1.1\r\n\r\n" + b"x" * 400])
def test_an_older_protocol_costs_a_counter(plain: Router, opening: bytes) -> None:
    """libzmq speaks it, and hands over what it heard without saying where from."""
    with dealer(plain.endpoint) as bot:
        bot.send(b"x")
        arrival = next_arrival(plain)
        with _stranger(plain, opening):

            def counted() -> bool:
                assert plain.receive() is None
                return plain.dropped[OLD_PROTOCOL] > 0

            wait_for(counted)
            bot.send(b"y")
            assert next_arrival(plain).connection == arrival.connection
        wait_for(lambda: not plain.departures() and plain.refused[NEVER_HEARD] == 1)


def test_messages_that_are_not_heard_do_not_hide_those_that_are(plain: Router) -> None:
    flood = ZMTP_1 + b"\x03\x00hi" * 500
    with _stranger(plain, flood), _stranger(plain, flood), dealer(plain.endpoint) as bot:
        for number in range(50):
            bot.send(b"%d" % number)
        assert [next_arrival(plain).parts for _ in range(50)] == [[b"%d" % n] for n in range(50)]

        def counted() -> bool:
            assert plain.receive() is None
            return plain.dropped[OLD_PROTOCOL] == 1002

        wait_for(counted)


def test_whoever_floods_and_is_never_heard_is_hung_up_on(plain: Router) -> None:
    with dealer(plain.endpoint) as bot, _connected(plain) as stranger:
        bot.send(b"x")
        arrival = next_arrival(plain)

        def flood() -> None:
            with contextlib.suppress(OSError):
                stranger.sendall(ZMTP_1)
                while True:
                    stranger.sendall((b"\xc9\x00" + bytes(200)) * 100)

        def hung_up() -> bool:
            assert plain.receive() is None
            plain.guard()
            return not plain.departures() and plain.refused[NEVER_HEARD] == 1

        flooding = threading.Thread(target=flood)
        flooding.start()
        wait_for(hung_up, "the end of the flood")
        flooding.join()
        assert plain.send(arrival.peer, [b"ok"]) is Delivery.SENT
        assert bot.recv() == b"ok"


def test_a_guest_that_leaves_was_heard(plain: Router) -> None:
    with dealer(plain.endpoint) as bot:
        bot.send(b"x")
        next_arrival(plain)
    next_departures(plain)
    assert plain.refused.total() == 0


@pytest.mark.parametrize("name", [b"User-Id", b"Peer-Address", b"Identity"])
def test_without_keys_a_peer_is_not_who_it_says_it_is(plain: Router, name: bytes) -> None:
    """Properties are the peer's to choose, in bytes that need not be letters."""
    claim = bytes([len(name)]) + name + (2).to_bytes(4, "big") + b"\xff\xfe"
    with _connected(plain) as stranger:
        _shake_hands(stranger, claim)
        stranger.sendall(b"\x00\x02hi")
        arrival = next_arrival(plain)
        assert (arrival.user, arrival.parts) == ("", [b"hi"])
        connection = plain.connection(arrival.peer)
        assert connection is not None
        assert connection.address == "127.0.0.1"


def test_a_message_without_end_ends_the_connection(plain: Router) -> None:
    """ZMTP by hand: libzmq's own end would send nothing before the last part is there."""
    part = b"\x03" + (60_000).to_bytes(8, "big") + bytes(60_000)
    before, sent = _resident_bytes(), 0
    with _connected(plain) as stranger:
        _shake_hands(stranger)
        stranger.sendall(b"\x00\x01x")
        next_arrival(plain)
        stranger.settimeout(SOON_S)
        with contextlib.suppress(ConnectionError):
            while sent < 3 * UNHEARD_BYTES:
                stranger.sendall(part)
                sent += len(part)
                plain.departures()
                plain.guard()
    assert UNHEARD_BYTES <= sent < 2 * UNHEARD_BYTES
    assert plain.refused[HOARDED] > 0
    assert plain.receive() is None
    assert _resident_bytes() - before < 2 * UNHEARD_BYTES


# CURVE.


@contextmanager
def curved(names: dict[str, str]) -> Iterator[tuple[Router, str]]:
    keys = new_keys()
    router = Router(f"tcp://{own_address()}:0", secret=keys.secret, known=names.get)
    try:
        yield router, keys.public
    finally:
        router.close()


def test_a_known_key_has_a_name() -> None:
    first, second = new_keys(), new_keys()
    names = {first.public: "Ann 1", second.public: "Bob"}
    with curved(names) as (router, server):
        let_take_over(router)
        with dealer(router.endpoint, keys=first, server=server) as ann:
            ann.send(b"x")
            assert next_arrival(router).user == "Ann 1"
        # A name belongs to its key, whatever routing id somebody has taken over.
        with dealer(router.endpoint, keys=first, server=server, identity=b"id") as ann:
            ann.send(b"x")
            assert next_arrival(router).user == "Ann 1"
        with dealer(router.endpoint, keys=second, server=server, identity=b"id") as bob:
            bob.send(b"x")
            assert next_arrival(router).user == "Bob"


def test_an_unknown_key_is_refused_and_counted() -> None:
    known = new_keys()
    with (
        curved({known.public: "Ann"}) as (router, server),
        dealer(router.endpoint, keys=new_keys(), server=server) as stranger,
        dealer(router.endpoint, keys=known, server=server) as ann,
    ):
        stranger.send(b"let me in")
        ann.send(b"x")
        assert next_arrival(router).user == "Ann"
        wait_for(lambda: router.refused[UNKNOWN_KEY] > 0)
        assert router.receive() is None
        assert router.departures() == []
        assert router.refused[NEVER_HEARD] == 0


def test_without_a_key_there_is_no_handshake() -> None:
    with curved({}) as (router, _), dealer(router.endpoint) as stranger:
        stranger.send(b"let me in")

        def counted() -> bool:
            router.departures()
            return router.refused.total() > 0

        wait_for(counted)
        assert router.receive() is None


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 500, b"\0" * 500])
def test_garbage_costs_a_counter(garbage: bytes) -> None:
    with curved({}) as (router, _), _stranger(router, garbage):

        def counted() -> bool:
            router.departures()
            return router.refused[NEVER_HEARD] > 0

        wait_for(counted)
        assert router.receive() is None


def test_a_key_can_become_known_while_it_knocks() -> None:
    keys = new_keys()
    names: dict[str, str] = {}
    with (
        curved(names) as (router, server),
        dealer(router.endpoint, keys=keys, server=server) as bot,
    ):
        bot.send(b"x")
        wait_for(lambda: router.refused[UNKNOWN_KEY] > 0)
        names[keys.public] = "late"
        with dealer(router.endpoint, keys=keys, server=server) as again:
            again.send(b"y")
            assert next_arrival(router).user == "late"


# Endpoints.


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        ("nonsense", "write it as tcp://ADDRESS:PORT"),
        ("tcp://127.0.0.1:99999", "write it as tcp://ADDRESS:PORT"),
        ("tcp://192.0.2.1:0", "cannot assign requested address"),
        ("smoke://signal", "protocol not supported"),
    ],
)
def test_a_bad_endpoint_is_one_sentence(endpoint: str, told: str) -> None:
    with pytest.raises(BadEndpoint) as caught:
        Router(endpoint)
    assert str(caught.value) == f"cannot listen on {endpoint}: {told}"


def test_an_endpoint_in_use_is_one_sentence(plain: Router) -> None:
    with pytest.raises(BadEndpoint, match="address already in use"):
        Router(plain.endpoint)


def test_ipc_works_too(tmp_path: Path) -> None:
    router = Router(f"ipc://{tmp_path}/s")
    with dealer(router.endpoint) as bot:
        bot.send(b"x")
        arrival = next_arrival(router)
        router.cut(arrival.peer)
        wait_for(lambda: router.departures() == [arrival.connection])
    router.close()


def test_closing_leaves_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with curved({}) as (router, _):
            assert router.receive() is None
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def _connected(router: Router) -> socket.socket:
    host, port = router.endpoint.removeprefix("tcp://").split(":")
    return socket.create_connection((host, int(port)))


@contextmanager
def _stranger(router: Router, says: bytes) -> Iterator[None]:
    with _connected(router) as stranger:
        stranger.sendall(says)
        yield


def _shake_hands(stranger: socket.socket, properties: bytes = b"") -> None:
    """As a DEALER without a key does, in ZMTP 3."""
    name = b"NULL".ljust(20, b"\0")
    stranger.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + name + bytes(32))
    while b"READY" not in stranger.recv(300):
        pass
    ready = b"\x05READY\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER" + properties
    stranger.sendall(b"\x04" + bytes([len(ready)]) + ready)


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


assert zmq.has("curve"), "these tests need a libzmq with CURVE"
