"""docs/postgres.md: its commands do what it says, its grants suffice, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from referee.store.database import Store
from referee.store.place import read_address, tournaments_in
from tests.arena.playing import ROOT
from tests.cli.running import each
from tests.postgres.serving import Server

PAGE = (ROOT / "docs/postgres.md").read_text("utf-8")
DATABASE = "postgresql://db.example/contest"
SPEC = """
name = "five"
variants = ["underdog"]
bots = ["highest", "lowest"]
games = 2
sandbox = "none"
"""


def test_what_the_page_shows_is_so(postgres: Server, tmp_path: Path) -> None:
    (tmp_path / "tournaments").mkdir()
    (tmp_path / "tournaments" / "five.toml").write_text(SPEC)
    shown = re.findall(r"^    referee (.*?)(?: +# .*)?$", PAGE, re.MULTILINE)
    commands = [line.replace(DATABASE, postgres.url()).split() for line in shown]
    played, listed, table = each(tmp_path, commands)
    assert [played.status, listed.status, table.status] == [0, 0, 0], played.err
    assert "five" in listed.out
    assert table.out.startswith("five: round-robin; underdog; 2 of 2 games")
    (grants,) = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    with postgres.connect() as connection:
        connection.execute("CREATE ROLE viewers LOGIN")
        assert tournaments_in(read_address(postgres.url("viewers"))) == []
        connection.execute(grants)
        (row,) = tournaments_in(read_address(postgres.url("viewers")))
        with Store.read(row.address) as store:
            assert len(list(store.records())) == row.played == 2
    postgres.forget("five")
    with postgres.connect() as connection:
        connection.execute("DROP ROLE viewers")


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
