"""What all parts of the web process share: settings, data, threads, live events, counts.

Nothing that touches a disk runs in the event loop: each of a few threads has a connection of its
own to the house. What the public was answered is kept for a moment and given to all who ask the
same; while it is being made, they wait for the one that makes it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from msgspec import Struct
from starlette.requests import Request

from referee.mistake import Mistake
from referee.store.house import House
from referee.web.access import Door, Visitor, address_of, presented_token
from referee.web.endpoint import Call, HandedIn
from referee.web.holding import Connections
from referee.web.live import Live
from referee.web.parlour.parlour import Parlour
from referee.web.reading import Library
from referee.web.refusal import Refusal
from referee.web.refusing import refusal_of
from referee.web.running import Running
from referee.web.settings import WebSettings
from referee.web.uploading import Uploads

THREADS = 4
KEEP_S = 1.0
LOOK_S = 0.5
MOST_KEPT = 500
MOST_KEPT_BYTES = 32 * 1024 * 1024

RETRY = {"Retry-After": "30"}

T = TypeVar("T")


class Answer(Struct, frozen=True):
    """An answer ready to be sent."""

    body: bytes
    media_type: str
    etag: str


class Site:
    """Made once, in the process that serves."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.door = Door(settings)
        self.connections = Connections(settings.limits)
        self._house = House.open(settings.data)
        self.library = Library(settings.data, self._house, anonymous=settings.anonymous)
        self.live = Live(self.library.shown)
        self.running = Running()
        self.parlour = Parlour(settings.limits, frozenset(settings.cores))
        self._uploads = Uploads(settings.limits, settings.cores)
        self.live.listeners.append(self.running.hear)
        self.requests: Counter[tuple[str, int]] = Counter()
        """By endpoint and status."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.began = time.time()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reading")
        self._own = threading.local()
        self._all_houses: list[House] = []
        self._following: Counter[str] = Counter()
        self._answers = Answers()

    def close(self) -> None:
        self.live.close()
        self.parlour.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for house in [*self._all_houses, self._house]:
            house.close()

    async def run(self, function: Callable[[House], T]) -> T:
        """Call a function in one of the threads, with that thread's connection to the house."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: function(self._of_thread())
        )

    async def visitor(self, request: Request) -> Visitor:
        """Who sent a request. Raises Refusal for a token that is not known."""
        if not presented_token(request)[0]:
            return Visitor(address=address_of(request))
        return await self.run(lambda house: self.door.visitor(request, house))

    async def handle(self, visitor: Visitor, function: Callable[[Call], T], body: Any = None) -> T:
        """Call a handler for a visitor. Every handler is called here, and what the house refuses it
        leaves in words that this visitor may read. Raises Refusal."""

        def handled(house: House) -> T:
            call = Call(
                visitor=visitor,
                sight=self.library.sight(visitor),
                library=self.library,
                house=house,
                running=self.running,
                parlour=self.parlour,
                followers=self.live.followers,
                since=self.live.last,
                body=body,
            )
            try:
                return function(call)
            except (Mistake, Refusal) as error:
                refusal = refusal_of(error, veiled=call.sight.veiled)
                refusal.named = call.sight.begins_with_name(str(refusal))
                raise refusal from None

        return await self.run(handled)

    async def handed_in(self, request: Request, visitor: Visitor, csrf: str = "") -> HandedIn:
        """The bot's folder that a visitor who may hand one in has sent; `csrf` is what came with
        the request itself. Raises Refusal."""
        limit = await self.run(lambda house: house.settings.limits().submission_bytes)
        return await self._uploads.take(
            request,
            visitor.key,
            limit,
            lambda in_form: self.door.must_be_ours(visitor, csrf or in_form),
        )

    async def watch(self) -> None:
        """Keep in mind what the public may see, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            with suppress(Mistake):  # The house is held by somebody; there is a next time.
                await self.run(lambda _: self.library.look())

    def _of_thread(self) -> House:
        house: House | None = getattr(self._own, "house", None)
        if house is None:
            house = self._own.house = House.open(self.settings.data)
            self._all_houses.append(house)
        return house

    @contextmanager
    def following(self, address: str) -> Iterator[None]:
        """While an address follows live events. Raises Refusal where too many do."""
        limits = self.settings.limits
        if self._following.total() >= limits.followers:
            raise Refusal(429, "too many follow live events; come back later", RETRY)
        if self._following[address] >= limits.followers_of_one:
            raise Refusal(429, "too many from this address follow live events", RETRY)
        self._following[address] += 1
        try:
            yield
        finally:
            self._following[address] -= 1
            if not self._following[address]:
                del self._following[address]

    async def kept(self, key: Hashable, make: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer to what the public asks, not older than a second nor than the house."""
        return await self._answers.get((key, self._house.version_of_data()), make)


class Answers:
    """What the public was answered within the last second."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[float, asyncio.Future[Answer]]] = OrderedDict()
        self._bytes = 0

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Answer]]) -> Answer:
        """One that is there, or that is being made, or a new one."""
        now = time.monotonic()
        if key in self._kept and self._kept[key][0] < now:
            self._drop(key)
        if key not in self._kept:
            future = asyncio.ensure_future(make())
            self._kept[key] = (now + KEEP_S, future)
            future.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(self._kept[key][1])

    def _made(self, key: Hashable, done: asyncio.Future[Answer]) -> None:
        """Keep no refusal, and no more than there is room for."""
        if key not in self._kept or self._kept[key][1] is not done:
            return
        if not _is_answer(done):
            del self._kept[key]
            return
        self._bytes += len(done.result().body)
        while len(self._kept) > MOST_KEPT or self._bytes > MOST_KEPT_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        _, future = self._kept.pop(key)
        if _is_answer(future):
            self._bytes -= len(future.result().body)


def _is_answer(future: asyncio.Future[Answer]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
