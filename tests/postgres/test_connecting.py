"""Connecting over TCP: to nobody who answers, with TLS, and without where it is asked for."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from referee.store.database import Store
from tests.cli.running import each, referee
from tests.loopback import free_port, own_address
from tests.postgres.serving import Server

PLAY = ("tournament", "--bot", "highest", "--bot", "lowest", "--sandbox", "none", "--games", 2)


def test_one_who_listens_and_never_answers(tmp_path: Path) -> None:
    with socket.create_server((own_address(), 0)) as listening:
        url = "postgresql://{}:{}/db".format(*listening.getsockname())
        began = time.monotonic()
        done = referee(tmp_path, *PLAY, "--out", "t", "--store", url)
        assert time.monotonic() - began > 8
    assert (done.status, done.out) == (3, "")
    assert done.err == f"referee: {url} cannot be reached: connection timeout expired\n"
    assert not (tmp_path / "t").exists()


def certificate(folder: Path, name: str, host: str) -> tuple[Path, Path]:
    """Signed by itself, for this address; and its key."""
    made, key = folder / f"{name}.crt", folder / f"{name}.key"
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    named = ("-subj", "/CN=referee", "-addext", f"subjectAltName=IP:{host}")
    subprocess.run([*new, *named, "-out", made, "-keyout", key], check=True, capture_output=True)
    return made, key


@pytest.fixture(scope="module")
def secure(postgres: Server) -> Iterator[str]:
    """A server with TLS on; the URL of its database."""
    host = own_address()
    made, key = certificate(postgres.folder, "server", host)
    postgres.owns(key)
    more = {"ssl": "on", "ssl_cert_file": made, "ssl_key_file": key}
    with postgres.otherwise(port := free_port(host), listen_addresses=host, **more):
        yield f"postgresql://referee@{host}:{port}/referee"


def test_with_tls(secure: str, postgres: Server, tmp_path: Path) -> None:
    root = postgres.folder / "server.crt"
    for mode in ("require", "verify-ca", "verify-full"):
        url = f"{secure}?sslmode={mode}&sslrootcert={root}"
        done = referee(tmp_path, *PLAY, "--out", mode, "--store", url)
        assert done.status == 0, done.err
        with Store.read(tmp_path / mode) as store:
            used = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            assert store._database.execute(used).fetchone() == (True,)
            assert len(list(store.records())) == 2


def test_a_certificate_that_is_not_trusted(secure: str, tmp_path: Path) -> None:
    other, _ = certificate(tmp_path, "other", own_address())
    commands: list[list[object]] = [
        ["standings", f"{secure}?sslmode=verify-full&sslrootcert={tmp_path}/none.crt#x"],
        ["standings", f"{secure}?sslmode=verify-full&sslrootcert={other}#x"],
        [*PLAY, "--store", f"{secure}?sslmode=verify-ca&sslrootcert={other}#x", "--out", "t"],
    ]
    absent, refused, not_begun = each(tmp_path, commands)
    for done in (absent, refused, not_begun):
        assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
        assert " cannot be reached: " in done.err
    assert "none.crt" in absent.err
    assert "certificate verify failed" in refused.err
    assert "certificate verify failed" in not_begun.err
    assert not (tmp_path / "t").exists()


def test_a_certificate_for_another_name(secure: str, postgres: Server, tmp_path: Path) -> None:
    root = postgres.folder / "server.crt"
    host = str(urlsplit(secure).hostname)
    url = secure.replace(host, "db.example")
    more = f"?hostaddr={host}&sslmode=verify-full&sslrootcert={root}#x"
    done = referee(tmp_path, "standings", url + more)
    assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
    assert 'does not match host name "db.example"' in done.err


def test_tls_where_there_is_none(postgres: Server, tmp_path: Path) -> None:
    host = own_address()
    with postgres.otherwise(port := free_port(host), listen_addresses=host):
        url = f"postgresql://referee@{host}:{port}/referee?sslmode=require"
        done = referee(tmp_path, *PLAY, "--out", "t", "--store", url)
    assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
    assert "server does not support SSL, but SSL was required" in done.err
    assert not (tmp_path / "t").exists()
