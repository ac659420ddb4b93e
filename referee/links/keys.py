"""CURVE keys: who a bot is, proved by a secret that never travels.

A key pair is two texts of 40 characters (Z85, as ZeroMQ writes them). The public one is registered
with the daemon under the bot's name; the secret one stays in a file that only its owner can read.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from pathlib import Path

import zmq
from msgspec import Struct
from zmq.utils import z85

from referee.mistake import REFUSED, Mistake

KEY_CHARACTERS = 40
SECRET_MODE = 0o600


class BadKey(Mistake):
    """A key, or a file of keys, that cannot be used; the message says why."""


class KeyRefused(BadKey):
    """The system does not let us write there."""

    status = REFUSED


class KeyPair(Struct, frozen=True):
    """Both halves, as Z85 text."""

    public: str
    secret: str


def new_keys() -> KeyPair:
    public, secret = zmq.curve_keypair()
    return KeyPair(public.decode(), secret.decode())


def check_key(text: str) -> str:
    """A key as somebody typed or pasted it. Raises BadKey."""
    key = text.strip()
    with contextlib.suppress(ValueError, KeyError, IndexError):
        if len(key) == KEY_CHARACTERS and len(z85.decode(key)) == 32:
            return key
    raise BadKey(f"a key has {KEY_CHARACTERS} characters in Z85, this has {len(key)} or others")


def keys_of(secret: str) -> KeyPair:
    """The pair that this secret belongs to. Raises BadKey."""
    secret = check_key(secret)
    return KeyPair(zmq.curve_public(secret.encode()).decode(), secret)


def write_keys(folder: Path, name: str, keys: KeyPair | None = None) -> Path:
    """Write a pair, a new one unless it is given, to NAME.key, for its owner's eyes only.

    A file that is there is left as it is: its key may be in use. The folder is made where it is
    not there. Raises BadKey, KeyRefused.
    """
    keys = keys or new_keys()
    path = folder / f"{name}.key"
    told = f'name = "{name}"\npublic = "{keys.public}"\nsecret = "{keys.secret}"\n'
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, SECRET_MODE)
    except FileExistsError:
        raise BadKey(f"{path} is there already; a key that is in use is not replaced") from None
    except OSError as error:
        raise KeyRefused(f"{path} cannot be written: {error.strerror}") from None
    with open(fd, "w", encoding="utf-8") as file:
        file.write(told)
    return path


def read_keys(path: Path) -> KeyPair:
    """The pair in a key file. Raises BadKey."""
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadKey(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise BadKey(f"{path} is no key file: it is not TOML") from None
    secret = fields.get("secret")
    if not isinstance(secret, str):
        raise BadKey(f"{path} holds no secret key")
    try:
        keys = keys_of(secret)
    except BadKey as bad:
        raise BadKey(f"{path}: {bad}") from None
    if fields.get("public", keys.public) != keys.public:
        raise BadKey(f"{path}: the public key is not the one of the secret key")
    return keys
