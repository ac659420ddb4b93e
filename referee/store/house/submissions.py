"""Submitted folders: kept as archives, and a queue of those that wait to be built and checked.

The archive of a version is `DATA/versions/ID.tar`. It is in its place before the change that adds
the version ends: a version in the database has its archive, and an archive that a killed process
left without a version is written over by the next one that gets its number.

A version that somebody works on is in the state `building` or `checking`. Only the daemon that is
in charge of the data folder works on any, so whatever is in one of these states when a daemon takes
charge was left there by one that was killed, and goes back into the queue.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from referee.store.connect import sync_folder
from referee.store.house.books import Books
from referee.store.house.bots import Bots
from referee.store.house.mistakes import (
    BadHouse,
    Conflict,
    HouseFull,
    HouseMistake,
    HouseRefused,
    NotYours,
    TooLarge,
    TooMany,
    TooOften,
)
from referee.store.house.names import must_be_line
from referee.store.house.quotas import Quotas
from referee.store.house.rows import EntrantRow, Limits, TeamRow, VersionRow
from referee.store.house.settings import Settings
from referee.store.house.versions import ADD, SELECT, Versions, row
from referee.store.trouble import is_no_room

FOLDER = "versions"
HOUR = timedelta(hours=1)
UPLOAD = ".new"
"""The ending of what is not in its place yet."""
UNDER_WAY = "('queued', 'building', 'checking')"


class Submissions:
    """What teams hand in, from the upload to the verdict."""

    def __init__(self, books: Books, bots: Bots, versions: Versions, settings: Settings) -> None:
        self._books = books
        self._bots = bots
        self._versions = versions
        self._settings = settings
        self.quotas = Quotas(books, bots, settings)

    # What comes in.

    def keep(self, bot: str, team: TeamRow | None, archive: bytes, label: str = "") -> VersionRow:
        """Keep a submitted folder as the next version of a bot, queued.

        The archive is a plain tar file. A bot that is not there yet is added; without a team, it is
        the organisers' own. Raises NotYours, TooLarge, TooMany, OverQuota, TooOften, Conflict,
        HouseMistake.
        """
        label = must_be_line("a label", label, 100)
        limits = self._settings.limits()
        _check_size(len(archive), limits)
        digest = hashlib.sha256(archive).hexdigest()
        with self._uploaded(archive) as upload, self._books.changing():
            owned = self._check_bot(bot, team, limits)
            self._check_rate(team, limits)
            allowance = self.quotas.allowance(owned, team)
            if allowance is not None:
                allowance.must_cover(len(archive))
            entrant = owned or self._bots.add(
                bot, "submitted", None if team is None else team.id, by=_name(team)
            )
            self._check_new(entrant, digest)
            now, owner = self._books.now(), None if team is None else team.id
            values = (entrant.id, owner, label, "queued", "", digest, len(archive), 1, now, now)
            version = self._versions.get(self._books.write(ADD, values))
            self._put_in_place(upload, self.path(version))
            self._books.journal(_name(team), f"submitted {version.name}")
        self._drop_old(entrant, limits.versions_a_bot)
        self._drop(self.quotas.excess(entrant.team))
        return version

    def path(self, version: VersionRow) -> Path:
        """Where its archive is, or would be."""
        return self._books.data / FOLDER / f"{version.id}.tar"

    def archive(self, version: VersionRow) -> bytes:
        """What was submitted, byte for byte. Raises Conflict where it is no longer kept."""
        if not version.kept:
            raise Conflict(f"what was submitted as {version.name} is no longer kept")
        path = self.path(version)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadHouse(f"{path} cannot be read: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != version.hash:
            raise BadHouse(f"{path} is not what was submitted as {version.name}")
        return content

    # The queue.

    def waiting(self) -> list[VersionRow]:
        """All that are not judged yet, those under way included, in order."""
        query = f"{SELECT} WHERE version.state IN {UNDER_WAY} ORDER BY version.id"
        return [row(found) for found in self._books.rows(query)]

    def claim(self, number: int | None = None) -> VersionRow | None:
        """This version or the first in the queue, to be built; None where it does not wait."""
        which = "" if number is None else "AND version.id = ?"
        query = f"{SELECT} WHERE version.state = 'queued' {which} ORDER BY version.id LIMIT 1"
        values = () if number is None else (number,)
        if self._books.first(query, values) is None:
            return None
        with self._books.changing():
            found = self._books.first(query, values)
            if found is None:
                return None
            self._versions.set_state(row(found).id, "building")
            return self._versions.get(row(found).id)

    def checking(self, number: int) -> VersionRow:
        """It is built, and is now checked. Raises Conflict where nobody had claimed it."""
        with self._books.changing():
            self._claimed(number)
            self._versions.set_state(number, "checking")
            return self._versions.get(number)

    def accept(self, number: int, definition: str, told: str = "", room: int = 0) -> VersionRow:
        """It passed: it plays, unless a newer version of its bot already does.

        `definition` is the JSON of the Bot that is to be started; `room` is how many bytes were
        unpacked and built of it. Raises Conflict.
        """
        with self._books.changing():
            version = self._claimed(number)
            self._books.write(
                "UPDATE version SET definition = ?, room = ?, changed = ? WHERE id = ?",
                (definition, room, self._books.now(), number),
            )
            self._versions.set_state(number, "retired", told)
            if self._newest_that_passed(version) == version.number:
                self._versions.let_play(version)
            accepted = self._versions.get(number)
            self._books.journal("the daemon", f"{accepted.name} passed and is {accepted.state}")
        self._drop(self.quotas.excess(accepted.team))
        return accepted

    def reject(self, number: int, told: str) -> VersionRow:
        """It did not pass; the version that plays plays on. Raises Conflict."""
        with self._books.changing():
            version = self._claimed(number)
            self._versions.set_state(number, "rejected", told)
            self._books.journal("the daemon", f"{version.name} was rejected")
            return self._versions.get(number)

    def put_back(self, number: int) -> VersionRow:
        """Into the queue again, in its old place. Raises Conflict."""
        with self._books.changing():
            self._claimed(number)
            self._versions.set_state(number, "queued")
            return self._versions.get(number)

    def put_all_back(self) -> int:
        """What a daemon that was killed had in hand; how many there were."""
        held = [version for version in self.waiting() if version.state != "queued"]
        if not held:
            return 0
        with self._books.changing():
            for version in held:
                self._versions.set_state(version.id, "queued")
        return len(held)

    def _claimed(self, number: int) -> VersionRow:
        version = self._versions.get(number)
        if version.state not in ("building", "checking"):
            raise Conflict(f"{version.name} is not being worked on: it is {version.state}")
        return version

    def _newest_that_passed(self, version: VersionRow) -> int:
        """Among those that came with it or later; an older one may have been activated again."""
        bot = self._bots.get(version.bot)
        if bot.active is None:
            return version.number
        return max(version.number, self._versions.get(bot.active).number)

    # What is refused.

    def _check_bot(self, name: str, team: TeamRow | None, limits: Limits) -> EntrantRow | None:
        if team is not None and team.role == "viewer":
            raise NotYours(f"{team.name} may look, and submits no bots")
        bot = self._bots.find(name)
        if bot is not None:
            organiser = team is None or team.role == "organiser"
            if team is not None and bot.team != team.id and not organiser:
                raise NotYours(f"there is a bot {bot.name} already, and it is another team's")
            if bot.kind != "submitted":
                raise Conflict(f"{bot.name} is a bot that connects; it is not submitted")
            if bot.disqualified is not None:
                raise Conflict(f"{bot.name} is disqualified: {bot.disqualified}")
            return bot
        if team is not None and team.role == "team":
            there = len(self._bots.of_team(team.id))
            if there >= limits.bots_a_team:
                raise TooMany(f"{team.name} has {there} bots, and a team has no more")
        return None

    def _check_rate(self, team: TeamRow | None, limits: Limits) -> None:
        if team is None or team.role == "organiser":
            return
        most = limits.submissions_an_hour
        query = """SELECT submitted FROM version
            WHERE team = ? AND submitted > ? AND hash <> '' ORDER BY submitted DESC LIMIT ?"""
        recent = self._books.rows(query, (team.id, self._books.now(ago=HOUR), most))
        if len(recent) >= most:
            wait_s = _seconds_between(self._books.now(ago=HOUR), recent[-1][0]) + 1
            raise TooOften(
                f"{team.name} has submitted {most} times within an hour, and no team may more "
                f"often; the next is taken in {-(-wait_s // 60)} min",
                wait_s,
            )

    def _check_new(self, bot: EntrantRow, digest: str) -> None:
        query = f"""{SELECT} WHERE version.bot = ? AND version.hash = ?
            AND (version.state IN {UNDER_WAY} OR version.id = bot.active)"""
        same = self._books.first(query, (bot.id, digest))
        if same is not None:
            version = row(same)
            raise Conflict(f"this is {version.name} byte for byte, which is {version.state}")

    # The files.

    @contextmanager
    def _uploaded(self, archive: bytes) -> Iterator[Path]:
        """The archive on the disk under a name of its own: the disk takes its time, and whoever
        else wants to write to the database need not wait for it."""
        folder = self._books.data / FOLDER
        path = folder / f"{secrets.token_hex(8)}{UPLOAD}"
        try:
            folder.mkdir(exist_ok=True, mode=0o700)
            with path.open("xb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(archive)
                file.flush()
                os.fsync(file.fileno())
            yield path
        except OSError as error:
            kind = HouseFull if is_no_room(error) else HouseRefused
            raise kind(f"{folder} cannot be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def _put_in_place(self, upload: Path, path: Path) -> None:
        upload.replace(path)
        sync_folder(path.parent)

    def clear_uploads(self) -> None:
        """Remove what killed processes left half uploaded; nobody may be uploading."""
        for path in (self._books.data / FOLDER).glob(f"*{UPLOAD}"):
            path.unlink(missing_ok=True)

    def _drop_old(self, bot: EntrantRow, most: int) -> None:
        """Let go of the oldest archives. Their versions stay, with their games."""
        kept = [version for version in self._versions.of_bot(bot.id) if version.kept]
        idle = [version for version in kept if version.state in ("rejected", "retired")]
        self._drop(idle[: max(0, len(kept) - most)])

    def _drop(self, versions: Sequence[VersionRow]) -> None:
        """Let go of these archives. What was built of them goes later (daemon/sweeping.py)."""
        for version in versions:
            self._books.write("UPDATE version SET kept = 0, room = 0 WHERE id = ?", (version.id,))
            with contextlib.suppress(OSError):
                self.path(version).unlink(missing_ok=True)


def _check_size(size: int, limits: Limits) -> None:
    if not size:
        raise HouseMistake("the archive is empty")
    if size > limits.submission_bytes:
        raise TooLarge(
            f"the archive has {size:,} bytes, and up to {limits.submission_bytes:,} are taken"
        )


def _name(team: TeamRow | None) -> str:
    return "an organiser" if team is None else team.name


def _seconds_between(earlier: str, later: str) -> int:
    return int((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds())
