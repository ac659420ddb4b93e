"""What the web process is told on the first line of its standard input."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from referee.daemon.priorities import PAGES
from referee.mistake import Mistake


class BadSettings(Mistake):
    """A first line that is no settings; the message says what is wrong with it."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of anything one visitor gets.

    A whole contest often sits behind one address, so that reading is limited by far more than a
    room of people looks at, and writing by token first.
    """

    reads_per_s: float = 500.0
    """By address: pages and reads of the API."""
    reads_burst: int = 3000
    writes_per_s: float = 1.0
    """By token."""
    writes_burst: int = 30
    tries_per_s: float = 1.0
    """By address: requests with a token that is not known."""
    tries_burst: int = 30
    plays_per_s: float = 10.0
    """By token or address: moves of people who play against a bot."""
    plays_burst: int = 200
    plays_at_once: int = 16
    """Games of people against bots, all together: each has a bot that runs."""
    plays_of_one: int = 8
    """By token or address."""
    followers: int = 2000
    """Of live events, all together."""
    followers_of_one: int = 1500
    """From one address."""
    follow_s: float = 86_400.0
    """At a stretch; whoever is let go then may come back at once."""
    body_bytes: int = 64 * 1024
    """Of any body but that of a submission, for which the house has a limit of its own."""
    body_s: float = 60.0
    """For a body to arrive."""
    unpack_cpu_s: Annotated[int, Meta(ge=1)] = 10
    """Of processor time, to read an upload."""
    unpack_s: Annotated[int, Meta(ge=1)] = 60
    """The same by the clock: other work may keep the processor."""
    head_s: float = 10.0
    """For the head of a request to arrive, from the moment when its connection is there."""
    idle_s: float = 30.0
    """Between two requests of a connection."""
    connections: int = 10_000
    """All together, and never more than there are descriptors for."""
    connections_of_one: int = 5_000
    """From one address."""


class WebSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the data is, where to listen, and what is open to whom."""

    data: Path
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """0 is any that is free."""
    anonymous: bool = False
    """Whether bots of other teams are shown under made-up names."""
    public: bool = True
    """Whether reading needs no token."""
    writing: bool = True
    """Whether anything can be changed over HTTP at all."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks whose word is taken for where a request comes from, in
    `X-Forwarded-For` and `X-Forwarded-Proto`. Nobody else's is."""
    nice: Annotated[int, Meta(ge=0, le=19)] = PAGES
    """By how much visitors give way to the hall."""
    cores: tuple[int, ...] = ()
    """On which bots run that people play against, and uploads are read; none are those of this
    process."""
    limits: Limits = Limits()


def read_settings(line: bytes) -> WebSettings:
    """Raises BadSettings."""
    try:
        return msgspec.json.decode(line, type=WebSettings, dec_hook=_path)
    except msgspec.MsgspecError as error:
        raise BadSettings(f"the settings of the web process cannot be read: {error}") from None


def _path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError
