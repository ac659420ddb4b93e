"""The store at size: how fast games are written, what they take, and how soon there are standings.

    make bench-store

Plays a few hundred real games, fills a store with as many rows as are asked for by the store's own
writer, each with one of the real records and a result by chance, and times `referee standings` from
start to end. `--keep DIR` leaves the store there, and measures one that is there already. With
`--store URL` it is on a PostgreSQL server, in a schema that is called bench or as `#NAME` says, and
stays there.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations, islice
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.sizes import SizeParser
from referee.store.buckets import Spent, count_times
from referee.store.database import Store
from referee.store.oldest import used_bytes
from referee.store.place import holds_tournament, read_address
from referee.store.rows import BotRow, FaultRow, GameRow, PairingRow, TimesRow
from referee.tournament.spec import Spec

COMMIT_GAMES = 10_000
"""As many as a quick tournament plays in a second."""
FAULTY = 0.01
COPIES = 0.05


def real_records(games: int) -> list[bytes]:
    """Of a match between two sample bots."""
    with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
        words = ("--bot", "random", "--bot", "counter", "--games", str(games), "--out", "t")
        command = [sys.executable, "-m", "referee", "tournament", *words, "--sandbox", "none"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        with Store.read(Path(folder) / "t") as store:
            return [body for _, _, body in store.records()]


def rows_of(
    row: PairingRow, edge: float, bodies: list[bytes], seed: int
) -> Iterator[tuple[GameRow, FaultRow | None]]:
    """The games of a pairing; the first bot has the edge."""
    draw = np.random.default_rng(seed)
    points = draw.choice(3, row.games, p=((1 - edge) * 0.95, 0.05, edge * 0.95))
    digests = draw.integers(-(1 << 63), 1 << 63, row.games)
    chance = draw.random(row.games)
    digests[chance < COPIES] = digests[0]
    which = draw.integers(0, len(bodies), row.games)
    columns = (points.tolist(), digests.tolist(), (chance > 1 - FAULTY).tolist(), which.tolist())
    for number, (own, digest, faulty, at) in enumerate(zip(*columns, strict=True), start=1):
        even = number % 2 == 0
        seats = (row.second, row.first) if even else (row.first, row.second)
        half = 2 - own if even else own
        fault = None
        if faulty and half != 1:
            seat = half // 2
            fault = FaultRow(row.id, number, seat, seats[seat], "timeout", 3, "no answer")
        ending = "rules" if fault is None else "timeout"
        yield (
            GameRow(
                *(row.id, number, (number + 1) // 2, seats[0], seats[1], half),
                ending=ending,
                plays=13,
                digest=digest,
                record=bodies[at],
            ),
            fault,
        )


def pairs_of(bots: int, met: int | None) -> list[tuple[int, int]]:
    """A round-robin, or one in which everybody meets so many others, spread over all."""
    if met is None:
        return list(combinations(range(1, bots + 1), 2))
    steps = random.Random(3).sample(range(1, (bots + 1) // 2), met // 2)
    each = {tuple(sorted((at, (at + step) % bots))) for step in steps for at in range(bots)}
    return [(low + 1, high + 1) for low, high in sorted(each)]


def fill(
    folder: Path,
    games: int,
    pairs: list[tuple[int, int]],
    bots: int,
    bodies: list[bytes],
    store_url: str | None = None,
) -> dict[str, float]:
    """These pairings of so many bots, with so many games, whose records are these."""
    decoded = [msgspec.msgpack.decode(body, type=Spent) for body in bodies]
    spent = [each.moves for each in count_times(0, (0, 1), decoded)]
    """Of all real games: what comes with every batch, counted beforehand as a worker does it."""
    each = max(2, games // len(pairs) // 2 * 2)
    rows = [PairingRow(at, 1, "underdog", *pair, each) for at, pair in enumerate(pairs, start=1)]
    spec = Spec(name="bench", variants=("underdog",), games=each)
    values = {"name": "bench", "spec": msgspec.json.encode(spec).decode(), "seed": "s"}
    named = [BotRow(at, f"bot{at:05}", "1", "", "{}") for at in range(1, bots + 1)]
    draw = random.Random(1)
    strength = [0.0, *(draw.gauss(0, 0.8) for _ in named)]
    made = 0
    address = None if store_url is None else read_address(store_url)
    began, cpu = time.perf_counter(), time.process_time()
    with Store.create(folder, values, named, address) as store:
        store.add_pairings(rows)
        store.commit()
        since = 0
        for row in rows:
            edge = 1 / (1 + 2.718 ** (strength[row.second] - strength[row.first]))
            found = rows_of(row, edge, bodies, row.id)
            both = zip((row.first, row.second), spent, strict=True)
            times = [TimesRow(row.id, bot, moves) for bot, moves in both]
            while batch := list(islice(found, 1000)):
                store.add_games(
                    [game for game, _ in batch],
                    [fault for _, fault in batch if fault is not None],
                    times,
                )
                since += len(batch)
                if since >= COMMIT_GAMES:
                    store.commit()
                    made, since = made + since, 0
                    if sys.stderr.isatty():
                        print(f"\r  {made:,} games", end="", file=sys.stderr, flush=True)
        store.set_value("finished", "2026-11-16T00:00:00Z")
        store.commit()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"\r  {made + since:,} games in {took:.0f} s", file=sys.stderr, flush=True)
    return {
        "games": made + since,
        "write_us": took * 1e6 / (made + since),
        "write_cpu_us": cpu * 1e6 / (made + since),
        "plain_record_bytes": sum(map(len, bodies)) / len(bodies),
    }


def standings_s(folder: Path, *words: str) -> float:
    """The command from its start to its end."""
    command = [sys.executable, "-m", "referee", "standings", str(folder), *words]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def record_us(folder: Path, asked: int) -> float:
    """One record of a game somewhere."""
    draw = random.Random(2)
    with Store.read(folder) as store:
        rows = store.pairings()
        keys = [(row.id, draw.randint(1, row.games)) for row in draw.choices(rows, k=asked)]
        began = time.perf_counter()
        for pairing, number in keys:
            if store.record(pairing, number) is None:
                raise SystemExit(f"game {pairing}-{number} has no record")
        return (time.perf_counter() - began) * 1e6 / asked


def measure(folder: Path, asked: argparse.Namespace) -> dict[str, float]:
    found: dict[str, float] = {"bots": asked.bots}
    if not holds_tournament(folder):
        pairs = pairs_of(asked.bots, asked.met)
        bodies = real_records(asked.records)
        found |= fill(folder, asked.games, pairs, asked.bots, bodies, asked.store)
    with Store.read(folder) as store:
        found["games"] = sum(store.counts().values())
        found["bytes_a_game"] = used_bytes(store) / found["games"]
        found["pairings"] = len(store.pairings())
    found["standings_s"] = min(standings_s(folder) for _ in range(asked.repeats))
    found["standings_json_s"] = standings_s(folder, "--json")
    found["standings_peak_mb"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    found["record_us"] = record_us(folder, asked.reads)
    return found


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--games", 1_000_000, 600)
    parser.add_size("--bots", 100, 4)
    parser.add_size("--records", 600, 20, about="real games whose records are stored")
    parser.add_size("--repeats", 3, 1, about="of the standings as text")
    parser.add_size("--reads", 500, 20, about="of one record")
    parser.add_argument("--met", type=int, help="opponents of a bot; all others, if not said")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--store", metavar="URL")
    asked = parser.sizes()
    if asked.keep is not None:
        found = measure(asked.keep, asked)
    else:
        with tempfile.TemporaryDirectory(prefix="referee-bench-") as folder:
            found = measure(Path(folder) / "bench", asked)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


if __name__ == "__main__":
    main()
