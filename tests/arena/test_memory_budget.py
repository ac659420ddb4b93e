"""Half of the memory that is free: of the machine, and of the control groups around the referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.arena import memory_budget
from referee.arena.memory_budget import free_in_groups, share_of_memory

MB = 1 << 20


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def test_a_container_has_what_is_left_of_its_limit(tmp_path: Path) -> None:
    """What the kernel keeps of files that nobody uses is free."""
    stat = f"anon 1\ninactive_file {100 * MB}"
    inner = tmp_path / "machine" / "box"
    group(inner, memory__max=1000 * MB, memory__current=800 * MB, memory__stat=stat)
    group(tmp_path / "other", memory__max=MB, memory__current=0, memory__stat="")
    (inner.parent / "memory.max").write_text("max\n")
    assert free_in_groups("0::/machine/box\n", tmp_path) == [300 * MB]
    (inner / "memory.current").write_text(f"{2000 * MB}")
    assert free_in_groups("0::/machine/box\n", tmp_path) == [0]


def test_groups_of_version_1(tmp_path: Path) -> None:
    files = {"memory__limit_in_bytes": 8 * MB, "memory__usage_in_bytes": 5 * MB}
    group(tmp_path / "memory" / "box", **files, memory__stat=f"total_inactive_file {MB}")
    assert free_in_groups("7:cpu,cpuacct:/box\n4:memory:/box\n", tmp_path) == [4 * MB]


def test_workers_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is free changes from call to call, and cores may outnumber workers: both are set here.
    So little is free on any machine."""
    assert share_of_memory(1) >= 0
    monkeypatch.setattr(memory_budget, "free_in_groups", lambda *_: [8 * MB])
    for cores, one, hundred in ((4, MB, 8 * MB // 200), (128, 8 * MB // 256, 8 * MB // 256)):
        monkeypatch.setattr(memory_budget, "own_cores", lambda cores=cores: cores)
        assert (share_of_memory(1), share_of_memory(100)) == (one, hundred)
