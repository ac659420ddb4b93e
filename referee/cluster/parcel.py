"""What travels to the machines of a cluster, known by its content: bots and variants' scripts.

A bot that travels has the name of its parcel where its folder was; the machine that unpacks it puts
its own folder there. A bot that is a command line takes along the files that its command names:
what is below the folder where it stands keeps its place, and what is elsewhere gets one there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive, pack, unpack
from referee.bots.cache import default_cache, is_kept, kept
from referee.bots.confinement.limits import MIB, show_size
from referee.bots.contents import DIGITS, TooMuch
from referee.bots.environment import environment
from referee.bots.manifest import BadBot, Bot
from referee.mistake import Mistake

MOST_SENT = 100_000_000
"""Bytes of a parcel: it goes through the memory of scheduler and workers."""
MOST_UNPACKED = 256 * MIB
"""Of its archive, which is on the disk of each machine while it is unpacked."""
PIECE = 64 * 1024
"""Bytes of a parcel that are unpacked at a time."""
MOST_AT_ONCE = 1 * MIB
"""Of what a piece unpacks to: it may be a thousand times as much, and only this is in memory."""
WAIT_MS = 60_000
SCRIPT = "script-"
ASIDE = "elsewhere"
"""Where a command line finds the files that are not below its folder."""


class TooLarge(Mistake):
    """More than is sent to a cluster."""


class Parcel(Struct, frozen=True):
    """A folder on its way."""

    name: str
    """Has its content's hash in it."""
    body: bytes


def parcel_of_bot(bot: Bot, built: Callable[[Bot], Bot]) -> tuple[Bot, Parcel]:
    """The bot as it travels, and what goes with it. Raises BadBot.

    Where the manifest says that what is built is portable it is `built` here, else there.
    """
    if bot.portable and bot.build:
        bot = built(bot)
    try:
        if bot.owns_folder and bot.folder is not None:
            command, packed = bot.command, _Packed(bot.folder)
        else:
            command, packed = _with_named_files(bot)
    except TooLarge as large:
        raise BadBot(f"{bot.name}: {large}") from None
    except TooMuch as much:
        raise BadBot(f"{bot.name}: {much.filename}: {much.strerror}") from None
    except OSError as error:
        told = f"{error.filename or bot.folder}: {error.strerror or error}"
        raise BadBot(f"{bot.name}: {told}") from None
    # A machine knows a bot that it has made ready, command and all, by this name.
    name = f"bot-{_digest(packed.content, *map(os.fsencode, command))}"
    sent = replace(bot, command=command, folder=Path(name), owns_folder=True)
    return sent, Parcel(name, packed.body)


class _Packed:
    """A folder as it is sent. Only what is sent is ever in memory."""

    def __init__(self, folder: Path) -> None:
        """Raises TooLarge, OSError."""
        self._size = 0
        self._digest = hashlib.sha256()
        self._packer = zlib.compressobj()
        self._body = bytearray()
        pack(folder, self)
        self._body += self._packer.flush()
        self.body = bytes(self._body)
        self.content = self._digest.digest()
        """By which it is known: the hash of the archive."""

    def write(self, data: bytes) -> None:
        """The next piece of the archive."""
        self._size += len(data)
        if self._size > MOST_UNPACKED:
            most = show_size(MOST_UNPACKED)
            raise TooLarge(f"as an archive it is larger than {most}: too much to send to a cluster")
        self._digest.update(data)
        self._body += self._packer.compress(data)
        if len(self._body) > MOST_SENT:
            raise TooLarge(f"packed, it has more than {MOST_SENT} bytes: too much to send")


def _with_named_files(bot: Bot) -> tuple[tuple[str, ...], _Packed]:
    """A command line as it is to be run where it arrives, and the files that it names, packed."""
    here = bot.folder or Path.cwd()
    aside = ASIDE
    while any(Path(word).parts[:1] == (aside,) for word in bot.command):
        aside += "_"
    command: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        for number, word in enumerate(bot.command):
            searched = number == 0 and "/" not in word
            if searched or not _is_file(here / word) or _is_of_machine(word, bot):
                command.append(word)
                continue
            inside = word
            if Path(word).is_absolute() or ".." in Path(word).parts:
                inside = f"{aside}/{number}/{Path(word).name}"
            to = Path(place) / inside
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here / word, to)
            command.append(inside)
        return tuple(command), _Packed(Path(place))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word that is too long for a name
        return False


def _is_of_machine(word: str, bot: Bot) -> bool:
    """Whether it is a program that every machine has to have by itself, such as /usr/bin/python3:
    without all that is installed around it, a copy would be of no use."""
    if not Path(word).is_absolute() or not os.access(word, os.X_OK):
        return False
    searched = environment(bot)["PATH"].split(os.pathsep)
    return os.path.realpath(Path(word).parent) in map(os.path.realpath, filter(None, searched))


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:DIGITS]


def parcel_of_script(path: Path) -> Parcel:
    """A variant's script. Raises OSError, TooLarge."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copyfile(path, Path(place) / path.name)
        packed = _Packed(Path(place))
    return Parcel(f"{SCRIPT}{_digest(packed.content)}", packed.body)


def parcels_folder() -> Path:
    """Where a machine keeps what has come."""
    return default_cache().with_name("parcels")


def is_here(name: str) -> bool:
    """Whether it has come; if so, it counts as used today."""
    return is_kept(parcels_folder(), name)


def keep(parcel: Parcel) -> Path:
    """Unpack it, once for all who work on this machine. Raises BadArchive, OSError, BadBot."""

    def make(folder: Path) -> None:
        opener = zlib.decompressobj()
        with tempfile.TemporaryFile(dir=folder.parent) as archive:
            for start in range(0, len(parcel.body), PIECE):
                packed = parcel.body[start : start + PIECE]
                while packed:
                    archive.write(opener.decompress(packed, MOST_AT_ONCE))
                    packed = opener.unconsumed_tail
                    if archive.tell() > MOST_UNPACKED:
                        raise BadArchive("it is too large")
            archive.write(opener.flush())
            unpack(archive, folder, MOST_UNPACKED)

    return kept(parcels_folder(), parcel.name, make, wait_ms=WAIT_MS, who=parcel.name)
