"""Who is let into the hall: a name belongs to its key, or to its token."""

from __future__ import annotations

import hashlib

from referee.arena.happenings import Refused
from referee.daemon.orders import Admit
from referee.protocol.messages import HelloReceived


class KeysAndTokens:
    """The doors of the daemon's hall. `admitted` may be replaced at any time."""

    def __init__(self, admitted: Admit, *, curve: bool) -> None:
        self.admitted = admitted
        self._curve = curve

    def name_of_key(self, public: str) -> str | None:
        """Asked by the doorkeeper's thread."""
        return self.admitted.keys.get(public)

    def knows(self, name: str) -> bool:
        known = self.admitted.keys if self._curve else self.admitted.tokens
        return name in known.values()

    def admit(self, user: str, hello: HelloReceived) -> str | Refused:
        name = user if self._curve else self._name_of_token(hello.token)
        if isinstance(name, Refused):
            return name
        if hello.name not in (None, name):
            proof = "key" if self._curve else "token"
            return Refused(f"this {proof} is {name}'s: say the name {name} (--name)", "name")
        if not self.knows(name):
            return Refused(f"{name} may not come in any more", "name")
        return name

    def _name_of_token(self, token: str | None) -> str | Refused:
        if token is None:
            return Refused("a token is due: put the bot's token into its hello", "token")
        name = self.admitted.tokens.get(hashlib.sha256(token.encode()).hexdigest())
        return name if name is not None else Refused("nobody has this token", "token")
