"""Games of bots that were handed in, watched while they are played, in a real daemon."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.daemon.samples import packed
from referee.store.house import House
from referee.tournament.spec import Spec
from tests.daemon.serving import WEB, processes_of, serving
from tests.daemon.test_submissions import team
from tests.waiting import wait_for
from tests.web.pages.scene import SLOW_BOT, page_url
from tests.web.serving import Web
from tests.web.test_live import Follower

OPTIONS = (*WEB, "--bots", "none", "--time", "10s", "--finish", "0")


def two_slow_bots(tmp_path: Path, seconds: float) -> Path:
    """A house with two bots that take so long for a move."""
    data = tmp_path / "data"
    with House.open(data) as house:
        for name in ("tortoise", "snail"):
            folder = tmp_path / name
            folder.mkdir()
            shutil.copy(SLOW_BOT, folder / "bot.py")
            words = json.dumps([sys.executable, "bot.py", str(seconds)])
            (folder / "bot.toml").write_text(f'name = "{name}"\ncommand = {words}\n')
            (folder / "mark").write_text(name)
            version = house.submissions.keep(name, team(house, f"Team {name}"), packed(folder))
            # A check of slow bots takes as long as it takes, and is not what is tested here.
            house.submissions.claim()
            bot = unpacked(house.submissions.path(version), data, version.id).renamed(name)
            house.submissions.accept(version.id, definition_of(bot, data), "")
    return data


def began(follower: Follower) -> str:
    """The name of the first game that begins while somebody follows."""
    events = follower.events(to='"type":"began"')
    return next(str(event["game"]) for kind, event in events if kind == "began")


def shown(web: Web, game: str) -> dict[str, Any] | None:
    """A game as the API shows it while it is played, once it has moves."""
    games = [each for each in web.read("/live")["games"] if each["game"] == game]
    return games[0] if games and games[0]["moves"] else None


def of_game(events: list[tuple[str, Any]], game: str) -> list[tuple[str, Any]]:
    return [(kind, event) for kind, event in events if event.get("game") == game]


def test_slow_bots_are_watched_move_by_move(tmp_path: Path) -> None:
    data = two_slow_bots(tmp_path, 0.3)
    with serving(data, *OPTIONS, "--variant", "difference") as daemon:
        web = Web(daemon.process, page_url(daemon))
        with Follower(web) as follower:
            game = began(follower)
            wait_for(lambda: shown(web, game), f"its moves; {daemon.said}")
            assert b"tortoise" in web.get("/live").body
            assert web.get(f"/games/{game}").status == 200
            told = of_game(follower.events(to=f'"type":"ended","game":"{game}"'), game)
        kinds = [kind for kind, _ in told]
        assert kinds == ["began", *["moved"] * (len(told) - 2), "ended"]
        first, last = told[0][1], told[-1][1]
        assert first["players"] == last["players"]
        assert set(first["players"]) == {"tortoise v1", "snail v1"}
        wait_for(lambda: web.get(f"/api/v1/games/{game}").status == 200, "its record")
        record = web.read(f"/games/{game}")["record"]
        assert [each["move_number"] for _, each in told[1:-1]] == [
            2 * (number + 1) for number in range(len(record["moves"]) // 2)
        ]
        assert all(each["lines"] for _, each in told[1:-1])
        wait_for(lambda: shown(web, game) is None, "its leaving")
        assert daemon.stop() == 0, daemon.said
    assert "Traceback" not in daemon.said


def test_a_tournament_of_the_daemon_is_watched_too(tmp_path: Path) -> None:
    data = two_slow_bots(tmp_path, 0.1)
    with serving(data, *OPTIONS, "--variant", "difference", "--pace", "0.1") as daemon:
        web = Web(daemon.process, page_url(daemon))
        spec = Spec(name="cup", variants=("difference",), bots=("tortoise", "snail"), games=2)
        with Follower(web, "?only=began,moved,ended,tournament") as follower:
            with daemon.house() as house:
                house.tournaments.ask(msgspec.json.encode(spec).decode(), by="a test")
            events = follower.events(to='"finished"')
        for game in ("t1/1-1", "t1/1-2"):
            kinds = [kind for kind, _ in of_game(events, game)]
            assert kinds == ["began", *["moved"] * 5, "ended"], events
        assert daemon.stop() == 0, daemon.said


def test_nobody_waits_for_a_game_whose_worker_was_lost(tmp_path: Path) -> None:
    data = two_slow_bots(tmp_path, 0.5)
    with serving(data, *OPTIONS, "--variant", "difference") as daemon:
        web = Web(daemon.process, page_url(daemon))
        with Follower(web) as follower:
            began(follower)
            for worker in workers_of(daemon.process.pid):
                os.kill(worker, signal.SIGKILL)
            events = follower.events(to='"ending":"void"')
        kind, void = next(each for each in events if each[1].get("ending") == "void")
        assert (kind, void["winner"]) == ("ended", None)
        assert len(of_game(events, void["game"])) > 1
        assert daemon.stop() == 0, daemon.said


def workers_of(pid: int) -> list[int]:
    return processes_of(pid, b"referee.tournament.worker")
