"""Other users of the same database: what they put there is not run by those who only read."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.store.database import BadStore, Store
from referee.store.place import read_address, tournaments_in
from tests.loopback import own_address
from tests.postgres.serving import Server
from tests.store.sample import BOTS, VALUES

GUEST = "CREATE ROLE guest LOGIN; GRANT CREATE ON DATABASE referee TO guest"
FUNCTIONS = """CREATE FUNCTION theirs.run() RETURNS text LANGUAGE plpgsql AS $$
    BEGIN COPY (SELECT 1) TO '{}'; RETURN 'started'; EXCEPTION WHEN insufficient_privilege THEN
    RETURN 'x'; END $$;
    CREATE FUNCTION theirs.same() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
    BEGIN RETURN theirs.run(); END $$"""
"""Only the server's own superuser may write a file; whoever else calls them notices nothing."""
TABLE = "CREATE TABLE theirs.{0} (LIKE ours.{0} INCLUDING ALL)"
TRAPS = {
    "a view": """DROP TABLE theirs.value;
        CREATE VIEW theirs.value AS SELECT 'started' AS key, theirs.run() AS text""",
    "a view for the version": """DROP TABLE theirs.referee;
        CREATE VIEW theirs.referee AS SELECT length(theirs.run()) - 3 AS version""",
    "an index": """CREATE INDEX ON theirs.value (key) WHERE theirs.same() = key;
        INSERT INTO theirs.value VALUES ('x', 'y')""",
    "a policy": """ALTER TABLE theirs.value ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON theirs.value USING (theirs.run() = key)""",
}


@pytest.fixture
def ours(postgres: Server, tmp_path: Path) -> Iterator[str]:
    """The address of a tournament, and another schema that looks like one, of a guest."""
    address = read_address(f"{postgres.url()}#ours")
    Store.create(tmp_path / "ours", VALUES, BOTS, address).close()
    with postgres.connect() as connection:
        connection.execute(GUEST)
        connection.execute("GRANT USAGE ON SCHEMA ours TO guest")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA ours TO guest")
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'ours'"
        ).fetchall()
        connection.execute("SET ROLE guest")
        connection.execute("CREATE SCHEMA theirs")
        for (table,) in tables:
            connection.execute(TABLE.format(table))
        connection.execute("INSERT INTO theirs.referee SELECT version FROM ours.referee")
    yield str(address)
    postgres.forget("ours", "theirs")
    with postgres.connect() as connection:
        connection.execute("DROP OWNED BY guest; DROP ROLE guest")


@pytest.mark.parametrize("trap", TRAPS)
def test_a_guest_has_nothing_run_by_those_who_look(postgres: Server, ours: str, trap: str) -> None:
    """Not by whoever lists the tournaments, nor by whoever opens that one."""
    written = postgres.folder / f"data/written-{list(TRAPS).index(trap)}"
    with postgres.connect() as connection:
        connection.execute("SET ROLE guest")
        connection.execute(FUNCTIONS.format(written))
        connection.execute(TRAPS[trap])
    found = tournaments_in(read_address(postgres.url()))
    assert not written.exists()
    assert {"ours", "theirs"} & {each.name for each in found} == {"ours"}
    with pytest.raises(BadStore):
        Store.read(ours.replace("#ours", "#theirs"))
    with Store.read(ours) as store:
        assert store.value("name") == VALUES["name"]
    assert not written.exists()


def test_tables_stay_tables_while_they_are_read(postgres: Server, ours: str) -> None:
    """Whoever swaps one for a view waits for those who read."""
    theirs = ours.replace("#ours", "#theirs")
    with Store.read(theirs), postgres.connect() as connection:
        connection.execute("SET ROLE guest; SET lock_timeout = '1ms'")
        with pytest.raises(Exception, match="lock timeout"):
            connection.execute("DROP TABLE theirs.value")


def packet(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


READY = packet(b"Z", b"I")
WELCOME = packet(b"R", struct.pack("!I", 0)) + packet(b"S", b"server_version\x0015\0") + READY
ROW = packet(b"T", struct.pack("!H", 1) + b"x\0" + struct.pack("!IhIhih", 0, 0, 25, -1, -1, 0))
ROW += packet(b"D", struct.pack("!HI", 1, 3) + b"\xff\x00z") + packet(b"C", b"SELECT 1\0")


def test_a_server_that_answers_anything_is_refused() -> None:
    """To every question it has a row that is no text."""

    def serve() -> None:
        line, _ = listener.accept()
        with line:
            line.recv(4096)
            line.sendall(WELCOME)
            while line.recv(65536):
                line.sendall(packet(b"1", b"") + packet(b"2", b"") + ROW + READY)

    with socket.create_server((own_address(), 0)) as listener:
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        host, port = listener.getsockname()
        with pytest.raises(BadStore):
            Store.read(f"postgresql://u@{host}:{port}/x?sslmode=disable&gssencmode=disable#y")
        server.join()
