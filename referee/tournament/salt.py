"""Where the chance of a tournament comes from: its seed, and a salt that nobody knows.

The operator may choose the seed, so a bot can guess it: the `bot_seed` that every bot is sent comes
from the same root as the chance of its games, and tells which guess is right. The salt is 128 bits
from the operating system. It is kept with the tournament and shown when the tournament has ended:
the same seed and salt then deal the same games. What is added to a tournament that has ended has
another salt.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from msgspec.structs import replace

from referee.rules.numbers import amount
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
        "salt": spec.salt or _new_salt(),
    }


def with_chance_of(spec: Spec, begun: Spec) -> Spec:
    """The spec; seed and salt are those of a tournament that was begun where it gives none."""
    return replace(spec, seed=spec.seed or begun.seed, salt=spec.salt or begun.salt)


def add_salt(store: Store, played: int) -> None:
    """Let games beyond these have chance that nobody knows, since the salt of these was shown."""
    shown = store.value("salt") or "none"
    store.set_value("salt", f"{shown}, after {amount(played, 'game')} {_new_salt()}")


def chance_root(store: Store) -> str:
    """What the chance of all games comes from that are not yet played: of several salts the last
    one."""
    salt = (store.value("salt") or "").rpartition(" ")[2]
    return f"{store.value('seed') or ''}/{salt}"


def _new_salt() -> str:
    return secrets.token_hex(SALT_DIGITS // 2)


def branch(root: str, row: PairingRow, bots: Mapping[int, BotRow]) -> str:
    """The branch of a pairing, which no other pairing of the tournament has."""
    base = f"{root}/{row.variant}/{bots[row.first].name}/{bots[row.second].name}"
    return base if (row.round, row.replay) == (1, 0) else f"{base}/{row.round}.{row.replay}"
