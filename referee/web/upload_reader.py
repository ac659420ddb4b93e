"""The process that reads one upload: its form, its archive and its manifest.

What a stranger sends is never parsed in the process that answers everybody. This one gets an order,
a line of JSON, and the body on its standard input; it answers with a line of JSON and the folder as
a plain tar. It has limits on memory, on processor time and on time, it inherits no file and no
variable of the referee, and, where that is root, it becomes a user that nobody has. A time that is
up ends it at once, whatever it is doing.

It imports the standard library alone, so that it starts within a tenth of a second.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import NamedTuple

from referee.daemon.priorities import PAGES, UPLOADS
from referee.web import archives, forms

FIELD = "archive"
LONGEST_LABEL = 80
BAD, TOO_LARGE, TOO_COSTLY = 400, 413, 422
"""Statuses of what is refused."""
MEMORY = 192 * 1024 * 1024
"""Bytes, and eight times the largest archive on top."""
NOT_CONFINED = 3
"""The exit status of a process that cannot become who it is to be."""
TOO_MUCH_MEMORY = "the archive takes more memory to unpack than any bot's folder does"


class Order(NamedTuple):
    """What is to be read, and at what cost at most."""

    content_type: str
    most_bytes: int
    cpu_s: int
    deadline_s: int
    user: int | None
    """Whom to become; None is nobody else."""
    cores: Sequence[int] = ()
    """On which to run; none are those of the process that asks."""


class Upload(NamedTuple):
    """What was found."""

    csrf: str = ""
    label: str = ""
    name: str = ""
    """Of the bot, as its manifest has it."""
    status: int = 0
    """Of a refusal; 0 where the archive is taken."""
    why: str = ""


def main() -> None:
    order = Order(**json.loads(sys.stdin.buffer.readline()))
    _confine(order)
    if order.user is not None:
        _become(order.user)
    upload, content = read_upload(order, sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(upload._asdict()).encode() + b"\n" + content)
    sys.stdout.buffer.flush()
    os._exit(0)  # Millions of objects need not be freed one by one.


def _confine(order: Order) -> None:
    codecs.lookup("cp437")  # For names in zip files; the other user may not find it later.
    os.nice(UPLOADS - PAGES)
    if order.cores:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, order.cores)
    memory = MEMORY + 8 * order.most_bytes
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, order.cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(limit, (most, most))
    signal.alarm(order.deadline_s)


def _become(user: int) -> None:
    """Another user, for good, or end: what a stranger sent is never read as root."""
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as error:  # root in name alone, as in some containers
        print(error.strerror, file=sys.stderr, flush=True)
        os._exit(NOT_CONFINED)


def read_upload(order: Order, body: bytes) -> tuple[Upload, bytes]:
    """What there is to say of it, and the folder as a plain tar."""
    upload = Upload()
    try:
        if forms.media_type(order.content_type) == forms.FORM:
            fields = forms.read_form(order.content_type, body)
            upload = Upload(
                csrf=_text(fields, forms.CSRF_FIELD), label=_text(fields, "label").strip()
            )
            body = _file(fields)
        if len(upload.label) > LONGEST_LABEL:
            raise archives.BadUpload(f"the label is longer than {LONGEST_LABEL} characters")
        if len(body) > order.most_bytes:
            return upload._replace(status=TOO_LARGE, why=too_large(order.most_bytes)), b""
        packed = archives.repack(body, order.most_bytes)
    except forms.BadForm as bad:
        return upload._replace(status=BAD, why=f"the form cannot be read: {bad}"), b""
    except archives.BadUpload as bad:
        return upload._replace(status=BAD, why=str(bad)), b""
    except MemoryError:
        return upload._replace(status=TOO_COSTLY, why=TOO_MUCH_MEMORY), b""
    return upload._replace(name=packed.name), packed.content


def too_large(most_bytes: int) -> str:
    """What is said of an archive of more bytes."""
    return f"the archive is larger than the {most_bytes / 1e6:g} MB that are taken"


def _text(fields: dict[str, forms.Field], name: str) -> str:
    return fields[name].text if name in fields else ""


def _file(fields: dict[str, forms.Field]) -> bytes:
    found = fields.get(FIELD)
    if found is None or not found.is_file:
        raise archives.BadUpload(f"the form has no file {FIELD!r}: a tar or zip file is expected")
    return found.content
