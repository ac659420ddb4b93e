"""Results that workers make up: none of them is kept, and the games are played elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.bots.manifest import Bot
from referee.clock import read_clock
from referee.cluster.results import BadResult, result_of
from referee.store.rows import FaultRow, GameRow, TimesRow
from referee.tournament.chunk import Batch, Call, Called, Chunk, Contestant, Done, Manner, frame
from tests.cluster.clustering import DaskCluster, all_joined, begin
from tests.cluster.tournament import ends_the_same, words

FORGER = """\
import itertools
from msgspec.structs import replace
from referee.cluster import station
from referee.tournament.chunk import Batch, frame, read_report

honest = getattr(station, "honest", station.work)
station.honest = honest  # dask loads this file twice
kinds = itertools.count()

def forged(report, kind):
    if not isinstance(report, Batch):
        return report
    if kind == 0:  # a game of another pairing, which it was not given
        other = [game._replace(pairing=game.pairing % 3 + 1) for game in report.games]
    elif kind == 1:  # a game that there is not
        other = [game._replace(number=game.number + 1000) for game in report.games]
    else:
        other = report.games * 2
    return replace(report, games=other)

def work(order):
    found = honest(order)
    reports = [read_report(body) for body in found["reports"]]
    if any(isinstance(report, Batch) for report in reports):
        kind = next(kinds) % 3
        found["reports"] = [frame(forged(report, kind))[4:] for report in reports]
        found["logs"] = {"../../escaped": b"forged", "a\\0b": b"forged"}
    return found

station.work = work
"""


def test_what_a_worker_makes_up_is_not_kept(
    bots: Path, cluster: DaskCluster, alone: Path, tmp_path: Path
) -> None:
    """Tables and games are those of honest workers alone."""
    (tmp_path / "forger.py").write_text(FORGER)
    cluster.start_worker(DASK_DISTRIBUTED__WORKER__PRELOAD=str(tmp_path / "forger.py"))
    all_joined(cluster, 2)
    process = begin(tmp_path, *words(bots, "--cluster", cluster.address))
    ends_the_same(process, tmp_path, alone)
    assert not list(tmp_path.rglob("escaped"))


# One by one.

MANNER = Manner(
    tournament="t",
    clock=read_clock("1s", 0),
    startup_ms=1000,
    warm_up_ms=0,
    think="in turn",
    at_once=1,
)


def contestant(number: int) -> Contestant:
    return Contestant(number, Bot(name=f"bot{number}", command=("true",), folder=Path("x")))


CHUNK = Chunk(
    id=7,
    pairing=3,
    variant="underdog",
    options={},
    branch="",
    first=contestant(1),
    second=contestant(2),
    numbers=((4, 6),),
    own_chance=True,
    budget_s=1.0,
    manner=MANNER,
)
CALL = Call(contestant=contestant(1), manner=MANNER)
GAME = GameRow(3, 4, 2, 1, 2, 2, "rules", 13, 0, b"")
FAULT = FaultRow(3, 4, 0, 1, "timeout", 1, "")
TIMES = TimesRow(3, 1, {5: 7, 40: 6})
DONE = Done(chunk=7, stalls=0, replayed=0, errors={}, pinned=True, starting_s=0.0)


def sent(*reports: Any, **more: Any) -> dict[str, Any]:
    bodies = [frame(report)[4:] for report in reports]
    return {"reports": bodies, "logs": {}, "level": "none", "at_hand": [1], **more}


def batch(
    *games: GameRow, fault: FaultRow = FAULT, times: TimesRow = TIMES, chunk: int = 7
) -> Batch:
    return Batch(chunk, list(games), [fault], [times])


def test_an_honest_result_is_taken() -> None:
    found = result_of(CHUNK, sent(batch(GAME, GAME._replace(number=6)), DONE))
    assert [type(report) for report in found.reports] == [Batch, Done]
    swapped = GAME._replace(first=2, second=1, points=None)
    assert result_of(CHUNK, sent(batch(swapped), DONE)).reports
    called = Called(id=1, variants=None, trouble=None)
    assert result_of(CALL, sent(called)).reports == [called]


@pytest.mark.parametrize(
    "forged",
    [
        {},
        [],
        {"reports": [b"\x00"], "logs": {}, "level": "none"},
        sent(batch(GAME), DONE, level="fortress"),
        sent(batch(GAME), DONE, logs=[1]),
        sent(batch(GAME), DONE, logs={f"{number}.txt": b"" for number in range(100)}),
        sent(),
        sent(batch(GAME)),
        sent(batch(GAME._replace(number=7)), DONE),
        sent(batch(GAME._replace(pairing=2)), DONE),
        sent(batch(GAME, GAME), DONE),
        sent(batch(GAME), batch(GAME), DONE),
        sent(batch(GAME._replace(second=3)), DONE),
        sent(batch(GAME._replace(second=1)), DONE),
        sent(batch(GAME._replace(points=3)), DONE),
        sent(batch(GAME, times=TIMES._replace(pairing=2)), DONE),
        sent(batch(GAME, times=TIMES._replace(bot=3)), DONE),
        sent(batch(GAME, times=TIMES._replace(moves={-1: 1})), DONE),
        sent(batch(GAME, times=TIMES._replace(moves={1 << 63: 1})), DONE),
        sent(batch(GAME, times=TIMES._replace(moves={7: 0})), DONE),
        sent(batch(GAME, times=TIMES._replace(moves={7: 1 << 40})), DONE),
        sent(batch(GAME, chunk=8), DONE),
        sent(batch(GAME), msgspec.structs.replace(DONE, chunk=8)),
        sent(Batch(7, [], [], []), DONE),
        sent(batch(GAME, fault=FAULT._replace(number=5)), DONE),
        sent(batch(GAME, fault=FAULT._replace(bot=3)), DONE),
        sent(batch(GAME, fault=FAULT._replace(seat=2)), DONE),
        sent(Called(id=1, variants=None, trouble=None), DONE),
    ],
)
def test_a_result_that_does_not_answer_its_order_is_refused(forged: Any) -> None:
    with pytest.raises(BadResult):
        result_of(CHUNK, forged)


@pytest.mark.parametrize(
    "forged", [sent(), sent(DONE), sent(Called(id=2, variants=None, trouble="x"))]
)
def test_a_call_is_answered_for_the_bot_that_was_called(forged: Any) -> None:
    with pytest.raises(BadResult):
        result_of(CALL, forged)
