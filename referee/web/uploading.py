"""A bot's folder on its way in, by the API or by the page: few at a time, and unpacked apart.

Nothing of a body is read before its sender may send one. So many bodies are in memory at a time and
no more, few of them one team's; whoever comes then waits, with nothing read. Unpacking costs time
that its sender chooses, so it has threads of its own: those that answer everybody else are not kept
by it. Whoever has gone meanwhile is not unpacked for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from starlette.requests import Request

from referee.bots.archive import BadArchive
from referee.web import archives, bodies
from referee.web.endpoint import HandedIn
from referee.web.refusal import Refusal

AT_ONCE = 4
OF_ONE = 2
"""Of one team, or of one address: bodies that come, or wait to."""
THREADS = 2


class Uploads:
    """All that are under way."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)
        self._own: Counter[str] = Counter()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="unpacking")

    async def take(
        self, request: Request, key: str, limit: int, within_s: float, proof: Callable[[str], None]
    ) -> HandedIn:
        """The folder that a request brings; `proof` is shown what the form has to prove that it is
        ours, before anything is unpacked. Raises Refusal."""
        with self._one_of(key):
            async with self._room:
                body = await bodies.read_body(request, limit + bodies.FORM_ROOM, within_s, limit)
                archive, csrf = await bodies.read_archive(body, request, limit)
                del body
                proof(csrf)
                if await request.is_disconnected():
                    raise Refusal(400, "whoever sent this has gone")
                try:
                    packed = await asyncio.get_running_loop().run_in_executor(
                        self._threads, archives.repack, archive.content, limit
                    )
                except BadArchive as bad:
                    raise Refusal(400, str(bad)) from None
        return HandedIn(name=packed.name, content=packed.content, label=archive.label)

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

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
