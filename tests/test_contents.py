"""What strangers hand in is bounded, and told so in a sentence, before anything of it is read."""

from __future__ import annotations

import io
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.bots import archive
from referee.bots import contents as module
from referee.bots.archive import pack
from referee.bots.building import BuildFailed, built
from referee.bots.contents import TooMuch, contents, copy_folder, hash_folder, remove
from referee.bots.manifest import BadBot, find_bot, read_bot
from tests.confinement.offered import confined, walls


def a_bot(folder: Path, *lines: str) -> Path:
    folder.mkdir()
    (folder / "bot.toml").write_text("\n".join(['name = "b"', 'command = ["sh"]', *lines]))
    return folder


def deepen(folder: Path, levels: int) -> None:
    """As many folders within one another, however long their path is."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


@pytest.mark.parametrize("levels", [65, 1_000, 3_000])
def test_a_folder_that_is_too_deep(tmp_path: Path, levels: int) -> None:
    folder = a_bot(tmp_path / "b")
    deepen(folder, levels)
    with pytest.raises(BadBot, match=rf"^{folder}: more than 64 folders within one another in it$"):
        read_bot(folder)
    remove(folder)
    assert not folder.exists()


def test_what_is_not_too_much(tmp_path: Path) -> None:
    folder = a_bot(tmp_path / "b")
    deepen(folder, 64)
    assert len(contents(folder)) == 65
    assert read_bot(folder).hash == hash_folder(folder)


def test_a_file_that_is_larger_than_any_disk(tmp_path: Path) -> None:
    folder = a_bot(tmp_path / "b")
    with (folder / "large").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(BadBot, match=rf"^{folder}: larger than 2G in all$"):
        read_bot(folder)
    with pytest.raises(BadBot, match=r"large is larger than 2G$"):
        find_bot(f"b=cat {folder / 'large'}")


def test_a_manifest_that_is_no_text(tmp_path: Path) -> None:
    folder = a_bot(tmp_path / "b")
    with (folder / "bot.toml").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(BadBot, match=r"bot\.toml: larger than 16,384 bytes, so no manifest$"):
        read_bot(folder)
    (folder / "bot.toml").unlink()
    os.mkfifo(folder / "bot.toml")
    with pytest.raises(BadBot, match=NO_PLAIN_FILE):
        read_bot(folder)


def test_a_manifest_that_lies_elsewhere(tmp_path: Path) -> None:
    """Its content would not be in the bot's hash."""
    folder = a_bot(tmp_path / "b")
    (folder / "bot.toml").rename(tmp_path / "bot.toml")
    (folder / "bot.toml").symlink_to("../bot.toml")
    with pytest.raises(BadBot, match=NO_PLAIN_FILE):
        read_bot(folder)


NO_PLAIN_FILE = r"bot\.toml: no plain file$"


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 8_000) + " = 1",
        "[" + ".".join("a" * 2_000) + "]\n" + "".join(f"k{each} = 1\n" for each in range(1_000)),
        "[[" + " . ".join(["'a=b'"] * 1_000) + "]]",
        '"=" . ' + ".".join(['"\\""'] * 1_000) + " = 1",
    ],
)
def test_a_manifest_whose_keys_would_take_seconds_to_read(tmp_path: Path, text: str) -> None:
    # Each fits into a manifest, and the reader of TOML alone has a step for every two parts.
    folder = a_bot(tmp_path / "b")
    (folder / "bot.toml").write_text(text)
    with pytest.raises(BadBot, match=r"bot\.toml: a key has more than 16 parts$"):
        read_bot(folder)


def test_a_manifest_with_dots_in_its_texts(tmp_path: Path) -> None:
    folder = a_bot(tmp_path / "b")
    dotted = ".".join("a" * 100)
    with (folder / "bot.toml").open("a") as file:
        file.write(f'\ndescription = """..\n{"." * 100}\n{dotted}"""\nversion = "{dotted}"\n')
        file.write("env.LEVEL = '1'\n")
    # A text of several lines may look like a key; it is then refused, as a key would be.
    with pytest.raises(BadBot):
        read_bot(folder)
    text = (folder / "bot.toml").read_text().replace(f"\n{dotted}", f"\n {dotted[:20]}")
    (folder / "bot.toml").write_text(text)
    assert read_bot(folder).version == dotted


def test_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 10)
    folder = a_bot(tmp_path / "b")
    for number in range(9):
        (folder / str(number)).touch()
    read_bot(folder)
    (folder / "one more").touch()
    with pytest.raises(TooMuch, match=r"more than 10 files and folders in it"):
        contents(folder)


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def put_device(path: Path) -> None:
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))


SPECIAL = {"a pipe": put_pipe, "a socket": put_socket, "a device": put_device}


@pytest.mark.parametrize("what", SPECIAL)
def test_what_is_no_file_is_named(tmp_path: Path, what: str) -> None:
    if what == "a device" and os.getuid() != 0:
        pytest.skip("root alone makes devices")
    folder = a_bot(tmp_path / "b")
    (folder / "sub").mkdir()
    SPECIAL[what](folder / "sub" / "it")
    with pytest.raises(
        BadBot, match=rf"^{folder}: sub/it in it is {what}; a bot is files, folders and links$"
    ):
        read_bot(folder)


def test_a_build_that_makes_a_pipe(tmp_path: Path) -> None:
    bot = read_bot(a_bot(tmp_path / "b", 'build = ["mkfifo", "way"]'))
    with pytest.raises(BuildFailed, match=f"{NOT_KEPT}: way in it is a pi"):
        built(bot, cache=tmp_path / "cache")


@pytest.mark.parametrize(
    "read",
    [
        hash_folder,
        lambda folder: pack(folder, io.BytesIO()),
        lambda folder: copy_folder(folder, Path("copy")),
    ],
)
def test_a_link_that_its_owner_puts_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    """After the names are known, and before the files are read."""
    folder = a_bot(tmp_path / "b")
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("its own")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").write_text("not its own")
    (tmp_path / "copy").mkdir()
    monkeypatch.chdir(tmp_path)
    names = contents(folder)

    def too_late(_: Path) -> list[Path]:
        (folder / "sub").rename(tmp_path / "moved")
        (folder / "sub").symlink_to(tmp_path / "secret")
        return names

    monkeypatch.setattr(module, "contents", too_late)
    monkeypatch.setattr(archive, "contents", too_late)
    with pytest.raises(OSError):  # noqa: PT011  # of several kinds
        read(folder)
    assert not (tmp_path / "copy" / "sub" / "file").exists()


NOT_KEPT = "the build made what cannot be kept"
DEEP = 'build = ["sh", "-c", "i=0; while [ $i -lt 1501 ]; do mkdir d; cd d; i=$((i+1)); done"]'


def test_a_build_that_makes_too_much(tmp_path: Path) -> None:
    bot = read_bot(a_bot(tmp_path / "b", DEEP))
    with pytest.raises(BuildFailed, match=f"^b: {NOT_KEPT}: more than 64"):
        built(bot, cache=tmp_path / "cache")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


@walls
def test_a_confined_build_that_makes_too_much(tmp_path: Path) -> None:
    bot = read_bot(a_bot(tmp_path / "b", DEEP))
    with pytest.raises(BuildFailed, match=f"{NOT_KEPT}: it has more than 64"):
        built(bot, confined, cache=tmp_path / "cache")


@walls
def test_a_confined_build_that_cannot_be_packed(tmp_path: Path) -> None:
    build = 'build = ["sh", "-c", "echo text > made; chmod 0 made"]'
    bot = read_bot(a_bot(tmp_path / "b", build))
    with pytest.raises(
        BuildFailed, match=r"tar, which packs what the build made, exited with"
    ) as no:
        built(bot, confined, cache=tmp_path / "cache")
    assert "made" in no.value.quoted
