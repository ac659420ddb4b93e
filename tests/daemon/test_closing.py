"""What of a daemon's pages can be closed: reading, and writing."""

from __future__ import annotations

from pathlib import Path

from referee.store.house import House
from tests.cli.running import referee, sentence
from tests.daemon.serving import WEB, serving
from tests.daemon.test_submissions import bot_folder
from tests.web.pages.scene import page_url
from tests.web.serving import Web
from tests.web.test_door import log_in

PAGES = (*WEB, "--bots", "none", "--variant", "underdog")


def test_a_daemon_that_is_read_only(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        reds = house.teams.add("Reds", by="a test").token
        chief = house.teams.add("Chief", "organiser", by="a test").token
    assert reds is not None
    assert chief is not None
    bot_folder(tmp_path / "rocky")
    with serving(data, *PAGES, "--read-only") as daemon:
        web = Web(daemon.process, page_url(daemon))
        handed_in = referee(tmp_path, "submit", "rocky", "--to", web.url, REFEREE_TOKEN=reds)
        assert "read-only over the web" in sentence(handed_in)
        reply = web.post("/api/v1/bots/random/pause", None, chief)
        assert (reply.status, "read-only" in reply.error) == (403, True)
        page = web.get("/submit", reds)
        assert (page.status, b"read-only over the web" in page.body) == (200, True)
        assert b"<form class" not in page.body
        page = web.get("/bots/random", chief)
        assert (page.status, b"Pause it" in page.body) == (200, False)
        # Commands on this machine are not of the web.
        assert referee(tmp_path, "pause", "random", "--data", str(data)).status == 0
        assert web.read("/bots/random")["bot"]["paused"] is True
        assert daemon.stop() == 0, daemon.said


def test_a_daemon_whose_reading_is_closed_behind_a_proxy(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        viewer = house.teams.add("Press", "viewer", by="a test").token
    assert viewer is not None
    with serving(data, *PAGES, "--closed", "--proxy", "127.0.0.0/255.0.0.0") as daemon:
        web = Web(daemon.process, page_url(daemon))
        assert web.get("/api/v1/status").status == 401
        assert web.get("/api/v1/status", viewer).status == 200
        secure = log_in(web, viewer, X_Forwarded_Proto="https").headers["set-cookie"]
        assert "Secure" in secure
        assert daemon.stop() == 0, daemon.said
