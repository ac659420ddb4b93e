"""Case 32: the limits that nobody has set leave room for honest bots in large runtimes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from referee.bots.confinement.levels import Level
from referee.record import Record
from referee.store.database import Store
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec

BOTS = {"node": "highest-node", "java": "highest-java"}


@pytest.mark.parametrize("runtime", BOTS)
def test_honest_bots_have_room(
    runtime: str, level: str, tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = {"java": "javac"}.get(runtime, runtime)
    if shutil.which(compiler) is None and "CI" not in os.environ:
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
    spec = Spec(
        name="room",
        variants=("underdog", "deck"),
        bots=(BOTS[runtime], "lowest"),
        games=6,
        time="10s",
        seed="room",
        jobs=1,
        sandbox=Level(level).value,
    )
    result = play_tournament(spec, tmp_path / "t")
    assert (result.played, result.out) == (12, {})
    decoder = msgspec.msgpack.Decoder(Record)
    with Store.read(tmp_path / "t") as store:
        for _, _, body in store.records():
            record = decoder.decode(body)
            assert (record.ending, record.fault, record.level) == ("rules", None, level)
