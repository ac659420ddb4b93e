"""A backup is of one moment, whoever writes meanwhile, and comes back whole or not at all."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path

import pytest

from referee.mistake import Mistake
from referee.store.database import Store
from referee.store.house import House
from referee.store.house.copying import back_up, restore
from referee.store.house.rows import Limits
from tests.store.housing import contents
from tests.store.processes import house_worker


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
