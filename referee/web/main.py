"""The web process: settings on the first line of standard input, then HTTP until that ends.

When its standard input ends, whoever started it is gone or wants it to go: it lets its followers
go, finishes what it is answering and ends. Ctrl-C in a terminal is for whoever started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator

import msgspec
import uvicorn

from referee.bots.descriptors import raise_descriptor_limit
from referee.mistake import BAD_INPUT, REFUSED, Mistake
from referee.web.app import make_app
from referee.web.holding import BACKLOG, holding
from referee.web.holding import hear as hear_loop
from referee.web.settings import WebSettings, read_settings

DESCRIPTORS = 16_384
"""Connections, at most."""
GRACE_S = 3
"""For answers that are under way at the end."""


class _Server(uvicorn.Server):
    """Ends when it is told to, and not by signals of its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def main() -> None:
    """Serve until standard input ends."""
    try:
        settings = read_settings(sys.stdin.buffer.raw.readline())  # type: ignore[union-attr]
        asyncio.run(_serve(settings))
    except Mistake as mistake:
        print(f"referee: {mistake}", file=sys.stderr)
        sys.exit(mistake.status)
    except OSError as error:
        print(f"referee: {error.strerror or error}", file=sys.stderr)
        sys.exit(REFUSED)


async def _serve(settings: WebSettings) -> None:
    _make_way(settings.nice)
    raise_descriptor_limit(DESCRIPTORS)
    listening = _listen(settings.host, settings.port)
    address = _address(listening)
    app = make_app(settings.data, settings)
    server = _Server(
        uvicorn.Config(
            app,
            # What strangers send is counted and answered; the log is for what is ours to mend.
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=True,
            lifespan="on",
            http=holding(app.state.site.connections),
            # Said in full: the defaults of uvicorn believe whatever comes from this machine.
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=[*map(_mapped, settings.proxies), *settings.proxies],
            ws="none",
            backlog=BACKLOG,
            timeout_keep_alive=settings.limits.idle_s,  # type: ignore[arg-type]
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=64 * 1024,
        )
    )
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(hear_loop)

    def stop() -> None:
        app.state.site.live.close()
        server.should_exit = True
        loop.call_later(GRACE_S + 3, os._exit, 0)

    def hear() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop()

    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    loop.add_reader(0, hear)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started and not server.should_exit:
        print(msgspec.json.encode({"ready": address}).decode(), flush=True)
    await serving


def _mapped(proxy: str) -> str:
    """How an address or network of IPv4 is seen by a socket that listens for both kinds.

    >>> _mapped("10.0.0.0/8"), _mapped("127.0.0.1"), _mapped("::1")
    ('::ffff:10.0.0.0/104', '::ffff:127.0.0.1', '::1')
    """
    if ":" in proxy:
        return proxy
    address, slash, bits = proxy.partition("/")
    return f"::ffff:{address}/{96 + int(bits)}" if slash else f"::ffff:{address}"


def _is_ours(record: logging.LogRecord) -> bool:
    """A follower that did not read is let go in the middle; that is no error."""
    return "without completing response" not in record.getMessage()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Mistake where there can be none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(f"{host} is no address of this machine: {error.strerror}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise CannotListen(f"cannot listen at {host}:{port}: {error.strerror}") from None
    return listening


class CannotListen(Mistake):
    """The address of the pages cannot be had; the message says why."""

    status = BAD_INPUT


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _make_way(nice: int) -> None:
    """The hall comes first: a thousand people who look must not cost a bot its time there."""
    with contextlib.suppress(OSError):
        os.nice(nice)


if __name__ == "__main__":
    main()
