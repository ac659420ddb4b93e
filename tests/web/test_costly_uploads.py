"""What an upload may cost: a process of its own reads it, and has an end."""

from __future__ import annotations

import gzip
import os
import signal
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.bots.confinement.identity import servant
from referee.web import forms
from referee.web.upload_reader import Order, read_upload
from tests.daemon.serving import processes_of
from tests.waiting import wait_for
from tests.web import hostile_uploads
from tests.web.contest import Contest, archive
from tests.web.serving import Reply, Web, cpu_s, serving
from tests.web.test_writes import form, submit

SMALL = """
from referee.web import uploading
uploading.PROGRAM = uploading.PROGRAM.replace(
    "main()",
    "from referee.web import upload_reader; "
    "pages = int(open('/proc/self/statm').read().split()[0]); "
    "upload_reader.MEMORY = 4096 * pages + 16_000_000 - 8 * 20_000_000; main()",
)
"""
"""The reader gets 16 MB beside what it has."""
HELD = """
from referee.web import uploading
uploading.PROGRAM = uploading.PROGRAM.replace(
    "main()",
    "from referee.web import upload_reader; from threading import Event; "
    "upload_reader.read_upload = lambda *_: Event().wait(); main()",
)
"""
"""No upload is ever read."""
POWERLESS = """
from referee.web import uploading
uploading.servant = lambda: 64123
uploading.PROGRAM = uploading.PROGRAM.replace(
    "main()",
    "from ctypes import CDLL; CDLL(None).capset(bytes.fromhex('22050820') + bytes(4), bytes(24)); "
    "main()",
)
"""
"""The reader is to become another user and has no capability for it, as root in some containers."""


def test_an_upload_that_takes_too_much_processor_time(own: Contest) -> None:
    with serving(own.data, limits={"unpack_cpu_s": 1}) as web:
        before = cpu_s(web.process.pid)
        replies: list[Reply] = []
        costly = hostile_uploads.records_in_headers()
        sender = threading.Thread(target=lambda: replies.append(submit(web, costly, own.reds)))
        sender.start()
        wait_for(lambda: processes_of(web.process.pid), "a reader of the upload")
        while sender.is_alive():
            assert web.get("/healthz").status == 200
            sender.join(1.0)
        assert (replies[0].status, "longer to unpack" in replies[0].error) == (422, True)
        assert cpu_s(web.process.pid) - before < 1.0
        assert submit(web, archive("fresh"), own.reds).status == 202


def test_an_upload_that_takes_too_long(own: Contest) -> None:
    with serving(own.data, before=HELD, limits={"unpack_s": 1}) as web:
        assert submit(web, archive("fresh"), own.reds).status == 422
        assert processes_of(web.process.pid) == []


def test_an_upload_that_takes_too_much_memory(own: Contest) -> None:
    with serving(own.data, before=SMALL) as web:
        reply = submit(web, hostile_uploads.many_members(), own.reds)
        assert (reply.status, "memory" in reply.error) == (422, True)
        assert submit(web, archive("fresh"), own.reds).status == 202


def test_nothing_is_read_as_root(own: Contest) -> None:
    with serving(own.data, before=POWERLESS) as web:
        reply = submit(web, archive("fresh"), own.reds)
        assert (reply.status, reply.error) == (503, "no upload can be read at the moment")
        assert web.process.stderr is not None
        told = web.process.stderr.readline().decode()
        assert told.endswith("its reader cannot become user 64123: Operation not permitted\n"), told


def test_the_reader_has_nothing_of_the_referee(
    own: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    core = min(os.sched_getaffinity(0))
    with serving(own.data, before=HELD, cores=[core]) as web:
        sender = threading.Thread(target=submit, args=(web, archive("fresh"), own.reds))
        sender.start()
        (reader,) = wait_for(lambda: _confined(web), "the process that reads it")
        assert b"secret" not in (reader / "environ").read_bytes()
        opened = [each.readlink() for each in (reader / "fd").iterdir()]
        assert not [each for each in opened if not str(each).startswith("pipe:")]
        # Nor does it run where rated games are played.
        assert os.sched_getaffinity(int(reader.name)) == {core}
        os.kill(int(reader.name), signal.SIGKILL)
        sender.join()


def _confined(web: Web) -> list[Path]:
    """Processes that have given up what they do not need; last of all, to be root."""
    user = os.getuid() if (other := servant()) is None else other
    found = [Path(f"/proc/{pid}") for pid in processes_of(web.process.pid)]
    return [
        each
        for each in found
        if _limit(each, "Max file size") == "0"
        and f"Uid:\t{user}\t{user}\t{user}" in (each / "status").read_text()
    ]


def _limit(process: Path, name: str) -> str:
    for line in (process / "limits").read_text().splitlines():
        if line.startswith(name):
            return line.removeprefix(name).split()[0]
    return ""


def test_a_form_is_read_as_browsers_send_it() -> None:
    body, headers = form(b"\r\n--\r\n--y", "proof")
    fields = forms.read_form(headers["Content_Type"], b"before\r\n" + body + b"after")
    assert fields["label"].text == "mine"
    assert fields["csrf"].text == "proof"
    assert fields["archive"] == (b"\r\n--\r\n--y", True)
    plain = forms.read_form(forms.PLAIN_FORM, "a=1+2&ü=%C3%BC&b=&a=3".encode())
    assert {name: field.text for name, field in plain.items()} == {"a": "3", "ü": "ü", "b": ""}


@given(
    st.sampled_from(["multipart/form-data; boundary=x", "application/x-tar"]),
    st.lists(
        st.binary(max_size=40)
        | st.sampled_from(
            [
                b"--x\r\n",
                b'Content-Disposition: form-data; name="archive"; filename="a"\r\n\r\n',
                b"\r\n--x--",
                b"PK\x03\x04",
                b"PK\x05\x06" + bytes(18),
                b"\x1f\x8b\x08",
                archive("x"),
                gzip.compress(archive("x")),
            ]
        ),
        max_size=8,
    ),
)
def test_whatever_comes_is_taken_or_refused_in_words(
    content_type: str, pieces: list[bytes]
) -> None:
    order = Order(content_type, most_bytes=100_000, cpu_s=1, deadline_s=1, user=None)
    upload, content = read_upload(order, b"".join(pieces))
    assert bool(upload.why) == (upload.status in (400, 413, 422)) == (not content)


PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'


@pytest.mark.parametrize(
    ("content_type", "body", "told"),
    [
        ("multipart/form-data", PART, "boundary"),
        ("multipart/form-data; boundary=x", PART, "last boundary"),
        ("multipart/form-data; boundary=x", b"nothing", "last boundary"),
        ("multipart/form-data; boundary=x", PART * 21 + b"--x--", "more than 20 fields"),
        ("multipart/form-data; boundary=x", b"--x\r\nA: b\r\n\r\n\r\n--x--", "has no name"),
        ("multipart/form-data; boundary=x", b"--x\r\n" + b"A: b" * 9_999 + PART, "too long"),
        (forms.PLAIN_FORM, b"a=1&" * 21, "more than 20 fields"),
    ],
)
def test_a_form_that_is_none(content_type: str, body: bytes, told: str) -> None:
    with pytest.raises(forms.BadForm, match=told):
        forms.read_form(content_type, body)
