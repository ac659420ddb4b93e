"""What is refused is refused in words, on pages as in the API."""

from __future__ import annotations

import doctest
import html
import re
from typing import Any

import msgspec
import pytest

from referee.store.house import House
from referee.web import endpoint, patterns
from referee.web.pages import PAGES
from referee.web.patterns import EXPECTED
from referee.web.table import ENDPOINTS
from tests.facts import Naming
from tests.web.contest import Contest
from tests.web.serving import Reply, Web, serving

RAW = re.compile(r"[\^$]|regex|Expected|`(str|int|object|null)\b")


@pytest.mark.parametrize("module", [patterns, endpoint])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_every_pattern_is_told_in_words() -> None:
    kinds = [each.asks for each in (*ENDPOINTS, *PAGES)]
    kinds += [each.takes for each in ENDPOINTS if each.takes not in (None, endpoint.Archive)]
    used: set[str] = set()
    for kind in kinds:
        _gather(msgspec.json.schema(kind), used)
    assert used <= set(EXPECTED)
    assert len(used) > 5


def _gather(schema: Any, found: set[str]) -> None:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            found.add(schema["pattern"])
        for value in schema.values():
            _gather(value, found)
    elif isinstance(schema, list):
        for value in schema:
            _gather(value, found)


ADDRESSES = {
    "/api/v1/standings?season=UPPER": (400, "season: expected the name of a season: up to 40"),
    "/api/v1/standings?versions=some": (400, "versions: expected active or all"),
    "/api/v1/games?limit=0": (400, "limit: expected a whole number of at least 1"),
    "/api/v1/games?limit=x": (400, "limit: expected a whole number, not text"),
    "/api/v1/games/1/first": (404, "game: expected a game as PAIRING-NUMBER, for example 12-34"),
    "/api/v1/events?only=all": (400, "only: expected one or more of guest, began,"),
    "/api/v1/events?game=12-34": (400, "game: expected a game as SEASON/PAIRING-NUMBER"),
    "/api/v1/variants/My Game": (404, "variant: expected the name of a variant: lower case"),
    "/play/nothing": (404, "Sitting: expected the name of a game by hand, as its address has it"),
    "/?versions=some": (400, "Versions: expected active or all"),
    "/games/1/first": (404, "Game: expected a game as PAIRING-NUMBER"),
    "/rules/My Game": (404, "Variant: expected the name of a variant"),
}


def test_addresses_that_do_not_fit(own: Contest) -> None:
    with serving(own.data) as web:
        for address, (status, told) in ADDRESSES.items():
            reply = web.get(address.replace(" ", "%20"))
            sentence = said(reply)
            assert reply.status == status, (address, sentence)
            assert told in sentence, address
            assert RAW.search(sentence) is None, (address, sentence)
        _bodies_that_do_not_fit(web, own)


def _bodies_that_do_not_fit(web: Web, own: Contest) -> None:
    bodies: dict[str, tuple[object, str]] = {
        "/bots/red/disqualify": ({"reason": ""}, "reason: expected text of at least 1 character"),
        "/bots/red/activate": ({"version": "1"}, "version: expected a whole number, not text"),
        "/games/1/1-1/ruling": ({"what": "no", "reason": "x"}, "what: 'no' is none of"),
        "/bots/blue/disqualify": ({}, "the field `reason` is missing"),
        "/bots/blue/activate": ([], "expected an object, not a list"),
    }
    for path, (body, told) in bodies.items():
        reply = web.post(f"/api/v1{path}", body, own.organiser)
        assert reply.status == 400, reply
        assert reply.error.startswith(told), reply.error
        assert RAW.search(reply.error) is None, reply.error
        assert "enum" not in reply.error


def said(reply: Reply) -> str:
    """The sentence, of a page or of JSON."""
    body = reply.body.decode()
    found = re.search(r'<p class="told"[^>]*>(.*?)(?: <span class="soft">.*?)?</p>', body)
    return html.unescape(found[1] if found else body)


def test_the_name_of_a_bot_is_not_capitalised(own: Contest) -> None:
    with House.open(own.data) as house:
        house.bots.disqualify("red", "plays by telephone", by="tests")
    with serving(own.data) as web:
        plain = {"Content_Type": "application/x-www-form-urlencoded"}
        reply = web.post("/bots/red/resume", b"", own.reds, **plain)
        assert reply.status == 409
        assert said(reply).startswith("red is disqualified")
        assert said(web.get("/bots/nobody")) == Naming("There", "no bot 'nobody'.")
