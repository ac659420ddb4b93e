"""What `make test-repeat` tells of runs."""

from __future__ import annotations

import io

from rich.console import Console

from tests.repeat import Run, table

GREEN = "..... [100%]\n5487 passed, 2 skipped in 700.20s (0:11:40)\n"
RED = """\
=========================== short test summary info ============================
FAILED tests/a.py::test_it[no move] - AssertionError: 1 == 2
ERROR tests/b.py::test_that[/x] - OSError
1 failed, 5 passed, 1 error in 3.00s
make: *** [Makefile:70: test] Error 1
"""


def run(output: str, status: int = 0) -> Run:
    return Run(1, True, status, 61.0, 90.4, output)


def test_a_run_by_what_it_printed() -> None:
    assert (run(GREEN).counted, run(GREEN).failed) == (GREEN.splitlines()[1], [])
    failed = ["tests/a.py::test_it[no move]", "tests/b.py::test_that[/x]"]
    assert run(RED, 2).failed == failed
    assert run("Linting\nsomething is wrong\n", 2).failed == ["Linting something is wrong"]


def test_the_table_shows_names_as_they_are() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(table([run(GREEN), run(RED, 2)]))
    shown = console.export_text()
    assert "test_it[no move]" in shown
    assert "test_that[/x]" in shown
    assert "5487 passed" in shown
