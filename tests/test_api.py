"""What `import referee` gives: all of it is there, says what it is, and is typed."""

from __future__ import annotations

import ast
import doctest
import inspect
import typing
from importlib import import_module
from pathlib import Path

import pytest

import referee
from referee.match import MatchResult, play_match

CONSTANTS = {"PRECEDENCE", "__version__"}
FOREIGN = {"encode_record"}
"""Made by a library, which says what it is."""


def test_type_checkers_are_told_the_same() -> None:
    stub = ast.parse((Path(referee.__file__).parent / "__init__.pyi").read_text("utf-8"))
    told = {
        str(alias.asname): f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(told) == set(referee.__all__)
    for name, where in told.items():
        module, _, inner = where.rpartition(".")
        assert getattr(import_module(module), inner) is getattr(referee, name)


def test_nothing_is_named_twice() -> None:
    assert len(referee.__all__) == len(set(referee.__all__))
    assert sorted(referee.__all__) == sorted(set(referee.__all__))


@pytest.mark.parametrize("name", referee.__all__)
def test_what_is_promised_is_there_and_documented(name: str) -> None:
    thing = getattr(referee, name)
    if name in CONSTANTS:
        return
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    assert text[0].isupper() or text[0] == "`", f"{name}: {text}"
    assert not text.startswith(f"{name}("), f"{name} has no docstring of its own: {text}"


@pytest.mark.parametrize("name", sorted(set(referee.__all__) - CONSTANTS - FOREIGN))
def test_functions_are_typed(name: str) -> None:
    thing = getattr(referee, name)
    if not inspect.isfunction(thing):
        return
    parameters = inspect.signature(thing).parameters
    hints = typing.get_type_hints(thing)
    assert set(hints) == {*parameters, "return"}
    assert typing.Any not in hints.values()


def test_a_match_gives_its_result() -> None:
    assert typing.get_type_hints(play_match)["return"] is MatchResult


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(referee.__file__).with_name("py.typed").exists()


def test_the_example_of_a_match_runs() -> None:
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(play_match, "play_match", globs={"play_match": play_match})
    told: list[str] = []
    outcome = doctest.DocTestRunner().run(example, out=told.append)
    assert outcome.attempted >= 2
    assert outcome.failed == 0, "".join(told)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_example_of_the_package_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The indented lines of the package's own docstring are a program."""
    records: list[referee.Record] = []
    referee.play_match("random", "lowest", games=2, seed="api", on_record=records.append)
    lines = b"".join(referee.encode_record(record) + b"\n" for record in records)
    (tmp_path / "games.jsonl").write_bytes(lines)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tournaments").mkdir()
    (tmp_path / "tournaments/five.toml").write_text(
        'variants = ["underdog", "duel"]\nbots = ["random", "lowest"]\ngames = 2\n'
    )
    assert referee.__doc__ is not None
    program = [line[4:] for line in referee.__doc__.splitlines() if line.startswith("    ")]
    exec("\n".join(program), {})
    printed = capsys.readouterr().out.splitlines()
    assert " ± " in printed[0]
    assert "Game 1 of underdog: random against lowest" in printed
