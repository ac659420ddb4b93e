"""Archives and backups of a ladder that is being played, and a restored one that plays on."""

from __future__ import annotations

import json
from pathlib import Path

from referee.store.database import Store
from tests.cli.running import referee, refuses, succeeds
from tests.daemon.serving import serving
from tests.store.housing import contents
from tests.waiting import wait_for

QUICK = ("--no-web", "--bots", "none", "--variant", "underdog")


def test_a_ladder_is_archived_and_backed_up_while_it_plays(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        daemon.wait_for_games(20)
        data = ("--data", "data")
        backup = referee(tmp_path, "backup", *data, "--to", "it.tar", "--json")
        archive = referee(tmp_path, "archive", "1", *data, "--words", 0, "--json")
        assert (backup.status, archive.status) == (0, 0), (backup, archive, daemon.said)
        daemon.wait_for_games(len(daemon.games()))
        assert daemon.stop() == 0, daemon.said
    saved, archived = json.loads(backup.out)["seasons"]["1"], json.loads(archive.out)["records"]
    assert 20 < saved <= archived <= len(daemon.games())
    assert f"{archived} records, 0 mismatches" in succeeds(tmp_path, "verify", "archive-1")
    told = referee(tmp_path, "backup", "--restore", "it.tar", "--data", "again")
    assert (told.status, told.out) == (0, "again\n")
    with serving(tmp_path / "again", *QUICK) as restored:
        before = restored.games()
        assert len(before) == saved
        assert before.items() <= daemon.games().items()
        assert restored.wait_for_games(saved).items() >= before.items()
        assert "Traceback" not in restored.said
        assert restored.stop() == 0, restored.said
    with Store.read(daemon.season) as ours, Store.read(restored.season) as theirs:
        for value in ("seed", "salt"):
            assert ours.value(value) is not None
            assert ours.value(value) == theirs.value(value)


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup")
    refuses(
        tmp_path,
        {
            "neither": (("backup",), "give either --to FILE or --restore FILE.*"),
            "both": (("backup", "--to", "a", "--restore", "b"), "give either .*"),
            "no data": (("backup", "--to", "a.tar"), "referee-data holds no house.db: .*"),
            "no file": (("backup", "--restore", "gone"), "gone: no such file; .*"),
            "no backup": (("backup", "--restore", "text"), "text is no backup, or is cut off: .*"),
        },
        lambda folder: sorted(folder.iterdir()),
    )


def test_old_records_go_and_it_is_said(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        daemon.wait_for_games(20)
        # Everything is older than a few hundredths of a second.
        told = succeeds(tmp_path, "season", "keep", "0.00001h", "--data", "data")
        assert told == "Records are kept for 4.16667e-07 days\n"
        wait_for(lambda: "records dropped" in daemon.said, "records to be dropped")
        with daemon.house() as house:
            kept = [row.what for row in house.journal.recent() if row.who == "the daemon"]
            assert any(what.startswith("dropped the records of ") for what in kept), kept
        assert daemon.stop() == 0, daemon.said
    with Store.read(daemon.season) as store:
        dropped = store.dropped()
        assert dropped is not None
        assert dropped.games > 20
        assert sum(store.counts().values()) == dropped.games + len(daemon.games())
    note = f"The records of {dropped.games} games, "
    assert note in succeeds(tmp_path, "standings", "data/seasons/1")


def test_limits_are_set_shown_and_lifted(tmp_path: Path) -> None:
    keep = ("season", "keep")
    assert succeeds(tmp_path, *keep, "30d", "20GB", "--create") == (
        "Records are kept for 30 days and up to 20 GB a season\n"
    )
    assert json.loads(succeeds(tmp_path, *keep, "--json")) == {"days": 30.0, "bytes": 20 * 10**9}
    assert succeeds(tmp_path, *keep, "all") == "Records are kept for ever\n"
    refuses(
        tmp_path,
        {
            "no unit": ((*keep, "30"), "a limit is like 30d, 12h, 20GB or 500MB, or all, not '30'"),
            "twice": ((*keep, "30d", "1w"), "1w is the second limit of its kind"),
            "nothing": ((*keep, "0d"), "a limit is like .*"),
            "small": ((*keep, "0.5MB"), "a limit is 100 years at most, and 1 MB at least"),
            "no data": ((*keep, "--data", "gone"), "gone holds no house.db: .*"),
        },
        contents,
    )
