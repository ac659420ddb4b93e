"""Which level is taken, what is said of it, and what is refused without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import EVERYWHERE, BadLevel, choose, said_aloud
from tests.cli.running import Done, referee, sentence
from tests.confinement.offered import BEST, a_bot, walls

NOWHERE = {EVERYWHERE: ""}
"""Nobody has asked for a level."""
NO_BWRAP = "there is no bwrap on this machine"
NOT_HERE = "is not to be had here"
LET_RUN = "asked for several processes and was let run"
NO_WALLS = {EVERYWHERE: "", "PATH": str(Path(sys.executable).parent)}
"""A machine without bubblewrap."""
QUICK = ("--games", 2, "--seed", "s", "--jobs", 1)


def tournament(folder: Path, *words: object, **env: str) -> Done:
    return referee(folder, "tournament", "--out", "t", *QUICK, *words, stdin=b"", **env)


def level_of(folder: Path) -> tuple[str, set[str]]:
    """What the table and the records of a tournament say."""
    table = json.loads((folder / "t/standings.json").read_text())
    records = referee(folder, "export", "t").out.splitlines()
    return table["level"], {json.loads(line)["level"] for line in records}


@walls
def test_a_tournament_takes_the_best_that_holds(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ''")
    done = tournament(tmp_path, "--bot", "mine", "--bot", "random", **NOWHERE)
    assert done.status == 0, done.err
    assert f"The bots ran confined at level {BEST}." in done.out
    assert level_of(tmp_path) == (BEST.value, {BEST.value})


@walls
def test_a_command_line_sees_what_it_names_in_a_tournament_too(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ','.join(os.listdir('.') + os.listdir('mine'))")
    words = ("--bot", "named=python3 mine/bot.py", "--bot", "random")
    done = tournament(tmp_path, *words, **NOWHERE)
    assert done.status == 0, done.err
    exported = referee(tmp_path, "export", "t", "--private").out
    records = [json.loads(line) for line in exported.splitlines()]
    assert {note for each in records for note in each["notes"].values()} == {"mine,bot.py"}


@walls
def test_who_runs_several_processes_is_told(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ''", processes=3)
    done = tournament(tmp_path, "--bot", "mine", "--bot", "random", **NOWHERE)
    assert f"mine {LET_RUN} 3." in done.out
    assert json.loads((tmp_path / "t/standings.json").read_text())["processes"] == {"mine": 3}


@walls
def test_no_more_than_the_limit_is_told_of(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ''", processes=100)
    told = f"mine {LET_RUN} 64."
    done = tournament(tmp_path, "--bot", "mine", "--bot", "random", **NOWHERE)
    assert told in done.out
    words = ("mine", "random", "--time", "30s")
    done = referee(tmp_path, "match", *words, "-n", 2, stdin=b"", **NOWHERE)
    assert told in done.out
    done = referee(tmp_path, "watch", *words, stdin=b"", **NOWHERE)
    assert told in done.out
    done = referee(tmp_path, "match", *words, "-n", 2, "--json", stdin=b"", **NOWHERE)
    assert json.loads(done.out)["processes"] == {"mine": 64}
    unconfined = ("-n", 2, "--json", "--sandbox", "none")
    done = referee(tmp_path, "match", *words, *unconfined, stdin=b"", **NOWHERE)
    assert json.loads(done.out)["processes"] == {}
    done = referee(tmp_path, "check", "mine", stdin=b"", **NOWHERE)
    assert f"at level {BEST}, with 64 processes" in done.out


def test_without_walls_sample_bots_play_and_strangers_have_to_be_let_in(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ''")
    told = sentence(tournament(tmp_path, "--bot", "mine", "--bot", "random", **NO_WALLS))
    assert f"bots cannot be confined here ({NO_BWRAP})" in told
    assert "mine is no sample bot" in told
    assert "--sandbox none" in told
    assert not (tmp_path / "t").exists()
    done = tournament(tmp_path, "--bot", "highest", "--bot", "random", **NO_WALLS)
    assert done.status == 0, done.err
    assert level_of(tmp_path) == ("none", {"none"})


def test_a_stranger_that_was_let_in(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return ''")
    words = ("--bot", "mine", "--bot", "random", "--sandbox", "none")
    done = tournament(tmp_path, *words, **NO_WALLS)
    assert done.status == 0, done.err
    assert "Level none: the bots ran" in done.out


def test_a_level_that_cannot_be_had_is_refused(tmp_path: Path) -> None:
    words = ("--bot", "highest", "--bot", "random", "--sandbox", "standard")
    told = sentence(tournament(tmp_path, *words, **NO_WALLS), 3)
    assert told.startswith(f"level standard {NOT_HERE}: {NO_BWRAP}")
    assert "apt-get install bubblewrap" in told
    assert not (tmp_path / "t").exists()


@walls
def test_it_goes_on_at_the_level_it_was_begun_with(tmp_path: Path) -> None:
    words = ("--bot", "highest", "--bot", "random")
    assert tournament(tmp_path, *words, **NOWHERE).status == 0
    resume = ("tournament", "--resume", "t", "--games", 4)
    told = sentence(referee(tmp_path, *resume, "--sandbox", "none", stdin=b"", **NOWHERE))
    assert f"sandbox was {BEST} and is none" in told
    told = sentence(referee(tmp_path, *resume, stdin=b"", **NO_WALLS), 3)
    assert f"level {BEST} {NOT_HERE}" in told
    done = referee(tmp_path, *resume, stdin=b"", **NOWHERE)
    assert done.status == 0, done.err
    assert level_of(tmp_path) == (BEST.value, {BEST.value})


@walls
def test_a_match_is_confined_and_says_where_it_cannot_be(tmp_path: Path) -> None:
    a_bot(tmp_path / "mine", "return 'hidden' if not os.path.exists('/etc/passwd') else 'seen'")
    words = ("match", "mine", "random", "-n", 2, "--records", "-")
    done = referee(tmp_path, *words, stdin=b"", **NOWHERE)
    records = [json.loads(line) for line in done.out.splitlines()]
    assert {record["level"] for record in records} == {BEST.value}
    assert {note for record in records for note in record["notes"].values()} == {"hidden"}
    assert "unconfined" not in done.err
    assert f", level {BEST}" in done.err
    done = referee(tmp_path, *words, stdin=b"", **NO_WALLS)
    assert f"The bots run unconfined ({NO_BWRAP}); see referee doctor" in (done.err)


def test_the_doctor_says_what_is_lacking(tmp_path: Path) -> None:
    done = referee(tmp_path, "doctor", stdin=b"", **NO_WALLS)
    assert done.status == 1
    assert f"fail  bubblewrap: {NO_BWRAP}" in done.out
    assert "to mend it: apt-get install bubblewrap" in done.out
    report = json.loads(referee(tmp_path, "doctor", "--json", stdin=b"", **NO_WALLS).out)
    assert report["best"] == "none"
    assert report["levels"] == {"full": False, "standard": False, "none": True}
    assert {each["status"] for each in report["findings"]} == {"pass", "fail"}


@walls
def test_the_doctor_tries_everything(tmp_path: Path) -> None:
    report = json.loads(referee(tmp_path, "doctor", "--json").out)
    assert report["best"] == BEST.value
    passed = {each["check"] for each in report["findings"] if each["level"] == "standard"}
    assert passed >= {"user", "files", "writing", "processes", "network", "one process", "memory"}
    assert "seccomp" in passed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--limit", "memory"), "not 'memory'"),
        (("--limit", "memory=1"), "the limit memory is a size"),
        (("--limit", "cpu=1", "--limit", "cpu=2"), "the limit cpu is given twice"),
        (("--expose", "nowhere"), "no folder 'nowhere'"),
        (("--expose", "/proc"), "expose: /proc cannot be"),
        (("--freeze", "--sandbox", "none"), "freeze needs bots that are confined"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    for command in (("match", "highest", "random"), ("tournament",)):
        assert told in sentence(referee(tmp_path, *command, *words))
    assert not (tmp_path / "tournaments").exists()


def test_a_level_for_everything_that_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EVERYWHERE, "standard")
    assert said_aloud(None) is Level.STANDARD
    assert said_aloud("none") is Level.NONE
    monkeypatch.setenv(EVERYWHERE, "strict")
    with pytest.raises(BadLevel, match="there is no level 'strict'; it is full, standard or none"):
        said_aloud(None)
    assert choose(Level.NONE) is Level.NONE
