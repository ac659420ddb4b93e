"""Builds of several bots, side by side: who waits for them waits for the slowest, not for their
sum."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

from referee.bots.building import OnBuild, built
from referee.bots.confinement import Confinement
from referee.bots.manifest import BadBot, Bot

MOST = 8
"""Builds at a time, however many cores there are: each is made in memory."""

Outcome = Bot | BadBot
"""A bot that is ready to run, or why it is not."""
_News = str | tuple[int, Bot | BaseException]
"""The name of a bot whose build begins; or its number, and what became of it."""


def side_by_side(
    bots: Sequence[Bot], build: Callable[[Bot, OnBuild], Bot], on_build: OnBuild, at_once: int
) -> Iterator[Outcome]:
    """Build these bots, so many at a time; what became of each, in their order.

    `on_build` hears of builds that begin in the thread of whoever asks. That thread can be
    interrupted: what is being built then ends with the process.
    """
    news: SimpleQueue[_News] = SimpleQueue()
    waiting = iter(enumerate(bots))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number, bot = next(waiting, (0, None))
            if bot is None:
                return
            try:
                news.put((number, build(bot, news.put)))
            except BaseException as error:
                news.put((number, error))

    for _ in range(min(at_once, MOST, len(bots))):
        threading.Thread(target=work, daemon=True).start()
    done: dict[int, Bot | BaseException] = {}
    for number in range(len(bots)):
        while number not in done:
            heard = news.get()
            if isinstance(heard, str):
                on_build(heard)
            else:
                done[heard[0]] = heard[1]
        outcome = done.pop(number)
        if not isinstance(outcome, Outcome):
            raise outcome
        yield outcome


def both_built(
    bots: tuple[Bot, Bot],
    confinement: Confinement,
    at_once: int,
    *,
    on_build: OnBuild | None = None,
    compiler_cache: bool = False,
) -> tuple[Bot, Bot]:
    """The two bots of a game, ready to run (building.py).

    Raises BadBot. If neither can be built, it is the first one's, with the other one's beside it.
    """

    def build(bot: Bot, begins: OnBuild) -> Bot:
        return built(bot, confinement, on_build=begins, compiler_cache=compiler_cache)

    def begun(name: str) -> None:
        if on_build is not None:
            on_build(name)

    first, second = side_by_side(bots, build, begun, at_once)
    if isinstance(first, BadBot):
        # A bot that plays itself may fail twice in the same words.
        if isinstance(second, BadBot) and str(second) != str(first):
            first.others = (second,)
        raise first
    if isinstance(second, BadBot):
        raise second
    return first, second
