"""Archives that a stranger made: nothing of them leaves the folder that they are unpacked into."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.bots import archive as module
from referee.bots import building
from referee.bots.archive import UNPACKER, BadArchive
from referee.bots.building import built
from referee.bots.confinement.identity import servant
from referee.bots.manifest import BadBot, Bot, read_bot
from referee.bots.unpacking.open_folder import open_folder
from referee.bots.unpacking.tar import Judged, Most
from tests.confinement.archived import unpack
from tests.confinement.offered import confined, walls
from tests.waiting import wait_for

FOLDER, LINK, SECOND_NAME = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
as_root = pytest.mark.skipif(os.getuid() != 0, reason="root alone hands itself to somebody else")


def a(
    name: str, kind: bytes = tarfile.REGTYPE, to: str = "", *, pax: dict[str, str] | None = None
) -> tarfile.TarInfo:
    """A member; a file has four bytes in it."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.pax_headers = kind, to, pax or {}
    member.size = 4 if kind == tarfile.REGTYPE else 0
    return member


def tar(*members: tarfile.TarInfo) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as out:
        for member in members:
            out.addfile(member, io.BytesIO(b"evil"))
    file.seek(0)
    return file


def everything(folder: Path) -> dict[str, tuple[int, int, float, int]]:
    """What is in a folder, and whatever would show that somebody was at it."""
    return {
        str(path.relative_to(folder)): (
            *(path.lstat().st_mode, path.lstat().st_ino),
            *(path.lstat().st_mtime, path.lstat().st_nlink),
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def tmp_path(open_path: Path) -> Path:
    """One that the bots' user can enter."""
    return open_path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a file, beside the one that archives are unpacked into; anybody may write."""
    folder = tmp_path / "outside"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (folder / "file").write_text("ours")
    (folder / "file").chmod(0o666)
    return folder


TO = "../outside"
HOSTILE = {
    "below a link out": [a("d", LINK, "OUTSIDE"), a("d/x", LINK, "y")],
    "a file below a link out": [a("d", LINK, TO), a("d/x")],
    "a folder below a link out": [a("d", LINK, TO), a("d/x", FOLDER)],
    "a second name below a link out": [a("f"), a("d", LINK, TO), a("d/x", SECOND_NAME, "f")],
    "before the link that it lies below": [a("d/x"), a("d", LINK, TO)],
    "below a link that stays inside": [a("s", FOLDER), a("d", LINK, "s"), a("d/x")],
    "below a link to itself": [a("d", LINK, "d"), a("d/x")],
    "a second name through a link": [a("d", LINK, TO), a("x", SECOND_NAME, "d/file")],
    "a second name of a link": [a("d", LINK, f"{TO}/file"), a("x", SECOND_NAME, "d")],
    "a second name of a folder": [a("d", FOLDER), a("x", SECOND_NAME, "d")],
    "a second name of nothing": [a("x", SECOND_NAME, "x")],
    "a second name from outside": [a("x", SECOND_NAME, f"{TO}/file")],
    "a link over a file": [a("f"), a("f", LINK, TO)],
    "a file over a link": [a("f", LINK, f"{TO}/file"), a("f")],
    "a link over a link": [a("f", LINK, "g"), a("f", LINK, TO)],
    "a link over a folder": [a("d", FOLDER), a("d", LINK, TO), a("d/x")],
    "a folder over a link": [a("d", LINK, TO), a("d", FOLDER), a("d/x")],
    "a file twice": [a("f"), a("./f")],
    "another name for the same": [a("d", LINK, TO), a(".//d/./x")],
    "a link instead of the folder": [a(".", LINK, TO)],
    "below a file": [a("f"), a("f/x")],
    "an absolute link": [a("f", LINK, "OUTSIDE/file")],
    "a link by way of a link": [
        *(a("deep", FOLDER), a("deep/er", FOLDER), a("deep/er/up", LINK, "../..")),
        a("f", LINK, "deep/er/up/../outside/file"),
    ],
    "a chain of links": [
        *(a("d0", FOLDER), a("d1", LINK, "d0/.."), a("d2", LINK, "d1/d1/.")),
        *(a("d3", LINK, "d2/d2"), a("f", LINK, "d3/../outside/file")),
    ],
    "more links than the system follows": [
        a("0", FOLDER),
        *(a(f"{number}", LINK, f"{number - 1}") for number in range(1, 60)),
    ],
    "the same, the last one first": [
        *(a(f"{number}", LINK, f"{number - 1}") for number in range(59, 0, -1)),
        a("0", FOLDER),
    ],
    "up from what is not there": [a("f", LINK, "gone/../../outside/file")],
    "a link that says nothing": [a("f", LINK, "")],
    "a name in an extended header": [a("f", pax={"path": "../outside/x"})],
    "an absolute name in an extended header": [a("f", pax={"path": "OUTSIDE/x"})],
    "a link in an extended header": [a("f", LINK, "g", pax={"linkpath": "OUTSIDE/file"})],
    "a link below one, in extended headers": [
        a("p", LINK, "q", pax={"path": "d", "linkpath": "OUTSIDE"}),
        a("r", LINK, "y", pax={"path": "d/x"}),
    ],
    "a size in an extended header": [a("f", pax={"size": "-512"})],
    "holes in an extended header": [a("f", pax={"GNU.sparse.map": "0,4"})],
    "very deep": [a("d/" * 64 + "x")],
    "deeper than any path": [a("d/" * 1900 + "x")],
    "a link to the very deep": [a("f", LINK, "d/" * 1900)],
    "a name too long for a file": [a("n" * 300)],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_makes_nothing_anywhere(tmp_path: Path, outside: Path, case: str) -> None:
    members = HOSTILE[case]
    for member in members:
        member.linkname = member.linkname.replace("OUTSIDE", str(outside))
        member.pax_headers = {
            key: text.replace("OUTSIDE", str(outside)) for key, text in member.pax_headers.items()
        }
    folder = tmp_path / "in"
    folder.mkdir()
    before = everything(outside)
    with pytest.raises((BadArchive, OSError)):
        unpack(tar(*members), folder, 1000)
    assert everything(outside) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "outside"]
    assert list(folder.iterdir()) == []


def test_what_is_told(tmp_path: Path) -> None:
    """Names are quoted, and cut: they are a stranger's."""
    cases = {
        "'d/x' lies below 'd', which is no folder": [a("d", LINK, "e"), a("d/x")],
        "the link 'd' leads out": [a("d", LINK, "/etc")],
        "'d' is no file that comes before": [a("e", SECOND_NAME, "d")],
        f"the link {'d' * 80!r}… leads out": [a("d" * 200, LINK, "..")],
        r"the link '\x1b[2J\udcff' leads out": [a("\x1b[2J\udcff", LINK, "..")],
    }
    for told, members in cases.items():
        with pytest.raises(BadArchive) as bad:
            unpack(tar(*members), tmp_path, 1000)
        assert str(bad.value).startswith(told)


def test_links_that_stay_inside_are_taken(tmp_path: Path) -> None:
    links = {
        **{"deep/up": "..", "deep/round": "../deep/up/deep", "self": "self", "top": "."},
        **{"by way": "deep/up/deep/up/f", "gone": "not/there", "f2": "deep/../f"},
        **{"l1": "f", **{f"l{number}": f"l{number - 1}" for number in range(2, 41)}},
    }
    unpack(tar(a("f"), *(a(name, LINK, to) for name, to in links.items())), tmp_path, 1000)
    assert {name: str((tmp_path / name).readlink()) for name in links} == links
    for name in ("by way", "f2", "l40", "deep/up/top/f"):
        assert (tmp_path / name).read_text() == "evil"


def test_folders_that_are_named_late_or_never(tmp_path: Path) -> None:
    unpack(tar(a("d/e/f"), a("d", FOLDER), a("./d/", FOLDER), a("g/h")), tmp_path, 1000)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        *("d", "d/e", "d/e/f", "g", "g/h"),
    ]


def test_an_archive_that_ends_within_a_file(tmp_path: Path) -> None:
    whole = tar(a("f"), a("g")).getvalue()
    with pytest.raises(BadArchive):
        unpack(io.BytesIO(whole[: 3 * 512 + 2]), tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []


PARTS = st.lists(st.sampled_from(["a", "b", "c", "..", "."]), min_size=1, max_size=5).map("/".join)
MEMBERS = st.lists(
    st.builds(a, PARTS, st.sampled_from([LINK, LINK, LINK, FOLDER, tarfile.REGTYPE]), PARTS),
    max_size=6,
)


@given(MEMBERS)
def test_no_archive_that_is_taken_leads_out(members: list[tarfile.TarInfo]) -> None:
    """As the system sees it, which was not asked."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "top")
        folder.mkdir()
        with tempfile.TemporaryFile() as file:
            file.write(tar(*members).getvalue())
            file.seek(0)
            with contextlib.suppress(BadArchive), open_folder(folder) as top:
                Judged(file, Most(1000, 100, 10)).make(file.fileno(), top)
        inside = {str(folder), *(str(folder / path) for path in folder.rglob("*"))}
        for path in inside:
            assert f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(folder)}/")
        assert os.listdir(place) == ["top"]  # noqa: PTH208


# Who unpacks.


@as_root
def test_what_root_unpacks_is_roots_and_its_folder_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir(mode=0o750)
    os.chown(folder, 0, servant() or 0)
    unpack(tar(a("d/f"), a("g", SECOND_NAME, "d/f"), a("l", LINK, "d")), folder, 1000)
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in folder.rglob("*")}
    assert owners == {(0, 0)}
    found = folder.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (0, servant(), 0o750)


@as_root
def test_it_is_the_bots_user_who_unpacks(tmp_path: Path) -> None:
    """Into a folder of root's he cannot, though he is handed the open folder."""
    fd = os.open(tmp_path, os.O_RDONLY)
    orders = [f"folder={fd}", "bytes=1000", "names=10", "levels=10", f"memory={module.MEMORY}"]
    archive = tmp_path / "archive"
    archive.write_bytes(tar(a("d", FOLDER)).getvalue())
    told = {}
    for user in (servant(), 0):
        with archive.open("rb") as file:
            done = subprocess.run(
                [sys.executable, "-I", "-S", str(UNPACKER), *orders, f"user={user}"],
                stdin=file,
                capture_output=True,
                pass_fds=[fd],
                check=False,
            )
        told[user] = done.stdout.split()[:2]
    os.close(fd)
    assert told == {servant(): [b"error", b"13"], 0: [b"done"]}


@as_root
@walls
def test_where_there_is_no_such_user(tmp_path: Path) -> None:
    """In a namespace of users that has one alone, who is root there and there alone."""
    script = (
        "import sys; from pathlib import Path; from referee.bots.archive import *\n"
        "try: unpack(open('/dev/zero', 'rb'), Path(sys.argv[1]), 1000)\n"
        "except BadArchive as bad: print(bad)"
    )
    before = tmp_path.stat().st_mode
    words = ["unshare", "--map-root-user", sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert f"cannot be handed to user {servant()}" in done.stdout, done.stderr
    assert tmp_path.stat().st_mode == before


def test_a_process_that_is_killed_leaves_nothing_of_what_it_receives(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from referee.bots.archive import receive\n"
        "with receive(0, 600, 1 << 30, Path(sys.argv[1])): pass"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(bytes(1 << 20))
        process.stdin.flush()

        def received() -> int:
            files = Path(f"/proc/{process.pid}/fd").iterdir()
            here = [each for each in files if str(each.readlink()).startswith(f"{tmp_path}/")]
            return sum(each.stat().st_size for each in here)

        wait_for(lambda: received() > 1 << 19, "what it has received, in this folder")
        process.kill()
    assert list(tmp_path.iterdir()) == []


def test_it_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WITHIN_S", 0.0)
    with pytest.raises(BadArchive, match="it cannot be unpacked within 0 s"):
        unpack(tar(a("f")), tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []


def test_it_has_a_limit_on_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that take more memory than it has, and hardly any disk."""
    monkeypatch.setattr(module, "MEMORY", 48 * 1024 * 1024)
    many = tar(*(a(f"{number}/" + "n" * 3000, LINK, "x" * 3000) for number in range(10_000)))
    with pytest.raises(BadArchive, match=r"memory"):
        unpack(many, tmp_path, 1000)
    assert list(tmp_path.iterdir()) == []


# Builds, which write what is unpacked.


def hostile_bot(folder: Path, outside: Path, build: str, env: str = "{}") -> Bot:
    """A bot that has a hostile archive with it."""
    (folder / "bin").mkdir(parents=True)
    evil = tar(a("d", LINK, str(outside)), a("d/x.pth", LINK, "file"))
    (folder / "evil.tar").write_bytes(evil.getvalue())
    for name in ("tar", "cp", "sh"):
        (folder / "bin" / name).write_text("#!/bin/dash\nexec cat /bot/evil.tar\n")
        (folder / "bin" / name).chmod(0o755)
    (folder / "bot.toml").write_text(
        f'name = "made"\nbuild = ["/bin/sh", "build.sh"]\ncommand = ["./bot"]\nenv = {env}\n'
    )
    (folder / "build.sh").write_text(build)
    return read_bot(folder)


@walls
def test_a_bots_own_tar_packs_nothing(tmp_path: Path, outside: Path) -> None:
    """Its PATH is for its own commands."""
    tell = "for each in tar cp sh; do command -v $each; done > bot; echo $OWN >> bot"
    path = '{PATH = "/bot/bin:/usr/bin:/bin", OWN = "mine"}'
    before = everything(outside)
    ready = built(hostile_bot(tmp_path / "b", outside, tell, path), confined, cache=tmp_path / "c")
    assert ready.folder is not None
    said = (ready.folder / "bot").read_text().split()
    assert said == ["/bot/bin/tar", "/bot/bin/cp", "/bot/bin/sh", "mine"]
    assert everything(outside) == before


@walls
def test_an_archive_that_a_build_has_forged(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a build had got hold of what packs it."""
    monkeypatch.setattr(building, "system_program", lambda name: f"/bot/bin/{name}")
    bot = hostile_bot(tmp_path / "b", outside, "true")
    monkeypatch.setattr(building, "IN_MEMORY", building.IN_MEMORY.replace("{cp}", "/bin/cp"))
    before = everything(outside)
    with pytest.raises(BadBot) as refused:
        built(bot, confined, cache=tmp_path / "cache")
    assert "'d/x.pth' lies below 'd'" in str(refused.value)
    assert everything(outside) == before
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".lock"]


@walls
def test_a_build_that_writes_to_what_packs_it(tmp_path: Path, outside: Path) -> None:
    """They are the same user's, unless root has opened the way for the archive."""
    build = (
        "for each in /proc/[0-9]*; do case $(readlink $each/fd/1) in pipe:*) "
        "[ $(readlink $each/fd/1) = $(readlink /proc/self/fd/2) ] || "
        "{ cat evil.tar > $each/fd/1 || exit 3; exit 0; };; esac; done; exit 4"
    )
    before = everything(outside)
    with pytest.raises(BadBot) as refused:
        built(hostile_bot(tmp_path / "b", outside, build), confined, cache=tmp_path / "cache")
    assert ("status 3" if os.getuid() == 0 else "'d/x.pth' lies") in str(refused.value)
    assert everything(outside) == before
