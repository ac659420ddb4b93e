"""CSV: every spelling, both ways of reading, and every sentence that refuses a file."""

from __future__ import annotations

import csv
import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.results.blocks import LONGEST_LINE, BadResults
from tests.results.reading import everything, lines, pairs, read, read_csv, refused, told

ONE = [("a", "b", 2)]


@pytest.mark.parametrize(
    "data",
    [
        b"a,b,1-0\n",
        b"a,b,1-0",
        b"a,b,1-0\r\n",
        b"a,b,result\na,b,1-0\n",
        b"A,B,Result\r\na,b,1-0\r\n",
        b"white,black,result\na,b,1-0\n",
        b"\xef\xbb\xbfa,b,result\na,b,1-0\n",
        b'\xef\xbb\xbf"a","b","1-0"\n',
        b"\n\n  \na,b,1-0\n\n \n\n",
        b"\r\n\r\na,b,1-0\r\n\r\n",
        b" a , b\t, 1-0 \n",
        b'"a","b","result"\n"a","b","1-0"\n',
        b'"a","b","result"\r\n"a","b","1-0"\r\n',
        b'a,"b",1-0\n',
        b'"pair","a","b","result"\n"7","a","b","1-0"\n',
        b",a,b,1-0\n",
    ],
)
@pytest.mark.parametrize("quick", [True, False])
def test_one_game(data: bytes, quick: bool) -> None:
    games, skipped = read_csv(data, quick=quick)
    assert (told(games), games.players, skipped) == (ONE, ["a", "b"], {})


@pytest.mark.parametrize("quick", [True, False])
def test_results(quick: bool) -> None:
    spelled = ["1-0", "0-1", "1/2-1/2", "½-½", "0.5-0.5", "*"]
    data = lines([("a", "b", result) for result in spelled] + [("c", "d", "*")])
    games, skipped = read_csv(data, quick=quick)
    assert games.points.tolist() == [2, 0, 1, 1, 1]
    assert skipped == {"unfinished": 2}
    assert games.players == ["a", "b", "c", "d"]


@pytest.mark.parametrize("quick", [True, False])
def test_pairs(quick: bool) -> None:
    texts = ["1", "1", "x", "01", "x", "", "", "1", " x ", "1" * 30, "1" * 30, "0", "½"]
    data = lines([(text, "a", "b", "1-0") for text in texts])
    games, _ = read_csv(data, quick=quick)
    assert pairs(games) == [0, 0, 1, 2, 1, None, None, 0, 1, 3, 3, 4, 5]
    assert games.pair.min() == -1


@pytest.mark.parametrize("quick", [True, False])
def test_without_pairs_each_game_is_single(quick: bool) -> None:
    games, _ = read_csv(b"a,b,1-0\nb,a,1-0\n", quick=quick)
    assert pairs(games) == [None, None]


def test_pairs_of_numbers_are_the_same_in_every_block() -> None:
    rows = [(str(number // 2), "a", "b", "1-0") for number in range(400)]
    rows[200:200] = [("x", "a", "b", "0-1"), ("x", "b", "a", "0-1")]
    data = lines(rows)
    whole, blocks = read_csv(data, quick=True), read_csv(data, quick=True, size=100)
    assert everything(whole) == everything(blocks)
    assert everything(whole) == everything(read_csv(data, quick=False))
    assert len(set(pairs(whole.games))) == 201


RESULTS = "is none of 1-0, 0-1, 1/2-1/2"
WRONG = {
    "result": ("a,b,1-0\na,b,1-1\n", f'line 2: result "1-1" {RESULTS}'),
    "result, quoted": ('a,"b, c",1-0\n\na,b,2-0\n', f'line 3: result "2-0" {RESULTS}'),
    "no header": ("white,black,score\n", f'line 1: result "score" {RESULTS}'),
    "no result": ("a,b,\n", f'line 1: result "" {RESULTS}'),
    "long result": (f"a,b,{'x' * 99}\n", f'line 1: result "{"x" * 59}…" {RESULTS}'),
    "itself": ("a,b,1-0\na,a,1-0\n", 'line 2: "a" plays against itself'),
    "itself, but for blanks": ("b ,b,1-0\n", 'line 1: "b" plays against itself'),
    "no name": ("a,b,1-0\n ,b,1-0\n", "line 2: a player has no name"),
    "no second name": ("a,,*\n", "line 1: a player has no name"),
    "columns": ("a,b,1-0\na,b\n", "line 2: 2 columns, where a,b,result is due"),
    "one column": ("\na\n", "line 2: 1 column, where a,b,result or pair,a,b,result is due"),
    "semicolons": ("a;b;1-0\n", "line 1: 1 column, where a,b,result or pair,a,b,result is due"),
    "five": ("1,2,3,4,5\n", "line 1: 5 columns, where a,b,result or pair,a,b,result is due"),
    "pairs": ("1,a,b,1-0\na,b,1-0\n", "line 2: 3 columns, where pair,a,b,result is due"),
    "header": (
        "round,a,b,result\n",
        'line 1: header "round,a,b,result" is not a,b,result or pair,a,b,result',
    ),
    "header again": ("a,b,result\na,b,result\n", f'line 2: result "result" {RESULTS}'),
    "not UTF-8": (b"a,b,1-0\n\na,\xff,1-0\n", "line 3: not UTF-8; save the file as UTF-8"),
    "not UTF-8, quoted": (b'a,"b,",1-0\na,\xff,1-0\n', "line 2: not UTF-8; save the file as UTF-8"),
    "UTF-16": ("a,b,1-0\n".encode("utf-16"), "line 1: not UTF-8; save the file as UTF-8"),
    "open quote": ('a,b,1-0\na,"b,1-0\n', "line 2: a quoted field that begins here does not end"),
    "after a quote": (
        'a,"b"c,1-0\n',
        "line 1: a quoted field is followed by something other than a comma",
    ),
    "carriage return": ("a,b,1-0\na,b\rc,1-0\n", "line 2: a carriage return within the line"),
    "long field": (
        f"{'x' * 200_000},b,1-0\n",
        "line 1: a field is too long; is a quote left open?",
    ),
    "long line": (
        b"a,b,1-0\n" + b"x" * (LONGEST_LINE + (1 << 20)),
        "line 2: longer than 16,777,216 bytes",
    ),
}


@pytest.mark.parametrize(("data", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_refused(data: str | bytes, sentence: str) -> None:
    raw = data if isinstance(data, bytes) else data.encode()
    assert refused(raw, "csv") == sentence
    with pytest.raises(BadResults) as thorough:
        read_csv(raw, quick=False)
    assert str(thorough.value) == sentence


def test_the_line_is_right_after_many_blocks() -> None:
    rows = [("a", "b", "1-0")] * 5000
    data = b"a,b,result\n" + lines(rows) + b"a,b,3-0\n" + lines(rows)
    for size in (100, 10_000, 1 << 20):
        with pytest.raises(BadResults, match='line 5002: result "3-0"'):
            read_csv(data, quick=True, size=size)


def test_lines_longer_than_a_block() -> None:
    rows = [("a" * 3000, "b", "1-0"), ("b", "a" * 3000, "0-1")] * 3
    assert everything(read_csv(lines(rows), quick=True, size=64)) == everything(
        read_csv(lines(rows), quick=False)
    )


def test_quotes_late_in_a_file() -> None:
    rows = [("a", "b", "1-0")] * 300
    data = lines(rows) + b'"b, the\n2nd",a,1-0\n' + lines(rows) + b"a,b,5-5\n"
    with pytest.raises(BadResults, match="line 603: result"):
        read_csv(data, quick=True, size=500)
    games, _ = read_csv(data[:-8], quick=True, size=500)
    assert games.players == ["a", "b", "b, the\n2nd"]
    assert games.size == 601


def test_no_games() -> None:
    for data in (b"", b"\n\n", b"a,b,result\n", b"\xef\xbb\xbf"):
        games, skipped = read(data)
        assert (games.size, games.players, skipped) == (0, [], {})


def test_many_players_of_many_lengths() -> None:
    # More different names than the table of the quick reader has room for without collisions.
    chance = random.Random(5)
    names = [f"{'n' * (number % 60)}{number}" for number in range(8000)]
    rows = [(*chance.sample(names, 2), chance.choice(["1-0", "0-1"])) for _ in range(30_000)]
    data = lines(rows)
    assert everything(read_csv(data, quick=True)) == everything(read_csv(data, quick=False))


NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).map(str.strip).filter(bool)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "1", "2", "17", "x"]),
        NAME,
        NAME,
        st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]),
    ).filter(lambda row: row[1] != row[2]),
    min_size=1,
    max_size=30,
)


@given(rows=ROWS, paired=st.booleans(), header=st.booleans(), quoting=st.sampled_from([0, 1]))
def test_what_the_csv_module_writes_is_read_back(
    rows: list[tuple[str, str, str, str]], paired: bool, header: bool, quoting: int
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL)
    if header:
        writer.writerow(["pair", "a", "b", "result"] if paired else ["a", "b", "result"])
    writer.writerows(row if paired else row[1:] for row in rows)
    data = text.getvalue().encode()
    half_points = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}
    due = [(a, b, half_points[result]) for _, a, b, result in rows if result != "*"]
    quick = read_csv(data, quick=True, size=80)
    assert told(quick.games) == due
    assert quick.skipped.get("unfinished", 0) == len(rows) - len(due)
    assert everything(quick) == everything(read_csv(data, quick=False))
    if not paired:
        assert set(pairs(quick.games)) <= {None}


@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from(["a", "bb", "c" * 9, "ü", " d", "*", "1-0", "0-1", ""])] * 3),
        max_size=12,
    ),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    size=st.integers(1, 200),
)
def test_both_ways_agree_or_refuse_alike(
    rows: list[tuple[str, str, str]], end: str, size: int
) -> None:
    data = lines(rows, end)
    outcomes: list[object] = []
    for quick in (True, False):
        try:
            outcomes.append(everything(read_csv(data, quick=quick, size=size)))
        except BadResults as bad:
            outcomes.append(str(bad))
    assert outcomes[0] == outcomes[1]


@given(
    data=st.binary(max_size=60)
    | st.text(st.sampled_from('ab,"\n\r1-0*\x00 '), max_size=40).map(str.encode),
    size=st.integers(1, 50),
)
def test_any_bytes_are_read_alike_or_refused_alike(data: bytes, size: int) -> None:
    outcomes: list[object] = []
    for quick in (True, False):
        try:
            outcomes.append(everything(read_csv(data, quick=quick, size=size)))
        except BadResults as bad:
            outcomes.append(str(bad))
    assert outcomes[0] == outcomes[1]


def test_line_ends_of_every_kind_and_blank_lines() -> None:
    told_by = [
        everything(read_csv(data, quick=True))
        for data in (
            b"a,b,1-0\nb,c,0-1\n",
            b"a,b,1-0\r\nb,c,0-1\r\n",
            b"a,b,1-0\r\nb,c,0-1\n",
            b"\n\na,b,1-0\n\n\nb,c,0-1\n\n\n",
            b"\r\na,b,1-0\r\n\r\nb,c,0-1",
        )
    ]
    assert all(told == told_by[0] for told in told_by)
