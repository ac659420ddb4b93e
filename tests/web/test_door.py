"""Who is let in: logging in, closed reading, and what guessing costs."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest

from tests.facts import Naming
from tests.waiting import PATIENCE_S
from tests.web.contest import Contest
from tests.web.serving import Reply, Web, serving
from tests.web.test_words import said

FORM = {"Content_Type": "application/x-www-form-urlencoded"}


def log_in(web: Web, token: str, where: str = "/", **headers: str) -> Reply:
    return web.post("/login", f"token={token}&next={quote(where)}".encode(), **FORM, **headers)


def cookie(reply: Reply) -> dict[str, str]:
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}


def test_a_browser_comes_in_where_reading_is_closed(own: Contest) -> None:
    with serving(own.data, public=False) as web:
        for page in ("/", "/games?variant=duel"):
            refused = web.get(page)
            assert refused.status == 401
            assert said(refused) == "Log in with your token."
            assert f'href="/login?next={quote(page)}"' in refused.body.decode()
        form = web.get("/login?next=/games")
        assert form.status == 200
        assert b'name="token"' in form.body
        for asset in re.findall(r'(?:href|src)="(/assets/[^"]*)"', form.body.decode()):
            assert web.get(asset).status == 200
        done = log_in(web, own.viewer, "/games")
        assert (done.status, done.headers["location"]) == (303, "/games")
        assert web.get("/games", **cookie(done)).status == 200


def test_a_wrong_token_gives_the_form_again(own: Contest) -> None:
    with serving(own.data) as web:
        wrong = log_in(web, "0" * 32, "/submit")
        assert wrong.status == 401
        assert said(wrong) == Naming("This token", "not known.")
        text = wrong.body.decode()
        assert 'name="token"' in text
        assert 'name="next" value="/submit"' in text
        assert "Log in first" not in text


def test_guessing_is_counted_and_the_right_token_always_works(own: Contest) -> None:
    few = {"tries_burst": 3, "tries_per_s": 0.001}
    with serving(own.data, limits=few) as web:
        assert [log_in(web, f"{n:032}").status for n in range(5)] == [401] * 3 + [429] * 2
        late = log_in(web, "1" * 32)
        assert int(late.headers["retry-after"]) > 100
        assert said(late).startswith("Too many requests: ")
        assert web.get("/api/v1/me", "0" * 32).status == 429
        assert log_in(web, own.reds).status == 303
        assert web.get("/api/v1/me", own.reds).status == 200
        assert b"referee_http_too_often_total 4\n" in web.get("/metrics").body


def test_metrics_have_all_their_digits(own: Contest) -> None:
    with serving(own.data) as web:
        lines = web.get("/metrics").body.decode().splitlines()
    (began,) = [line for line in lines if line.startswith("referee_web_start_time_seconds ")]
    assert time.time() - 2 * PATIENCE_S < float(began.split()[1]) <= time.time()


def test_metrics_are_closed_with_the_rest(own: Contest) -> None:
    with serving(own.data, public=False) as web:
        assert web.get("/metrics").status == 401
        assert web.get("/metrics", "0" * 32).status == 401
        for token in (own.viewer, own.organiser):
            assert b"referee_games_total" in web.get("/metrics", token).body
        health = web.get("/healthz")
        assert (health.status, health.json["status"], health.json["season"]) == (200, "ok", None)


@pytest.mark.parametrize(
    ("path", "needed", "page", "own"),
    [
        ("/api/v1/me", "a token", "/submit", "the token of your team"),
        ("/api/v1/bots/red/stderr", "the token of a team", "/organise", "the organiser's token"),
    ],
)
def test_a_token_is_asked_for_in_the_words_of_who_asks(
    shared: tuple[Web, Contest], path: str, needed: str, page: str, own: str
) -> None:
    web, _ = shared
    told = web.get(path).error
    assert told.startswith(f"this needs {needed}: ")
    assert all(how in told for how in ("--token", "REFEREE_TOKEN", "Authorization: Bearer"))
    assert said(web.get(page)) == f"Log in with {own}."


GUESSES = {"tries_burst": 3, "tries_per_s": 0.001}


def test_nobody_chooses_the_address_by_which_guesses_are_counted(own: Contest) -> None:
    with serving(own.data, limits=GUESSES) as web:
        found = [guess(web, "0.0.0.1", f"9.9.9.{number}") for number in range(5)]
        assert found == [401] * 3 + [429] * 2


def test_a_proxy_that_was_named_is_believed(own: Contest) -> None:
    with serving(own.data, limits=GUESSES, proxies=["127.0.0.0/8"]) as web:
        assert [guess(web, f"9.9.9.{number}") for number in range(5)] == [401] * 5
        # What a visitor wrote stands before what the proxy adds.
        found = [guess(web, f"9.9.8.{number}", "9.9.9.9") for number in range(5)]
        assert found == [401] * 3 + [429] * 2


def test_a_proxy_elsewhere_is_not_this_machine(own: Contest) -> None:
    with serving(own.data, limits=GUESSES, proxies=["10.0.0.1", "192.168.0.0/16"]) as web:
        found = [guess(web, f"9.9.9.{number}") for number in range(5)]
        assert found == [401] * 3 + [429] * 2


def guess(web: Web, *said: str) -> int:
    """What comes of a wrong token, from where these words say."""
    return web.get("/api/v1/me", "0" * 32, X_Forwarded_For=", ".join(said)).status
