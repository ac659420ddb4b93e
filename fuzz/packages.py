"""Which packages bring variants of their own is looked up once: it takes longer than all the rest.

They do not come and go while a target runs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from unittest.mock import patch

from referee.rules import registry
from referee.rules.packages import claims

_claims = cache(claims)


def looked_up_once() -> AbstractContextManager[object]:
    return patch.object(registry, "claims", _claims)
