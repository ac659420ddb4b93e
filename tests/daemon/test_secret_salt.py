"""The salt of a season and of a tournament: nobody is shown it while games are being played."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from referee.reports.standings import read_standings
from referee.store.connect import FILE
from referee.store.database import Store
from referee.tournament.spec import Spec
from tests.cli.running import referee
from tests.daemon.serving import serving
from tests.tournament.playing import SALT
from tests.waiting import wait_for
from tests.web.serving import Web
from tests.web.serving import serving as pages

PLAIN = ("--no-web", "--bots", "none", "--variant", "underdog", "--pace", "20")
API = (
    *("status", "seasons", "standings", "bots", "games", "live", "tournaments", "tournaments/1"),
    "tournaments/1/standings",
)
MOST_PAGES = 60


def everything(web: Web, token: str) -> bytes:
    """All pages that links lead to from the first one, and the API."""
    paths = ["/", *(f"/api/v1/{path}" for path in API)]
    found: list[bytes] = []
    for path in paths:  # It grows meanwhile.
        body = web.get(path, token).body
        found.append(body)
        links = re.findall(r'href="(/[^"#]*)"', body.decode(errors="replace"))
        paths += [link for link in dict.fromkeys(links) if link not in paths][
            : max(0, MOST_PAGES - len(paths))
        ]
    assert len(found) > 2 * len(API), "links were followed"
    return b"".join(found)


def salt_of(folder: Path) -> str:
    with Store.read(folder) as store:
        return store.value("salt") or ""


def test_no_page_and_no_log_shows_a_salt_before_the_end(tmp_path: Path) -> None:
    spec = Spec(name="cup", variants=("underdog",), bots=("random", "lowest"), games=1_000_000)
    with serving(tmp_path / "data", *PLAIN) as daemon:
        daemon.wait_for_games()
        cup = daemon.data / "tournaments" / "1"
        with daemon.house() as house:
            asked = msgspec.structs.replace(spec, seed="friday", salt=SALT)
            house.tournaments.ask(msgspec.json.encode(asked).decode(), by="a test")
            token = str(house.teams.add("Anna", "organiser", by="a test").token)
        wait_for(lambda: (cup / FILE).exists() and read_standings(cup).played, "games of the cup")
        secrets = [salt_of(daemon.season), salt_of(cup)]
        assert secrets[1] == SALT
        assert len(secrets[0]) == len(SALT)
        with pages(daemon.data) as web:
            seen = everything(web, "") + everything(web, token)
        for words in (["standings", "--json"], ["report"]):
            for folder in (daemon.season, cup):
                done = referee(tmp_path, words[0], folder, *words[1:])
                assert done.status == 0, done.err
                seen += done.out.encode()
        assert b"lowest" in seen
        seen += b"".join(path.read_bytes() for path in daemon.data.rglob("*.html"))
        seen += daemon.said.encode()
        assert daemon.stop() == 0
    for secret in (*secrets, "friday"):
        assert secret.encode() not in seen
