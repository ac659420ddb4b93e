"""What travels to the machines of a cluster, known by its content: bots and variants' scripts.

A bot that travels has the name of its parcel where its folder was; the machine that unpacks it puts
its own folder there. A bot that is a command line takes along the files that its command names.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.archive import BadArchive, pack, unpack
from referee.bots.cache import default_cache, kept
from referee.bots.contents import DIGITS, MOST_BYTES, TooMuch
from referee.bots.manifest import BadBot, Bot

MOST_SENT = 100_000_000
"""Bytes of a parcel: it goes through the memory of scheduler and workers."""
WAIT_MS = 60_000
SCRIPT = "script-"


class Parcel(Struct, frozen=True):
    """A folder on its way."""

    name: str
    """Has its content's hash in it."""
    body: bytes


def parcel_of_bot(bot: Bot, built: Callable[[Bot], Bot]) -> tuple[Bot, Parcel]:
    """The bot as it travels, and what goes with it. Raises BadBot.

    Where the manifest says that what is built is portable it is `built` here, else there.
    """
    name = f"bot-{bot.hash}"
    if bot.portable and bot.build:
        bot = built(bot)
        name += "-built"
    try:
        if bot.owns_folder and bot.folder is not None:
            content = pack(bot.folder)
        else:
            content = _named_files(bot)
    except TooMuch as much:
        raise BadBot(f"{bot.name}: {much.filename}: {much.strerror}") from None
    except OSError as error:
        raise BadBot(f"{bot.name}: {error.filename}: {error.strerror}") from None
    body = zlib.compress(content)
    if len(body) > MOST_SENT:
        raise BadBot(f"{bot.name}: packed, it has more than {MOST_SENT} bytes: too much to send")
    return replace(bot, folder=Path(name), owns_folder=True), Parcel(name, body)


def _named_files(bot: Bot) -> bytes:
    here = bot.folder or Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        for word in bot.command:
            path = here / word
            if Path(word).is_absolute() or ".." in Path(word).parts or not path.is_file():
                continue
            to = Path(place) / word
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
        return pack(Path(place))


def parcel_of_script(path: Path) -> Parcel:
    """A variant's script. Raises OSError."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copyfile(path, Path(place) / path.name)
        packed = pack(Path(place))
    digest = hashlib.sha256(packed).hexdigest()[:DIGITS]
    return Parcel(f"{SCRIPT}{digest}", zlib.compress(packed))


def parcels_folder() -> Path:
    """Where a machine keeps what has come."""
    return default_cache().with_name("parcels")


def is_here(name: str) -> bool:
    return (parcels_folder() / f"{name}.whole").exists()


def keep(parcel: Parcel) -> Path:
    """Unpack it, once for all who work on this machine. Raises BadArchive, OSError, BadBot."""

    def make(folder: Path) -> None:
        opener = zlib.decompressobj()
        content = opener.decompress(parcel.body, MOST_BYTES)
        if opener.unconsumed_tail:
            raise BadArchive("it is too large")
        unpack(io.BytesIO(content), folder, MOST_BYTES)

    return kept(parcels_folder(), parcel.name, make, wait_ms=WAIT_MS, who=parcel.name)
