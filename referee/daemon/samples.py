"""The sample bots as bots of the house, so that a ladder without any other shows life."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from referee.bots.manifest import sample_bots, usual_bots
from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.store.house.house import House
from referee.store.house.mistakes import Conflict

TOLD = "comes with the referee"


def enter_samples(house: House) -> list[str]:
    """Enter the usual sample bots that are not there yet; who came.

    They come with the referee and its tests: where nobody waits before them, they need no check.
    """
    folders = sample_bots()
    came: list[str] = []
    for name in usual_bots():
        try:
            version = house.submissions.keep(name, None, packed(folders[name]))
        except Conflict:
            continue
        came.append(name)
        if [each.id for each in house.submissions.waiting()] != [version.id]:
            continue
        house.submissions.claim()
        bot = unpacked(house.submissions.path(version), house.data, version.id).renamed(name)
        house.submissions.accept(version.id, definition_of(bot, house.data), TOLD)
    return came


def packed(folder: Path) -> bytes:
    """A folder as a plain archive: the same bytes for the same files."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                member = tarfile.TarInfo(str(path.relative_to(folder)))
                member.size = path.stat().st_size
                member.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                for parent in reversed(path.relative_to(folder).parents[:-1]):
                    _add_folder(archive, str(parent))
                with path.open("rb") as file:
                    archive.addfile(member, file)
    return found.getvalue()


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    if name not in archive.getnames():
        member = tarfile.TarInfo(name)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
