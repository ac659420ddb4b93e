"""`referee rate`: results from anywhere, in processes of their own."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from referee.mistake import REFUSED
from tests.cli.running import (
    REFEREE,
    each,
    environment,
    on_terminal,
    referee,
    refuses,
    succeeds,
)
from tests.records import fields, games
from tests.waiting import PATIENCE_S

CSV = "a,b,1-0\nb,a,1-0\na,b,1/2-1/2\nb,c,1-0\nc,a,1-0\na,c,1-0\n"
PGN = """
[White "a"]
[Black "b"]
[Result "1-0"]

1-0

[White "b"]
[Black "a"]
[Result "1-0"]
*
"""
DEGENERATE = {
    "nothing": "",
    "only a header": "a,b,result\n",
    "only unfinished": "a,b,*\n",
    "one game": "a,b,1-0\n",
    "one draw": "a,b,1/2-1/2\n",
    "all draws": "a,b,1/2-1/2\nb,c,1/2-1/2\nc,a,1/2-1/2\n" * 20,
    "perfect scores": "a,b,1-0\nb,a,0-1\nb,c,1-0\nc,b,1-0\nc,d,1-0\n" * 4,
    "all perfect": "a,b,1-0\nb,c,1-0\na,c,1-0\n" * 5,
    "unconnected": "a,b,1-0\nb,a,1-0\nc,d,1-0\nd,c,1-0\ne,f,1-0\n",
    "copies of one pair": "1,a,b,1-0\n1,b,a,1-0\n" * 100,
    "rock, paper, scissors": "r,s,1-0\ns,p,1-0\np,r,1-0\n" * 30,
    "only the first seat wins": "a,b,1-0\nb,a,1-0\na,c,1-0\nc,a,1-0\n" * 9,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games.csv").write_text(CSV)
    (tmp_path / "games.pgn").write_text(PGN)
    (tmp_path / "games.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    records = [json.dumps(fields(record)) for record in games("underdog")]
    (tmp_path / "games.jsonl").write_text("\n".join(records) + "\n")
    (tmp_path / "wrong.csv").write_text("a,b,1-0\na,b,1-1\n")
    (tmp_path / "cycle.csv").write_text("r,s,1-0\ns,p,1-0\np,r,1-0\n" * 30)
    return tmp_path


def rated(folder: Path, *words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(succeeds(folder, "rate", *words, "--json"))
    return found


def test_json(folder: Path) -> None:
    found = rated(folder, "games.csv")
    assert {"players", "pools", "advantage", "cycles", "prior", "skipped"} <= found.keys()
    player = found["players"][0]
    assert {"name", "elo", "err95", "games", "wins", "draws", "losses", "points", "bound"} <= (
        player.keys()
    )
    assert [each["name"] for each in found["players"]] == ["b", "a", "c"]
    assert sum(each["elo"] for each in found["players"]) == pytest.approx(0, abs=1e-6)
    assert (player["games"], player["wins"], player["draws"], player["losses"]) == (4, 2, 1, 1)
    assert (player["points"], player["score"], player["draw_rate"]) == (2.5, 0.625, 0.25)
    assert found["pools"] == [{"players": ["b", "a", "c"], "anchored": False}]
    assert (found["advantage"], found["prior"], found["skipped"]) == (None, False, {})


def test_every_kind_of_file(folder: Path) -> None:
    plain = rated(folder, "games.csv")
    assert rated(folder, "games.csv.gz") == plain
    assert rated(folder, "games.csv", "--format", "csv") == plain
    piped = referee(folder, "rate", "-", "--json", stdin=CSV.encode())
    assert json.loads(piped.out) == plain
    assert {each["name"] for each in rated(folder, "games.pgn")["players"]} == {"a", "b"}
    assert rated(folder, "games.jsonl")["games"] == 6
    together = rated(folder, "games.csv", "games.pgn", "games.jsonl")
    assert together["games"] == 6 + 2 + 6
    assert len(together["players"]) == 5


def test_options(folder: Path) -> None:
    anchored = rated(folder, "games.csv", "--anchor", "c=1000", "--advantage")
    elo = {each["name"]: each["elo"] for each in anchored["players"]}
    assert elo["c"] == pytest.approx(1000)
    assert anchored["pools"][0]["anchored"] is True
    assert anchored["advantage"] is not None
    assert rated(folder, "games.csv", "--prior")["prior"] is True
    by_points = rated(folder, "games.csv", "--rank-by", "points")["players"]
    points = [each["points"] for each in by_points]
    assert points == sorted(points, reverse=True)


def test_pairs_change_the_error_and_not_the_rating(tmp_path: Path) -> None:
    rows = [("a,b,1-0", "b,a,0-1"), ("a,b,0-1", "b,a,1-0"), ("a,b,1-0", "b,a,0-1")] * 10
    single = [row for pair in rows for row in pair]
    paired = [f"{number},{row}" for number, pair in enumerate(rows) for row in pair]
    (tmp_path / "single").write_text("\n".join(single))
    (tmp_path / "paired").write_text("\n".join(paired))
    one, two = (rated(tmp_path, name)["players"][0] for name in ("single", "paired"))
    assert one["elo"] == pytest.approx(two["elo"])
    assert two["err95"] > 1.2 * one["err95"]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text(CSV + "a,c,*\n")
    assert rated(tmp_path, "games.csv")["skipped"] == {"unfinished": 1}
    shown = succeeds(tmp_path, "rate", "games.csv")
    assert shown.startswith("6 games of 3 players; 1 game left out: unfinished\n")


def test_csv(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(succeeds(folder, "rate", "games.csv", "--csv"))))
    expected = rated(folder, "games.csv")["players"]
    assert [row["name"] for row in rows] == [player["name"] for player in expected]
    assert [float(row["elo"]) for row in rows] == [player["elo"] for player in expected]


def test_text_and_markdown(folder: Path) -> None:
    text = succeeds(folder, "rate", "games.csv", "--advantage")
    heading = text.splitlines()[1]
    due = "# range name Elo ± games W D L points score % opponents draws % > next %"
    assert " ".join(heading.split()) == due
    assert "first seat" in text
    markdown = succeeds(folder, "rate", "games.csv", "--markdown")
    assert "\n| 1 | 1–3 | b |" in markdown
    assert "- Ranked by Elo" in markdown
    cycle = succeeds(folder, "rate", "cycle.csv")
    assert "Single numbers" in cycle
    assert "scored 100 % where 50 % was expected" in cycle


def test_nash_on_request(folder: Path) -> None:
    found = {each["name"]: each for each in rated(folder, "cycle.csv", "--nash")["players"]}
    assert [found[name]["nash"] for name in "rps"] == pytest.approx([1 / 3] * 3)
    assert [found[name]["nash_skill"] for name in "rps"] == [0, 0, 0]
    text = succeeds(folder, "rate", "cycle.csv", "--nash")
    assert text.splitlines()[1].split()[-4:] == ["Nash", "%", "Nash", "Elo"]
    assert text.splitlines()[2].split()[-2:] == ["33.3", "0"]
    assert "Nash %: share in it." in text
    markdown = succeeds(folder, "rate", "cycle.csv", "--nash", "--markdown")
    assert "| Nash % | Nash Elo |" in markdown
    rows = list(
        csv.DictReader(io.StringIO(succeeds(folder, "rate", "cycle.csv", "--csv", "--nash")))
    )
    assert [float(row["nash"]) for row in rows] == pytest.approx([1 / 3] * 3)
    for words in ((), ("--json",), ("--csv",), ("--markdown",)):
        assert "nash" not in succeeds(folder, "rate", "cycle.csv", *words).lower()


@pytest.mark.slow
def test_a_narrow_terminal_keeps_what_matters(folder: Path) -> None:
    status, shown = on_terminal(folder, "rate", "games.csv", width=50)
    assert status == 0
    heading = shown.splitlines()[1]
    assert "Elo" in heading
    assert "opponents" not in heading


def test_degenerate_results(tmp_path: Path) -> None:
    commands = []
    for number, text in enumerate(DEGENERATE.values()):
        (tmp_path / str(number)).write_text(text)
        more = ("--advantage", "--prior", "--rank-by", "points")
        commands += [
            ("rate", number),
            ("rate", number, "--json"),
            ("rate", number, "--nash"),
            ("rate", number, "--csv", *more),
            ("rate", number, "--csv", "--nash"),
            ("rate", number, "--markdown", *more),
        ]
    for command, done in zip(commands, each(tmp_path, commands), strict=True):
        name = list(DEGENERATE)[int(str(command[1]))]
        assert (done.status, done.err) == (0, ""), (name, command, done.err)
        words = done.out.lower().replace("|", " ").replace(",", " ").replace(":", " ").split()
        assert not {"nan", "inf", "-inf", "none", "-0"} & set(words), (name, command, done.out)
        assert done.out.endswith("\n")


def test_perfect_scores_are_bounds(tmp_path: Path) -> None:
    (tmp_path / "games").write_text(DEGENERATE["perfect scores"])
    players = {each["name"]: each for each in rated(tmp_path, "games")["players"]}
    assert (players["a"]["elo"], players["a"]["bound"]) == (None, ">")
    assert (players["d"]["elo"], players["d"]["bound"]) == (None, "<")
    assert players["b"]["elo"] + players["c"]["elo"] == pytest.approx(0, abs=1e-6)
    bound = players["a"]["bound_elo"]
    assert f">{bound:+.0f}" in succeeds(tmp_path, "rate", "games")


def test_hostile_names(tmp_path: Path) -> None:
    name = "\x1b[31m[red] | *x*"
    (tmp_path / "games").write_text(f'"{name}","b\n2",1-0\n"b\n2","{name}",1-0\n')
    shown = succeeds(tmp_path, "rate", "games")
    assert "\x1b" not in shown
    assert "\\x1b[31m[red] | *x*" in shown
    assert "b\\n2" in shown
    assert r"[31m\[red\] \| \*x\*" in succeeds(tmp_path, "rate", "games", "--markdown")
    assert {each["name"] for each in rated(tmp_path, "games")["players"]} == {name, "b\n2"}


def test_what_is_refused(folder: Path) -> None:
    (folder / "many.csv").write_text("".join(f"hub,p{number},1-0\n" for number in range(1000)))
    refuses(
        folder,
        {
            "no file": (["rate"], r"missing argument 'FILE\.\.\.'; see referee rate --help"),
            "missing": (["rate", "nix.csv"], r"nix\.csv: no such file"),
            "folder": (["rate", "."], r"\.: a folder, .*"),
            "second": (
                ["rate", "games.csv", "wrong.csv"],
                r'wrong\.csv, line 2: result "1-1" is none of 1-0, 0-1, 1/2-1/2',
            ),
            "as records": (
                ["rate", "games.csv", "--format", "records"],
                r"games\.csv, line 1: not JSON .*",
            ),
            "format": (["rate", "games.csv", "--format", "xls"], r".*'xls'.*"),
            "two shapes": (
                ["rate", "games.csv", "--json", "--csv"],
                r".*only one of --json, --csv and --markdown can be given.*",
            ),
            "no anchor": (
                ["rate", "games.csv", "--anchor", "a"],
                r".*--anchor takes NAME=ELO, for example best=3000, not 'a'.*",
            ),
            "no number": (
                ["rate", "games.csv", "--anchor", "a=nan"],
                r".*--anchor takes NAME=ELO, for example best=3000, not 'a=nan'.*",
            ),
            "twice": (
                ["rate", "games.csv", "--anchor", "a=1", "--anchor", "a=2"],
                r".*--anchor a is given twice.*",
            ),
            "too many for Nash": (
                ["rate", "many.csv", "--nash"],
                "a Nash average is made for at most 1000 players, and here are 1001",
            ),
            "nobody": (
                ["rate", "games.csv", "--anchor", "z=1"],
                "anchor 'z' .*",
            ),
        },
    )


def test_numpy_is_imported_only_where_it_is_used(folder: Path) -> None:
    done = referee(folder, "rate", "--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.status == 0
    assert "typer" in done.err
    assert "numpy" not in done.err


def test_json_waits_for_nothing_that_it_does_not_use(folder: Path) -> None:
    done = referee(folder, "rate", "games.csv", "--json", PYTHONPROFILEIMPORTTIME="1")
    assert done.status == 0
    imported = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert "numpy" in imported
    assert not imported & {"rich.console", "numpy.ma", "referee.record", "referee.cli.screen"}
    assert "referee.ratings.rating" in imported
    assert "referee.ratings.nash" not in imported


def test_results_for_which_there_is_no_memory(tmp_path: Path) -> None:
    """So many players that a table of who met whom takes 1.6 GB: a sentence, and a status."""
    (tmp_path / "many.csv").write_text("".join(f"a{i},b{i},1-0\n" for i in range(20_000)))
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))"
    *python, program = REFEREE
    done = subprocess.run(
        [*python, f"{limit}; {program}", "rate", "many.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(OPENBLAS_NUM_THREADS="1"),
    )
    assert (done.returncode, done.stderr.count("\n")) == (REFUSED, 1), done.stderr
