"""One writer a folder; the lock goes with its process, however that ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from referee.store.database import BadStore, Store
from tests.store.processes import writer
from tests.store.sample import BOTS, VALUES, new_store


@pytest.mark.usefixtures("each_kind")
def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with writer("hold", tmp_path) as (process, first):
        assert first == "ready"
        told = rf"^{tmp_path} is being written by process {process.pid} since 20\d\d-\d\d-\d\d "
        with pytest.raises(BadStore, match=told):
            Store.open(tmp_path)
        with pytest.raises(BadStore, match=told):
            new_store(tmp_path)
        with writer("go-on", tmp_path) as (_, line):
            assert f"refused: {tmp_path} is being written by process {process.pid} " in line
        with Store.read(tmp_path) as store:
            assert store.bots() == BOTS
        process.kill()
        process.wait()
        Store.open(tmp_path).close()


@pytest.mark.usefixtures("each_kind")
def test_a_second_writer_in_one_process_is_refused(tmp_path: Path) -> None:
    with new_store(tmp_path), pytest.raises(BadStore, match=f"by process {os.getpid()} since"):
        Store.open(tmp_path)
    Store.open(tmp_path).close()


@pytest.mark.usefixtures("each_kind")
def test_a_forked_child_that_lives_on_does_not_hold_the_folder(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with writer("fork", tmp_path) as (process, child):
        try:
            with pytest.raises(BadStore, match=f"by process {process.pid} since"):
                Store.open(tmp_path)
            process.kill()
            process.wait()
            os.kill(int(child), 0)
            Store.open(tmp_path).close()
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_a_refused_opening_leaves_the_folder_free(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with pytest.raises(BadStore, match="already holds"):
        Store.create(tmp_path, VALUES, BOTS)
    Store.open(tmp_path).close()


def test_a_lock_file_that_was_removed_is_made_again(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    (tmp_path / ".lock").unlink()
    with Store.open(tmp_path), pytest.raises(BadStore, match="is being written"):
        Store.open(tmp_path)


def test_what_the_lock_file_says_does_not_lock(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    (tmp_path / ".lock").write_text("1\n2000-01-01 00:00:00 UTC\nmuch more than that\n")
    with Store.open(tmp_path):
        assert (tmp_path / ".lock").read_text().split("\n")[0] == str(os.getpid())
        assert "more" not in (tmp_path / ".lock").read_text()
