"""What is in a report: every game, every fault, every rating, and nothing that is private."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from referee.match import play_match
from referee.record import Record
from referee.replaying import replay
from referee.reports.html.data import gather
from referee.reports.html.games import Ration
from referee.reports.html.make import source_of, write_report
from referee.reports.html.progress import shares_of
from referee.reports.standings import standings
from referee.rules.registry import BUNDLED, BadVariant
from referee.store.database import Store
from referee.store.rows import GameRow
from tests.arena.playing import ROOT
from tests.facts import Naming
from tests.records import FAULTY, faulty, games, with_notes
from tests.reports.pages import contents, everything, made_up, read, real, stories, unpack
from tests.reports.stored import Met, make, make_real

COST_OF_TEN = 10 - Ration.BY_GAME
"""Plays of a game that takes a tenth of an effort of 100."""
GOOFSPIEL = ROOT / "docs/examples/goofspiel.py"

# What it tells.


@pytest.mark.parametrize("variant", BUNDLED)
def test_every_game_is_told_in_the_words_of_its_rule_book(tmp_path: Path, variant: str) -> None:
    records = games(variant)
    path = real(tmp_path, *records)
    told = stories(path)
    assert len(told) == len(records)
    for record, (opening, steps, ending) in zip(records, told, strict=True):
        story = replay(record).story()
        assert opening == story.opening
        assert [lines for lines, _ in steps] == story.steps
        assert ending == story.ending
        plays = [play for _, each in steps for play in each]
        moves = zip(record.moves, record.spent_us, strict=True)
        assert plays == [[seat, move, us] for (seat, move), us in moves]
    assert contents(path)["in_words"] == len(records)
    assert contents(path)["untold"] == {}


def test_the_list_holds_every_game(tmp_path: Path) -> None:
    records = [*games("underdog"), faulty("void"), faulty("forfeit")]
    records = [replace(each, players=records[n % 2].players) for n, each in enumerate(records)]
    path = real(tmp_path, *records)
    told, columns = contents(path), unpack(read(path).parts["columns"])
    assert columns["number"] == list(range(1, len(records) + 1))
    assert columns["plays"] == [len(record.moves) for record in records]
    assert list(zip(columns["scores0"], columns["scores1"], strict=True)) == [
        record.scores for record in records
    ]
    assert [told["endings"][at] for at in columns["ending"]] == [each.ending for each in records]
    assert [told["reasons"][at] for at in columns["reason"]] == [each.reason for each in records]
    names = [(told["pairings"][0]["first"], told["pairings"][0]["second"])]
    seats = [names[0][::-1] if swapped else names[0] for swapped in columns["swapped"]]
    assert seats == [record.players for record in records]
    winners = [{2: None, 3: None}.get(result, result) for result in columns["result"]]
    assert winners == [record.winner for record in records]
    assert columns["result"][-2] == 3, "a void game is no draw"


def test_faults_are_told(tmp_path: Path) -> None:
    records = [replace(faulty(name), players=("a", "b")) for name in FAULTY]
    told = contents(real(tmp_path, *records))
    expected = [
        (record.players[fault.seat], fault.code, fault.turn, fault.detail)
        for record in records
        for fault in record.faults()
    ]
    found = [(each["name"], each["code"], each["turn"], each["detail"]) for each in told["faults"]]
    assert found == expected
    assert set(told["meanings"]) >= {code for _, code, _, _ in expected}


def test_of_many_faults_the_first_are_told(tmp_path: Path) -> None:
    told = contents(real(tmp_path, *[faulty("illegal")] * 150))
    assert len(told["faults"]) == 100
    assert told["standings"]["tables"][0]["rows"][-1]["faults"] == {"illegal": 150}


def test_tables_are_those_of_the_standings(tmp_path: Path) -> None:
    real(tmp_path, *games("duel"))
    with Store.read(tmp_path) as store:
        expected = json.loads(msgspec.json.encode(standings(store)))
    assert contents(tmp_path / "report.html")["standings"] == expected


def test_games_that_come_later_are_left_out(tmp_path: Path) -> None:
    record, later = games("underdog")[:2]
    folder = make_real(tmp_path, {record.players: [record]})
    with Store.read(folder) as store:
        source = source_of(store, logs={})
        with Store.open(folder) as writer:
            raw = msgspec.msgpack.encode(later)
            writer.add_games([GameRow(1, 2, 1, 2, 1, 0, "rules", len(later.moves), 2, raw)])
            writer.commit()
        report = gather(source)
    assert report.columns["number"] == [1]
    assert stories(write_report(folder))[1][0] == replay(later).story().opening


def test_a_tournament_without_games(tmp_path: Path) -> None:
    folder = make(tmp_path, [Met("a", "b", "", games=10)], finished=False)
    told = contents(write_report(folder))
    assert told["standings"]["played"] == 0
    assert told["standings"]["seed"] is told["standings"]["salt"] is None
    assert told["progress"] == [None]


# Ratings over time.


def test_shares_are_counted_in_each_pairing() -> None:
    assert shares_of(np.array([1, 1, 2, 1, 1, 2])).tolist() == [0.25, 0.5, 0.5, 0.75, 1, 1]
    assert shares_of(np.array([], np.int64)).tolist() == []


def test_the_last_rating_is_that_of_the_table(tmp_path: Path) -> None:
    folder = made_up(
        tmp_path, {("a", "b"): "1101=011" * 5, ("b", "c"): "10=1" * 10, ("a", "c"): "1" * 39 + "0"}
    )
    told = contents(write_report(folder))
    (table,), (progress,) = told["standings"]["tables"], told["progress"]
    assert progress["shares"][-1] == 1
    assert len(progress["shares"]) == 20
    lines = {line["name"]: line for line in progress["lines"]}
    for row in table["rows"]:
        assert lines[row["name"]]["elo"][-1] == pytest.approx(row["elo"], abs=0.06)
        assert lines[row["name"]]["err95"][-1] == pytest.approx(row["err95"], abs=0.06)
        assert len(lines[row["name"]]["elo"]) == 20
    # Up to 95 % of its games, a has only won against c.
    assert lines["a"]["elo"][-2] > lines["a"]["elo"][-1]


def test_many_bots_are_rated_less_often(tmp_path: Path) -> None:
    names = [f"bot {number}" for number in range(60)]
    told = contents(write_report(made_up(tmp_path, dict.fromkeys(pairwise(names), "10"))))
    (progress,) = told["progress"]
    assert len(progress["shares"]) == 10
    assert len(progress["lines"]) == 30


# What is too much.


def test_each_pairing_gets_its_share_of_words() -> None:
    ration = Ration(pairings=2, effort=100)
    first = [ration.allows(1, number, COST_OF_TEN) for number in range(1, 8)]
    assert first == [True] * 5 + [False] * 2
    # A gap would puzzle a reader: a short game after the last one told is not told.
    assert not ration.allows(1, 8, 0)
    second = [ration.allows(2, number, COST_OF_TEN) for number in range(1, 8)]
    assert second == [True] * 5 + [False] * 2
    assert ration.games == 10


def test_what_a_pairing_leaves_is_for_the_next() -> None:
    ration = Ration(pairings=2, effort=100)
    assert ration.allows(1, 1, COST_OF_TEN)
    rest = [ration.allows(2, number, COST_OF_TEN) for number in range(1, 11)]
    assert rest == [True] * 9 + [False]


def test_games_that_are_not_told_are_shown_by_their_moves(tmp_path: Path) -> None:
    records = games("underdog")
    path = write_report(
        make_real(tmp_path, {records[0].players: list(records)}),
        words=2,
    )
    told = stories(path)
    assert contents(path)["in_words"] == 2
    assert all(lines is not None for _, steps, _ in told[:2] for lines, _ in steps)
    for record, (opening, steps, _) in zip(records[2:], told[2:], strict=True):
        assert opening == []
        assert [lines for lines, _ in steps] == [None] * len(record.moves)
        moves = [(plays[0][0], plays[0][1]) for _, plays in steps]
        assert moves == [tuple(move) for move in record.moves]


def test_a_script_is_run_only_where_it_is_given(tmp_path: Path) -> None:
    records: list[Record] = []
    play_match(
        "random", "highest", variant=str(GOOFSPIEL), games=2, seed="s", on_record=records.append
    )
    folder = make_real(tmp_path, {("random", "highest"): records})
    path = write_report(folder)
    assert contents(path)["untold"]["goofspiel"] == Naming("variant 'goofspiel'")
    assert stories(path)[0][1][0][0] is None
    write_report(folder, scripts=[str(GOOFSPIEL)])
    assert contents(path)["untold"] == {}
    assert stories(path)[0][1][0][0] == replay(records[0], str(GOOFSPIEL)).story().steps[0]
    with pytest.raises(BadVariant, match=r"nowhere\.py"):
        write_report(folder, scripts=["nowhere.py"])


def test_a_record_cannot_choose_a_script(tmp_path: Path) -> None:
    marked = tmp_path / "ran"
    script = tmp_path / "evil.py"
    script.write_text(f"open({str(marked)!r}, 'w')\n")
    path = real(tmp_path / "t", *[replace(each, variant=str(script)) for each in games("duel")])
    assert not marked.exists()
    assert contents(path)["untold"] == {str(script): "the path of a script is yours to give"}


def test_a_record_that_breaks_the_rules_is_shown_by_its_moves(tmp_path: Path) -> None:
    record = games("underdog")[0]
    path = real(tmp_path, replace(record, moves=[(0, 11), *record.moves[1:]]))
    assert stories(path)[0][1][0] == [None, [[0, 11, record.spent_us[0]]]]
    assert "11 is not legal" in contents(path)["untold"]["underdog"]


def test_a_large_cross_table_is_cut(tmp_path: Path) -> None:
    names = [f"bot {number}" for number in range(70)]
    pairs = dict.fromkeys(pairwise(names), "1")
    told = contents(write_report(made_up(tmp_path, pairs)))
    (table,) = told["standings"]["tables"]
    assert len(table["rows"]) == 70
    shown = {row["name"] for row in table["rows"][:60]}
    assert {cell["first"] for cell in table["cells"]} <= shown


# What is private.


def test_notes_are_private(tmp_path: Path) -> None:
    record = with_notes()
    assert record.notes
    note = next(iter(record.notes.values()))
    path = real(tmp_path, record)
    assert note not in everything(path)
    assert contents(path)["private"] is False
    write_report(tmp_path, private=True)
    plays = [play for _, steps in stories(path)[0][1] for play in steps]
    assert {str(at): play[3] for at, play in enumerate(plays) if len(play) > 3} == record.notes
    assert contents(path)["private"] is True


def test_a_note_in_a_faulty_answer_is_private(tmp_path: Path) -> None:
    record = faulty("illegal")
    assert record.fault is not None
    sent = '{"id": 2, "move": 99, "note": "my secret"}'
    record = replace(record, fault=replace(record.fault, received=sent))
    path = real(tmp_path, record)
    assert "my secret" not in everything(path)
    assert "99" in contents(path)["faults"][0]["received"]
    write_report(tmp_path, private=True)
    assert contents(path)["faults"][0]["received"] == sent
    assert any("my secret" in line for line in stories(path)[0][2])


def test_stderr_is_private(tmp_path: Path) -> None:
    path = real(tmp_path, *games("duel"))
    log = tmp_path / "logs" / "duel" / "random - highest" / "random.stderr.txt"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * 50_000 + b" I am \xff here\n")
    write_report(tmp_path)
    assert contents(path)["logs"] == {}
    write_report(tmp_path, private=True)
    (name, text), *more = contents(path)["logs"].items()
    assert (name, more) == ("duel/random - highest/random", [])
    assert text.endswith(" I am \ufffd here\n")
    assert len(text) < 21_000
