"""A frozen season of a real daemon: what comes after is hidden, whatever the clock says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from referee.store.house import House
from tests.cli.running import succeeds
from tests.daemon.serving import WEB, Daemon, serving
from tests.web.pages.scene import page_url
from tests.web.serving import Web, query

PAGES = (*WEB, "--bots", "none", "--variant", "underdog", "--pace", "0")


def test_games_after_a_freeze_stay_hidden_though_the_clock_is_set_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        chief = house.teams.add("Chief", "organiser", by="a test").token
    assert chief is not None
    with serving(data, *PAGES) as daemon:
        web = Web(daemon.process, page_url(daemon))
        daemon.wait_for_games()
        succeeds(tmp_path, "season", "freeze", "--data", data)
        _set_the_clock_back(daemon)
        daemon.wait_for_games(more_than=len(daemon.games()) + 100)
        newest = "/games" + query(limit="500")
        shown = {game["game"] for game in web.read(newest)["games"]}
        later = {game["game"] for game in web.read(newest, chief)["games"]} - shown
        assert len(shown) == min(500, web.read("/standings")["played"])
        assert later
        for game in sorted(later)[:3]:
            assert web.get(f"/api/v1/games/{game}").status == 404
            assert web.get(f"/api/v1/games/{game}", chief).status == 200
        assert daemon.stop() == 0, daemon.said


def _set_the_clock_back(daemon: Daemon) -> None:
    """By an hour, seen from the freeze: it is an hour ahead of all that is played from now on."""
    ahead = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    with daemon.house() as house:
        house._books.write("UPDATE season SET frozen_at = ?", (ahead,))
