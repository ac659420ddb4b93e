"""Commands that are refused: one sentence, the right exit status, and the folder as it was."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.mistake import BAD_INPUT, REFUSED
from referee.store.database import Store
from tests.cli.running import each
from tests.facts import Naming
from tests.postgres.serving import Server

PLAYED = ["tournament", "--variant", "underdog", "--sandbox", "none", "--games", 2]
PLAYED += ["--bot", "highest", "--bot", "lowest", "--out"]
GRANTED = """CREATE ROLE norights LOGIN; CREATE ROLE viewer LOGIN;
GRANT USAGE ON SCHEMA pg TO viewer; GRANT SELECT ON ALL TABLES IN SCHEMA pg TO viewer"""


@pytest.fixture(scope="module")
def house(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a tournament is in the folder pg and on the server, and another in a file."""
    folder = tmp_path_factory.mktemp("house")
    done = each(folder, [[*PLAYED, "pg", "--store", postgres.url()], [*PLAYED, "file"]])
    assert [each.status for each in done] == [0, 0], done
    with postgres.connect() as connection:
        connection.execute(GRANTED)
    yield folder
    postgres.forget("pg")
    with postgres.connect() as connection:
        connection.execute("DROP ROLE norights; DROP ROLE viewer")


def files(folder: Path) -> dict[str, bytes]:
    """All that is in it; folders too."""
    found = folder.rglob("*")
    return {str(path): b"" if path.is_dir() else path.read_bytes() for path in found}


def test_a_refused_command_leaves_the_folder_as_it_was(house: Path, postgres: Server) -> None:
    viewer = postgres.url("viewer")
    (house / "empty").mkdir()
    commands: dict[str, list[object]] = {
        "norights": [*PLAYED, "new", "--store", postgres.url("norights")],
        "in a folder": [*PLAYED, "empty", "--store", f"{postgres.url('norights')}#new"],
        "deep": [*PLAYED, "new/deep", "--store", f"{postgres.url()}#pg"],
        "viewer": ["tournament", "--resume", "new", "--store", f"{viewer}#pg"],
        "viewer there": ["tournament", "--resume", "pg", "--store", viewer],
        "not there": ["tournament", "--resume", "new", "--store", f"{postgres.url()}#none"],
        "other": ["tournament", "--resume", "new", "--store", f"{postgres.url()}#pg", "-v", "duel"],
    }
    before = files(house)
    second = ["tournament", "--resume", "new/2", "--store", f"{postgres.url()}#pg"]
    with Store.open(house / "pg"):
        (held,) = each(house, [second])
    assert (held.status, held.out) == (BAD_INPUT, "")
    assert f"process {os.getpid()} " in held.err.partition("#pg ")[2]
    done = dict(zip(commands, each(house, list(commands.values())), strict=True))
    # It says who held it last.
    before = {**before, str(house / "pg" / ".lock"): (house / "pg" / ".lock").read_bytes()}
    assert files(house) == before
    assert {name: one.status for name, one in done.items()} == {
        "norights": REFUSED,
        "in a folder": REFUSED,
        "deep": BAD_INPUT,
        "viewer": REFUSED,
        "viewer there": REFUSED,
        "not there": BAD_INPUT,
        "other": BAD_INPUT,
    }
    for one in done.values():
        assert one.out == ""
        assert len(re.findall("^referee: ", one.err, re.MULTILINE)) == 1
    assert "may not begin a tournament there; its owner can GRANT CREATE" in done["norights"].err
    denied = r"#pg: permission denied for table \w+; its owner can GRANT it\n$"
    assert re.search(denied, done["viewer"].err), done["viewer"].err


def test_bad_input_is_told_in_one_sentence(house: Path, postgres: Server) -> None:
    url = postgres.url()
    address = f"{url}#pg"
    refused: list[tuple[list[object], str]] = [
        (["tournament", "--resume", address], r"--resume takes a folder, .*--store URL#NAME"),
        ([*PLAYED, address], r"--out takes a folder, .*--out DIR --store URL#NAME"),
        (
            ["rule", "1-1", "void", "--reason", "x", "--folder", address],
            "--folder takes a folder, and an address is given: rule by the folder",
        ),
        (["verify", address], rf"is a tournament, .*: referee export '{re.escape(address)}' > "),
        (["replay", "pg"], r"pg is a tournament, .*: referee export pg > games\.jsonl"),
        (["rate", "pg"], r"pg is a tournament, .*: referee export pg > games\.jsonl"),
        (["replay", "file"], r"file is a tournament, .*: referee export file > games\.jsonl"),
        (
            ["tournament", "--resume", "file", "--store", f"{url}#file"],
            r"keeps its games in tournament\.db, and games of a file are not moved into a database",
        ),
        (["report", f"{url}#.."], r"\.\. is no name .* no dot and has no slash"),
        (["archive", f"{url}#."], r"\. is no name"),
        (["report", f"{url}#a%2Fb"], "a/b is no name"),
        ([*PLAYED, "new", "--store", f"{url}#a/b"], "a/b is no name .*#NAME gives"),
        (
            ["standings", "postgresql://h:1/d?sslmod=disable"],
            'the URL .* is not understood: .*"sslmod"',
        ),
    ]
    before = files(house)
    for (words, told), done in zip(refused, each(house, [one for one, _ in refused]), strict=True):
        assert (done.status, done.out) == (BAD_INPUT, ""), (words, done)
        assert re.fullmatch(f"referee: .*{told}.*\n", done.err), done.err
    assert files(house) == before


def test_a_list_says_where_there_is_nothing_to_read(house: Path, postgres: Server) -> None:
    url = postgres.url("norights")
    shown, as_json = each(house, [["standings", url], ["standings", url, "--json"]])
    assert (shown.status, shown.out) == (0, "")
    assert shown.err == Naming(url, "no tournament")
    assert as_json == (0, "[]\n", "")
