"""The report as a file: harmless whatever bots wrote, and whole or not there at all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.reports.html.make import write_report
from referee.reports.html.page import harmless
from referee.store.database import Store
from referee.store.rows import GameRow
from referee.store.trouble import BadStore
from tests.cli.running import referee, sentence, succeeds
from tests.records import faulty, games
from tests.reports.pages import contents, read, real
from tests.reports.stored import make_real

NASTY = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&amp;\u202e\u2028"

# What is hostile.


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    record = faulty("illegal")
    assert record.fault is not None
    fault = replace(record.fault, detail=NASTY, received=NASTY)
    bad = replace(replace(record, players=(NASTY, record.players[1])), fault=fault, reason=NASTY)
    path = real(tmp_path, bad, bad)
    plain = real(tmp_path / "plain", record, record)
    assert list(read(path).parts) == list(read(plain).parts)
    told = contents(path)
    assert told["pairings"][0]["first"] == NASTY
    assert told["faults"][0]["detail"] == told["faults"][0]["received"] == NASTY
    assert told["reasons"] == [NASTY]
    assert NASTY in told["bots"]
    assert "alert(1)" not in read(path).parts["script " + str(len(read(path).parts) - 1)]


def test_json_holds_nothing_that_ends_an_element() -> None:
    text = harmless(msgspec.json.encode({NASTY: [NASTY, "]]>", "&lt;"]}))
    assert not set("<>&") & set(text)
    assert json.loads(text) == {NASTY: [NASTY, "]]>", "&lt;"]}


def test_the_policy_allows_this_script_and_no_network(tmp_path: Path) -> None:
    found = read(real(tmp_path, *games("duel")))
    rules = dict(rule.strip().split(" ", 1) for rule in found.policy.split(";"))
    assert rules["default-src"] == "'none'"
    *_, script = found.parts
    (style,) = (name for name in found.parts if name.startswith("style"))
    for name, part in (("script-src", script), ("style-src", style)):
        digest = hashlib.sha256(found.parts[part].encode()).digest()
        assert rules[name] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert set(rules) == {
        *("default-src", "script-src", "style-src", "img-src"),
        *("base-uri", "form-action"),
    }
    assert all(each.startswith(("#", "data:")) for each in found.loads), found.loads


def test_the_script_never_parses_text_as_html(tmp_path: Path) -> None:
    *_, script = read(real(tmp_path, *games("duel"))).parts.values()
    ways = "innerHTML|outerHTML|insertAdjacentHTML|document.write|eval\\(|new Function|DOMParser"
    assert re.findall(f"{ways}|srcdoc|createContextualFragment|setHTML", script) == []
    assert re.findall(r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(", script) == []


# Trouble.


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "cannot be read"),
        (b"\xc1", "cannot be read"),
        (msgspec.msgpack.encode({"format": 1}), "cannot be read: Object missing"),
        ("short", "is no record of a game"),
    ],
)
def test_a_damaged_record_is_named(tmp_path: Path, raw: Any, why: str) -> None:
    record = games("underdog")[0]
    real(tmp_path, record)
    before = (tmp_path / "report.html").read_bytes()
    if raw == "short":
        raw = msgspec.msgpack.encode(replace(record, spent_us=[]))
    with Store.open(tmp_path) as store:
        store.set_games(1, 2)
        store.add_games([GameRow(1, 2, 1, 1, 2, 2, "rules", 1, 0, raw)])
        store.commit()
    with pytest.raises(BadStore, match=f"damaged: game 2 of pairing 1 {why}"):
        write_report(tmp_path)
    assert (tmp_path / "report.html").read_bytes() == before


def test_the_command(tmp_path: Path) -> None:
    folder = make_real(tmp_path / "t", {("random", "highest"): games("duel")})
    assert succeeds(tmp_path, "report", "t") == "t/report.html\n"
    assert (folder / "report.html").is_file()
    assert succeeds(tmp_path, "report", "t", "--out", "x.html", "--words", "1") == "x.html\n"
    assert contents(tmp_path / "x.html")["in_words"] == 1
    succeeds(tmp_path, "report", "t", "--out", "x.html", "--private")
    assert contents(tmp_path / "x.html")["private"] is True
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t", "x.html"]


def test_the_command_refuses(tmp_path: Path) -> None:
    make_real(tmp_path / "t", {("random", "highest"): games("duel")})
    (tmp_path / "empty").mkdir()
    assert "nowhere" in sentence(referee(tmp_path, "report", "nowhere"))
    assert "empty" in sentence(referee(tmp_path, "report", "empty"))
    assert "--words" in sentence(referee(tmp_path, "report", "t", "--words", "-1"))
    assert "x.py" in sentence(referee(tmp_path, "report", "t", "--variant", "x.py"))
    assert "no/such" in sentence(referee(tmp_path, "report", "t", "--out", "no/such/x.html"), 3)
    told = sentence(referee(tmp_path, "report", "t", "--out", "empty"), 3)
    assert "empty" in told
    assert list((tmp_path / "empty").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"t", "empty"}
