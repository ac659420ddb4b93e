"""What a bot is: a folder with a `bot.toml`, the name of a sample bot, or `name=command line`."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shlex
import stat
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bots.confinement.limits import RANGES, BadLimit, as_written, read_limits, show_size
from referee.bots.contents import DIGITS, MOST_BYTES, hash_folder
from referee.bots.manifest_text import LARGEST, MANIFEST, BadManifest, parse_manifest
from referee.mistake import Mistake
from referee.protocol.messages import NAME_LIMIT

PYTHON = "python3"
"""The one program that every installation has."""
STDIO, ZMQ = "stdio", "zmq"
"""How a bot talks to the referee: over its standard input and output, or over ZeroMQ."""
NAME_BYTES = 120
"""Of a name in UTF-8. The logs of two bots lie in a folder with the names of both, and the numbers
of their versions; the name of a folder has at most 255 bytes."""
NO_PLAIN_FILE = "no plain file"
TEXT, WHOLE, WORDS = "text in quotes", "a whole number", "a list of texts"
KINDS: dict[str, tuple[type, str]] = {
    "name": (str, TEXT),
    "command": (list, WORDS),
    "build": (list, WORDS),
    "description": (str, TEXT),
    "version": (str, TEXT),
    "author": (str, TEXT),
    "variants": (list, WORDS),
    "games_at_once": (int, WHOLE),
    "transport": (str, TEXT),
    "env": (dict, 'a table of texts, for example env = {LEVEL = "3"}'),
    "processes": (int, WHOLE),
    "limits": (dict, 'a table, for example limits = {memory = "256M"}'),
    "portable": (bool, "true or false"),
    "stateless": (bool, "true or false"),
}
"""What each key holds, and how that is told."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[\w][\w .+#()-]*")


class BadBot(Mistake):
    """A bot that cannot be found or read; the message says where and what is right."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `bot.toml`."""

    name: str
    command: list[str]
    build: list[str] = []
    description: str = ""
    version: str = ""
    author: str = ""
    variants: list[str] | None = None
    games_at_once: int | None = None
    transport: str = STDIO
    env: dict[str, str] = {}
    processes: int = 1
    limits: dict[str, int | str] = {}
    portable: bool = False
    stateless: bool | None = None


class Bot(Struct, frozen=True, kw_only=True):
    """A bot that can be started."""

    name: str
    command: tuple[str, ...]
    build: tuple[str, ...] = ()
    """What makes it ready to run, once (building.py); empty where nothing does, or it has run."""
    folder: Path | None = None
    """Where it runs; None is the current folder."""
    is_built: bool = False
    """Whether that folder is what its build has made, and not the one that its hash is of."""
    owns_folder: bool = True
    """Whether that folder is the bot. A command line only runs there, and where it is confined it
    sees no more than the files that it names."""
    variants: tuple[str, ...] | None = None
    """The variants that it plays; None is all of them."""
    games_at_once: int | None = None
    """None where the manifest leaves it to the bot's hello."""
    transport: str = STDIO
    env: Mapping[str, str] = {}
    processes: int = 1
    """How many it runs at a time, where it is confined."""
    limits: Mapping[str, int | str] = {}
    """Where it can do with less than it is given."""
    portable: bool = False
    """Whether what the build makes runs on every machine of a cluster, so that it is built once."""
    stateless: bool | None = None
    """Whether it keeps nothing from game to game; None where the manifest leaves it to the bot's
    hello."""
    sees: tuple[tuple[str, str], ...] = ()
    """Of a command line, where confined: files on this machine, and where the bot finds them."""
    version: str = ""
    description: str = ""
    hash: str = ""
    """Of everything in its folder, or of the command line and the files that it names."""

    def must_play(self, variant: str) -> None:
        """Raises BadBot where the manifest leaves this variant out."""
        if self.variants is not None and variant not in self.variants:
            named = ", ".join(self.variants)
            raise BadBot(f"{self.name} does not play {variant}; its bot.toml names {named}")

    def renamed(self, name: str) -> Bot:
        return msgspec.structs.replace(self, name=name)


def sample_folder() -> Path:
    """Where the sample bots are: inside the installed package, or in the checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "sample_bots"
    return installed if installed.is_dir() else package.parent / "sample_bots"


def sample_bots() -> dict[str, Path]:
    """The sample bots' folders by name."""
    folder = sample_folder()
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if (path / MANIFEST).is_file()}


def is_sample(bot: Bot) -> bool:
    """Whether it comes with the referee."""
    if bot.folder is None or not bot.owns_folder:
        return False
    return bot.folder.parent == sample_folder().resolve()


def usual_bots() -> list[str]:
    """The sample bots that play where nobody names others: those in Python, over pipes.

    Those in other languages, and those that need a library, have to be asked for: what an
    installation plays without a word must not depend on what else happens to be there.
    """
    bots = {name: read_bot(folder) for name, folder in sample_bots().items()}
    return [
        name for name, bot in bots.items() if bot.command[0] == PYTHON and bot.transport == STDIO
    ]


def find_bot(text: str) -> Bot:
    """The bot that a person named on the command line."""
    name, equals, command = text.partition("=")
    if equals and "/" not in name:
        return _from_command(name.strip(), command)
    try:
        folder = Path(text).expanduser()
    except RuntimeError:  # ~somebody, whom the system does not know
        folder = Path(text)
    if folder.name == MANIFEST and _there(folder.is_file):
        folder = folder.parent
    if _there((folder / MANIFEST).is_file):
        return read_bot(folder)
    samples = sample_bots()
    if text in samples:
        return read_bot(samples[text])
    if _there(folder.is_dir):
        raise BadBot(f"{text}: the folder has no {MANIFEST}")
    if "/" in text and not _there(folder.exists):
        raise BadBot(f"{text}: there is no such folder; a bot is a folder with {MANIFEST}")
    near = get_close_matches(text, samples, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    if _there(folder.is_file):
        hint = f'to run a file, write "{folder.stem}=python3 {text}" or the like; '
    raise BadBot(
        f"no bot {text!r}: {hint}a bot is a folder with {MANIFEST}, "
        f'a sample bot ({", ".join(samples)}), or "name=command line"'
    )


def _there(test: Callable[[], bool]) -> bool:
    """Whether something is there; nothing is, under a name that is too long for a file."""
    try:
        return test()
    except OSError:
        return False


def read_bot(folder: Path) -> Bot:
    """The bot in a folder with a `bot.toml`."""
    manifest = _read_manifest(folder / MANIFEST)
    try:
        content = hash_folder(folder)
    except OSError as error:
        raise BadBot(f"{error.filename}: {error.strerror}") from None
    return Bot(
        name=manifest.name,
        command=tuple(manifest.command),
        build=tuple(manifest.build),
        folder=folder.resolve(),
        variants=None if manifest.variants is None else tuple(manifest.variants),
        games_at_once=manifest.games_at_once,
        transport=manifest.transport,
        env=manifest.env,
        processes=manifest.processes,
        limits=manifest.limits,
        portable=manifest.portable,
        stateless=manifest.stateless,
        version=manifest.version,
        description=manifest.description,
        hash=content,
    )


def _read_manifest(path: Path) -> Manifest:
    try:
        raw = parse_manifest(_content(path))
    except BadManifest as bad:
        raise BadBot(f"{path}: {bad}") from None
    except OSError as error:
        raise BadBot(f"{path}: {error.strerror}") from None
    unknown = [key for key in raw if key not in Manifest.__struct_fields__]
    if unknown:
        near = get_close_matches(unknown[0], Manifest.__struct_fields__, n=1)
        hint = f"did you mean {near[0]}?" if near else "known are " + _known_keys()
        raise BadBot(f"{path}: unknown key {unknown[0]!r}; {hint}")
    _check_kinds(path, raw)
    try:
        manifest = msgspec.convert(raw, Manifest)
    except msgspec.ValidationError as error:
        told, _, key = str(error).replace("`", "").partition(" - at $.")
        told = told[0].lower() + told[1:]
        raise BadBot(f"{path}: {key}: {told}" if key else f"{path}: {told}") from None
    check_name(str(path), manifest.name)
    if not manifest.command or not _words(manifest.command):
        raise BadBot(f'{path}: command must be a list of words, for example ["python3", "bot.py"]')
    if not _words(manifest.build):
        example = '["cc", "-O2", "-o", "bot", "bot.c"]'
        raise BadBot(f"{path}: build must be a list of words, for example {example}")
    if manifest.games_at_once is not None and not 1 <= manifest.games_at_once <= 10_000:
        raise BadBot(f"{path}: games_at_once must be 1 to 10000")
    if manifest.transport not in (STDIO, ZMQ):
        raise BadBot(f'{path}: transport must be "stdio" or "zmq", not {manifest.transport!r}')
    if not 1 <= manifest.processes <= RANGES["processes"][1]:
        raise BadBot(f"{path}: processes must be 1 to {RANGES['processes'][1]}")
    for name, value in manifest.env.items():
        if not _VARIABLE.fullmatch(name) or "\0" in value:
            raise BadBot(f"{path}: env cannot set {name!r} to {value!r}")
    return manifest


def _content(path: Path) -> bytes:
    """Of a plain file, as far as any manifest goes: of a pipe or a device one could read for ever.

    The file may have become something else since it was looked at. Raises OSError.
    """
    if path.is_symlink():
        # The bot's hash knows what a link says, and not what is there.
        raise OSError(errno.EINVAL, NO_PLAIN_FILE)
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, NO_PLAIN_FILE)
        return file.read(LARGEST + 1)


def _check_kinds(path: Path, raw: Mapping[str, object]) -> None:
    for key, value in raw.items():
        kind, told = KINDS[key]
        if type(value) is not kind:
            raise BadBot(f"{path}: {key} must be {told}, not {as_written(value)}")
        if isinstance(value, list):
            for word in value:
                if not isinstance(word, str):
                    raise BadBot(f"{path}: {key} must be {told}, and {as_written(word)} is none")
        elif key == "env" and isinstance(value, dict):
            for name, text in value.items():
                if not isinstance(text, str):
                    raise BadBot(f"{path}: env.{name} must be {TEXT}, not {as_written(text)}")
        elif key == "limits" and isinstance(value, dict):
            try:
                read_limits(value)
            except BadLimit as bad:
                raise BadBot(f"{path}: {bad}") from None


def _words(words: list[str]) -> bool:
    """Whether the system could run them."""
    return all(words) and "\0" not in "".join(words)


def _from_command(name: str, command: str) -> Bot:
    check_name(f"{name}={command}", name)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadBot(f"{name}={command}: {str(error).lower()}") from None
    if not words:
        raise BadBot(f'{name}=: the command is missing; write "{name}=python3 my_bot.py"')
    digest = hashlib.sha256(os.fsencode(command))
    for word in words:
        path = Path(word)
        if _there(path.is_file) and os.access(path, os.R_OK):
            if path.stat().st_size > MOST_BYTES:
                raise BadBot(f"{name}={command}: {word} is larger than {show_size(MOST_BYTES)}")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    content = digest.hexdigest()[:DIGITS]
    return Bot(name=name, command=tuple(words), owns_folder=False, hash=content)


def check_name(where: str, name: str) -> None:
    if len(name) > NAME_LIMIT or not _NAME.fullmatch(name):
        raise BadBot(
            f"{where}: a bot's name has 1 to {NAME_LIMIT} letters, digits, spaces or any of "
            f"._+#()- and starts with a letter or digit"
        )
    size = len(name.encode())
    if size > NAME_BYTES:
        raise BadBot(f"{where}: a bot's name has at most {NAME_BYTES} bytes in UTF-8, not {size}")


def _known_keys() -> str:
    return ", ".join(Manifest.__struct_fields__)
