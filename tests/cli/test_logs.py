"""The few lines of a bot's stderr that are shown: the error is among them, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.cli.logs import MOST_LINES, log_lines

TRACES = {
    "node": (
        "/b/bot.js:9\nfunction choose(a) { throw new Error('oh dear'); }\n      ^\n\n"
        "Error: oh dear\n    at choose (/b/bot.js:9:27)\n"
        + "".join(f"    at Module.{name} (node:internal:1:2)\n" for name in "abcdefg")
        + "\nNode.js v20.20.2\n",
        "Error: oh dear",
    ),
    "node, an error of its own kind": (
        "/b/bot.js:9\n  throw new NoMove('oh dear')\n  ^\n\nNoMove: oh dear\n"
        "    at choose (/b/bot.js:9:27)\n"
        + "".join(f"    at {name} (/b/bot.js:1:2)\n" for name in "abcdefg")
        + "\nNode.js v20\n",
        "NoMove: oh dear",
    ),
    "java": (
        'Exception in thread "main" java.lang.IllegalStateException: oh dear\n'
        + "".join(f"\tat Bot.choose(Bot.java:{number})\n" for number in range(9))
        + "\tat Bot.main(Bot.java:30)\n",
        'Exception in thread "main" java.lang.IllegalStateException: oh dear',
    ),
    "go": (
        "panic: runtime error: index out of range [5] with length 1\n\n"
        "goroutine 1 [running]:\nmain.choose(...)\n\t/b/bot.go:2\nmain.mustError(...)\n"
        "\t/b/bot.go:3\nmain.main()\n\t/b/bot.go:4 +0x1e\nexit status 2\n",
        "panic: runtime error: index out of range [5] with length 1",
    ),
    "ruby": (
        "bot.rb:1:in `fetch': index 9 outside of array bounds: -1...1 (IndexError)\n"
        + "".join(f"\tfrom bot.rb:{number}:in `choose'\n" for number in range(9)),
        "bot.rb:1:in `fetch': index 9 outside of array bounds: -1...1 (IndexError)",
    ),
    "python": (
        "Traceback (most recent call last):\n"
        + "".join(f'  File "bot.py", line {at}, in choose\n    return f({at})\n' for at in range(5))
        + "KeyError: 3\n",
        "KeyError: 3",
    ),
    "tcl": (
        'oh dear\n    while executing\n"error "oh dear" "\n    (procedure "choose" line 1)\n'
        '    invoked from within\n"choose {1 2} "\n    (procedure "answer" line 1)\n'
        '    invoked from within\n"answer"\n    (file "bot.tcl" line 3)\n',
        "oh dear",
    ),
    "rust": (
        "\nthread 'main' (77) panicked at bot.rs:1:41:\nindex out of bounds: the len is 1\n"
        "stack backtrace:\n"
        + "   0: core::panicking::panic_fmt\n             at /rustc/lib.rs:1\n"
        * 9,
        "index out of bounds: the len is 1",
    ),
    "c++": (
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  oh dear\n",
        "  what():  oh dear",
    ),
    "perl": ("oh dear at bot.pl line 1.\n", "oh dear at bot.pl line 1."),
}
"""By language: what such a bot writes when it breaks down, and the line that has to be seen."""


def shown(log: Path, text: str) -> list[str]:
    log.write_text(text)
    where, first, *more = log_lines("bad", log, failed=True)
    assert where == f"stderr of bad: {log}"
    if not more:
        return [first.removeprefix("  which ends: ")]
    assert first == "  which ends:"
    assert all(line.startswith("    ") for line in more)
    return [line[4:] for line in more]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("before", ["", "ready\nthinking of 1\nthinking of 2\n"])
@pytest.mark.parametrize("language", TRACES)
def test_the_error_is_shown_and_the_end(
    language: str, before: str, times: int, tmp_path: Path
) -> None:
    trace, error = TRACES[language]
    found = shown(tmp_path / "log", (before + trace) * times)
    assert error in found
    assert 1 <= len(found) <= MOST_LINES
    assert found[-1].strip() == trace.strip().splitlines()[-1].strip()
    assert len(set(found)) == len(found), "of the last process alone"


def test_no_error_in_it(tmp_path: Path) -> None:
    """How the last process began and ended, as far as that can be told."""
    log = tmp_path / "log"
    assert shown(log, "oh dear\n" * 20) == ["oh dear"]
    lines = [f"turn {number}" for number in range(20)]
    text = "".join(f"{line}\n" for line in ["ready", *lines] * 2)
    assert shown(log, text) == ["ready", *lines[:3], "…", "turn 19"]


def test_a_terminal_is_safe(tmp_path: Path) -> None:
    found = shown(tmp_path / "log", "\x1b[31mred\n\tat\t\x07" + "x" * 1000 + "\n\r\n")
    assert found[0] == "\\x1b[31mred"
    assert found[1].startswith("    at  \\x07xxx")
    assert len(found[1]) < 300
    assert "".join(found).isprintable()


def test_a_bot_that_did_not_fail(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("hm\n")
    assert log_lines("good", log, failed=False) == [f"stderr of good: {log}"]
