"""Where names are hidden: nothing that leaves the process has another team's in it."""

from __future__ import annotations

import itertools
import re
from urllib.parse import quote

import msgspec

from referee.store.house import House
from referee.web.pages import PAGES
from referee.web.paging import Form, Page
from referee.web.table import ENDPOINTS
from tests.web.contest import Contest, archive, hand_in
from tests.web.serving import Web, serving
from tests.web.test_writes import submit

HIDDEN = re.compile(r"\bblues?\b", re.IGNORECASE)
SPEC = {
    "name": "cup",
    "variants": ["duel"],
    "bots": ["red", "blue"],
    "challengers": ["blue"],
    "anchors": {"blue": 0.0},
}


def prepared(own: Contest) -> None:
    """Names wherever there can be one."""
    with House.open(own.data) as house:
        row = house.tournaments.ask(msgspec.json.encode(SPEC).decode(), by="Chief")
        assert house.tournaments.claim() is not None
        house.tournaments.fail(row.id, "blue does not start")
        version = hand_in(house, "blue")
        house._books.write(
            "UPDATE version SET label = ? WHERE id = ?", ("made by the Blues", version)
        )


def filled(path: str, bots: list[str]) -> list[str]:
    """An address with everything in its place that there may be, and things that there are not."""
    values = {
        "bot": [quote(bot) for bot in bots],
        "version": ["1", "99"],
        "season": ["1", "9", "t1"],
        "game": ["1-1", "1-99"],
        "variant": ["duel", "chess"],
        "tournament": ["1", "99"],
        "sitting": ["0" * 32],
    }
    names = re.findall(r"{(\w+)}", path)
    given = itertools.product(*(values[name] for name in names))
    return [path.format(**dict(zip(names, each, strict=True))) for each in given]


def test_no_address_tells_the_name_of_anothers_bot(own: Contest) -> None:
    prepared(own)
    with serving(own.data, anonymous=True) as web:
        bots = [bot["name"] for bot in web.read("/bots", own.reds)["bots"]]
        reads = [f"/api/v1{each.path}" for each in ENDPOINTS if not each.changes]
        reads = [path for path in reads if not path.endswith(("/events", "/openapi.json"))]
        reads += [each.path for each in PAGES if isinstance(each, Page)]
        writes = [f"/api/v1{each.path}" for each in ENDPOINTS if each.changes]
        writes += [each.path for each in PAGES if isinstance(each, Form)]
        asked = [("GET", path) for each in reads for path in filled(each, bots)]
        asked += [("POST", path) for each in writes for path in filled(each, bots)]
        assert len(asked) > 80
        for token in ("", own.viewer, own.reds):
            for method, path in asked:
                _has_no_name(web, method, path, token)


def _has_no_name(web: Web, method: str, path: str, token: str) -> None:
    kind = "application/json" if path.startswith("/api") else "application/x-www-form-urlencoded"
    body = None if method == "GET" else b'{"version": 99}'
    reply = web.ask(method, path, body, token, {"Content-Type": kind})
    assert reply.status < 500, (path, reply)
    found = HIDDEN.search(reply.body.decode())
    assert found is None, (method, path, token, reply.body.decode()[max(0, found.start() - 60) :])


def test_what_is_said_of_a_version_that_is_not_there(own: Contest) -> None:
    with serving(own.data, anonymous=True) as web:
        (other,) = {bot["name"] for bot in web.read("/bots", own.reds)["bots"]} - {"red"}
        told = web.get(f"/api/v1/bots/{other}/versions/99").error
        assert told == f"{other} has no version 99"
        told = web.get(f"/api/v1/bots/{other}/stderr", own.reds).error
        assert told.endswith(f"and {other} is another's")
        assert web.get("/api/v1/bots/red/versions/99", own.reds).error == "red has no version 99"


def test_a_tournament_is_told_without_names(own: Contest) -> None:
    prepared(own)
    with serving(own.data, anonymous=True) as web:
        for told in (web.read("/tournaments")["tournaments"][0], web.read("/tournaments/1")):
            assert (told["name"], told["told"]) == ("cup", "")
            assert told["spec"] == {"name": "cup", "variants": ["duel"]}
        told = web.read("/tournaments/1", own.organiser)
        assert told["told"] == "blue does not start"
        assert told["spec"]["challengers"] == ["blue"]


def test_a_team_is_still_told_of_its_own_in_full(own: Contest) -> None:
    with House.open(own.data) as house:
        house.bots.disqualify("red", "plays by telephone", by="tests")
    with serving(own.data, anonymous=True) as web:
        told = web.post("/api/v1/bots/red/resume", None, own.reds)
        assert (told.status, "red is disqualified" in told.error) == (409, True)
        told = submit(web, archive("blue"), own.reds)
        assert (told.status, "another team's" in told.error) == (403, True)
        told = submit(web, archive("fresh"), own.reds)
        assert told.status == 202
        told = submit(web, archive("fresh"), own.reds)
        assert (told.status, "byte for byte" in told.error) == (409, True)
