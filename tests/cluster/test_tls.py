"""A cluster that speaks TLS, by dask's own configuration."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import referee
from tests.cluster.clustering import DaskCluster, begin
from tests.cluster.tournament import ends_the_same, words
from tests.facts import Naming
from tests.waiting import wait_for

CONFIG = "DASK_DISTRIBUTED__COMM__"


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """One that vouches for itself, and its key."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    asked = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    named = ("-days", "2", "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(cert))
    subprocess.run(["openssl", *asked, *named], check=True, capture_output=True)
    return str(cert), str(key)


def configuration(cert: str, key: str) -> dict[str, str]:
    """Dask's, as variables."""
    found = {f"{CONFIG}TLS__CA_FILE": cert, f"{CONFIG}REQUIRE_ENCRYPTION": "True"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        found |= {f"{CONFIG}TLS__{role}__CERT": cert, f"{CONFIG}TLS__{role}__KEY": key}
    return found


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    return configuration(*certificate(tmp_path, "contest"))


@pytest.fixture
def cluster(tmp_path: Path, keys: dict[str, str]) -> Iterator[DaskCluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with closing(DaskCluster(folder, "tls", **keys)) as there:
        there.start_worker()
        wait_for(lambda: there.file.exists() or None, "the scheduler")
        yield there


def test_a_tournament_over_tls(
    bots: Path, alone: Path, cluster: DaskCluster, keys: dict[str, str], tmp_path: Path
) -> None:
    ends_the_same(
        begin(tmp_path, *words(bots, "--cluster", cluster.address), **keys), tmp_path, alone
    )
    strange = configuration(*certificate(tmp_path, "stranger"))
    plain, lost = cluster.address.replace("tls", "tcp"), {f"{CONFIG}TLS__CLIENT__KEY": "no.key"}
    told = [
        referee(tmp_path, "doctor", "--cluster", where, stdin=b"", **variables)
        for where, variables in (
            (cluster.address, strange),
            (plain, keys),
            (cluster.address, {**keys, **lost}),
        )
    ]
    assert [done.status for done in told] == [3, 2, 2]
    assert "certificate verify failed" in told[0].err
    assert "dask's configuration requires encryption" in told[1].err
    key = "distributed.comm.tls.client.key is no.key, and there is no"
    assert told[2].err == Naming(key, "such file")
    assert all(len(done.err.splitlines()) == 1 for done in told)
