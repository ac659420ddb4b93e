"""`referee tournament` as people type it, with real bots, good ones and bad ones."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.store.database import Store
from referee.tournament.events import Told
from referee.verifying import verify
from tests.arena.playing import command
from tests.cli.running import Mistakes, on_terminal, referee, refuses, sentence, succeeds

TWO = ("--bot", "highest", "--bot", "lowest")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def broken(name: str, *words: str) -> tuple[str, str]:
    """A bot of tests/bots as an option."""
    return "--bot", f"{words[0]}={shlex.join(command(name, *words[1:]))}"


def plays(folder: Path, *words: object) -> str:
    """What a tournament that went well prints to standard output."""
    done = referee(folder, "tournament", *words)
    assert done.status == 0, done.err
    return done.out


def standings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "standings.json").read_bytes())
    return found


def rows(folder: Path, variant: str = "underdog") -> dict[str, dict[str, Any]]:
    (table,) = [each for each in standings(folder)["tables"] if each["variant"] == variant]
    return {row["name"]: row for row in table["rows"]}


def test_what_people_type(tmp_path: Path) -> None:
    out = plays(tmp_path, "--variant", "underdog", "--games", 10)
    folder = tmp_path / "tournaments" / "underdog"
    for name in ("counter", "highest", "lowest", "random", "underdog-mixer"):
        assert re.search(rf"^\d +\S+ +{name} +", out, re.MULTILINE), name
    assert "Written to tournaments/underdog: " in out
    assert {path.name for path in folder.iterdir()} >= {
        *("tournament.db", "standings.md", "standings.csv", "standings.json"),
        *("crosstable.csv", "timing.csv"),
    }
    table = list(csv.DictReader((folder / "standings.csv").open()))
    assert sum(int(row["games"]) for row in table) == 2 * 100
    with Store.read(folder) as store:
        lines = [
            msgspec.json.encode(msgspec.msgpack.decode(r)) + b"\n" for *_, r in store.records()
        ]
    report = verify(lines)
    assert (report.judged, report.mismatches) == (100, [])


def test_again_goes_beside_it(tmp_path: Path) -> None:
    for name in ("underdog", "underdog-2", "underdog-3"):
        out = plays(tmp_path, *TWO, "--games", 2)
        assert f"Written to tournaments/{name}: " in out


def test_the_plan_starts_nothing(tmp_path: Path) -> None:
    out = plays(tmp_path, "--games", 100, "--plan")
    assert "10 pairings, 1000 games" in out
    assert "worst case" in out
    plan = json.loads(plays(tmp_path, "--games", 100, "--plan", "--json"))
    assert (plan["pairings"], plan["games"], plan["exact"]) == (10, 1000, True)
    assert not (tmp_path / "tournaments").exists()


def test_mistakes(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('variant = "underdog"\n\ngame = 10\n')
    (tmp_path / "typo.toml").write_text('name = "x"\nvariants = [\n  "duel",\n  "underdgo",\n]\n')
    (tmp_path / "empty").mkdir()
    mistakes: Mistakes = {
        "unknown key": (["bad.toml"], r"bad\.toml, line 3: .*game.*did you mean games\?"),
        "unknown variant": (["typo.toml"], r"typo\.toml, line 4: .*underdgo.*underdog"),
        "no spec": (["none.toml"], r"none\.toml"),
        "one bot": (["--bot", "random"], r"two bots"),
        "nobody": (["--bot", "rando", "--bot", "lowest"], r"did you mean random\?"),
        "twins": ([*TWO, "--bot", "lowest=python3 x.py"], r"two bots are called lowest"),
        "alike": ([*TWO, "--bot", "l0west=python3 x.py"], r"lowest and l0west"),
        "no games": ([*TWO, "--games", 0], r"games must be 1 to"),
        "option": ([*TWO, "--option", "pionts=3"], r"did you mean points\?"),
        "anchor": ([*TWO, "--anchor", "nobody=5"], r"nobody.*no bot here"),
        "anchor form": ([*TWO, "--anchor", "lowest"], r"NAME=ELO"),
        "time": ([*TWO, "--time", "soon"], r"soon"),
        "format": ([*TWO, "--format", "league"], r"league"),
        "rounds": ([*TWO, "--rounds", 3], r"rounds is for a swiss tournament"),
        "no bots there": (["--bots", "empty"], r"empty"),
        "not there": (["--resume", "nowhere"], r"nowhere"),
        "plan and resume": (["--resume", "x", "--plan"], r"--plan"),
        "two streams": ([*TWO, "--json", "--events", "-"], r"standard output"),
    }
    refuses(
        tmp_path,
        {name: (["tournament", *words], f".*{told}.*") for name, (words, told) in mistakes.items()},
    )


def test_several_variants_have_a_table_each_and_one_over_all(tmp_path: Path) -> None:
    words = ["--variant", "difference", "--variant", "target", "--option", "target=40"]
    plays(tmp_path, *words, *TWO, "--bot", "random", "--games", 4, "--out", "t")
    tables = standings(tmp_path / "t")["tables"]
    assert [table["variant"] for table in tables] == ["difference", "target", None]
    assert [sum(row["games"] for row in table["rows"]) for table in tables] == [24, 24, 48]
    records = [json.loads(line) for line in succeeds(tmp_path, "export", "t").splitlines()]
    assert {r["options"]["target"] for r in records if r["variant"] == "target"} == {40}


@pytest.mark.parametrize(
    ("words", "pairings"),
    [
        (["--format", "gauntlet", "--challenger", "random"], 3),
        (["--format", "swiss", "--rounds", 2], 4),
        (["--format", "knockout"], 3),
    ],
)
def test_the_other_formats(words: list[object], pairings: int, tmp_path: Path) -> None:
    bots = [*TWO, "--bot", "random", "--bot", "underdog-mixer"]
    out = plays(tmp_path, *bots, *words, "--games", 6, "--seed", 1, "--out", "t")
    with Store.read(tmp_path / "t") as store:
        rows = store.pairings()
        assert len([row for row in rows if row.replay == 0]) == pairings
        assert store.counts() == {row.id: 6 for row in rows}
    if "swiss" in words or "knockout" in words:
        assert re.search(r"[Rr]ound|[Ff]inal", out)


def test_a_bot_that_does_not_come_up_is_out(tmp_path: Path) -> None:
    done = referee(
        tmp_path,
        *("tournament", *TWO, *broken("startup", "exits", "exits")),
        *("--games", 4, "--jobs", 2, "--out", "t"),
    )
    assert done.status == 0, done.err
    assert "exits is out: no_start, " in done.err
    found = rows(tmp_path / "t")
    assert (found["exits"]["games"], found["exits"]["unrated"]) == (0, 8)
    assert (found["highest"]["games"], found["highest"]["unrated"]) == (4, 4)
    assert found["highest"]["elo"] is None
    assert found["highest"]["bound"] == ">"


def test_a_bot_that_hangs_costs_the_others_nothing(tmp_path: Path) -> None:
    done = referee(
        tmp_path,
        *("tournament", *TWO, *broken("hang", "hangs", "silent"), "--time", "1s"),
        *("--warm-up", "0ms", "--games", 6, "--jobs", 2, "--out", "t"),
    )
    assert done.status == 0, done.err
    found = rows(tmp_path / "t")
    assert found["hangs"]["faults"] == {"timeout": 12}
    assert found["highest"]["faults"] == found["lowest"]["faults"] == {}
    assert "Faults of hangs: 12 timeout" in done.out


def test_the_stream_of_events(tmp_path: Path) -> None:
    done = referee(
        tmp_path,
        *("tournament", *TWO, *broken("illegal", "cheat", "7.5"), "--games", 4),
        *("--events", "-", "--out", "t"),
    )
    assert done.status == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    kinds = [line["event"] for line in lines]
    assert (kinds[0], kinds[-2:]) == ("started", ["standings", "finished"])
    assert kinds.count("game") == 12
    assert kinds.count("fault") == 8
    for line in lines:
        if line["event"] != "standings":
            msgspec.convert(line, Told)
    assert lines[-2]["tables"] == standings(tmp_path / "t")["tables"]
    assert lines[-1]["played"] == 12
    # On a slow machine there are tables in between, which have the key and tell nothing.
    before_the_end = json.dumps(lines[:-2])
    for secret in ("seed", "salt"):
        assert secret not in before_the_end.replace(f'"{secret}": null', "")
        assert lines[-1][secret] not in before_the_end
    assert "Written to t: " in done.err
    with_file = referee(tmp_path, "tournament", *TWO, "--games", 2, "--events", "e.jsonl")
    assert with_file.status == 0
    assert (tmp_path / "e.jsonl").read_text().count('"event":"game"') == 2


def test_a_refused_command_leaves_the_events_as_they_are(tmp_path: Path) -> None:
    plays(tmp_path, *TWO, "--games", 2, "--out", "t", "--events", "e.jsonl")
    before = (tmp_path / "e.jsonl").read_bytes()
    refused = referee(tmp_path, "tournament", *TWO, "--out", "t", "--events", "e.jsonl")
    assert refused.status == 2
    assert (tmp_path / "e.jsonl").read_bytes() == before
    more = referee(tmp_path, "tournament", "--resume", "t", "--games", 4, "--events", "e.jsonl")
    assert more.status == 0, more.err
    after = (tmp_path / "e.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b'"event":"game"') == 4
    full = referee(tmp_path, "tournament", *TWO, "--games", 2, "--events", "/dev/full")
    assert (full.status, full.out) == (3, "")
    assert full.err.splitlines()[-1] == f"referee: /dev/full: {os.strerror(errno.ENOSPC)}"


def test_it_says_where_the_stderr_of_a_broken_bot_is(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("raise RuntimeError('no such luck')\n")
    out = plays(tmp_path, *TWO, "--bot", "bad=python3 bad.py", "--games", 2, "--out", "t")
    assert "stderr of bad: t/logs/start/bad.stderr.txt" in out
    assert re.search(r"  which ends:\n(    .*\n)+    RuntimeError: no such luck\n", out)


def test_who_plays_nothing_is_named(tmp_path: Path) -> None:
    done = referee(tmp_path, "tournament", *TWO, "--bot", "duel-wall", "--games", 2)
    assert done.status == 0
    assert "duel-wall plays none of the variants and is left out\n" in done.err


def test_a_knockout_names_its_winner(tmp_path: Path) -> None:
    words = ["--variant", "duel", "--bot", "random", "--bot", "duel-wall", "--format", "knockout"]
    out = plays(tmp_path, *words, "--games", 10, "--out", "t")
    assert ": won by duel-wall; knockout; " in out.splitlines()[0]
    assert "won by duel-wall" in (tmp_path / "t" / "standings.md").read_text()


def test_json_is_the_standings(tmp_path: Path) -> None:
    out = plays(tmp_path, *TWO, "--games", 2, "--json", "--out", "t")
    assert json.loads(out) == standings(tmp_path / "t")


def test_the_live_view(tmp_path: Path) -> None:
    # Bots that pause: there is time for a table, and the games cost little.
    bots = [*broken("honest", "a", "1", "0.005"), *broken("honest", "b", "1", "0.005")]
    words = ["tournament", *bots, "--games", 200, "--jobs", 1, "--out", "t"]
    status, seen = on_terminal(tmp_path, *words, width=100)
    assert status == 0
    shown = CONTROL.sub("", seen)
    assert "underdog, so far" in shown
    assert re.search(r"playing ━+.* \d+/200 \d+ games/s \d:\d\d:\d\d", shown)
    after = CONTROL.sub("", seen.rpartition("\x1b[2K")[2])
    assert after.lstrip().startswith("underdog: round-robin"), "the view is gone, the table stays"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    for out in ("file", "file/t", "/proc/t"):
        done = referee(tmp_path, "tournament", *TWO, "--games", 2, "--out", out)
        assert done.status in (2, 3), done
        sentence(done, done.status)
    assert (tmp_path / "file").read_text() == "here"


def test_a_damaged_database(tmp_path: Path) -> None:
    plays(tmp_path, *TWO, "--games", 2, "--out", "t")
    database = tmp_path / "t" / "tournament.db"
    database.write_bytes(b"\0" * 100 + database.read_bytes()[100:])
    for words in (["tournament", "--resume", "t"], ["standings", "t"], ["export", "t"]):
        told = sentence(referee(tmp_path, *words))
        assert "t/tournament.db" in told
