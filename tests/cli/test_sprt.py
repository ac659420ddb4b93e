"""`referee match --sprt`: it stops when it is decided."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Mistakes, referee, refuses, succeeds


def test_it_stops_when_it_is_decided(tmp_path: Path) -> None:
    words = ["match", "highest", "random", "--sprt", "elo0=0", "elo1=10", "alpha=.05", "beta=.05"]
    out = succeeds(tmp_path, *words, "--seed", 1, "--no-pin", "--json")
    result = json.loads(out)
    assert result["games"] < 10_000
    told = result["sprt"]
    assert told["decision"] == "accept H1"
    assert told["llr"] >= told["upper"] > 2.9
    assert sum(told["pairs"]) * 2 == result["games"]
    assert told["test"] == {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
    text = succeeds(tmp_path, *words, "--seed", 1, "--no-pin")
    assert "Decided: H1, highest is rather +10 Elo or more than +0 (log-likelihood ratio +" in text
    lost = succeeds(
        tmp_path, "match", "random", "highest", "--sprt", "elo1=50", "--seed", 1, "--no-pin"
    )
    assert "Decided: H0, random is rather +0 Elo or less than +50" in lost


def test_it_may_not_be_decided(tmp_path: Path) -> None:
    out = succeeds(
        tmp_path, "match", "random", "random", "--games", 20, "--sprt", "--seed", 1, "--no-pin"
    )
    assert "Not decided between +0 and +10 Elo" in out


def test_the_same_seed_stops_at_the_same_game(tmp_path: Path) -> None:
    words = ["match", "lowest", "random", "--sprt", "--seed", 5, "--records", "-"]
    first = [json.loads(line)["game"] for line in succeeds_quietly(tmp_path, *words)]
    assert first == [json.loads(line)["game"] for line in succeeds_quietly(tmp_path, *words)]


def succeeds_quietly(folder: Path, *words: object) -> list[str]:
    done = referee(folder, *words)
    assert done.status == 0, done.err
    return done.out.splitlines()


def test_mistakes(tmp_path: Path) -> None:
    mistakes: Mistakes = {
        "order": (["--sprt", "elo0=5", "elo1=1"], "elo0 must be .* elo1.*"),
        "number": (["--sprt", "elo0=x"], "elo0 needs a number.*"),
        "twice": (["--sprt", "elo0=1", "elo0=2"], "elo0 is given twice.*"),
        "name": (["--sprt", "elo=3"], "'elo=3' is none of elo0=NUMBER, .*"),
        "share": (["--sprt", "alpha=2"], "alpha must be .*"),
    }
    refuses(
        tmp_path,
        {
            name: (["match", "random", "lowest", *words], told)
            for name, (words, told) in mistakes.items()
        },
    )
