"""A backup is of one moment, whoever writes meanwhile, and comes back whole or not at all."""

from __future__ import annotations

import io
import os
import sqlite3
import stat
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from referee.mistake import BAD_INPUT, Mistake
from referee.store.database import Store
from referee.store.house import House
from referee.store.house.copying import back_up
from referee.store.house.restoring import restore
from referee.store.house.rows import Limits
from tests.store.housing import contents
from tests.store.processes import house_worker
from tests.store.sample import games, new_store
from tests.waiting import PATIENCE_S


def test_a_backup_of_what_is_being_written_is_of_one_moment(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        house.settings.set_limits(Limits(versions_a_bot=5), by="me")
        house.seasons.start("{}", by="me")
        worker = house_worker("ladder", data)
        assert worker.stdout is not None
        worker.stdout.readline()
        for number in range(5):
            made = back_up(house, tmp_path / f"{number}.tar", keys=True)
            assert made.seasons["1"] > 0
            assert worker.poll() is None
            _see_that_it_fits(tmp_path / f"{number}.tar", tmp_path / f"restored-{number}")
            worker.stdout.readline()
        worker.kill()
        worker.communicate()


def test_an_archive_that_is_dropped_meanwhile_is_in_the_backup(tmp_path: Path) -> None:
    with House.open(tmp_path / "data") as house:
        house.settings.set_limits(Limits(versions_a_bot=1), by="me")
        first = hand_in(house, b"the first")

        def supersede(_: str) -> None:
            for archive in (b"the second", b"the third"):
                hand_in(house, archive)
            assert not house.versions.get(first).kept

        made = back_up(house, tmp_path / "it.tar", keys=True, tell=supersede)
        assert made.versions == 1
        assert [path.name for path in (tmp_path / "data").glob(".*.part")] == []
    restore(tmp_path / "it.tar", tmp_path / "again")
    with House.open(tmp_path / "again", create=False) as house:
        version = house.versions.get(first)
        assert (version.state, house.submissions.archive(version)) == ("playing", b"the first")


@pytest.mark.parametrize(
    ("name", "table"),
    [("house.db", "team"), ("house.db", "version"), ("seasons/1/tournament.db", "game")],
)
def test_what_is_damaged_is_not_copied(tmp_path: Path, name: str, table: str) -> None:
    """By the command itself: a sentence that names the file, the status of bad input, no copy."""
    data = tmp_path / "data"
    with House.open(data) as house:
        hand_in(house, b"an archive")
        house.seasons.start("{}", by="me")
    with new_store(data / "seasons" / "1") as store:
        store.add_games(games(1, 50))
        store.commit()
    with closing(sqlite3.connect(data / name)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = database.execute(query, (table,)).fetchone()
    with (data / name).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    command = [sys.executable, "-m", "referee", "backup", "--to", str(tmp_path / "it.tar")]
    done = subprocess.run(
        [*command, "--data", str(data)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout) == (BAD_INPUT, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"{data / name} is damaged" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def hand_in(house: House, archive: bytes) -> int:
    """A version that plays at once."""
    version = house.submissions.keep("greedy", None, archive)
    house.submissions.claim()
    house.submissions.accept(version.id, "{}")
    return version.id


def _see_that_it_fits(path: Path, data: Path) -> None:
    games = restore(path, data)
    with House.open(data, create=False) as house:
        versions = {version.id: version for version in house.versions.all()}
        for version in versions.values():
            if version.kept:
                assert house.submissions.archive(version)
        assert any(version.state == "playing" and version.kept for version in versions.values())
        with Store.read(data / "seasons/1") as store:
            assert {row.id for row in store.bots()} <= versions.keys()
            assert len(store.bots()) == games["1"] >= len(versions) - 1


def test_everything_comes_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        token = house.teams.add("Reds", by="me").token
        house.submissions.keep("greedy", None, b"its folder")
        _unpack_by_hand(data)
        made = back_up(house, tmp_path / "it.tar", keys=True)
    assert made.keys
    assert stat.S_IMODE((tmp_path / "it.tar").stat().st_mode) == 0o600
    assert restore(tmp_path / "it.tar", tmp_path / "again") == {}
    assert stat.S_IMODE((tmp_path / "again").stat().st_mode) == 0o700
    before, after = contents(data), contents(tmp_path / "again")
    assert after == {name: kept for name, kept in before.items() if not name.startswith("builds/")}
    assert (tmp_path / "again/bots/1/run").stat().st_mode & 0o111
    assert (tmp_path / "again/bots/1/empty").is_dir()
    assert (tmp_path / "again/bots/1/link").is_symlink()
    assert not os.path.lexists(tmp_path / "again/bots/1/out")
    with House.open(tmp_path / "again", create=False) as house:
        assert house.teams.of_token(token or "") is not None
        assert house._books.first("PRAGMA journal_mode") == ("wal",)


def _unpack_by_hand(data: Path) -> None:
    """What the daemon makes of a submission; the names of its files are its author's."""
    folder = data / "bots/1"
    (folder / "empty").mkdir(parents=True)
    (folder / "house.db-wal").write_text("mine")
    (folder / "run").write_text("#!/bin/sh")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("run")
    (folder / "out").symlink_to("/nowhere/at/all")
    (folder / "two\nlines").write_text("no")
    (folder / os.fsdecode(b"\xff")).write_text("UTF-8")
    (data / "builds").mkdir()
    (data / "builds/x").write_text("built")
    (data / "server.key").write_text("secret")


def test_keys_can_be_left_out(tmp_path: Path) -> None:
    with House.open(tmp_path / "data") as house:
        (tmp_path / "data/server.key").write_text("secret")
        (tmp_path / "data/veil.key").write_text("made-up names")
        assert not back_up(house, tmp_path / "it.tar", keys=False).keys
    restore(tmp_path / "it.tar", tmp_path / "again")
    assert not (tmp_path / "again/server.key").exists()
    assert (tmp_path / "again/veil.key").read_text() == "made-up names"


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _change(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"a folder that", b"a Folder that"))


def _another(path: Path) -> None:
    with tarfile.open(path, "w") as tar:
        tar.add(__file__, "house.db")


def _text(path: Path) -> None:
    path.write_text("no backup")


@pytest.mark.parametrize("spoil", [_cut, _change, _another, _text])
def test_what_is_no_whole_backup_leaves_nothing(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    with House.open(tmp_path / "data") as house:
        house.submissions.keep("greedy", None, b"a folder that was handed in" * 5000)
        back_up(house, tmp_path / "it.tar", keys=True)
    spoil(tmp_path / "it.tar")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Mistake, match=r"is no backup|is damaged"):
        restore(tmp_path / "it.tar", tmp_path / "again")
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    with House.open(tmp_path / "data") as house:
        back_up(house, tmp_path / "it.tar", keys=True)
        with pytest.raises(Mistake, match=r"it.tar is there already"):
            back_up(house, tmp_path / "it.tar", keys=True)
        with pytest.raises(Mistake, match=r"cannot be written: No such file"):
            back_up(house, tmp_path / "no/it.tar", keys=True)
    with pytest.raises(Mistake, match="is there already and not empty"):
        restore(tmp_path / "it.tar", tmp_path / "data")
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "it.tar", tmp_path / "empty")
    assert (tmp_path / "empty/house.db").exists()


# Backups that somebody else made.


def _member(name: str, type: bytes = tarfile.REGTYPE, to: str = "", mode: int = 0o644) -> bytes:
    """A header as it stands in a file, and a few bytes if it is a file's."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = type, to, mode
    content = b"written" if type == tarfile.REGTYPE else b""
    member.size = len(content)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member, io.BytesIO(content))
        return packed.getvalue()[: tar.offset]


def _header(type: bytes, content: bytes) -> bytes:
    """One that is about the next member."""
    member = tarfile.TarInfo("x")
    member.type, member.size = type, len(content)
    return member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def _backup(path: Path, *before: bytes) -> Path:
    """A backup, with other members at its head."""
    with House.open(path / "data") as house:
        (path / "data/server.key").write_text("secret")
        back_up(house, path / "it.tar", keys=True)
    (path / "it.tar").write_bytes(b"".join(before) + (path / "it.tar").read_bytes())
    return path / "it.tar"


LINK, HARD_LINK, FOLDER = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
LONG = tarfile.GNUTYPE_LONGNAME
OUT = "leads out"
NO_FILE = "no plain file"
TWICE = "is in it twice"
BELOW = "lies below"
TO_THE_TOP = _member("a/b/c/up", LINK, "../../..")
"""Where it is, three names are not three folders."""
HOSTILE: dict[str, tuple[list[bytes], str]] = {
    "a file above": ([_member("../escaped")], OUT),
    "a file above, from within": ([_member("bots/../../escaped")], OUT),
    "a folder above": ([_member("../escaped", FOLDER)], OUT),
    "a link above": ([_member("../escaped", LINK, "data")], OUT),
    "a hard link": ([_member("stolen", HARD_LINK, "../outside")], NO_FILE),
    "a hard link within": ([_member("a"), _member("b", HARD_LINK, "a")], NO_FILE),
    "a device": ([_member("null", tarfile.CHRTYPE)], NO_FILE),
    "a disk": ([_member("disk", tarfile.BLKTYPE)], NO_FILE),
    "a pipe": ([_member("pipe", tarfile.FIFOTYPE)], NO_FILE),
    "a file with holes": ([_member("holes", tarfile.GNUTYPE_SPARSE)], NO_FILE),
    "through a link": ([_member("up", LINK, ".."), _member("up/escaped")], BELOW),
    "a link through a link": (
        [TO_THE_TOP, _member("d", LINK, "a/b/c/up/.."), _member("d/escaped", LINK, "outside")],
        BELOW,
    ),
    "through a link to a file": ([_member("f", LINK, "../outside"), _member("f")], f"'f' {TWICE}"),
    "a link to itself, then": ([_member("up", LINK, "up"), _member("up", LINK, "..")], TWICE),
    "over a file": ([_member("run"), _member("run")], f"'run' {TWICE}"),
    "instead of the folder": ([_member(".", LINK, "..")], TWICE),
    "below a file": ([_member("file"), _member("file/inner")], BELOW),
    "a name that no file has": ([_member("a\0b\xe9")], "no name of"),
    "one more file": ([_member("bots/1/more")], "is damaged: bots/1/more in it"),
    "digits in a header": ([_header(tarfile.XHDTYPE, b"1" * 60_000)] * 50, "number without end"),
    "headers upon headers": ([_member("x" * 200, LONG)] * 3000, "is no backup"),
    "another list": ([_member("SHA256SUMS")], f"'SHA256SUMS' {TWICE}"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_backup_writes_nothing_elsewhere(tmp_path: Path, case: str) -> None:
    members, told = HOSTILE[case]
    (tmp_path / "outside").write_text("ours")
    path = _backup(tmp_path, *members)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Mistake, match=told):
        restore(path, tmp_path / "again")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "outside").read_text() == "ours"
    assert (tmp_path / "outside").stat().st_nlink == 1


@pytest.mark.parametrize("name", ["/elsewhere", "../../../elsewhere", ".."])
def test_a_backup_does_not_say_where_games_are(tmp_path: Path, name: str) -> None:
    """A season is a folder of the backup, whatever its database calls it."""
    new_store(tmp_path / "elsewhere").close()
    (tmp_path / "elsewhere/.lock").unlink()
    with House.open(tmp_path / "data") as house:
        house.seasons.start("{}", by="me")
        place = str(tmp_path) + name if name.startswith("/") else name
        with closing(sqlite3.connect(tmp_path / "data/house.db")) as database, database:
            database.execute("UPDATE season SET name = ?", (place,))
        back_up(house, tmp_path / "it.tar", keys=True)
    with pytest.raises(Mistake):
        restore(tmp_path / "it.tar", tmp_path / "again")
    assert not (tmp_path / "elsewhere/.lock").exists()
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    "name", ["store.url", "tournament.db-journal", "tournament.db-wal", "tournament.db"]
)
def test_a_backup_has_nothing_beside_its_databases(tmp_path: Path, name: str) -> None:
    """Neither a server that is asked for games, nor what SQLite would write back."""
    data = tmp_path / "data"
    with House.open(data) as house:
        house.seasons.start("{}", by="me")
        new_store(data / "seasons/1").close()
        (data / "bots/1").mkdir(parents=True)
        (data / "bots/1/store.url").write_text("a file of a bot")
        back_up(house, tmp_path / "it.tar", keys=True)
    restore(tmp_path / "it.tar", tmp_path / "again")
    with tarfile.open(tmp_path / "it.tar") as tar:
        # Not every Python 3.11 knows it, and later ones ask for it.
        filter = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(tmp_path / "theirs", **filter)  # type: ignore[arg-type]
    strange = tmp_path / "theirs/seasons/1" / name
    if strange.exists():
        strange.rename(tmp_path / "theirs/bots/1/moved")
        strange.symlink_to("../../bots/1/moved")
    else:
        strange.write_text("postgresql://localhost:1/nowhere#x")
    hostile = tmp_path / "theirs.tar"
    sums = tmp_path / "theirs/SHA256SUMS"
    names = [
        str(path.relative_to(tmp_path / "theirs"))
        for path in (tmp_path / "theirs").rglob("*")
        if path.is_file() and not path.is_symlink() and path != sums
    ]
    sums.write_bytes(
        subprocess.check_output(["sha256sum", *sorted(names)], cwd=tmp_path / "theirs")
    )
    with tarfile.open(hostile, "w") as tar:
        tar.add(tmp_path / "theirs", "")
    with pytest.raises(Mistake, match=name):
        restore(hostile, tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_an_absolute_name_is_refused(tmp_path: Path) -> None:
    path = _backup(tmp_path, _member(f"{tmp_path}/escaped"))
    with pytest.raises(Mistake, match=OUT):
        restore(path, tmp_path / "again")
    assert not (tmp_path / "escaped").exists()


def test_a_link_that_leads_out_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("ours")
    links = {
        "absolute": str(tmp_path / "outside"),
        "above": "../outside",
        "step": "bots",
        "by a step": "step/../../outside",
        "by way of": "above",
        "home": f"../{tmp_path.name}",
        "by the name of today": f"../.again.{os.getpid()}.part/server.key",
        "deep/a": "../deep/b",
        "deep/b": "../../outside",
        "key": "server.key",
        "gone": "bots/gone",
        "round": "round",
    }
    path = _backup(tmp_path, *(_member(name, LINK, to) for name, to in links.items()))
    restore(path, tmp_path / "again")
    found = {
        name
        for name, to in links.items()
        if (tmp_path / "again" / name).is_symlink()
        and str((tmp_path / "again" / name).readlink()) == to
    }
    assert found == {"step", "key", "gone", "round"}
    assert all(
        os.path.realpath(tmp_path / "again" / name) != str(tmp_path / "outside") for name in found
    )
    assert (tmp_path / "again/key").read_text() == "secret"


def test_a_file_runs_as_whoever_starts_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        (data / "bots/1").mkdir(parents=True)
        for name, mode in {"raised": 0o6777, "kept": 0o400, "usual": 0o644}.items():
            (data / "bots/1" / name).write_text("#!/bin/sh")
            (data / "bots/1" / name).chmod(mode)
        back_up(house, tmp_path / "it.tar", keys=True)
    restore(tmp_path / "it.tar", tmp_path / "again")
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "again/bots/1").iterdir()
    }
    assert modes == {"raised": 0o755, "kept": 0o600, "usual": 0o644}
