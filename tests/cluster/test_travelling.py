"""What travels, who can play it, and what is said where nobody can."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec import msgpack

from referee.bots.cache import UNUSED_S
from referee.cluster.parcel import MOST_UNPACKED
from referee.record import Record
from referee.store.database import Store
from referee.version import __version__
from tests.arena.playing import ROOT
from tests.cli.running import each, environment, referee
from tests.cluster.clustering import DaskCluster, begin, bot_folder, dask_cluster, ended
from tests.confinement.burning import burner, slow, used_between_turns
from tests.confinement.offered import LEVELS, walls
from tests.loopback import own_address
from tests.packages import works
from tests.waiting import wait_for

OWN_LANGUAGE = """
build = ["nosuchcompiler", "bot.py"]
"""


def test_a_bot_that_nobody_can_build_is_left_out(cluster: DaskCluster, tmp_path: Path) -> None:
    bad = bot_folder(tmp_path, "odd", 0, more=OWN_LANGUAGE)
    vast = bot_folder(tmp_path, "vast", 0)
    with (vast / "data").open("wb") as data:
        data.truncate(MOST_UNPACKED)  # Which takes next to nothing of this disk.
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", bad, "--bot", "lowest", "--bot", "highest"),
            *("--bot", vast, "-n", 4, "--sandbox", "none", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    assert "vast is left out: as an archive it is larger than 256M: too much to send" in said
    assert (
        "odd is left out: no worker can play it: the command nosuchcompiler was not found" in said
    )


SEND_AND_KEEP = """
import sys
from pathlib import Path
from referee.bots.manifest import read_bot
from referee.cluster.parcel import keep, parcel_of_bot

def peak_kb():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])

bot = read_bot(Path(sys.argv[1]))
before = peak_kb()
sent, parcel = parcel_of_bot(bot, lambda bot: bot)
folder = keep(parcel)
print(peak_kb() - before, (folder / "data").stat().st_size)
"""


def test_only_what_is_sent_of_a_bot_is_in_memory(tmp_path: Path) -> None:
    """As on the machine that packs it, so on the one that unpacks it."""
    size = 64 << 20
    folder = bot_folder(tmp_path, "large", 0)
    with (folder / "data").open("wb") as data:
        data.truncate(size)
    done = subprocess.run(
        [sys.executable, "-c", SEND_AND_KEEP, str(folder)],
        env={**environment(), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown_kb, kept = map(int, done.stdout.split())
    assert (kept, grown_kb * 1024 < size // 4) == (size, True), grown_kb


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
    shutil.copytree(ROOT / "sample_bots/highest-c", folder)
    manifest = (folder / "bot.toml").read_text().replace("highest-c", "packed")
    (folder / "bot.toml").write_text(f"{manifest}portable = true\n")
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", folder, "--bot", "lowest", "-n", 20),
            *("--sandbox", "none", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    assert not list((cluster.folder / "referee" / "builds").glob("packed-*"))
    parcels = (cluster.folder / "referee" / "parcels").glob("bot-*/bot.toml")
    packed = [path.parent for path in parcels if '"packed"' in path.read_text()]
    assert len(packed) == 1
    assert len(list(packed[0].iterdir())) > len(list(folder.iterdir())), "with what was built"


def test_what_is_portable_is_known_by_what_was_built(
    cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same source may be built to something else, with another compiler for example."""
    folder = bot_folder(tmp_path, "odd", 0)
    kept = (folder / "bot.py").rename(tmp_path / "kept.py")
    source = kept.read_text()
    more = f'portable = true\nbuild = ["cp", "{kept}", "bot.py"]\n'
    (folder / "bot.toml").write_text((folder / "bot.toml").read_text() + more)
    told: list[str] = []
    for word in ("first", "second"):
        kept.write_text(source.replace("hello from stderr", f"built {word}"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / word))
        status, said = ended(
            begin(
                tmp_path,
                *("--variant", "underdog", "--bot", folder, "--bot", "lowest", "-n", 4),
                *("--sandbox", "none", "--cluster", cluster.address, "--out", f"t-{word}"),
            )
        )
        assert status == 0, said
        logs = (tmp_path / f"t-{word}" / "logs").rglob("*.txt")
        told.append("".join(path.read_text() for path in logs))
    assert "built first" in told[0]
    assert "built second" in told[1]


@walls
def test_what_is_portable_is_built_within_walls(cluster: DaskCluster, tmp_path: Path) -> None:
    """A stranger's manifest may say that it is, and the build runs where the organiser types."""
    outside = tmp_path / "outside"
    folder = bot_folder(tmp_path, "odd", 0)
    more = f'portable = true\nbuild = ["sh", "-c", "echo made > made; echo out > {outside} || :"]\n'
    (folder / "bot.toml").write_text((folder / "bot.toml").read_text() + more)
    status, said = ended(
        begin(
            tmp_path,
            *("--variant", "underdog", "--bot", folder, "--bot", "lowest", "-n", 4),
            *("--sandbox", "standard", "--cluster", cluster.address),
        )
    )
    assert status == 0, said
    assert list((cluster.folder / "referee" / "parcels").glob("bot-*/made"))
    assert not outside.exists()


def test_a_bot_that_is_played_is_not_taken_away(cluster: DaskCluster, tmp_path: Path) -> None:
    """Machines forget what nobody has used for a month, when something new comes."""
    parcels = cluster.folder / "referee" / "parcels"
    long_ago = time.time() - 2 * UNUSED_S
    daily, other = bot_folder(tmp_path, "daily", 0), bot_folder(tmp_path, "other", 0)
    new = bot_folder(tmp_path, "new", 0)
    for number, pair in enumerate([(daily, other), (daily, new)]):
        for mark in parcels.glob("*.whole"):
            os.utime(mark, (long_ago, long_ago))
        status, said = ended(
            begin(
                tmp_path,
                *("--variant", "underdog", "--bot", pair[0], "--bot", pair[1], "-n", 4),
                *("--sandbox", "none", "--cluster", cluster.address, "--out", f"t{number}"),
            )
        )
        assert status == 0, said
        assert "left out" not in said
    there = {path.read_text().split('"')[1] for path in parcels.glob("bot-*/bot.toml")}
    assert there == {"daily", "new"}


def test_files_from_elsewhere_travel_with_a_command_line(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    """An absolute path, one that leads up, and a program of one's own: by then none is there."""
    source = (bot_folder(tmp_path, "other", 0) / "bot.py").read_text()
    gone, here = tmp_path / "gone", tmp_path / "here"
    gone.mkdir()
    (here / "elsewhere").mkdir(parents=True)
    (gone / "bot.py").write_text(source)
    (gone / "up.py").write_text(f"import sys\n\nassert open(sys.argv[1]).read() == 'x'\n{source}")
    (here / "elsewhere" / "data").write_text("x")
    own = gone / "own"
    own.write_text(f"#!/usr/bin/env python3\n{source}")
    own.chmod(0o755)
    (here / "below").write_text(own.read_text())
    (here / "below").chmod(0o755)
    words: dict[str, str] = {
        "whole": f"python3 -S {gone}/bot.py",
        "up": "/usr/bin/env python3 -S ../gone/up.py elsewhere/data",
        "own": str(own),
        "below": "./below",
    }
    bots = [word for name, line in words.items() for word in ("--bot", f"{name}={line}")]
    process = begin(
        here,
        *("--variant", "underdog", *bots, "-n", 20, "--sandbox", "none"),
        *("--cluster", cluster.address, "--out", "t"),
    )
    wait_for(lambda: (here / "t/tournament.db").exists() or None, "the bots on their way")
    shutil.rmtree(gone)
    status, said = ended(process)
    assert status == 0, said
    assert " out: " not in said
    exported = referee(here, "export", "t")
    assert {json.loads(line)["ending"] for line in exported.out.splitlines()} == {"rules"}


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


@walls
def test_children_do_not_burn_while_the_other_bot_thinks(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    """Both bots are strangers, so a worker lets them stand still unless it is told otherwise."""
    bots = burner(tmp_path / "burns"), slow(tmp_path / "slow")
    words = [word for bot in bots for word in ("--bot", bot.folder)]
    burned = {}
    ways = {"free": ["--no-freeze"], "frozen": ["--freeze"], "default": []}
    for out, freeze in ways.items():
        status, said = ended(
            begin(
                tmp_path,
                *("--variant", "difference", *words, "-n", 2, "--time", "60s", "--out", out),
                *("--sandbox", LEVELS[-1].value, "--cluster", cluster.address, *freeze),
            )
        )
        assert status == 0, said
        with Store.read(tmp_path / out) as store:
            records = [msgpack.decode(body, type=Record) for _, _, body in store.records()]
        assert [record.fault for record in records] == [None, None]
        burned[out] = used_between_turns(records, "burns")
    assert burned["frozen"] < burned["free"] / 2, burned
    assert burned["default"] < burned["free"] / 2, burned


def test_a_worker_of_another_version_gets_nothing(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "referee", other / "referee")
    (other / "referee/version.py").write_text('__version__ = "0.0.7"\n')
    with dask_cluster(tmp_path / "cluster", workers=1, PYTHONPATH=str(other)) as cluster:
        words: tuple[object, ...] = (
            *("--variant", "underdog", "--bot", "highest", "--bot", "lowest", "-n", 40),
            *("--sandbox", "none", "--cluster", cluster.address, "--out", "t"),
        )
        alone = referee(tmp_path, "tournament", *words)
        assert alone.status == 3
        assert f"it has referee 0.0.7, and this is {__version__}" in alone.err
        cluster.start_worker()

        def versions() -> list[str] | None:
            done = referee(tmp_path, "doctor", "--cluster", cluster.address, "--json")
            found = [
                finding["status"]
                for each in json.loads(done.out)["workers"]
                for finding in each["findings"]
                if finding["check"] == "version"
            ]
            return sorted(found) if len(found) == 2 else None

        assert wait_for(versions, "both workers") == ["fail", "pass"]
        status, said = ended(begin(tmp_path, *words))
        assert status == 0, said
        assert "40 games" in said
        assert "plays nothing: it has referee 0.0.7" in said


FORMS = "tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, or local"


NO_ADDRESSES = {
    "nowhere": f'--cluster takes {FORMS}; "nowhere" is no file',
    "": f'--cluster takes {FORMS}; "" is no file',
    "127.0.0.1:9": '"127.0.0.1:9" is no file; did you mean tcp://127.0.0.1:9?',
    "tcp://127.0.0.1": f"--cluster takes {FORMS}, not tcp://127.0.0.1",
    "http://127.0.0.1:9": f"--cluster takes {FORMS}, not http://127.0.0.1:9",
    "tcp://127.0.0.1:99999": f"--cluster takes {FORMS}, not tcp://127.0.0.1:99999",
    "tls://127.0.0.1:9": "needs certificates: set distributed.comm.tls.ca-file in dask's",
    "empty.json": "the scheduler file empty.json has no address such as tcp://HOST:PORT",
    "list.json": "the scheduler file list.json has no address such as tcp://HOST:PORT",
    "bad.json": "the scheduler file bad.json cannot be read: ",
}
"""And what is said of each."""


def test_what_is_no_address(tmp_path: Path) -> None:
    for name, text in (("empty", "{}"), ("list", "[]"), ("bad", "{")):
        (tmp_path / f"{name}.json").write_text(text)
    there = sorted(tmp_path.iterdir())
    found = each(tmp_path, [("tournament", "--cluster", where) for where in NO_ADDRESSES])
    for done, told in zip(found, NO_ADDRESSES.values(), strict=True):
        assert (done.status, done.out) == (2, "")
        assert told in done.err
        assert len(done.err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == there


def test_where_no_scheduler_answers(tmp_path: Path) -> None:
    done = referee(tmp_path, "doctor", "--cluster", "tcp://127.0.0.1:9")
    assert (done.status, done.out) == (3, "")
    assert done.err == (
        "referee: no dask scheduler answers at tcp://127.0.0.1:9: Connection refused\n"
    )


def test_where_something_else_listens(tmp_path: Path) -> None:
    with socket.create_server((own_address(), 0)) as mute:
        address = "tcp://{}:{}".format(*mute.getsockname())
        done = referee(tmp_path, "doctor", "--cluster", address)
    assert (done.status, done.out) == (3, "")
    assert f" {address}: what listens there said nothing" in done.err
    assert len(done.err.splitlines()) == 1
