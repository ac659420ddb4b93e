"""Confined builds: what they make comes out, and nothing else does."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

import pytest

from referee.bots.archive import BadArchive
from referee.bots.building import BuildFailed, build_log, built
from referee.bots.manifest import BadBot, Bot, find_bot, read_bot
from referee.match import play_match
from tests.confinement.archived import unpack
from tests.confinement.offered import confined, walls


def to_build(folder: Path, build: str, **files: str) -> Bot:
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(
        'name = "made"\nbuild = ["sh", "build.sh"]\ncommand = ["./bot"]\n', "utf-8"
    )
    (folder / "build.sh").write_text(build, "utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return read_bot(folder)


@walls
def test_what_it_makes_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing of it is ever in the system's folder for temporary files, which may be memory."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    build = (
        "mkdir -p deep/er && cp source deep/er/bot && chmod +x deep/er/bot && ln -s deep/er/bot bot"
    )
    bot = built(to_build(tmp_path / "b", build, source="one"), confined, cache=tmp_path / "cache")
    assert bot.folder is not None
    made = bot.folder / "bot"
    assert made.read_text("utf-8") == "one"
    assert made.is_symlink()
    assert made.stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / "b" / "deep").exists()


@walls
@pytest.mark.parametrize(
    ("build", "told"),
    [
        ("echo told why; exit 3", "the build exited with status 3"),
        ("nothing-of-this-name", "the command nothing-of-this-name was not found"),
        ("sleep 600", "the build did not end"),
        ("ln -s /etc/passwd bot", "the link 'bot'"),
        ("mkdir -p p/q; ln -s p/q/../../.. bot", "out of the folder"),
        ("ln -s ../../up bot", "leads out"),
        ("mkfifo bot", "is no plain file, folder or link"),
        ("kill -9 $$", "the build was killed by SIGKILL"),
    ],
)
def test_what_is_no_bot_leaves_nothing(tmp_path: Path, build: str, told: str) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(BadBot) as caught:
        built(
            to_build(tmp_path / "b", build),
            confined,
            cache=cache,
            limit_ms=3_000 if "sleep" in build else 20_000,
        )
    assert told in str(caught.value)
    if build.startswith("echo"):
        assert caught.value.quoted == "told why"


@walls
def test_it_has_no_network_no_home_and_no_sight_of_others(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    build = f"""
exec > bot 2>&1
cat {secret} && echo seen
echo x > {tmp_path}/left && echo wrote
cat /proc/net/dev | grep -c :
echo "$HOME"
true
"""
    bot = built(to_build(tmp_path / "b", build), confined, cache=tmp_path / "cache")
    assert bot.folder is not None
    said = (bot.folder / "bot").read_text().splitlines()
    assert said[-2:] == ["1", "/tmp"]
    assert "seen" not in said
    assert "wrote" not in said
    assert not (tmp_path / "left").exists()


@walls
def test_a_build_that_fills_everything_fills_its_own(tmp_path: Path) -> None:
    build = "head -c 3000000000 /dev/urandom > big; cp big bigger; exit 4"
    with pytest.raises(BuildFailed, match="exited with status 4"):
        built(to_build(tmp_path / "b", build), confined, cache=tmp_path / "cache")


@walls
def test_a_sample_bot_in_c_is_built_and_plays() -> None:
    result = play_match("highest-c", "random", games=4, confinement=confined)
    assert result.fault_counts == {"highest-c": {}, "random": {}}
    ready = built(find_bot("highest-c"), confined)
    assert ready.folder is not None
    assert build_log(ready.folder).name.endswith("-confined.log")


def archive(*members: tarfile.TarInfo) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as out:
        for member in members:
            out.addfile(member, io.BytesIO(b"x" * member.size) if member.size else None)
    file.seek(0)
    return file


def member(name: str, kind: bytes = tarfile.REGTYPE, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for field, value in fields.items():
        setattr(info, field, value)
    return info


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (member("/etc/x"), "leads out"),
        (member("../x"), "leads out"),
        (member("a/../../x"), "leads out"),
        (member("x", tarfile.SYMTYPE, linkname="/etc/passwd"), "leads out"),
        (member("x", tarfile.SYMTYPE, linkname="../../x"), "leads out"),
        (member("x", tarfile.CHRTYPE, devmajor=1, devminor=5), "no plain file"),
        (member("x", tarfile.FIFOTYPE), "no plain file"),
        (member("x", tarfile.LNKTYPE, linkname="/etc/passwd"), "leads out"),
        (member("x", size=2000), "too large together"),
    ],
)
def test_an_archive_that_is_not_taken(tmp_path: Path, bad: tarfile.TarInfo, told: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(BadArchive, match=told):
        unpack(archive(bad), folder, 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_no_file_is_written_through_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    link = member("a", tarfile.SYMTYPE, linkname="b")
    with pytest.raises((BadArchive, OSError)):
        unpack(archive(member("b/x", size=3), link, member("a/y", size=3)), folder, 1000)


def test_bits_beyond_running_are_dropped(tmp_path: Path) -> None:
    unpack(
        archive(member("x", mode=0o6777, size=3), member("y", mode=0o4600, size=3)), tmp_path, 1000
    )
    assert (tmp_path / "x").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "y").stat().st_mode & 0o7777 == 0o644


def test_files_that_are_one_are_taken_as_one(tmp_path: Path) -> None:
    same = member("y", tarfile.LNKTYPE, linkname="x")
    unpack(archive(member("x", size=3), same), tmp_path, 1000)
    assert (tmp_path / "x").samefile(tmp_path / "y")


def test_a_header_that_claims_too_much_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(BadArchive, match="a header in it is too long"):
        unpack(archive(member("n" * 2_000_000)), tmp_path, 10_000)


def test_folders_below_folders_without_end(tmp_path: Path) -> None:
    with pytest.raises((BadArchive, OSError)):
        unpack(archive(member("a/" * 1900 + "x", size=3)), tmp_path, 1000)


def test_what_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(BadArchive):
        unpack(io.BytesIO(b"nothing of the kind" * 100), tmp_path, 1000)
