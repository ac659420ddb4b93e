"""Lines of a TOML file: nasty files by hand, and any file against the parser."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from referee.tournament.lines import find_lines
from referee.tournament.mistakes import Key

NASTY = '''# a = 1
title = "a # no comment" # b = 2
  indented   =   'c = [3]'

"quoted key" = 1
'lit"eral' = 2
"" = 3
"a\\u0062c\\n" = 4
dotted . "x y".z = 5

text = """
not = "a key"
[not.a.table]
\\""" still " in "" it \\\\""""
literal = \'\'\'
no = 1
\\\'\'\'\'
list = [ # ]
  1, "]", \']\', # "
  [ 2,
    3 ], {k = [
      4
  ], l.m = "}"},
  """
  ]""",
  1979-05-27 07:32:00,
]
date = 1979-05-27 07:32:00 # when
last_inline = {a = {b = 1}, "c d" = [{e = 2}]}

[table]
key = 1
[table."sub.table".deeper] # comment
key = 2
[[rows]]
key = 3
[rows.inner]
key = 4
[[rows]]

[[rows.parts]]
key = 5
[[rows.parts]]
key = 6'''

LINES: dict[Key, int] = {
    ("title",): 2,
    ("indented",): 3,
    ("quoted key",): 5,
    ('lit"eral',): 6,
    ("",): 7,
    ("abc\n",): 8,
    ("dotted",): 9,
    ("dotted", "x y"): 9,
    ("dotted", "x y", "z"): 9,
    ("text",): 11,
    ("literal",): 15,
    ("list",): 18,
    ("list", 0): 19,
    ("list", 1): 19,
    ("list", 2): 19,
    ("list", 3): 20,
    ("list", 3, 0): 20,
    ("list", 3, 1): 21,
    ("list", 4): 21,
    ("list", 4, "k"): 21,
    ("list", 4, "k", 0): 22,
    ("list", 4, "l"): 23,
    ("list", 4, "l", "m"): 23,
    ("list", 5): 24,
    ("list", 6): 26,
    ("date",): 28,
    ("last_inline",): 29,
    ("last_inline", "a"): 29,
    ("last_inline", "a", "b"): 29,
    ("last_inline", "c d"): 29,
    ("last_inline", "c d", 0): 29,
    ("last_inline", "c d", 0, "e"): 29,
    ("table",): 31,
    ("table", "key"): 32,
    ("table", "sub.table"): 33,
    ("table", "sub.table", "deeper"): 33,
    ("table", "sub.table", "deeper", "key"): 34,
    ("rows",): 35,
    ("rows", 0): 35,
    ("rows", 0, "key"): 36,
    ("rows", 0, "inner"): 37,
    ("rows", 0, "inner", "key"): 38,
    ("rows", 1): 39,
    ("rows", 1, "parts"): 41,
    ("rows", 1, "parts", 0): 41,
    ("rows", 1, "parts", 0, "key"): 42,
    ("rows", 1, "parts", 1): 43,
    ("rows", 1, "parts", 1, "key"): 44,
}


def keys(value: Any, place: Key = ()) -> Iterator[Key]:
    """Every place in what the parser gives."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*place, key)
        yield from keys(item, (*place, key))


def test_a_nasty_file() -> None:
    assert find_lines(NASTY) == LINES
    assert set(keys(tomllib.loads(NASTY))) == set(LINES)


def test_lines_that_end_as_on_windows() -> None:
    assert find_lines(NASTY.replace("\n", "\r\n")) == LINES


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "   \n\t\n# x\n"])
def test_nothing(text: str) -> None:
    assert find_lines(text) == {}


@pytest.mark.parametrize(
    "text", ["a = 1\nb = \nc = 2", "a = 1\n= 2", "a = 1\nb = [1, 2", "a = 1\n[b"]
)
def test_what_is_no_toml_ends_it(text: str) -> None:
    assert find_lines(text)[("a",)] == 1


# Any file.

_words = st.text(st.sampled_from("ab-_ .\"'\\#=[]{},\n\té"), max_size=5)


def _quoted(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(each, each) for each in text) + '"'


def _multi_line(text: str) -> str:
    return '"""\n' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'


def _key(text: str) -> str:
    bare = text and all(each in "ab-_" for each in text)
    return text if bare else _quoted(text)


_scalars = st.one_of(
    st.integers(-99, 99).map(str),
    st.booleans().map(lambda value: "true" if value else "false"),
    st.sampled_from(["1.5e3", "inf", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "07:32:00"]),
    _words.map(_quoted),
    _words.map(_multi_line),
    _words.filter(lambda text: "'" not in text and "\n" not in text).map(lambda text: f"'{text}'"),
)
_gaps = st.sampled_from(["", " ", "\n", " # ], x = 1\n", "\n\n\t"])
_names = st.lists(_words, unique=True, max_size=3)


def _list(items: list[str], gaps: list[str]) -> str:
    return "[" + "".join(f"{gap}{item}{gap}," for gap, item in zip(gaps, items, strict=True)) + "]"


@st.composite
def _values(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind == 2:
        items = draw(st.lists(_values(depth - 1), max_size=3))
        return _list(items, [draw(_gaps) for _ in items])
    if kind == 3:
        pairs = [f"{_key(name)} = {draw(_values(depth - 1))}" for name in draw(_names)]
        return "{ " + ", ".join(pairs) + " }"
    scalar: str = draw(_scalars)
    return scalar


@st.composite
def _files(draw: st.DrawFn) -> str:
    parts: list[str] = []
    for path in ["", *draw(st.lists(st.lists(_words, min_size=1, max_size=2), max_size=3))]:
        if path:
            header = ".".join(map(_key, path))
            parts.append(f"[[{header}]]" if draw(st.booleans()) else f"[ {header} ] # x")
        for name in draw(_names):
            parts += [draw(st.sampled_from(["", "# c", "  "]))]
            parts.append(f"{_key(name)} = {draw(_values())}")
    return "\n".join(parts)


@settings(max_examples=400)
@given(_files())
def test_every_key_of_any_file_is_found(text: str) -> None:
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        reject()  # A table or a key twice.
    found = find_lines(text)
    assert set(found) == set(keys(parsed))
    lines = text.split("\n")
    for place, line in found.items():
        last = place[-1]
        if isinstance(last, str):
            assert _key(last) in lines[line - 1]
