"""What only a store on a server can do, or meet: names, passwords, refusals, a server that goes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import errors

from referee.mistake import BAD_INPUT, REFUSED
from referee.store.database import BadStore, Store, StoreFull
from referee.store.place import read_address, tournaments_in
from referee.store.postgres.trouble import StoreLost, explain
from referee.store.trouble import StoreRefused
from tests.mounting import mount
from tests.postgres.serving import LOCKED, PASSWORD, Server
from tests.store import sample
from tests.store.processes import rest, writer
from tests.store.sample import BOTS, VALUES, fault, game, games, new_store
from tests.store.test_kill import check_prefix
from tests.store.writer import COMMITTED, write

NAME = "five"


@pytest.fixture(autouse=True)
def on_server(postgres: Server) -> Iterator[None]:
    postgres.forget_all()
    sample.on_server.append(read_address(postgres.url()))
    yield
    sample.on_server.clear()
    postgres.forget_all()


@pytest.fixture
def address(postgres: Server) -> str:
    return f"{postgres.url()}#{NAME}"


def test_it_is_read_by_folder_by_address_and_is_listed(
    tmp_path: Path, address: str, postgres: Server
) -> None:
    with new_store(tmp_path / NAME) as store:
        store.add_games(games(1, 10))
        store.commit()
        assert (tmp_path / NAME / "store.url").read_text() == f"{address}\n"
        assert not (tmp_path / NAME / "tournament.db").exists()
        for where in (tmp_path / NAME, address):
            with Store.read(where) as reader:
                assert reader.counts() == {1: 10}
    new_store(tmp_path / "other").close()
    five, other = tournaments_in(read_address(postgres.url()))
    assert (five.name, five.address, five.played, five.planned) == (NAME, address, 10, 300)
    assert (other.name, other.played) == ("other", 0)


@pytest.mark.parametrize("name", ['a "b"; DROP', "höher ☃", "50%#1", "SELECT", "x" * 63])
def test_any_name_is_a_name(name: str, tmp_path: Path) -> None:
    with new_store(tmp_path / name) as store:
        store.add_games(games(1, 2))
        store.commit()
    written = (tmp_path / name / "store.url").read_text().strip()
    for where in (tmp_path / name, written):
        with Store.read(where) as store:
            assert store.counts() == {1: 2}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("é" * 32, "up to 63 bytes"),
        ("pg_x", "PostgreSQL's own"),
        ("public", "own"),
        (".hidden", "begins with no dot"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadStore, match=f"{told}.*--store .*#NAME"):
        new_store(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_one_writer_wherever_it_is(tmp_path: Path, address: str) -> None:
    new_store(tmp_path / NAME).close()
    elsewhere, there = tmp_path / "elsewhere" / "deep", read_address(address)
    with writer("hold", tmp_path / NAME) as (process, first):
        assert first == "ready"
        told = rf"#{NAME} .* process {process.pid} on \S+ since 20\d\d-\d\d-\d\d "
        with pytest.raises(BadStore, match=told):
            Store.open(elsewhere, there)
        assert not elsewhere.parent.exists()
        process.kill()
        process.wait()
        Store.open(elsewhere, there).close()
        assert not elsewhere.parent.exists()
        with Store.open(elsewhere, there) as store:
            store.stay()
        Store.open(elsewhere).close()


def test_what_is_there_already_is_not_made_again(tmp_path: Path, address: str) -> None:
    new_store(tmp_path / NAME).close()
    with pytest.raises(BadStore, match=rf"already holds {NAME}: .*--resume .*#NAME"):
        new_store(tmp_path / "another folder" / NAME)
    with pytest.raises(BadStore, match="already holds"):
        Store.create(tmp_path / NAME, VALUES, BOTS)
    other = read_address(f"{address}-2")
    with pytest.raises(BadStore, match="already holds"):
        Store.create(tmp_path / NAME, VALUES, BOTS, other)


def test_of_two_that_make_the_same_one_makes_it(tmp_path: Path, address: str) -> None:
    def make(folder: Path) -> str:
        try:
            Store.create(folder, VALUES, BOTS, read_address(address)).close()
        except BadStore as bad:
            return str(bad)
        return "made"

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(make, [tmp_path / str(number) for number in range(4)]))
    told.remove("made")
    assert all(f"already holds {NAME}: " in each for each in told), told
    assert len(list(tmp_path.glob("*/store.url"))) == 1
    with Store.read(address) as store:
        assert store.bots() == BOTS


def test_a_folder_that_cannot_say_so_leaves_nothing_on_the_server(
    tmp_path: Path, postgres: Server
) -> None:
    Store.create(tmp_path / NAME, VALUES, BOTS).close()
    with pytest.raises(BadStore, match=r"holds a tournament in tournament\.db"):
        new_store(tmp_path / NAME)
    assert tournaments_in(read_address(postgres.url())) == []


def test_a_folder_whose_tournament_was_never_made_is_in_nobodys_way(
    tmp_path: Path, address: str
) -> None:
    """What a kill leaves between the last two steps."""
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "store.url").write_text(f"{address}\n")
    with pytest.raises(BadStore, match=f"holds no tournament {NAME}$"):
        Store.read(tmp_path / NAME)
    new_store(tmp_path / NAME).close()


def test_a_password_is_used_and_told_nobody(
    tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process remembers what it was told, and other tests may have told it to this one.
    monkeypatch.setattr("referee.store.postgres.address._secrets", {})
    with postgres.connect() as connection:
        connection.execute(f"GRANT CREATE ON DATABASE referee TO {LOCKED}")
    plain = postgres.url(LOCKED)
    with pytest.raises(StoreRefused, match=r"refuses: .*PGPASSWORD"):
        Store.create(tmp_path / NAME, VALUES, BOTS, read_address(plain))
    secret = quote(PASSWORD, safe="")
    for given in (
        plain.replace(f"{LOCKED}@", f"{LOCKED}:{secret}@"),
        f"{plain}&password={secret}",
    ):
        address = read_address(given)
        assert (str(address), PASSWORD in repr(address)) == (plain, False)
        name = f"{NAME}{len(given)}"
        Store.create(tmp_path / name, VALUES, BOTS, address).close()
        assert (tmp_path / name / "store.url").read_text() == f"{plain}#{name}\n"
        with Store.read(tmp_path / name) as store:
            assert store.bots() == BOTS
    wrong = plain.replace(f"{LOCKED}@", f"{LOCKED}:wrong@")
    with pytest.raises(StoreRefused, match="password authentication failed") as caught:
        Store.read(f"{wrong}#{NAME}")
    assert "wrong" not in str(caught.value)


def test_refusals_are_one_sentence(tmp_path: Path, postgres: Server) -> None:
    plain = postgres.url()
    with postgres.connect() as connection:
        connection.execute("CREATE SCHEMA another; CREATE ROLE poor LOGIN")
        connection.execute("CREATE SCHEMA broken; CREATE TABLE broken.referee (version bigint)")
    new_store(tmp_path / NAME).close()
    refused = {
        f"{plain}-not#x": (StoreRefused, "cannot be reached"),
        "postgresql://127.0.0.1:1/x#x": (StoreRefused, "cannot be reached: .*refused"),
        f"{postgres.url(database='no%20ne')}#x": (
            StoreRefused,
            "was reached, and refuses: database \"no ne\" does not exist; createdb -E UTF8 'no ne'",
        ),
        f"{plain}#six": (BadStore, f"holds no tournament six; it holds broken, {NAME}$"),
        f"{plain}#another": (BadStore, "not a tournament, but .* another program"),
        f"{plain}#broken": (BadStore, "is damaged"),
        f"{postgres.url('poor')}#{NAME}": (
            StoreRefused,
            f"#{NAME}: permission denied for schema {NAME}; its owner can GRANT it$",
        ),
        postgres.url("poor"): (BadStore, "holds no tournament that this user may read$"),
        plain: (BadStore, "holds many tournaments: add #NAME, for example"),
    }
    assert [row.name for row in tournaments_in(read_address(plain))] == [NAME]
    for where, (kind, told) in refused.items():
        with pytest.raises(kind, match=told) as caught:
            Store.read(where)
        assert "\n" not in str(caught.value)
    with pytest.raises(StoreRefused, match="GRANT CREATE ON DATABASE"):
        Store.create(tmp_path / "p", VALUES, BOTS, read_address(postgres.url("poor")))
    assert not (tmp_path / "p").exists()
    with postgres.connect() as connection:
        connection.execute(f"UPDATE {NAME}.referee SET version = 99")
        with pytest.raises(BadStore, match="is of version 99, "):
            Store.open(tmp_path / NAME)
        connection.execute("DROP SCHEMA broken CASCADE; DROP ROLE poor")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://h/d?no_such=1#x", "understood: .*no_such.*; one is postgresql://USER"),
        ("postgresql://127.0.0.1:5x/d#x", "has the number of a port"),
        ("postgresql://127.0.0.1:99999/d#x", 'is no URL .*"99999"; one is postgresql://USER'),
        ("postgresql://127.0.0.1/d?sslmode=bogus#x", 'sslmode value: "bogus"'),
        ("postgresql://127.0.0.1/d?keepalives_idle=long#x", 'value "long"'),
        ("postgresql://127.0.0.1/d?connect_timeout=long#x", "connect_timeout: 'long'"),
        ("postgresql://?service=no_such#x", '"no_such" not found; ~/.pg_service.conf'),
    ],
)
def test_a_url_that_is_wrong_in_itself_is_bad_input(url: str, told: str) -> None:
    with pytest.raises(BadStore, match=told) as caught:
        Store.read(url)
    assert caught.value.status == BAD_INPUT


def test_of_many_names_some_are_shown_as_they_are_typed(tmp_path: Path, postgres: Server) -> None:
    for name in ("#", *(f"b{at:02}" for at in range(1, 13))):
        new_store(tmp_path / name).close()
    with pytest.raises(BadStore, match=r"; it holds %23, b01, b02, .*, b09 and 3 more$"):
        Store.read(f"{postgres.url()}#none")
    with Store.read(f"{postgres.url()}#%23") as store:
        assert store.bots() == BOTS


def test_text_that_is_not_unicode_needs_another_database(postgres: Server, tmp_path: Path) -> None:
    with postgres.connect("postgres") as connection:
        make = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        connection.execute(make)
    with pytest.raises(BadStore, match="keeps text as LATIN1"):
        Store.create(tmp_path / NAME, VALUES, BOTS, read_address(postgres.url(database="latin")))


def test_a_character_that_it_does_not_take_costs_nobody_a_game(tmp_path: Path) -> None:
    with new_store(tmp_path / NAME) as store:
        store.add_games([game(1)], [fault(1)._replace(detail="sent \0 twice \0")])
        store.set_value("what", "\0")
        store.commit()
        assert [row.detail for row in store.faults()] == ["sent \ufffd twice \ufffd"]
        assert store.value("what") == "\ufffd"


def test_a_server_that_stops_loses_what_was_not_committed_alone(
    tmp_path: Path, postgres: Server
) -> None:
    new_store(tmp_path / NAME).close()
    with writer("go-on", tmp_path / NAME) as (process, first):
        assert first == "ready"
        assert process.stdout is not None
        told = int(process.stdout.readline())
        postgres.stop(at_once=True)
        *counts, last = rest(process)
        told = int(counts[-1]) if counts else told
    assert re.search("^refused: the connection to .* was lost: .*can be resumed$", last), last
    with pytest.raises(StoreRefused, match="cannot be reached"):
        Store.read(tmp_path / NAME)
    postgres.start()
    with Store.open(tmp_path / NAME) as store:
        assert check_prefix(store) in (told, told + COMMITTED)


def test_a_connection_that_is_cut_ends_the_writing(tmp_path: Path, postgres: Server) -> None:
    with new_store(tmp_path / NAME) as store, Store.read(tmp_path / NAME) as reader:
        store.add_games(games(1, 10))
        store.commit()
        store.add_games(games(11, 20))
        with postgres.connect() as connection:
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != "
            connection.execute(f"{cut} pg_backend_pid() AND application_name LIKE 'referee, %'")
        with pytest.raises(StoreLost, match=r"was lost: .*terminat.*can be resumed") as lost:
            store.commit()
        assert lost.value.status == REFUSED
        with pytest.raises(StoreLost, match=r"was lost: .*terminat"):
            store.add_games(games(11, 20))
        with pytest.raises(StoreLost, match="was lost"):
            reader.counts()
    with Store.open(tmp_path / NAME) as store:
        assert store.add_games(games(1, 20)) == 10


def test_answers_may_be_read_side_by_side(tmp_path: Path) -> None:
    with new_store(tmp_path / NAME) as store:
        store.add_games([*games(1, 50), *games(1, 50, 2)])
        store.commit()
        for _ in range(3):
            one = store._rows("SELECT id FROM game ORDER BY id", (), 7)
            other = store._rows("SELECT id FROM game ORDER BY id DESC", (), 11)
            assert sum(next(one)[0] == next(other)[0] for _ in range(60)) == 0
            assert store.value("name") == VALUES["name"]
            assert len(list(one)) == len(list(other)) == 40
        with pytest.raises(psycopg.Error):
            list(store._rows("SELECT nothing"))
        # Whatever failed within it: nobody is told that a commit was done that was not.
        with pytest.raises(BadStore, match="cannot be written"):
            store.commit()
        assert store.add_games(games(51, 60)) == 10
        store.commit()
        assert store.counts() == {1: 60, 2: 50}


def test_readers_do_not_stop_the_writer_and_it_is_safe_when_committed(
    tmp_path: Path, postgres: Server
) -> None:
    with postgres.connect() as connection:
        connection.execute("ALTER DATABASE referee SET synchronous_commit = off")
    try:
        with new_store(tmp_path / NAME) as store, Store.read(tmp_path / NAME) as reader:
            shown = store._database.execute("SHOW synchronous_commit").fetchone()
            assert shown == ("on",)
            store.add_games(games(1, 300))
            store.commit()
            assert reader.counts() == {}
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                reader._database.execute("DELETE FROM bot")
    finally:
        with postgres.connect() as connection:
            connection.execute("ALTER DATABASE referee RESET synchronous_commit")


@pytest.fixture
def small_disk(postgres: Server) -> Iterator[Path]:
    """New tournaments are on a disk of 4 MB."""
    path = postgres.folder / "small"
    path.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path))
    try:
        place = path / "tables"
        place.mkdir()
        os.chown(place, postgres.folder.stat().st_uid, -1)
        with postgres.connect() as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
            connection.execute("ALTER DATABASE referee SET default_tablespace = small")
        yield path
        with postgres.connect() as connection:
            connection.execute("ALTER DATABASE referee RESET default_tablespace")
        postgres.forget(NAME)
        with postgres.connect() as connection:
            connection.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_a_disk_without_room_costs_no_committed_game(
    small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_store(tmp_path / NAME) as store:
        with pytest.raises(StoreFull, match=r"No space left.*resumed when"):
            write(store)
        told = int(capsys.readouterr().out.split()[-1])
        assert check_prefix(store) == told
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    with Store.open(tmp_path / NAME) as store:
        assert check_prefix(store) == told
        write(store, 2)
        assert check_prefix(store) == told + 2 * COMMITTED


def test_what_the_server_has_too_little_of_is_told() -> None:
    full = explain(errors.DiskFull("could not extend file"), "x", lost=False, writing=True)
    assert isinstance(full, StoreFull)
    assert "could not extend file; every game" in str(full)


def test_without_the_driver_one_sentence(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadStore, match=re.escape("pip install 'referee[postgres]'")):
        Store.read(address)
    assert os.listdir(tmp_path) == []  # noqa: PTH208
