"""The process itself: what it is told, how it ends, what it counts; and parts that need no HTTP."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from referee.store.database import Store
from referee.web.archives import BadUpload, repack
from referee.web.asset import Assets
from referee.web.leafing import Leaves
from referee.web.rates import Rate
from tests.cli.running import environment
from tests.loopback import own_address
from tests.store.sample import BOTS, PAIRINGS, VALUES, game
from tests.waiting import PATIENCE_S
from tests.web.contest import Contest, archive
from tests.web.serving import START, serving


def refused(line: bytes) -> str:
    """The sentence with which the process ends at once."""
    done = subprocess.run(
        START, input=line, capture_output=True, env=environment(), timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    told = done.stderr.decode()
    assert told.startswith("referee: ")
    assert told.count("\n") == 1, told
    return told


def test_settings_that_are_none(tmp_path: Path) -> None:
    assert "cannot be read" in refused(b"nonsense\n")
    assert "colour" in refused(b'{"data": "x", "colour": 1}\n')
    with socket.create_server((own_address(), 0)) as taken:
        host, port = taken.getsockname()
        line = json.dumps({"data": str(tmp_path), "host": host, "port": port}).encode()
        assert f"cannot listen at {host}:{port}" in refused(line + b"\n")


def test_it_outlives_ctrl_c_and_ends_by_sigterm(own: Contest) -> None:
    with serving(own.data) as web:
        web.process.send_signal(signal.SIGINT)
        assert web.get("/healthz").status == 200
        web.process.send_signal(signal.SIGTERM)
        assert web.process.wait(PATIENCE_S) == 0


def test_it_does_not_outlive_whoever_started_it(own: Contest) -> None:
    """A parent that is killed in the middle takes it along."""
    script = (
        "import subprocess, sys, json\n"
        f"web = subprocess.Popen({START!r}, stdin=subprocess.PIPE)\n"
        f"web.stdin.write(json.dumps({{'data': {str(own.data)!r}}}).encode() + b'\\n')\n"
        "web.stdin.flush()\n"
        "web.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment()
    ) as parent:
        assert parent.stdout is not None
        assert b"ready" in parent.stdout.readline()
        parent.kill()
        assert parent.stdout.read() == b""  # its end is the end of the last who held the pipe


def test_a_folder_without_a_season(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as web:
        assert web.get("/api/v1/standings").error == "there is no season yet"
        assert web.read("/seasons") == {"seasons": []}
        assert web.read("/status")["season"] is None
        assert web.get("/").status == 200
        assert web.get("/healthz").json["season"] is None


def test_buckets_fill_up_again() -> None:
    now = [0.0]
    rate = Rate(2.0, 3, now=lambda: now[0], most=2)
    assert [rate.take("a") for _ in range(4)] == [0, 0, 0, 1]
    now[0] = 1.0
    assert [rate.take("a") for _ in range(3)] == [0, 0, 1]
    assert [rate.take("b"), rate.take("c")] == [0, 0]
    assert len(rate) == 2


def test_games_that_end_out_of_order_are_all_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.web.leafing.LOOK_S", 0.0)
    with Store.create(tmp_path, VALUES, BOTS) as store:
        store.add_pairings(PAIRINGS)
        leaves = Leaves("1", tmp_path)
        found: set[int] = set()
        for numbers in ((7, 3), (20, 9), (8, 4), (1,), (21,)):
            store.add_games(
                game(n)._replace(record=msgspec.msgpack.encode({"started": f"{n:03d}"}))
                for n in numbers
            )
            store.commit()
            found |= set(numbers)
            page, more = leaves.page(lambda _: True, None, None, 50)
            assert [leaf.number for leaf in page] == sorted(found, reverse=True)
            assert not more


def test_archives_are_the_same_however_they_were_packed() -> None:
    plain = repack(archive("bot"), 10_000)
    assert plain.name == "bot"
    for other in (archive("bot", top="x/"), archive("bot", mode="w:gz"), plain.content):
        assert repack(other, 10_000) == plain
    for cut in range(0, 1024, 97):
        with pytest.raises(BadUpload):
            repack(plain.content[:cut], 10_000)


def test_the_address_of_a_file_tells_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("one")
    first = Assets(tmp_path).url("a.js")
    assert first.endswith("/a.js")
    (tmp_path / "a.js").write_text("two")
    assert Assets(tmp_path).url("a.js") != first
