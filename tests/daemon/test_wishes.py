"""What people write into the house, a running daemon does: pauses, rulings, seasons, the pace."""

from __future__ import annotations

from pathlib import Path

import msgspec
import zmq

from referee.daemon.live import FILE, TOPIC
from referee.daemon.pace import PaceTerms
from referee.daemon.scoreboard import Snapshot
from referee.reports.standings import read_standings
from referee.store.database import Store
from referee.tournament.spec import Spec
from tests.daemon.serving import Daemon, serving
from tests.waiting import PATIENCE_S, wait_for

QUICK = ("--no-web", "--bots", "none", "--variant", "underdog")


def players_since(daemon: Daemon, known: set[tuple[int, int]]) -> set[str]:
    """The names in games that are new."""
    with Store.read(daemon.season) as store:
        names = {row.id: row.name for row in store.bots()}
        found: set[str] = set()
        for rows in store.columns():
            for pairing, number, _, first, second, *_ in rows:
                if (pairing, number) not in known:
                    found |= {names[first], names[second]}
    return found


def snapshot(daemon: Daemon) -> Snapshot:
    return msgspec.json.decode((daemon.season / "standings.json").read_bytes(), type=Snapshot)


def test_whoever_is_paused_gets_no_games(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        daemon.wait_for_games()
        with daemon.house() as house:
            kept = {"random", "lowest"}
            for bot in house.bots.all():
                if bot.name not in kept:
                    house.bots.pause(bot.name, by="a test")
        # What was on its way when they were paused may still come.
        at_pause = daemon.wait_for_games(len(daemon.games()) + 40)
        daemon.wait_for_games(len(at_pause) + 20)
        assert players_since(daemon, set(at_pause)) == {"random v1", "lowest v1"}
        assert daemon.stop() == 0


def test_a_ruling_is_carried_into_the_tables(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        pairing, number = min(daemon.wait_for_games())
        with daemon.house() as house:
            season = house.seasons.named("1")
            house.rulings.add(season, (pairing, number), "void", reason="the lamp fell", by="me")

        def ruled() -> bool:
            return any(ruling.reason == "the lamp fell" for ruling in snapshot(daemon).rulings)

        wait_for((daemon.season / "standings.json").exists, "a snapshot")
        wait_for(ruled, "the ruling in the tables")
        with daemon.house() as house:
            assert house.rulings.pending() == []
        assert daemon.stop() == 0
        with daemon.house() as house:
            assert house.ratings.latest(house.seasons.named("1"))


def test_seasons_follow_each_other(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        daemon.wait_for_games()
        with daemon.house() as house:
            house.seasons.close("1", by="a test")
        wait_for(lambda: "season closed" in daemon.said, "the end of the season")
        done = len(daemon.games())
        found = read_standings(daemon.season)
        assert found.finished
        assert found.seed
        spec = Spec(name="finals", variants=("duel",), sandbox="none", prior=True)
        with daemon.house() as house:
            house.seasons.start(msgspec.json.encode(spec).decode(), "finals", by="a test")
        finals = daemon.data / "seasons" / "finals"

        def playing() -> bool:
            return finals.exists() and bool((finals / "standings.json").exists())

        wait_for(playing, "the next season")
        assert len(daemon.games()) == done
        assert daemon.stop() == 0
        assert read_standings(finals).variants == ["duel"]


def test_a_ruling_on_a_closed_season_is_carried_into_its_tables(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        pairing, number = min(daemon.wait_for_games())
        with daemon.house() as house:
            house.seasons.close("1", by="a test")
        wait_for(lambda: "season closed" in daemon.said, "the end of the season")
        with daemon.house() as house:
            season = house.seasons.named("1")
            house.rulings.add(season, (pairing, number), "void", reason="too late", by="me")
        wait_for(
            lambda: any(each.reason == "too late" for each in snapshot(daemon).rulings),
            f"the ruling in the tables; {daemon.said}",
        )
        assert daemon.stop() == 0


def test_what_is_asked_for_the_first_season_is_not_for_a_later_one(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK, "--time", "1s") as daemon:
        daemon.wait_for_games()
        assert daemon.stop() == 0
    with serving(tmp_path / "data", *QUICK, "--time", "1000ms") as daemon:
        daemon.wait_for_games(len(daemon.games()))
        assert daemon.stop() == 0
        assert "goes on as it was begun" not in daemon.said
    other = (*QUICK[:-1], "duel", "--time", "2s")
    with serving(tmp_path / "data", *other) as daemon:
        daemon.wait_for_games(len(daemon.games()))
        assert daemon.stop() == 0
        told = [line for line in daemon.said.splitlines() if "goes on as it was begun" in line]
        assert len(told) == 1
        assert "the variant underdog is missing" in told[0]
        assert "time was 1s and is 2s" in told[0]
        assert "referee season close" in told[0]
    daemon = Daemon(tmp_path / "data", *QUICK, "--limit", "memory=64MB")
    assert daemon.process.wait(PATIENCE_S) == 2
    assert "the limit memory was" in daemon.said
    assert len(daemon.said.splitlines()) == 1


def test_followers_hear_of_games_and_tables(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    context = zmq.Context()
    socket = context.socket(zmq.SUB)
    socket.set(zmq.LINGER, 0)
    socket.set(zmq.RECONNECT_IVL, 20)
    socket.subscribe(TOPIC)
    try:
        socket.connect(f"ipc://{data / FILE}")
        with serving(data, *QUICK) as daemon:
            heard: dict[str, dict[str, object]] = {}

            def listen() -> bool:
                while socket.poll(0):
                    event = msgspec.json.decode(socket.recv_multipart()[1])
                    heard[event["type"]] = event
                return {"ended", "standings", "counters"} <= heard.keys()

            wait_for(listen, f"events; {daemon.said}")
            assert heard["ended"].keys() == {
                *("type", "game", "variant", "players", "winner", "ending", "scores")
            }
            assert str(heard["ended"]["game"]).startswith("1/")
            assert heard["standings"]["season"] == "1"
            assert daemon.stop() == 0
    finally:
        socket.close()
        context.term()


def test_the_pace_can_be_set_while_it_runs(tmp_path: Path) -> None:
    with serving(tmp_path / "data", *QUICK) as daemon:
        daemon.wait_for_games()
        with daemon.house() as house:
            house.settings.set("pace", PaceTerms(room_bytes=1 << 60), by="a test")
        # There is never that much room: the disk counts as full, and nothing is begun.
        wait_for(lambda: "no room" in daemon.said, "the daemon to notice")
        before = len(daemon.games())
        with daemon.house() as house:
            house.settings.set("pace", PaceTerms(games_per_s=0), by="a test")
        daemon.wait_for_games(before + 20)
        assert daemon.stop() == 0
