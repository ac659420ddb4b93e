"""Tables as JSON: the value itself, field by field."""

from __future__ import annotations

import msgspec

from referee.reports.standings import Standings


def as_json(standings: Standings) -> bytes:
    """Indented, so that two files can be compared by eye."""
    return msgspec.json.format(msgspec.json.encode(standings), indent=1) + b"\n"
