"""A bot's folder on its way in, by the API or by the page: few at a time, and unpacked apart.

Nothing of a body is read before its sender may send one. So many bodies are in memory at a time and
no more, few of them one team's; whoever comes then waits, with nothing read. What a body holds is
parsed by a process of its own (upload_reader.py), at a cost that has an end: all other requests are
answered meanwhile. Nothing is unpacked for a sender that has gone before.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from starlette.requests import Request

from referee.bots.confinement.identity import servant
from referee.web import bodies
from referee.web.endpoint import HandedIn
from referee.web.refusal import Refusal
from referee.web.settings import Limits
from referee.web.upload_reader import NOT_CONFINED, TOO_COSTLY, Order, Upload

AT_ONCE = 4
OF_ONE = 2
"""Of one team, or of one address: bodies that come, or wait to."""
SPARE_S = 5.0
"""From the time at which the process ends itself to that at which it is ended."""
PACKAGES = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
sys.path.append(sys.argv.pop())
from referee.web.upload_reader import main
main()
"""
OUT_OF_TIME = (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)


class Uploads:
    """All that are under way."""

    def __init__(self, limits: Limits, cores: Sequence[int]) -> None:
        """Uploads are read on these cores; none are those of this process."""
        self._limits = limits
        self._cores = cores
        self._room = asyncio.Semaphore(AT_ONCE)
        self._own: Counter[str] = Counter()

    async def take(
        self, request: Request, key: str, limit: int, proof: Callable[[str], None]
    ) -> HandedIn:
        """The folder that a request brings; `proof` is shown what the form has to prove that it is
        ours. Raises Refusal."""
        content_type = bodies.archive_type(request)
        with self._one_of(key):
            async with self._room:
                room = limit + bodies.FORM_ROOM
                body = await bodies.read_body(request, room, self._limits.body_s, limit)
                if await request.is_disconnected():
                    raise Refusal(400, "whoever sent this has gone")
                order = Order(
                    content_type=content_type,
                    most_bytes=limit,
                    cpu_s=self._limits.unpack_cpu_s,
                    deadline_s=self._limits.unpack_s,
                    user=servant(),
                    cores=self._cores,
                )
                upload, content = await _unpacked(order, body)
        proof(upload.csrf)
        if upload.status:
            raise Refusal(upload.status, upload.why)
        return HandedIn(name=upload.name, content=content, label=upload.label)

    @contextmanager
    def _one_of(self, key: str) -> Iterator[None]:
        if self._own[key] >= OF_ONE:
            raise Refusal(
                429,
                f"{OF_ONE} uploads of yours are under way: wait for their end",
                {"Retry-After": "5"},
            )
        self._own[key] += 1
        try:
            yield
        finally:
            self._own[key] -= 1
            if not self._own[key]:
                del self._own[key]


async def _unpacked(order: Order, body: bytes) -> tuple[Upload, bytes]:
    """What a process of its own makes of a body, and the folder. Raises Refusal."""
    process = await _upload_reader()
    try:
        async with asyncio.timeout(order.deadline_s + SPARE_S):
            line = json.dumps(order._asdict()).encode() + b"\n"
            out, told = await process.communicate(line + body)
    except TimeoutError:
        raise _too_slow(order) from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode and -process.returncode in OUT_OF_TIME:
        raise _too_slow(order)
    if process.returncode and process.returncode < 0:
        # Whatever a crafted file makes of its reader is its sender's doing.
        raise Refusal(422, "the upload cannot be read: it ends the process that reads it")
    if process.returncode == NOT_CONFINED:
        why = told.decode(errors="replace").strip()
        raise _none_is_read(f"its reader cannot become user {order.user}: {why}")
    if process.returncode:
        raise RuntimeError(f"the upload reader ended with {process.returncode}: {told[-2000:]!r}")
    head, _, content = out.partition(b"\n")
    return Upload(**json.loads(head)), content


async def _upload_reader() -> asyncio.subprocess.Process:
    """Started, with nothing of this process but three pipes. Raises Refusal."""
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-X", "utf8", "-c", PROGRAM, str(PACKAGES)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            start_new_session=True,
        )
    except OSError as error:  # no process or no descriptor is to be had
        raise _none_is_read(error.strerror) from None


def _none_is_read(why: str | None) -> Refusal:
    """The log is told why; that is nothing of the sender's."""
    print(f"web: no upload can be read: {why}", file=sys.stderr, flush=True)
    wait = {"Retry-After": "30"}
    return Refusal(503, "no upload can be read at the moment", wait)


def _too_slow(order: Order) -> Refusal:
    return Refusal(
        TOO_COSTLY,
        f"the archive takes longer to unpack than the {order.cpu_s} s of processor time, "
        f"{order.deadline_s} s in all, that any bot's folder is given",
    )
