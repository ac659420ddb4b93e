"""The fuzz targets hold for their seeds and for some hundreds of mutations; and the runner works.

`make fuzz` goes on from here, guided by the code that an input reaches.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from fuzz import run
from fuzz.finds import SAID, Find, Watch, folder_of
from fuzz.mutations import LONGEST, mutations
from fuzz.seeds import SEEDS, WORDS
from fuzz.targets import TARGETS, load

MUTATIONS = 250
Main = Callable[..., int]


def test_every_target_is_complete() -> None:
    folder = Path(run.__file__).with_name("targets")
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(TARGETS)
    assert set(SEEDS) == set(WORDS) == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_holds(target: str) -> None:
    try_it, seeds = load(target), SEEDS[target]()
    assert seeds
    for data in (b"", *seeds, *islice(mutations(seeds, WORDS[target], seed=1), MUTATIONS)):
        try:
            try_it(data)
        except Exception as error:
            error.add_note(f"the input was {data!r}")
            raise


def test_mutations_are_the_same_every_time() -> None:
    def some() -> list[bytes]:
        return list(
            islice(mutations([bytes(range(256)), b"x" * 2 * LONGEST], ["word"], seed=7), 200)
        )

    assert some() == some()
    assert len(set(some())) > 150
    assert max(map(len, some())) == LONGEST
    assert any(b"word" in each for each in some())


# The runner.


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Main:
    """The command, unguided and in a place of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "find_spec", lambda _: None)

    def call(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["fuzz", *words])
        return run.main()

    return call


def broken(data: bytes) -> None:
    if b"White" in data:
        raise ValueError("white\nand black")


def test_nothing_is_found(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("pgn_games", "--seconds", "1", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["targets"]
    assert (told["target"], told["found"], told["guided"]) == ("pgn_games", [], False)
    assert told["executions"] > 0


def test_something_is_found(
    main: Main, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "load", lambda _: broken)
    assert main("pgn_games", "--seconds", "1") == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("unguided: atheris is not installed")
    assert said[-3].endswith("1 found"), "one place gave way, however many inputs broke it"
    assert said[-2].strip().startswith("ValueError: white and black (tests")
    command = said[-1].split()
    assert command[:3] == ["python", "-m", "fuzz.run"]
    with pytest.raises(ValueError, match="white"):
        main(*command[3:])


@pytest.mark.parametrize(
    "words", [["nothing"], ["--input", "x"], ["csv_games", "spec", "--input", "x"]]
)
def test_what_cannot_be_meant(main: Main, words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(*words)
    assert left.value.code == 2


def test_lines_of_the_guided_fuzzer() -> None:
    assert run._find_in("#12 NEW cov: 3 ft: 4 corp: 5/6b", "spec") is None
    ours = run._find_in(f"{SAID}.fuzz/found/spec/ab ValueError: x (y, line 1)\n", "spec")
    assert ours == Find("spec", "ValueError: x (y, line 1)", ".fuzz/found/spec/ab")
    late = run._find_in("artifact_prefix='x'; Test unit written to x/timeout-ab\n", "spec")
    assert late is not None
    assert late.input == "x/timeout-ab"
    status = run._STATUS.match("#5054\tREDUCE cov: 209 ft: 960 corp: 130/48Kb lim: 742 exec/s: 120")
    assert status is not None
    assert status.groups() == ("5054", "209", "130")


def test_a_find_is_kept_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    watch = Watch("spec", broken)
    assert watch(b"Black") is None
    find = watch(b"White 1")
    assert find is not None
    assert Path(find.input).read_bytes() == b"White 1"
    assert watch(b"White 2") is None
    assert [path.name for path in folder_of("spec").iterdir()] == [Path(find.input).name]


def test_slowness_is_a_find(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    clock = iter([0.0, 0.9, 10.0, 11.1])
    monkeypatch.setattr("fuzz.finds.time.process_time", lambda: next(clock))
    watch = Watch("spec", len)  # type: ignore[arg-type]
    assert watch(b"quick") is None
    find = watch(b"slow")
    assert find is not None
    assert find.what == "it took 1.1 s"
