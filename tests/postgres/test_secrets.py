"""Passwords in URLs: read as libpq reads them, used, and no part of them shown to anybody."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from referee.store.database import BadStore, Store
from referee.store.place import read_address
from referee.store.postgres.url import parts_of
from tests.cli.running import each
from tests.postgres.serving import LOCKED, PASSWORD, Server
from tests.store.sample import BOTS, VALUES

PIECES = re.compile("sesame|open|cavern|forty|thieves")
WORDS = (*"u:@/?#%&=, ", "pw", "%40", "%3D", "password", "PASSWORD", "p%61ssword", "host", "5432")


@given(st.lists(st.sampled_from(WORDS)).map("".join))
@example("u:a?b@/d?host=/x")
@example(":@")
@example("u:a@h/d?password=b")
@example("u@h1:1,[::1]:2,h3/d?p%61ssword=a%23b&host=%40x#n")
def test_it_is_read_as_libpq_reads_it_or_refused(rest: str) -> None:
    url = f"postgresql://{rest}"
    try:
        parts = parts_of(url)
    except BadStore:
        return
    before = url.partition("#")[0]
    try:
        meant = conninfo_to_dict(before)
    except psycopg.ProgrammingError:
        return
    shown = conninfo_to_dict(parts.url)
    assert "password" not in shown
    assert {**shown, **parts.secrets} == meant


def test_what_may_be_read_in_two_ways_is_refused_and_not_shown() -> None:
    for rest in (
        "locked:open?sesame@/db?host=/x",
        "locked:open#sesame@h/db",
        "locked:open/sesame@h/db",
        "locked:5432/sesame@h/db",
        "locked:5432/open?x=sesame@h/db",
        "locked:open@sesame@h/db",
        "locked:open@h/sesame@x",
        "locked:open%sesame@h/db",
        "locked:open%00sesame@h/db",
        "locked:open%FFsesame@h/db",
        "locked:open sesame@h/db",
        "locked:open\nsesame@h/db",
        "locked:sesame",
        "locked:sesame#five",
        "h:5432?password=open@sesame",
        "h/db?password=open#sesame",
        "h/db?password=open#sesame#five",
        "h/db?password=open=sesame",
        "h/db?password=open&sesame",
        "h/db? password=sesame",
        "h/db ?password=sesame",
    ):
        with pytest.raises(BadStore, match=r"write .*is not shown") as caught:
            Store.read(f"postgresql://{rest}")
        assert not PIECES.search(str(caught.value)), rest
        assert "\n" not in str(caught.value)


def test_what_libpq_does_not_know_is_told_without_what_it_says(postgres: Server) -> None:
    plain = postgres.url(LOCKED)
    for more, told in (
        ("PASSWORD=sesame", "PASSWORD"),
        ("Pass%77ord=sesame", "Password"),
        ("%20password=sesame", " password"),
        ("pasword=sesame", "pasword"),
        ("no_such=sesame", "no_such"),
    ):
        with pytest.raises(BadStore, match=told) as caught:
            Store.read(f"{plain}&{more}&application_name=x#five")
        assert not PIECES.search(str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    "given", [":{}@", ":wrong@?p%61ssword={}", ":@?password=wrong&password={}", "@?%70assword={}"]
)
def test_however_it_is_written_it_is_used(given: str, postgres: Server, tmp_path: Path) -> None:
    with postgres.connect() as connection:
        connection.execute(f"GRANT CREATE ON DATABASE referee TO {LOCKED}")
    person, _, query = given.format(quote(PASSWORD, safe="")).partition("?")
    plain = postgres.url(LOCKED)
    url = plain.replace("@", person, 1) + (f"&{query}" if query else "")
    postgres.forget("used")
    Store.create(tmp_path / "used", VALUES, BOTS, read_address(url)).close()
    assert (tmp_path / "used" / "store.url").read_text() == f"{plain}#used\n"
    postgres.forget("used")


def test_no_command_shows_it(tmp_path: Path) -> None:
    play = ["tournament", "--bot", "highest", "--bot", "lowest", "--sandbox", "none"]
    url = "postgresql://locked:sesame@127.0.0.1:1/db"
    loose = "postgresql://locked:open?sesame@127.0.0.1:1/db"
    commands: list[list[object]] = [
        [*play, "--out", "t", "--store", url],
        [*play, "--out", "t", "--store", loose],
        [*play, "--out", "t", "--store", url.upper().replace("SESAME", "sesame")],
        [*play, "--out", "t", "--store", "host=/x password=sesame"],
        ["tournament", "--resume", url],
        ["tournament", "--resume", "t", "--store", loose],
        ["rule", "1-1", "void", "--reason", "x", "--folder", url],
        ["standings", url],
        ["standings", loose],
        ["standings", f"{url}#{'x' * 99}"],
        ["standings", "t", url],
        ["standings", url.replace("postgresql", "Postgres")],
        ["report", f"{url}#five"],
        ["report", loose],
        ["report", url, "--watch"],
        ["archive", f"{url}#five"],
        ["export", f"{url}#five"],
        ["repro", f"{url}#five", "1-1", "--bot", "highest"],
    ]
    for words, done in zip(commands, each(tmp_path, commands), strict=True):
        assert done.status in (2, 3), (words, done)
        assert "Traceback" not in done.err, done.err
        assert not PIECES.search(done.out + done.err), done
    for path in tmp_path.rglob("*"):
        assert not PIECES.search(str(path.relative_to(tmp_path)))
        assert path.is_dir() or not PIECES.search(path.read_text())
