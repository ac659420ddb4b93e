"""Bots that connect to a real daemon: they are versions, play each other and those handed in."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import holds
from referee.links.keys import write_keys
from referee.record import Record
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House
from referee.store.house.rows import TournamentRow
from referee.tournament.spec import Spec
from tests.arena.playing import ROOT
from tests.daemon.serving import BOTS, HALL_ENDED, Daemon, nothing_left, processes_of, serving
from tests.facts import Naming
from tests.forking import COMMAND, MAIN, Forked
from tests.waiting import PATIENCE_S, wait_for

HALL = ("--no-web", *BOTS, "--variant", "underdog", "--variant", "deck")
SLOW = "def answer(game, turn):\n    time.sleep(0.01)"


@contextlib.contextmanager
def connected(bot: str, to: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """`referee connect`, gone afterwards."""
    words = ("connect", bot, "--to", to, *options)
    process = Forked(COMMAND, MAIN, *words, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def endpoint(daemon: Daemon) -> str:
    """Where bots connect, by what it said."""

    def look() -> str | None:
        assert daemon.process.poll() is None, daemon.said
        lines = [line for line in daemon.said.splitlines() if "Bots connect to " in line]
        return lines[0].partition("Bots connect to ")[2] if lines else None

    return wait_for(look, f"the endpoint; {daemon.said}")


def met(daemon: Daemon) -> set[frozenset[str]]:
    """Who has met whom, in the games that are committed."""
    with Store.read(daemon.season) as store:
        names = {row.id: row.name for row in store.bots()}
        return {
            frozenset((names[first], names[second]))
            for rows in store.columns()
            for _, _, _, first, second, *_ in rows
        }


def two_tokens(data: Path) -> tuple[str, str]:
    with House.open(data) as house:
        # A bot of the house that never plays: no samples are entered where there is one.
        alpha = house.bots.new_token("alpha", by="a test")
        return alpha, house.bots.new_token("beta", by="a test")


def test_two_that_connect_play_each_other(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    with serving(data, *HALL) as daemon:
        to = endpoint(daemon)
        with (
            connected("random", to, "--name", "alpha", "--token", alpha),
            connected("lowest", to, "--name", "beta", "--token", beta) as leaver,
        ):
            games = daemon.wait_for_games(10)
            assert met(daemon) == {frozenset({"alpha v1", "beta v1"})}
            records = [msgspec.msgpack.decode(body, type=Record) for body in games.values()]
            assert {frozenset(record.players) for record in records} == met(daemon)
            deck = {record.pair for record in records if record.variant == "deck"}
            # Hidden chance and bots that live on: every game has chance of its own.
            assert len(deck) == sum(record.variant == "deck" for record in records)
            leaver.terminate()
            wait_for(lambda: "disconnected" in daemon.said, f"the goodbye; {daemon.said}")
        with daemon.house() as house:
            names = {version.name for version in house.versions.playing()}
            assert names == {"alpha v1", "beta v1"}
        below = processes_of(daemon.process.pid)
        assert daemon.stop() == 0, daemon.said
        wait_for(lambda: nothing_left(below), "the hall to leave")
        assert "Traceback" not in daemon.said


def test_a_guest_meets_those_that_were_handed_in(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, _ = two_tokens(data)
    with serving(data, *HALL, "--samples") as daemon:
        to = endpoint(daemon)
        with connected("random", to, "--name", "alpha", "--token", alpha):

            def mixed() -> bool:
                assert daemon.process.poll() is None, daemon.said
                pairs = met(daemon)
                return sum("alpha v1" in pair for pair in pairs) > 1 and len(pairs) > 2

            daemon.wait_for_games()
            wait_for(mixed, f"games of alpha with bots of the house; {daemon.said}")
            below = processes_of(daemon.process.pid)
            assert daemon.stop() == 0, daemon.said
            wait_for(lambda: nothing_left(below), "relays and hall to leave")
        assert "Traceback" not in daemon.said


@pytest.mark.skipif(not holds(Level.STANDARD), reason="level standard is not offered here")
def test_bots_of_the_house_are_confined_in_the_hall_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, _ = two_tokens(data)
    with serving(data, *HALL, "--samples", "--sandbox", "standard") as daemon:
        with connected("random", endpoint(daemon), "--name", "alpha", "--token", alpha):
            daemon.wait_for_games()
            wait_for(lambda: any("alpha v1" in pair for pair in met(daemon)), "a game of alpha")
            assert daemon.stop() == 0, daemon.said
        records = [msgspec.msgpack.decode(body, type=Record) for body in daemon.games().values()]
        # Who connected runs elsewhere, so of his games nothing is claimed.
        ours = [record for record in records if "alpha v1" not in record.players]
        assert {record.level for record in ours} == {"standard"}
        assert all(record.fault is None for record in records), records


def test_what_is_no_zeromq_costs_the_guests_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    post = b"POST / HTTP/1.1\r\nContent-Length: 400\r\n\r\n" + b"x" * 400
    with serving(data, *HALL) as daemon:
        to = endpoint(daemon)
        with (
            connected("random", to, "--name", "alpha", "--token", alpha),
            connected("lowest", to, "--name", "beta", "--token", beta),
        ):
            before = len(daemon.wait_for_games())
            host, port = to.removeprefix("tcp://").split(":")
            for said in (b"\x01\x00\x03\x00hi", post, bytes(range(256))):
                with socket.create_connection((host, int(port))) as stranger:
                    stranger.sendall(said)
                    before = len(daemon.wait_for_games(before))
        assert daemon.stop() == 0, daemon.said
        assert HALL_ENDED not in daemon.said
        assert "Traceback" not in daemon.said


def test_a_guest_comes_back_after_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    with serving(data, *HALL) as daemon:
        to = endpoint(daemon)
        with (
            connected("random", to, "--name", "alpha", "--token", alpha),
            connected("lowest", to, "--name", "beta", "--token", beta),
        ):
            daemon.wait_for_games()
            below = processes_of(daemon.process.pid)
            daemon.kill()
            wait_for(lambda: nothing_left(below), "everything to be gone")
            safe = daemon.games()
            with serving(data, *HALL[:1], "--bots", to, *HALL[3:]) as again:
                after = again.wait_for_games(len(safe))
                assert safe.items() <= after.items()
                assert again.stop() == 0


def test_a_tournament_waits_for_whoever_connects(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    spec = Spec(name="cup", variants=("underdog",), bots=("alpha", "beta"), games=6)
    with serving(data, *HALL) as daemon:
        to = endpoint(daemon)
        with connected("random", to, "--name", "alpha", "--token", alpha):
            wait_for(lambda: "connected bot=" in daemon.said, f"alpha; {daemon.said}")
            with connected("lowest", to, "--name", "beta", "--token", beta):
                wait_for(lambda: daemon.said.count("connected bot=") == 2, "beta")
                with daemon.house() as house:
                    row = house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")

                def over() -> bool:
                    with daemon.house() as house:
                        return house.tournaments.get(row.id).state == "finished"

                wait_for(over, f"the end of the tournament; {daemon.said}")
        assert daemon.stop() == 0


def test_a_bot_that_connects_cannot_be_started_for_every_game(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, _ = two_tokens(data)
    whole = Spec(name="cup", variants=("underdog",), games=6, restart="game")
    specs = [replace(whole, bots=names) for names in (("alpha", "random"), ("lowest", "random"))]
    with serving(data, *HALL, "--samples") as daemon:
        to = endpoint(daemon)
        with connected("random", to, "--name", "alpha", "--token", alpha):
            wait_for(lambda: "connected bot=" in daemon.said, f"alpha; {daemon.said}")
            with daemon.house() as house:
                texts = [msgspec.json.encode(spec).decode() for spec in specs]
                mixed, ours = [house.tournaments.ask(text, by="a test").id for text in texts]

                def ended(number: int) -> TournamentRow | None:
                    row = house.tournaments.get(number)
                    return row if row.state in ("finished", "failed") else None

                refused = wait_for(lambda: ended(mixed), f"its end; {daemon.said}")
                assert refused.state == "failed"
                assert refused.told == Naming('restart = "game"', "alpha")
                played = wait_for(lambda: ended(ours), f"its end; {daemon.said}")
                assert played.state == "finished"
        assert daemon.stop() == 0


def test_another_version_does_not_play_for_the_one_that_entered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    alpha, beta = two_tokens(data)
    # So many that they are not played to the end, however busy the machine is.
    spec = Spec(name="cup", variants=("underdog",), bots=("alpha", "beta"), games=5000)
    with serving(data, *HALL) as daemon:
        to = endpoint(daemon)
        with connected("lowest", to, "--name", "beta", "--token", beta):
            with (
                connected(version(1, tmp_path), to, "--name", "alpha", "--token", alpha),
                daemon.house() as house,
            ):
                wait_for(lambda: daemon.said.count("connected bot=") == 2, "both")
                row = house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")
                folder = house.tournaments.folder(row)
                wait_for(lambda: games_of(folder), f"games of the tournament; {daemon.said}")
            with connected(version(2, tmp_path), to, "--name", "alpha", "--token", alpha):
                # It plays on the ladder meanwhile.
                wait_for(lambda: any("alpha v2" in pair for pair in met(daemon)), "alpha v2")
                # The daemon commits the ladder and the tournament one after the other. With more
                # games of the ladder, all that came before these is committed in both.
                daemon.wait_for_games(len(daemon.games()))
                before = games_of(folder)
                for _ in range(2):
                    daemon.wait_for_games(len(daemon.games()))
                assert games_of(folder) == before
            with connected(version(1, tmp_path), to, "--name", "alpha", "--token", alpha):
                wait_for(lambda: games_of(folder) > before, "more games of the tournament")
        assert daemon.stop() == 0


def version(number: int, tmp_path: Path) -> str:
    """A slow bot that plays a game at a time, in this version."""
    folder = tmp_path / f"version{number}"
    if not folder.exists():
        shutil.copytree(ROOT / "sample_bots/random", folder)
        edit(folder / "bot.py", '"games_at_once": 64', '"games_at_once": 1')
        edit(folder / "bot.py", "def answer(game, turn):", SLOW)
        edit(folder / "bot.toml", 'version = "1.0"', f'version = "{number}"')
    return str(folder)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def games_of(folder: Path) -> int:
    if not (folder / FILE).exists():
        return 0
    with Store.read(folder) as store:
        return sum(store.counts().values())


@pytest.mark.parametrize("known", [True, False])
def test_with_keys_only_those_come_in_that_are_known(tmp_path: Path, known: bool) -> None:
    data = tmp_path / "data"
    paths = {name: write_keys(tmp_path, name) for name in ("alpha", "beta")}
    with House.open(data) as house:
        for name, path in paths.items():
            public = path.read_text().split('public = "')[1].split('"')[0]
            if known or name == "alpha":
                house.bots.trust(name, public, by="a test")
    with serving(data, "--no-web", "--bots", "tcp://0.0.0.0:0", "--variant", "underdog") as daemon:
        where, _, server_key = endpoint(daemon).partition(", server key ")
        to = where.replace("0.0.0.0", "127.0.0.1")
        with (
            connected(
                *("random", to, "--name", "alpha", "--key", str(paths["alpha"])),
                *("--server-key", server_key),
            ),
            connected(
                *("lowest", to, "--name", "beta", "--key", str(paths["beta"])),
                *("--server-key", server_key),
            ) as second,
        ):
            if known:
                daemon.wait_for_games()
            else:
                assert second.wait(PATIENCE_S) == 3
                assert 'bot="beta' not in daemon.said
        assert daemon.stop() == 0
        assert (data / "server.key").stat().st_mode & 0o777 == 0o600
