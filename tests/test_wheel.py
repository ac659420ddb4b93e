"""What a user installs: the wheel alone, in an empty environment, far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATIENCE_S = 300
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def run(
    *words: object, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def build(folder: Path) -> Path:
    done = run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT),
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel and what it depends on, and nothing else."""
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    assert made.returncode == 0, made.stderr
    python = folder / "bin/python"
    done = run(*PIP, "--python", python, "install", wheel, cwd=folder)
    if done.returncode:
        probe = run(*PIP, "download", "--no-deps", "--dest", folder / "probe", "rich", cwd=folder)
        if probe.returncode:
            pytest.skip("no package index can be reached, so the wheel cannot be installed")
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    wheel = build(tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "referee/py.typed" in names
    for bot in (ROOT / "sample_bots").glob("*/bot.toml"):
        assert f"referee/sample_bots/{bot.parent.name}/bot.toml" in names
    assert not [name for name in names if name.startswith("tests") or "__pycache__" in name]
    assert any(name.endswith("/licenses/LICENSE") for name in names)

    python = install(wheel, tmp_path / "venv")
    empty = tmp_path / "empty"
    empty.mkdir()
    env = {"PATH": f"{python.parent}{os.pathsep}{os.defpath}", "HOME": str(empty)}
    where = "import referee; print(referee.__file__); print(referee.sample_bots()['random'])"
    found = run(python, "-c", where, cwd=empty, env=env)
    assert found.returncode == 0, found.stderr
    package, random = (Path(line) for line in found.stdout.splitlines())
    assert python.parents[1] in package.parents
    assert random.parent == package.parent / "sample_bots"

    # Other tests may hold every core, and a match that finds none to pin to says so.
    words = ("match", "random", "highest", "--games", 4, "--records", "games.jsonl", "--no-pin")
    played = run(python.parent / "referee", *words, cwd=empty, env=env)
    assert (played.returncode, played.stderr) == (0, "")
    assert played.stdout.startswith("random against highest, underdog: 4 games in ")
    verified = run(python.parent / "referee", "verify", "games.jsonl", cwd=empty, env=env)
    assert verified.stdout.startswith("4 records, 0 mismatches (4 judged again"), verified.stderr
    assert [path.name for path in empty.iterdir()] == ["games.jsonl"]

    for template in (ROOT / "referee" / "templates").glob("*/*.*"):
        if template.is_file():
            assert f"referee/templates/{template.parent.name}/{template.name}" in names
    for step in (("new-bot", "mine"), ("check", "./mine")):
        done = run(python.parent / "referee", *step, cwd=empty, env=env)
        assert (done.returncode, done.stderr) == (0, "")

    listed = run(*PIP, "--python", python, "list", "--format", "freeze", cwd=empty)
    assert "referee==" in listed.stdout
    assert not {"pytest", "hypothesis", "mypy", "ruff"} & {
        line.partition("==")[0] for line in listed.stdout.splitlines()
    }
