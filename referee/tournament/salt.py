"""Where the chance of a tournament comes from: its seed, and a salt that nobody knows.

The operator may choose the seed, so a bot can guess it: the `bot_seed` that every bot is sent comes
from the same root as the chance of its games, and tells which guess is right. The salt is 128 bits
from the operating system. It is kept with the tournament and shown when the tournament has ended:
the same seed and salt then deal the same games.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from msgspec.structs import replace

from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.tournament.mistakes import BadSpec
from referee.tournament.spec import SALT_DIGITS, Spec


def chance_values(spec: Spec) -> dict[str, str]:
    """The seed and the salt of a spec, or new ones, as the store of a tournament keeps them.

    Raises BadSpec for a salt alone: it deals the same games with the same seed only.
    """
    if spec.salt and not spec.seed:
        raise BadSpec("a salt repeats games together with their seed, which is missing", ("salt",))
    return {
        "seed": spec.seed or secrets.token_hex(8),
        "salt": spec.salt or secrets.token_hex(SALT_DIGITS // 2),
    }


def with_chance_of(spec: Spec, begun: Spec) -> Spec:
    """The spec; seed and salt are those of a tournament that was begun where it gives none."""
    return replace(spec, seed=spec.seed or begun.seed, salt=spec.salt or begun.salt)


def chance_root(store: Store) -> str:
    """What all chance of a tournament comes from."""
    return f"{store.value('seed') or ''}/{store.value('salt') or ''}"


def branch(root: str, row: PairingRow, bots: Mapping[int, BotRow]) -> str:
    """The branch of a pairing, which no other pairing of the tournament has."""
    base = f"{root}/{row.variant}/{bots[row.first].name}/{bots[row.second].name}"
    return base if (row.round, row.replay) == (1, 0) else f"{base}/{row.round}.{row.replay}"
