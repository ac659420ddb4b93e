"""The rule books."""

from __future__ import annotations

from typing import Any

from referee.web.api import reads
from referee.web.api.asked import OneVariant
from referee.web.endpoint import Call, Nothing
from referee.web.pages.prose import blocks


def all_rules(call: Call, _: Nothing) -> dict[str, Any]:
    return {"variants": reads.variants(call, Nothing()).variants}


def rules(call: Call, asked: OneVariant) -> dict[str, Any]:
    found = reads.variant(call, asked)
    # A script may have no docstring, and has a summary.
    title, *rest = blocks(found.book or found.summary)
    return {
        "variant": found,
        "title": title,
        "blocks": rest,
        "others": [each.name for each in reads.variants(call, Nothing()).variants],
    }
