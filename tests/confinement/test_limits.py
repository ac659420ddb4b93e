"""Limits as they are written, and what is no limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.bots.confinement.limits import (
    BadLimit,
    Limits,
    read_limits,
    show_size,
    shown_limits,
    split_limit,
    tighter,
)
from referee.bots.manifest import BadBot, read_bot


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 512 << 20),
        ("1g", 1 << 30),
        ("64 KiB", 64 << 10),
        ("20MB", 20 << 20),
        (1 << 27, 1 << 27),
    ],
)
def test_a_size_as_people_write_it(text: str | int, size: int) -> None:
    assert read_limits({"disk": text}).disk == size


def test_what_is_not_given_stays() -> None:
    assert read_limits({"cpu": "60"}) == Limits(cpu=60)
    assert read_limits({}, Limits(cpu=60)) == Limits(cpu=60)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "memory",
            "a lot",
            "the limit memory is a size such as 512M from 16M to 1024G, not 'a lot'",
        ),
        ("memory", "1M", "from 16M to 1024G, not '1M'"),
        ("memory", True, "from 16M to 1024G, not true"),
        ("memory", 1.5, "from 16M to 1024G, not 1.5"),
        ("memory", ["1G"], "not a list"),
        ("cpu", {"of": 1}, "from 1 to 10000000, not a table"),
        ("memory", "٣٢M", "not '٣٢M'"),
        ("memory", "32\N{KELVIN SIGN}", "not '32\N{KELVIN SIGN}'"),
        ("memory", "-512M", "not '-512M'"),
        ("cpu", "10M", "the limit cpu is a whole number"),
        ("processes", 0, "from 1 to 100000, not 0"),
        ("memroy", "1G", "unknown limit 'memroy'; did you mean memory?"),
        ("colour", "red", "the limits are memory, processes, cpu"),
        ("turn", "9" * 40, "the limit turn is a size"),
    ],
)
def test_what_is_no_limit(name: str, value: object, told: str) -> None:
    with pytest.raises(BadLimit) as caught:
        read_limits({name: value})
    assert told in str(caught.value)


@pytest.mark.parametrize("digits", [100, 10_000])
def test_a_mistake_is_told_in_a_line_of_some_length(digits: int) -> None:
    for value in (1 << 4 * digits, "M" * digits):
        with pytest.raises(BadLimit) as caught:
            read_limits({"memory": value})
        assert len(str(caught.value)) < 150


def test_every_limit_is_shown_as_it_is_read() -> None:
    assert read_limits(shown_limits(Limits())) == Limits()
    assert [show_size(size) for size in (1 << 30, 1536, 1000)] == ["1G", "1536", "1000"]


def test_words_of_the_command_line() -> None:
    assert split_limit("memory = 1G") == ("memory", "1G")
    with pytest.raises(
        BadLimit, match="a limit is name=value, for example memory=512M, not 'memory'"
    ):
        split_limit("memory")


def test_a_manifest_asks_for_less_and_never_for_more() -> None:
    given = Limits(memory=512 << 20, disk=1 << 20)
    assert tighter(given, {"memory": "256M", "disk": "1G"}) == Limits(
        memory=256 << 20, disk=1 << 20
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('limits = {memory = "much"}', "the limit memory is a size"),
        ("processes = 0", "processes must be 1 to 100000"),
        ("processes = true", "/bot.toml: processes must be a whole number, not true"),
        ("limits = 3", "limits must be a table, for example limits = {memory ="),
        ("limits = {memory = true}", "/bot.toml: the limit memory is a size"),
        ("limits = {memory = 1.5}", "not 1.5"),
        ("limits = {memory = [1]}", "not a list"),
        ("limits.memory.most = 1", "not a table"),
        ("env = [1]", "env must be a table of texts, for example env = {"),
        ("env = {LEVEL = 3}", "/bot.toml: env.LEVEL must be text in quotes, not 3"),
        ("env = {LEVEL = true}", "env.LEVEL must be text in quotes, not true"),
        ("env.LEVEL.A = 3", "env.LEVEL must be text in quotes, not a table"),
        ("build = [1]", "a list of texts, and 1 is none"),
        ("build = [2]", "build must be a "),
    ],
)
def test_a_manifest_with_a_mistake(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "bot.toml").write_text(f'name = "b"\ncommand = ["sh"]\n{line}\n')
    with pytest.raises(BadBot) as caught:
        read_bot(tmp_path)
    assert told in str(caught.value)
    assert not re.search(r"[Ee]xpected|\$|`|true or false", str(caught.value))
