"""`referee match`: what it prints, what it writes, what it refuses, and its exit status."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from referee.match import MatchResult
from referee.ratings.two_players import Score
from referee.record import Record, read_records
from referee.verdict import PRECEDENCE, exit_status
from referee.verifying import verify
from tests.arena.playing import ROOT
from tests.cli.running import (
    REFEREE,
    Mistakes,
    each,
    environment,
    no_duration,
    planned,
    referee,
    refuses,
    sentence,
    succeeds,
)
from tests.facts import Naming

SLOW = ("--time", "60s", "--no-pin")
"""No honest bot is late, however busy the machine, and nobody says that it is busy."""


def records_in(text: str | bytes) -> list[Record]:
    """In the order of the games."""
    data = text.encode() if isinstance(text, str) else text
    found = [record for _, record in read_records(data.splitlines(keepends=True))]
    return sorted(found, key=lambda record: int(record.game))


def timeless(records: Sequence[Record]) -> list[Record]:
    return [
        msgspec.structs.replace(record, started="", spent_us=[], cpu_us=[]) for record in records
    ]


# What it prints.


def test_the_table(tmp_path: Path) -> None:
    out = succeeds(tmp_path, "match", "random", "highest", "-n", 20, "--seed", "[/x] :dog:", *SLOW)
    first, head, random, highest, elo, normalised, sure = (
        line.rstrip() for line in out.splitlines()
    )
    expected = (
        r"random against highest, underdog: 20 games in \d+\.\d s, seed \[/x\] :dog:, level none"
    )
    assert re.fullmatch(expected, first)
    assert re.fullmatch(r"random is the stronger one with \d+\.\d% likelihood", sure)
    assert head.split() == ["wins", "draws", "losses", "points"]
    name, wins, draws, losses, points = random.split()
    assert (name, int(wins) + int(draws) + int(losses)) == ("random", 20)
    assert highest.split() == ["highest", losses, draws, wins, f"{20 - float(points):g}"]
    assert re.fullmatch(r"Elo difference [+-]\d+ ± \d+ \(95 %, from 10 pairs of games\)", elo)
    assert re.fullmatch(r"Normalised Elo [+-]\d+", normalised)


def test_a_long_name_is_whole_in_a_pipe(tmp_path: Path) -> None:
    name = "n" * 60
    out = succeeds(tmp_path, "match", planned(name, "first"), "lowest", "-n", 1, *SLOW)
    assert out.splitlines()[2].startswith(name + " ")


def test_the_result_as_json(tmp_path: Path) -> None:
    words = ("match", "lowest", "highest", "--variant", "duel", "--games", 3, "--seed", "j")
    out = succeeds(tmp_path, *words, "--json", *SLOW)
    assert out.count("\n") == 1
    raw: dict[str, Any] = json.loads(out)
    assert tuple(raw) == MatchResult.__struct_fields__
    assert tuple(raw["score"]) == Score.__struct_fields__
    result = msgspec.json.decode(out, type=MatchResult)
    assert (result.variant, result.players, result.seed) == ("duel", ("lowest", "highest"), "j")
    assert (result.games, result.score.games, result.score.pairs) == (3, 3, 1)
    assert (result.unrated, result.replayed, result.faults, result.logs) == (0, 0, [], {})
    assert result.fault_counts == {"lowest": {}, "highest": {}}


def test_one_bot_in_both_seats(tmp_path: Path) -> None:
    words = ["match", "random", "random", "-n", 2, "--json", "--records"]
    out = succeeds(tmp_path, *words, "games")
    assert json.loads(out)["players"] == ["random", "random#2"]
    first, second = records_in((tmp_path / "games").read_text())
    assert (first.players, second.players) == (("random", "random#2"), ("random#2", "random"))


def test_faults_are_told(tmp_path: Path) -> None:
    bad = planned("bad", "first", '"[/x] :dog: \\u001b[31m"')
    done = referee(tmp_path, "match", bad, planned("good", "last"), "-n", 12, *SLOW)
    assert done.status == 0
    lines = done.out.splitlines()
    assert "bad has lost every game" in done.out
    at = lines.index("Faults of bad: 12 illegal")
    assert lines[at + 1].startswith("  bad, game 1, turn 3: illegal, a move is an integer, ")
    assert '{"round":2,"mine":{"numbers":[2,3,' in lines[at + 1]
    assert '; it sent back {"id": 2, "move": "[/x] :dog: \\u001b[31m"}; ' in lines[at + 1]
    assert [line.split(":")[0] for line in lines[at + 1 : at + 4]] == [
        "  bad, game 1, turn 3",
        "  bad, game 2, turn 4",
        "  bad, game 3, turn 3",
    ]
    assert lines[-1] == "  … and 9 more"


def test_what_bots_write_to_stderr_is_kept(tmp_path: Path) -> None:
    noisy = f"noisy=sh -c 'echo hm >&2; exec {planned('', 'first').removeprefix('=')}'"
    out = succeeds(tmp_path, "match", noisy, "lowest", "-n", 1, "--logs", "kept/here", *SLOW)
    assert out.splitlines()[-1] == "stderr of noisy: kept/here/noisy.stderr.txt"
    assert (tmp_path / "kept/here/noisy.stderr.txt").read_text() == "hm\n"


# What it writes.


def test_records_go_to_a_file_or_to_stdout(tmp_path: Path) -> None:
    words = ("match", "random", "lowest", "--variant", "deck", "-n", 4, *SLOW, "--seed")
    to_file, to_stdout, other = each(
        tmp_path,
        [
            (*words, "same", "--records", "games.jsonl"),
            (*words, "same", "--records", "-"),
            (*words, "other", "--records", "-"),
        ],
    )
    assert (to_file.status, to_file.err) == (0, "")
    assert to_stdout.status == 0
    assert to_stdout.err.startswith("random against lowest, deck: 4 games in ")
    written = (tmp_path / "games.jsonl").read_bytes()
    assert verify(written.splitlines(keepends=True)).judged == 4
    records = timeless(records_in(written))
    assert records == timeless(records_in(to_stdout.out))
    assert records != timeless(records_in(other.out))


def test_options_of_a_variant(tmp_path: Path) -> None:
    words = ("match", "random", "lowest", "-v", "target", "-n", 1, "--records", "g", *SLOW)
    succeeds(tmp_path, *words, "--option", "target=40", "--option", "first=seat0")
    (record,) = records_in((tmp_path / "g").read_bytes())
    assert record.options == {"target": 40, "size": 9, "first": "seat0"}
    assert record.chance == []


def test_a_script_as_variant(tmp_path: Path) -> None:
    script = ROOT / "docs/examples/goofspiel.py"
    played, verified, told, unknown = each(
        tmp_path,
        [
            ("match", "random", "lowest", "-v", script, "-n", 2, "--records", "g", *SLOW),
            ("verify", "g", "-v", script),
            ("replay", "g", "-v", script),
            ("verify", "g"),
        ],
    )
    assert "against lowest, goofspiel: 2 games" in played.out
    assert verified.out.startswith("2 records, 0 mismatches (2 judged again, 0 attested ")
    assert re.match(r"Game \d of goofspiel: ", told.out)
    assert sentence(unknown) == Naming("g: line 1: ", "variant 'goofspiel'")


# --strict.

BLAMED: dict[str, tuple[str, tuple[str, ...]]] = {
    "crash": ("exit", ()),
    "timeout": ("hang", ("--time", "20ms", "--grace", "0ms", "--warm-up", "0s")),
    "flood": ("flood", SLOW),
    "garbled": ("null", SLOW),
    "illegal": ("99", SLOW),
    "resign": ("resign", SLOW),
    "no_start": ("", SLOW),
    "no_hello": ("mute", ("--startup", "3s")),
    "wrong_protocol": ("stranger", SLOW),
}


def test_a_fault_is_the_exit_status(tmp_path: Path) -> None:
    # In a duel the bad bot is asked first: the limits that it fails are nobody else's.
    duel = ("--variant", "duel", "--option", "first=seat0", "-n", 1, "--strict", "--json")
    good, absent = planned("good", "first"), "bad=/nowhere/to/be/found"
    commands = [
        ("match", planned("bad", word) if word else absent, good, *duel, *terms)
        for word, terms in (BLAMED[code] for code in PRECEDENCE)
    ]
    for code, done in zip(PRECEDENCE, each(tmp_path, commands), strict=True):
        assert done.err == ""
        assert json.loads(done.out)["fault_counts"] == {"bad": {code: 1}, "good": {}}
        assert done.status == exit_status([code]) == 10 + PRECEDENCE.index(code)


def test_the_gravest_fault_counts_and_none_is_none(tmp_path: Path) -> None:
    both = ("match", planned("a", "resign"), planned("b", "exit"), "-n", 1, *SLOW)
    good = ("match", planned("a", "first"), planned("b", "first"), "-n", 1, *SLOW)
    done = each(tmp_path, [(*both, "--strict"), both, (*good, "--strict")])
    assert [each.status for each in done] == [10, 0, 0]


# What it refuses.

MISTAKES: Mistakes = {
    "no bot": (("nobody", "random"), r"no bot 'nobody': a bot is a folder with bot\.toml, .*"),
    "nearly a bot": (("randm", "random"), r"no bot 'randm': did you mean random\? a bot is .*"),
    "a folder": ((".", "random"), r"\.: the folder has no bot\.toml"),
    "somebody's home": (("~nobody-here/x", "random"), r"~nobody-here/x: there is no .*"),
    "no command": (("x=", "random"), r"x=: the command is missing; write \"x=python3 my_bot\.py\""),
    "an open quote": (("x=A 'b", "random"), r"x=A 'b: no closing quotation"),
    "a bad name": (("a[b=x", "random"), r"a\[b=x: a bot's name has 1 to 60 letters, .*"),
    "one bot": (("random",), r"missing argument 'BOT'; see referee match --help"),
    "three bots": (("a", "b", "c"), r"got unexpected extra argument.*; see referee match --help"),
    "another's game": (
        ("random", "difference-solver"),
        r"difference-solver does not play underdog; its bot\.toml names difference",
    ),
    "variant": (
        ("a=b", "b=c", "-v", "underdgo"),
        r".* variant 'underdgo' \(did you mean underdog.*",
    ),
    "script": (("a=b", "b=c", "-v", "./x.py"), r"x\.py: .*no such file"),
    "option": (
        ("a=b", "b=c", "--option", "sizes=3"),
        r"underdog has no option 'sizes': did you mean size\?",
    ),
    "option's value": (("a=b", "b=c", "--option", "size=0"), r"option size of underdog must be .*"),
    "option without": (("a=b", "b=c", "--option", "size"), r"--option takes name=value, .*"),
    "option twice": (
        ("a=b", "b=c", "--option", "size=9", "--option", "size=8"),
        r"--option size is given twice",
    ),
    "time": (("a=b", "b=c", "--time", "5x"), no_duration("5x")),
    "grace": (("a=b", "b=c", "--grace", "-1ms"), no_duration("-1ms")),
    "no games": (("a=b", "b=c", "-n", "0"), r"a match has 1 to 1000000 games, not 0"),
    "some games": (("a=b", "b=c", "-n", "x"), r"invalid value for '--games' / '-n': .*"),
    "think": (("a=b", "b=c", "--think", "hard"), r"invalid value for '--think': .*"),
    "no such flag": (("a=b", "b=c", "--fast"), r"no such option: --fast.*"),
    "seed": (("a=b", "b=c", "--seed", "\t"), r"a seed is printable text, not '\\t'"),
}


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    kept = tmp_path / "games.jsonl"
    kept.write_text("kept")
    mistakes = {
        name: (("match", *words, "--records", kept), told)
        for name, (words, told) in MISTAKES.items()
    }
    refuses(tmp_path, mistakes)
    kept.unlink()
    refuses(tmp_path, {"no bot": mistakes["no bot"]})


def test_a_bad_manifest_is_one_sentence(tmp_path: Path) -> None:
    mistakes = {}
    for name, (text, told) in MANIFESTS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(text)
        mistakes[name] = (("match", name, "random"), rf"{name}/bot\.toml: {told}")
    refuses(tmp_path, mistakes)


MANIFESTS = {
    "empty": ("", r"object missing required field name"),
    "broken": ("name = ", r"Invalid value \(at end of document\)"),
    "unknown": ('name = "a"\ncomand = ["b"]', r"unknown key 'comand'; did you mean command\?"),
    "text": ('name = "a"\ncommand = "b"', r"command must be .* texts, not 'b'"),
    "none": ('name = "a"\ncommand = []', r"command must be .* list of words, for example .*"),
    "nul": ('name = "a"\ncommand = ["b", "\\u0000"]', r"command must be .* words, .*"),
    "env": ('name = "a"\ncommand = ["b"]\nenv = {"c=d" = "e"}', r"env cannot set 'c=d' to 'e'"),
    "many": ('name = "a"\ncommand = ["b"]\ngames_at_once = 0', r"games_at_once must be 1 to 10000"),
    "zmq": (
        'name = "a"\ncommand = ["b"]\ntransport = "tcp"',
        r"transport must be \"stdio\" or \"zmq\", not 'tcp'",
    ),
}


def test_records_that_have_no_place(tmp_path: Path) -> None:
    """Said before a bot is started, not after the games."""
    bot = f"a=sh -c {shlex.quote('echo > started')}"
    refuses(
        tmp_path,
        {
            "no folder": (
                ("match", bot, "lowest", "--records", "missing/games.jsonl"),
                r"records cannot be written to missing/games\.jsonl: there is no folder missing",
            ),
            "a folder": (
                ("match", bot, "lowest", "--records", "."),
                r"records cannot be written to \.: it is a folder",
            ),
        },
    )


# What the system refuses.


def test_records_that_cannot_be_written(tmp_path: Path) -> None:
    cases = {
        ("/dev/full", 4): f"/dev/full: {os.strerror(errno.ENOSPC)}",
        ("/dev/full", 400): f"/dev/full: {os.strerror(errno.ENOSPC)}",
    }
    match = ("match", "random", "highest", *SLOW)
    done = each(tmp_path, [(*match, "--records", to, "-n", games) for to, games in cases])
    assert [sentence(found, status=3) for found in done] == list(cases.values())


def test_a_full_stdout(tmp_path: Path) -> None:
    for words in (["variants"], ["variants", "--json"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*REFEREE, *words],
                stdout=full,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                env=environment(),
                check=False,
            )
        assert (done.returncode, done.stderr) == (3, b"referee: No space left on device\n")


def test_a_script_that_fails_is_named(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "arena" / "broken.py"
    words = ["-v", script, "--option", "bug=apply", "-n", 2, *SLOW]
    done = referee(tmp_path, "match", "random", "lowest", *words)
    assert done.status == 4
    assert re.search(
        r"^referee: the variant failed 6 times, nobody loses by it: "
        r"ZeroDivisionError: a bug in apply at broken.py:\d+$",
        done.err,
        re.MULTILINE,
    )
    assert "host" not in done.out
