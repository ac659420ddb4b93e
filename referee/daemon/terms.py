"""What `referee serve` was asked for."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from referee.daemon.pace import PaceTerms
from referee.tournament.spec import Spec


class ServeTerms(Struct, frozen=True, kw_only=True):
    """All of it, settled."""

    data: Path
    season: Spec
    """What a season is where none was started yet."""
    given: tuple[str, ...] = ()
    """The keys of it that somebody asked for."""
    bots: str | None = None
    """The endpoint for bots that connect; None is none."""
    host: str = "127.0.0.1"
    port: int | None = None
    """Of the pages; None is no pages."""
    jobs: int = 1
    anonymous: bool = False
    """Whether bots are told made-up names of their opponents."""
    public: bool = True
    """Whether reading the pages needs no token."""
    writing: bool = True
    """Whether anything can be handed in or changed over the web."""
    proxies: tuple[str, ...] = ()
    """Who is believed where a request to the pages comes from."""
    samples: bool = False
    """Whether the sample bots are entered though there are others."""
    pace: PaceTerms | None = None
    """None is what the house has set, or the usual."""
    quota_bytes: int | None = None
    """What a team may use of the disk; None is what the house has set, or the usual."""
    finish_s: float = 5.0
    """How long games that are being played may go on when the daemon is asked to stop."""
