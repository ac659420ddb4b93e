"""What travels, who can play it, and what is said where nobody can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import referee
from tests.cluster.clustering import DaskCluster, begin, bot_folder, dask_cluster, ended
from tests.packages import works

OWN_LANGUAGE = """
build = ["nosuchcompiler", "bot.py"]
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("cluster")) as there:
        yield there


def test_a_bot_that_nobody_can_build_is_left_out(cluster: DaskCluster, tmp_path: Path) -> None:
    bad = bot_folder(tmp_path, "odd", 0, more=OWN_LANGUAGE)
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", bad, "--bot", "lowest", "--bot", "highest"),
            *("-n", 4, "--sandbox", "none", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    assert (
        "odd is left out: no worker can play it: the command nosuchcompiler was not found" in said
    )


@pytest.mark.skipif(not works("gcc"), reason="gcc or its C library is not installed")
def test_it_is_built_where_it_is_played(cluster: DaskCluster, tmp_path: Path) -> None:
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", "highest-c", "--bot", "lowest", "-n", 20),
            *("--sandbox", "none", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    built = list((cluster.folder / "referee" / "builds").glob("highest-c-*.whole"))
    assert len(built) == 1


@pytest.mark.skipif(not works("gcc"), reason="gcc or its C library is not installed")
def test_what_is_portable_is_built_before(cluster: DaskCluster, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "make.sh").write_text(
        "printf '#!/bin/sh\\nexec python3 -S bot.py\\n' >run; chmod +x run\n"
    )
    source = bot_folder(tmp_path, "other", 0) / "bot.py"
    (folder / "bot.py").write_bytes(source.read_bytes())
    (folder / "bot.toml").write_text(
        'name = "packed"\ncommand = ["./run"]\nbuild = ["sh", "make.sh"]\nportable = true\n'
    )
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", folder, "--bot", "lowest", "-n", 20),
            *("--sandbox", "none", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    assert not list((cluster.folder / "referee" / "builds").glob("packed-*"))
    assert list((cluster.folder / "referee" / "parcels").glob("bot-*-built.whole"))


def test_a_script_and_a_command_line_travel_too(cluster: DaskCluster, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "from referee.rules.underdog import Underdog\n\n\nclass Mine(Underdog):\n"
        '    name = "mine"\n    summary = "the same under another name"\n'
    )
    source = bot_folder(tmp_path, "other", 0) / "bot.py"
    (tmp_path / "here.py").write_bytes(source.read_bytes())
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "./mine.py", "--bot", "line=python3 -S here.py", "--bot", "lowest"),
            *("-n", 20, "--sandbox", "none", "--cluster", cluster.address, "--json"),
        )
    )
    assert status == 0, said
    assert '"played":20' in said.replace(" ", "")


@pytest.mark.skipif(not works("bwrap"), reason="bubblewrap is not installed")
def test_a_worker_without_the_level_gets_nothing(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("python3", "sh"):
        (bare / name).symlink_to(f"/usr/bin/{name}")
    with dask_cluster(tmp_path / "cluster", workers=1) as cluster:
        cluster.start_worker(PATH=str(bare))
        status, said = ended(
            begin(
                tmp_path,
                *("--variant", "underdog", "--bot", "highest", "--bot", "lowest", "-n", 40),
                *("--sandbox", "standard", "--cluster", cluster.address, "--out", "t"),
            )
        )
        assert status == 0, said
        exported = referee(tmp_path, "export", "t")
        levels = {json.loads(line)["level"] for line in exported.out.splitlines()}
        assert levels == {"standard"}
        done = referee(tmp_path, "doctor", "--cluster", cluster.address, "--json")
        workers = json.loads(done.out)["workers"]
        told = sorted(
            finding["status"]
            for each in workers
            for finding in each["findings"]
            if finding["check"] == "level"
        )
        assert told == ["pass", "warn"]
        cluster.processes[1].kill()
        done = referee(
            tmp_path,
            *("tournament", "--variant", "underdog", "--bot", "highest", "--bot", "lowest"),
            *("-n", 40, "--sandbox", "standard", "--cluster", cluster.address),
        )
        assert done.status == 3
        assert "offers level standard" in done.err


def test_what_is_no_cluster(tmp_path: Path) -> None:
    done = referee(tmp_path, "tournament", "--cluster", "nowhere")
    assert (done.status, done.out) == (3, "")
    assert "tcp://HOST:PORT, a scheduler file, or local" in done.err
    done = referee(tmp_path, "doctor", "--cluster", "tcp://127.0.0.1:9")
    assert (done.status, done.out) == (3, "")
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in done.err
    assert list(tmp_path.iterdir()) == []
