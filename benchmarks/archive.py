"""How fast the archive of a long season is made, and how fast it opens in a browser.

    make bench-archive

A season of three weeks is written by the store's own writer: 12 bots, all five variants, 300,000
games. The games are played here by the rules, some hundred of each variant with random moves, and
every one of them is kept many times under other names. Then it is archived as `referee archive`
does, and Chromium opens its first page and pages of games from the disk, each in a new window: from
the call to the moment when the page has drawn itself and can be used.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace
from playwright.sync_api import Browser, sync_playwright

from benchmarks.sizes import SizeParser
from referee.arena.bookkeeper import Bookkeeper
from referee.arena.game import Game, Setting
from referee.bots.manifest import Bot
from referee.clock import BankClock, read_clock
from referee.record import BotInfo, Record
from referee.reports.archive.make import Made, Wish, make_archive
from referee.rules.registry import BUNDLED, build_variant
from referee.schedule import pairing_games
from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.tournament.batching import Batches
from referee.tournament.chunk import Chunk, Contestant, Manner
from referee.tournament.spec import Spec

BOTS = 12
WEEKS = 3
AIM_S = 2.0
"""To open any page."""
READY = "document.documentElement.dataset.ready === 'yes'"
STARTED = datetime(2026, 3, 2, 9, tzinfo=UTC)


def played(variant: str, games: int) -> list[Record]:
    """Real games, with random moves."""
    setting = Setting(
        variant=build_variant(variant, {}),
        clock=read_clock("1s"),
        players=("a", "b"),
        bots=(BotInfo("1", ""), BotInfo("1", "")),
        tournament="ladder",
    )
    chance = random.Random(variant)
    books = Bookkeeper(setting)
    found = []
    for order in pairing_games("bench", variant, "a", "b", games, hidden_chance=False):
        game = Game(order, setting, BankClock(setting.clock))
        table = game.table
        while table.verdict is None:
            for seat in table.due:
                _, _, legal = table.request(seat)
                assert legal is not None
                table.answer(seat, chance.choice(legal), chance.randrange(100_000, 3_000_000))
        found.append(books.record(order, table.verdict, game, 0))
    return found


def write_season(folder: Path, games: int, real: int) -> int:
    """A season of about so many games, so many of each variant real ones; how many it has."""
    names = [f"bot-{number} v1" for number in range(1, BOTS + 1)]
    spec = Spec(name="ladder", variants=tuple(BUNDLED), prior=True)
    values = {
        "name": spec.name,
        "spec": msgspec.json.encode(spec).decode(),
        "seed": "bench",
        "level": "none",
        "started": STARTED.isoformat(),
    }
    rows = [BotRow(number, name, "1", "", "{}") for number, name in enumerate(names, start=1)]
    pairs = list(itertools.combinations(range(BOTS), 2))
    each = max(2, games // (len(pairs) * len(BUNDLED)) // 2 * 2)
    apart = timedelta(weeks=WEEKS) / (each * len(pairs) * len(BUNDLED))
    numbers = itertools.count(1)
    manner = Manner(
        tournament="ladder",
        clock=read_clock("1s"),
        startup_ms=0,
        warm_up_ms=0,
        think="in turn",
        at_once=1,
    )
    with Store.create(folder, values, rows) as store:
        for variant in BUNDLED:
            records = itertools.cycle(played(variant, real))
            for first, second in pairs:
                number = next(numbers)
                row = PairingRow(number, 1, variant, first + 1, second + 1, each)
                store.add_pairings([row])
                chunk = Chunk(
                    id=number,
                    pairing=number,
                    variant=variant,
                    options={},
                    branch="",
                    first=Contestant(first + 1, Bot(name=names[first], command=())),
                    second=Contestant(second + 1, Bot(name=names[second], command=())),
                    numbers=((1, each),),
                    own_chance=False,
                    budget_s=1.0,
                    manner=manner,
                )
                batches = Batches(chunk)
                for record in _renamed(records, chunk, apart):
                    batches.add(record, 0.0)
                batch = batches.take()
                assert batch is not None
                store.add_games(batch.games, batch.faults, batch.times)
        store.set_value("finished", (STARTED + timedelta(weeks=WEEKS)).isoformat())
        store.commit()
    return each * len(pairs) * len(BUNDLED)


def _renamed(records: Iterator[Record], chunk: Chunk, apart: timedelta) -> Iterator[Record]:
    """These games as those of a chunk."""
    players = (chunk.first.bot.name, chunk.second.bot.name)
    for number in chunk.each_number():
        at = STARTED + apart * (chunk.pairing * chunk.numbers[0][1] + number)
        yield replace(
            next(records),
            game=f"{chunk.pairing}-{number}",
            pair=(number + 1) // 2,
            players=players if number % 2 else players[::-1],
            started=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        )


def opened_s(browser: Browser, page: Path, repeats: int) -> float:
    """Seconds until a page can be used, the median."""
    found = []
    for _ in range(repeats):
        context = browser.new_context()
        window = context.new_page()
        began = time.perf_counter()
        window.goto(page.as_uri(), wait_until="load")
        window.wait_for_function(READY)
        found.append(time.perf_counter() - began)
        context.close()
    return statistics.median(found)


def measure(folder: Path, games: int, real: int, repeats: int) -> dict[str, float]:
    began = time.perf_counter()
    count = write_season(folder / "season", games, real)
    written = time.perf_counter()
    made: Made = make_archive(folder / "season", folder / "archive", Wish(season="1"))
    archived = time.perf_counter()
    report = folder / "archive" / "report"
    pages = sorted(report.glob("games-*.html"))
    command = shutil.which("chromium")
    if command is None:
        raise SystemExit("no chromium here; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        # Without the option chromium refuses to run as root; the pages here are our own.
        browser = playwright.chromium.launch(executable_path=command, args=["--no-sandbox"])
        opened_s(browser, report / "index.html", 1)
        first = opened_s(browser, report / "index.html", repeats)
        others = [opened_s(browser, page, repeats) for page in (pages[0], pages[-1])]
        browser.close()
    return {
        "games": count,
        "write_s": round(written - began, 1),
        "archive_s": round(archived - written, 1),
        "pieces": made.pieces,
        "bytes": made.bytes,
        "index_bytes": (report / "index.html").stat().st_size,
        "largest_page_bytes": max(page.stat().st_size for page in pages),
        "index_open_s": round(first, 3),
        "page_open_s": round(max(others), 3),
    }


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--games", 300_000, 660)
    parser.add_size("--played", 200, 5, about="games of each variant that are really played")
    parser.add_size("--repeats", 5, 1)
    asked = parser.sizes()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), asked.games, asked.played, asked.repeats)
    print(f"{figures['games']:,} games written in {figures['write_s']} s")
    print(f"archived in {figures['archive_s']} s: {figures['pieces']} pieces, ", end="")
    print(f"{figures['bytes'] / 1e6:.0f} MB")
    for name, size, what in (
        ("index_open_s", "index_bytes", "the first page"),
        ("page_open_s", "largest_page_bytes", "a page of games"),
    ):
        told = "" if figures[name] <= AIM_S else f", over the aim of {AIM_S:g} s"
        print(f"{what}, {figures[size] / 1e6:.1f} MB, opens in {figures[name]:.2f} s{told}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
