"""Tournaments that the daemon is asked for, among bots that were handed in."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.record import Record
from referee.reports.standings import read_standings
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house.rows import TournamentRow
from referee.tournament.spec import Spec
from tests.daemon.serving import Daemon, serving
from tests.facts import Naming
from tests.waiting import wait_for

PLAIN = ("--no-web", "--bots", "none", "--variant", "underdog", "--pace", "1")


def asked(daemon: Daemon, spec: Spec) -> TournamentRow:
    with daemon.house() as house:
        return house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")


def over(daemon: Daemon, row: TournamentRow) -> TournamentRow:
    def look() -> TournamentRow | None:
        assert daemon.process.poll() is None, daemon.said
        with daemon.house() as house:
            now = house.tournaments.get(row.id)
        return now if now.state in ("finished", "failed") else None

    return wait_for(look, f"the end of tournament {row.id}; {daemon.said}")


def test_a_tournament_is_played_beside_the_ladder(tmp_path: Path) -> None:
    spec = Spec(name="cup", variants=("underdog",), bots=("random", "lowest", "highest"), games=8)
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        row = asked(daemon, spec)
        bad = asked(daemon, Spec(name="x", variants=("underdog",), bots=("random", "nobody")))
        assert over(daemon, row).state == "finished", daemon.said
        failed = over(daemon, bad)
        assert failed.state == "failed"
        assert failed.told == Naming("no bot 'nobody'")
        assert daemon.stop() == 0
    found = read_standings(daemon.data / "tournaments" / str(row.id))
    assert (found.name, found.played, found.finished) == ("cup", 24, True)
    assert {each.name for each in found.tables[0].rows} == {"random", "lowest", "highest"}
    assert (daemon.data / "tournaments" / str(row.id) / "standings.md").exists()


HALTING = """
import time
from pathlib import Path
from referee.rules.deck import Deck

class Halting(Deck):
    name = "halting"
    applied = 0

    def apply(self, position, plays, chance):
        type(self).applied += 1
        while self.applied > 1000 and not Path({gate!r}).exists():
            time.sleep(0.01)
        return super().apply(position, plays, chance)
"""
"""In the middle of a tournament it waits until a file is there."""


def test_a_tournament_goes_on_after_a_kill(tmp_path: Path) -> None:
    gate, script = tmp_path / "gate", tmp_path / "halting.py"
    script.write_text(HALTING.format(gate=str(gate)))
    bots = ("random", "lowest", "highest")
    spec = Spec(name="cup", variants=(str(script),), bots=bots, games=200)
    data = tmp_path / "data"
    folder = data / "tournaments" / "1"

    def games() -> int:
        if not (folder / FILE).exists():
            return 0
        with Store.read(folder) as store:
            return sum(store.counts().values())

    with serving(data, *PLAIN) as daemon:
        daemon.wait_for_games()
        row = asked(daemon, spec)
        wait_for(lambda: games() > 0, f"the first games; {daemon.said}")
        daemon.kill()
    assert 0 < games() < 600
    gate.touch()
    with serving(data, *PLAIN) as daemon:
        assert over(daemon, row).state == "finished", daemon.said
        assert daemon.stop() == 0
    assert read_standings(folder).played == 600


FEW_LOGS = "from referee.daemon import coordinator, logs; logs.LOG_BYTES = 1_000_000"


@pytest.mark.parametrize("often", [True, False])
def test_the_oldest_logs_of_a_tournament_make_room(tmp_path: Path, often: bool) -> None:
    """While it is played, and when it has ended before anybody looked."""
    spec = Spec(name="cup", variants=("deck",), bots=("random", "lowest"), games=1_000_000)
    before = f"{FEW_LOGS}; coordinator.TIDY_S = 0.1" if often else FEW_LOGS
    with serving(tmp_path / "data", *PLAIN, before=before) as daemon:
        daemon.wait_for_games()
        row = asked(daemon, spec)
        wait_for(lambda: "state=playing" in daemon.said, f"its games; {daemon.said}")
        folders = [daemon.data / "tournaments" / str(row.id), *([daemon.season] if often else [])]
        logs = [folder / "logs" / "duel" / "a - b" for folder in folders]
        for folder in logs:
            folder.mkdir(parents=True)
            (folder / "b.stderr.txt").write_text("new")
            (folder / "a.stderr.txt").write_bytes(bytes(1_000_000))
            os.utime(folder / "a.stderr.txt", (0, 0))
        if not often:
            with daemon.house() as house:
                house.tournaments.cancel(row.id, by="a test")
        old, new = ([folder / f"{name}.stderr.txt" for folder in logs] for name in "ab")
        wait_for(lambda: not any(log.exists() for log in old), "room")
        assert all(log.exists() for log in new)
        assert daemon.stop() == 0, daemon.said


def test_games_are_committed_while_the_daemon_ends(tmp_path: Path) -> None:
    """As long as a chunk may be played then, a kill loses no more than a second of it."""
    cup = Spec(name="cup", variants=("underdog",), bots=("random", "lowest"), games=1_000_000)
    spec = replace(cup, restart="pairing", block=cup.games, at_once=1)
    folder = tmp_path / "data" / "tournaments" / "1"
    seen: set[int] = set()

    def commits() -> int:
        if (folder / FILE).exists():
            with Store.read(folder) as store:
                seen.add(sum(store.counts().values()))
        return len(seen)

    # It is killed as soon as the commits were seen.
    with serving(tmp_path / "data", *PLAIN, "--finish", "60") as daemon:
        daemon.wait_for_games()
        asked(daemon, spec)
        wait_for(lambda: commits() > 1, f"the first games; {daemon.said}")
        daemon.process.terminate()
        wait_for(lambda: "the daemon ends" in daemon.said, "its end to begin")
        seen.clear()
        # What was there before, and what is committed at the very end.
        wait_for(lambda: commits() > 2, f"commits; {daemon.said}")
        assert daemon.process.poll() is None


FAILING = """
import time
from referee.rules.underdog import Underdog

class Failing(Underdog):
    name = "failing"
    applied = 0

    def apply(self, position, plays, chance):
        type(self).applied += 1
        if self.applied % 1000 == 0:
            time.sleep(0.5)  # The games before are reported meanwhile.
            raise SystemExit
        return super().apply(position, plays, chance)
"""


def test_a_block_that_always_fails_ends_the_tournament(tmp_path: Path) -> None:
    """Its games before that are played again each time, and are no progress."""
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    bots = ("random", "lowest")
    spec = Spec(name="cup", variants=(str(script),), bots=bots, games=400, restart="pairing")
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        failed = over(daemon, asked(daemon, spec))
        assert failed.state == "failed"
        assert failed.told == Naming("random", "lowest")
        assert daemon.stop() == 0


def test_no_hand_is_dealt_twice_where_chance_is_hidden(tmp_path: Path) -> None:
    """On a ladder, and in its tournaments, samples are strangers as well."""
    spec = Spec(name="cup", variants=("deck",), bots=("random", "lowest"), games=8)
    words = (*PLAIN, "--variant", "deck", "--pace", "0")
    with serving(tmp_path / "data", *words) as daemon:
        daemon.wait_for_games(20)
        row = asked(daemon, spec)
        assert over(daemon, row).state == "finished", daemon.said
        assert daemon.stop() == 0
    for folder in (daemon.season, daemon.data / "tournaments" / str(row.id)):
        with Store.read(folder) as store:
            bodies = [body for _, _, body in store.records()]
        records = [msgspec.msgpack.decode(body, type=Record) for body in bodies]
        hands = [str(record.chance[0]) for record in records if record.variant == "deck"]
        assert len(hands) == len(set(hands)) >= 8


def test_a_tournament_can_be_called_off(tmp_path: Path) -> None:
    spec = Spec(name="cup", variants=("deck",), bots=("random", "lowest"), games=1_000_000)
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        row = asked(daemon, spec)
        wait_for(lambda: "state=playing" in daemon.said, "its start")
        with daemon.house() as house:
            house.tournaments.cancel(row.id, by="a test")
        wait_for(lambda: "state=cancelled" in daemon.said, "its end")
        daemon.wait_for_games(len(daemon.games()))
        assert daemon.stop() == 0
