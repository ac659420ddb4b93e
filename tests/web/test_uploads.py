"""Bots' folders on their way in: what they may cost, by the API as by the page."""

from __future__ import annotations

import io
import socket
import stat
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from referee.web.access import csrf_token
from referee.web.archives import LONGEST_LINK, MOST_FILES, BadUpload, repack
from tests.waiting import PATIENCE_S, wait_for
from tests.web.contest import Contest, archive, files
from tests.web.serving import Web, cpu_s, serving
from tests.web.test_writes import TAR, form, submit, zipped

LIMIT = 20_000_000
HELD = """
from referee.web import uploading
uploading.PROGRAM = '''
import time
from pathlib import Path
gate = Path({gate!r})
gate.with_name("held").touch()
while not gate.exists():
    time.sleep(0.01)
''' + uploading.PROGRAM
"""
"""No archive is unpacked before the gate is there."""
API, PAGE = "/api/v1/submissions", "/submit"


def linked(count: int, target: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A bot's folder with links that lead to a name as long as this."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for path, content in files("x").items():
            file.writestr(path, content)
        for number in range(count):
            link = zipfile.ZipInfo(f"link{number}")
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            file.writestr(link, target, compress_type=method)
    return packed.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_links_that_are_no_paths_cost_nothing(own: Contest, method: int) -> None:
    bomb = linked(3, bytes(LIMIT), method)
    with serving(own.data) as web:
        before = cpu_s(web.process.pid)
        reply = submit(web, bomb, own.reds)
        assert cpu_s(web.process.pid) - before < 2.0
        assert reply.status == 400
        told = "is no path" if method == zipfile.ZIP_DEFLATED else "stored or deflated"
        assert told in reply.error
        assert web.get("/healthz").status == 200


def test_every_byte_counts() -> None:
    target = b"x" * LONGEST_LINK
    assert repack(linked(2, target), 3 * LONGEST_LINK).name == "x"
    with pytest.raises(BadUpload, match="bytes together"):
        repack(linked(4, target), 3 * LONGEST_LINK)
    with pytest.raises(BadUpload, match="is no path"):
        repack(linked(1, target + b"x"), LIMIT)
    with pytest.raises(BadUpload, match="is no path"):
        repack(_tar_with_a_link("x" * (LONGEST_LINK + 1)), LIMIT)


def test_folders_count_as_files() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for number in range(MOST_FILES):
            file.writestr(f"{number}/", "")
        file.writestr("bot.toml", "")
    with pytest.raises(BadUpload, match="files and folders"):
        repack(packed.getvalue(), LIMIT)


def _tar_with_a_link(target: str) -> bytes:
    packed = io.BytesIO(archive("x"))
    with tarfile.open(fileobj=packed, mode="a:") as file:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = tarfile.SYMTYPE, target
        file.addfile(info)
    return packed.getvalue()


def test_whoever_looks_does_not_wait_for_what_is_unpacked(own: Contest) -> None:
    gate = own.data / "gate"
    with serving(own.data, before=HELD.format(gate=str(gate))) as web:
        senders = [
            threading.Thread(target=submit, args=(web, archive(f"{name}{number}"), token))
            for number in range(2)
            for name, token in (("r", own.reds), ("b", own.blues))
        ]
        for sender in senders:
            sender.start()
        wait_for(gate.with_name("held").exists, "an archive to be held")
        for path in ("/healthz", "/", "/api/v1/standings"):
            assert web.get(path).status == 200
        assert web.get("/api/v1/me", own.reds).json["name"] == "Reds"
        assert all(sender.is_alive() for sender in senders)
        gate.touch()
        for sender in senders:
            sender.join(PATIENCE_S)
        assert len(web.read("/bots")["bots"]) == 6


class Sender:
    """Sends all of an upload but its end, as far as it is taken."""

    def __init__(self, web: Web, path: str, token: str, size: int) -> None:
        body, headers = form(bytes(size), csrf_token(token))
        address = urlsplit(web.url)
        self._socket = socket.create_connection((address.hostname, address.port), PATIENCE_S)
        self._left = memoryview(
            f"POST {path} HTTP/1.1\r\nHost: x\r\nCookie: referee_token={token}\r\n"
            f"Content-Type: {headers['Content_Type']}\r\nContent-Length: {len(body)}\r\n"
            "\r\n".encode()
            + body[:-1]
        )
        self._socket.setblocking(False)
        self.answer = b""

    def go_on(self) -> None:
        with suppress(OSError):
            while self._left:
                self._left = self._left[self._socket.send(self._left[:1_000_000]) :]
        with suppress(OSError):
            self.answer += self._socket.recv(65_536)

    @property
    def taken(self) -> bool:
        return not self._left and not self.answer

    @property
    def refused(self) -> bool:
        return self.answer.startswith(b"HTTP/1.1 429")

    def close(self) -> None:
        self._socket.close()


def _go_on(senders: list[Sender], for_s: float, enough: Callable[[], bool]) -> None:
    deadline = time.monotonic() + for_s
    while time.monotonic() < deadline and not enough():
        for sender in senders:
            sender.go_on()
        time.sleep(0.01)


@pytest.mark.parametrize("path", [API, PAGE])
def test_uploads_that_do_not_end_are_few(own: Contest, path: str) -> None:
    with serving(own.data) as web:
        before = _memory(web)
        tokens = [token for token in (own.reds, own.blues, own.organiser) for _ in range(4)]
        senders = [Sender(web, path, token, LIMIT - 1000) for token in tokens]
        try:
            _go_on(senders, PATIENCE_S, lambda: sum(sender.refused for sender in senders) >= 6)
            _go_on(senders, PATIENCE_S, lambda: any(sender.taken for sender in senders))
            _go_on(senders, 3.0, lambda: False)  # And it stays so.
            assert sum(sender.refused for sender in senders) == 6
            assert 1 <= sum(sender.taken for sender in senders) <= 4
            assert _memory(web) - before < 200_000_000
            assert web.get("/healthz").status == 200
        finally:
            for sender in senders:
                sender.close()
        # It hears of their end a moment later.
        wait_for(lambda: submit(web, archive("fresh"), own.reds).status == 202, "room for another")


def _memory(web: Web) -> int:
    return int(Path(f"/proc/{web.process.pid}/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("path", [API, PAGE])
def test_nothing_is_read_from_who_comes_too_often(own: Contest, path: str) -> None:
    with serving(own.data, limits={"writes_burst": 1, "writes_per_s": 0.001}) as web:
        content, headers = form(zipped("fresh"), csrf_token(own.reds))
        sent = {"Cookie": f"referee_token={own.reds}", **headers}
        assert web.post(path, content, **sent).status in (202, 303)
        sender = Sender(web, path, own.reds, 10_000)
        try:
            _go_on([sender], PATIENCE_S, lambda: sender.refused)
            assert sender.refused
        finally:
            sender.close()


def test_the_page_takes_what_the_api_takes(own: Contest) -> None:
    with serving(own.data) as web:
        cookie = {"Cookie": f"referee_token={own.reds}"}
        proof = csrf_token(own.reds)
        for content, told in (
            (b"", b"The archive is empty"),
            (b"nonsense", b"cannot be read"),
            (linked(1, bytes(LIMIT)), b"is no path"),
        ):
            body, headers = form(content, proof)
            reply = web.post(PAGE, body, **headers, **cookie)
            assert (reply.status, told in reply.body) == (400, True), reply
        body, headers = form(zipped("fresh"), proof)
        reply = web.post(PAGE, body, **headers, **cookie)
        assert (reply.status, reply.headers["location"]) == (303, "/bots/fresh")
        body, headers = form(zipped("other"))
        assert web.post(PAGE, body, **headers, **cookie).status == 403
        assert web.post(PAGE, archive("other"), own.reds, **TAR).status == 303
