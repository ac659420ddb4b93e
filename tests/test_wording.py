"""The wording of a message is tested once, so that better words break one test and not fifty.

The rule: no four words in a row of a message of referee/ are quoted by two places in tests/. A
place is one function, method or assignment at the top of a file or class. Words stand in a row
where only blanks and commas part them; a number, any other sign and a value put in part them for
good. What is written in capitals alone (SQL, HTTP) is no prose.

To comply, leave the sentence to the test of the module that writes it. Elsewhere assert what is
stable: the type of the error and its fields, the status, the code, and the facts that the sentence
must name (the option, the file, the line, the value; `Naming` of tests/facts.py compares them).
Where tests of one subject need the same words, give the words a name and share it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
IN_A_ROW = 4
WORD = r"\b[A-Za-z][a-z]*(?:['-][a-z]+)*\b"
ROW = re.compile(rf"{WORD}(?:,?\s+{WORD})*")

Phrase = tuple[str, ...]


def test_no_wording_is_quoted_twice() -> None:
    places = defaultdict(set)
    messages = _messages()
    for place, text in _quoted():
        for phrase in _phrases(text) & messages:
            places[phrase].add(place)
    twice = [
        f"{' '.join(phrase)!r} is quoted by {', '.join(sorted(found))}"
        for phrase, found in sorted(places.items())
        if len(found) > 1
    ]
    assert not twice, "\n".join([f"{len(twice)} phrases are quoted more than once:", *twice])


def test_what_a_phrase_is() -> None:
    assert _phrases("Seat 1: the bot's file, too, is gone") == {
        ("the", "bot's", "file", "too"),
        ("bot's", "file", "too", "is"),
        ("file", "too", "is", "gone"),
    }
    assert _phrases("the limit; is 5 of them") == set()
    assert _phrases("SELECT name FROM bot") == set()


def _messages() -> set[Phrase]:
    found: set[Phrase] = set()
    for path in (ROOT / "referee").rglob("*"):
        if path.suffix == ".py":
            for text in _strings(ast.parse(path.read_text())):
                found |= _phrases(text)
        elif path.suffix in (".html", ".js"):
            found |= _phrases(path.read_text())
    return found


def _quoted() -> Iterator[tuple[str, str]]:
    """Every string of every place in the tests."""
    for path in (ROOT / "tests").rglob("*.py"):
        for top in ast.parse(path.read_text()).body:
            for node in top.body if isinstance(top, ast.ClassDef) else [top]:
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield from ((place, text) for text in _strings(node))


def _strings(tree: ast.AST) -> Iterator[str]:
    """The string constants of some code, but for its docstrings."""
    alone = set()
    for node in ast.walk(tree):  # A statement comes before what is in it.
        match node:
            case ast.Expr(value):
                alone.add(id(value))
            case ast.Constant(str(text)) if id(node) not in alone:
                yield text


def _phrases(text: str) -> set[Phrase]:
    found: set[Phrase] = set()
    for row in ROW.findall(text):
        words = row.lower().replace(",", "").split()
        found.update(
            tuple(words[start : start + IN_A_ROW]) for start in range(len(words) - IN_A_ROW + 1)
        )
    return found
