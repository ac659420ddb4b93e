"""Bad requests: the right status, one sentence as JSON, and never more than that."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest

from tests.waiting import PATIENCE_S
from tests.web.contest import Contest
from tests.web.serving import Web, serving

Served = tuple[Web, Contest]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/nothing", 404),
        ("/api/v1/", 404),
        ("/api/v2/standings", 404),
        ("/api/v1/standings/", 404),
        ("/api/v1/standings?season=9", 404),
        ("/api/v1/standings?season=../1", 400),
        ("/api/v1/standings?season=1'%20OR%201=1", 400),
        ("/api/v1/standings?variant=chess", 404),
        ("/api/v1/standings?versions=some", 400),
        ("/api/v1/standings?colour=red", 400),
        ("/api/v1/standings?season=1&season=1", 400),
        ("/api/v1/bots/nobody", 404),
        ("/api/v1/bots/%2e%2e", 404),
        ("/api/v1/bots/..%2f..%2fhouse.db", 404),
        ("/api/v1/bots/a%00b", 404),
        ("/api/v1/bots/%ff%fe", 404),
        ("/api/v1/bots/red'--", 404),
        ("/api/v1/bots/red/versions/7", 404),
        ("/api/v1/bots/red/versions/0", 404),
        ("/api/v1/bots/red/versions/99999999999999999999", 404),
        ("/api/v1/games?limit=0", 400),
        ("/api/v1/games?limit=501", 400),
        ("/api/v1/games?limit=many", 400),
        ("/api/v1/games?before=yesterday", 400),
        ("/api/v1/games?bot=nobody", 404),
        ("/api/v1/games?bot=", 400),
        ("/api/v1/games/1/1-99", 404),
        ("/api/v1/games/1/99-1", 404),
        ("/api/v1/games/2/1-1", 404),
        ("/api/v1/games/1/0-1", 404),
        ("/api/v1/games/1/1-1;DROP", 404),
        ("/api/v1/games/..%2f1/1-1", 404),
        ("/api/v1/games/1/999999999-999999999", 404),
        ("/api/v1/variants/..", 404),
        ("/api/v1/variants/.%2fmy_game.py", 404),
        ("/api/v1/tournaments/1", 404),
        ("/api/v1/events?only=secrets", 400),
        ("/api/v1/events?game=1", 400),
    ],
)
def test_what_cannot_be_asked(shared: Served, path: str, status: int) -> None:
    web, _ = shared
    reply = web.get(path)
    assert reply.status == status, reply
    assert "\n" not in reply.error
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_method_that_is_not_taken(shared: Served, method: str) -> None:
    web, contest = shared
    reply = web.ask(method, "/api/v1/standings", b"", contest.organiser, {})
    assert reply.status == 405
    assert reply.headers["allow"] == "GET, HEAD"
    assert reply.error == "this address takes GET, HEAD"


UNKNOWN = "this token is not known"


def test_a_token_that_is_not_known(shared: Served) -> None:
    web, _ = shared
    reply = web.get("/api/v1/standings", "0" * 32)
    assert (reply.status, reply.error) == (401, UNKNOWN)
    assert reply.headers["www-authenticate"].startswith("Bearer")
    for header in ("Basic YTpi", "Bearer", "Bearer  ", "x" * 300):
        assert web.get("/api/v1/standings", Authorization=header).status == 401


CHANGES = [
    ("/api/v1/submissions", b"x"),
    ("/api/v1/bots/red/pause", None),
    ("/api/v1/bots/red/resume", None),
    ("/api/v1/bots/red/activate", {"version": 1}),
    ("/api/v1/bots/red/disqualify", {"reason": "none"}),
    ("/api/v1/bots/red/reinstate", None),
    ("/api/v1/games/1/1-1/ruling", {"what": "void", "reason": "none"}),
    ("/api/v1/tournaments", {"spec": {"name": "final", "variants": ["duel"]}}),
    ("/api/v1/tournaments/1/cancel", None),
]


@pytest.mark.parametrize(("path", "body"), CHANGES)
def test_changes_need_a_token(shared: Served, path: str, body: object) -> None:
    web, contest = shared
    assert web.post(path, body).status == 401
    assert web.post(path, body, "0" * 32).status == 401
    reply = web.post(path, body, contest.viewer)
    assert (reply.status, "Guests (viewer)" in reply.error) == (403, True)
    if path.endswith(("pause", "resume", "activate")):
        reply = web.post(path, body, contest.blues)
        assert (reply.status, reply.error) == (403, "red is another team's bot")
    elif path != "/api/v1/submissions":
        assert web.post(path, body, contest.blues).status == 403


def test_bodies_that_are_not_taken(shared: Served) -> None:
    web, contest = shared
    path, token = "/api/v1/bots/red/disqualify", contest.organiser
    as_json = {"Content_Type": "application/json"}
    assert web.post(path, b"reason=x", token).status == 415
    for nothing in (b"", b" \n"):
        reply = web.post(path, nothing, token, **as_json)
        assert (reply.status, reply.error) == (
            400,
            "the body is empty: a JSON object is expected",
        )
    assert web.post(path, b"[" * 100_000, token, **as_json).status in (400, 413)
    assert web.post(path, b"[" * 60_000, token, **as_json).status == 400
    assert web.post(path, b'{"reason": "\xff"}', token, **as_json).status == 400
    assert web.post(path, {"reason": 1}, token).error.startswith(
        "reason: expected text, not a whole number"
    )
    assert web.post(path, {}, token).status == 400
    assert web.post(path, {"reason": "x", "more": 1}, token).status == 400
    reply = web.post(path, b" " * 70_000, token, **as_json)
    assert (reply.status, reply.error) == (413, "the body is larger than 65536 bytes")
    assert web.get("/api/v1/bots/red").json["bot"]["disqualified"] is None


def test_a_body_that_does_not_say_how_long_it_is(shared: Served) -> None:
    web, contest = shared
    address = urlsplit(web.url)
    head = (
        "POST /api/v1/bots/red/disqualify HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {contest.organiser}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), PATIENCE_S) as connection:
        connection.sendall(head.encode())
        for _ in range(9):
            connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("megabytes", [21, 60, 120])
def test_who_sends_too_much_is_told_so(shared: Served, megabytes: int) -> None:
    """Most clients send all of it before they read the answer."""
    web, contest = shared
    body = bytes(megabytes * 1_000_000)
    tar = {"Content_Type": "application/x-tar"}
    reply = web.post("/api/v1/submissions", body, contest.reds, **tar)
    told = "the archive is larger than the 20 MB that are taken"
    assert (reply.status, reply.error) == (413, told)
    reply = web.post("/api/v1/submissions", body, "0" * 32, **tar)
    assert (reply.status, reply.error) == (401, UNKNOWN)
    reply = web.post("/submit", body, contest.reds, Content_Type="multipart/form-data; boundary=x")
    assert reply.status == 413
    assert told[1:].encode() in reply.body


def test_a_form_that_is_none_is_no_matter_for_the_log(own: Contest) -> None:
    # That nothing is written to stderr, the process that serves is asked at its end.
    with serving(own.data) as web:
        form = {"Content_Type": "multipart/form-data; boundary=x"}
        body = b'--x\r\nContent-Disposition: form-data; na\rme="archive"\r\n\r\ny\r\n--x--\r\n'
        reply = web.post("/api/v1/submissions", body, own.reds, **form)
        assert (reply.status, "form" in reply.error) == (400, True)


def test_who_asks_first_sends_nothing_for_nothing(shared: Served) -> None:
    web, contest = shared
    address = urlsplit(web.url)
    head = (
        "POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-tar\r\n"
        f"Authorization: Bearer {contest.reds}\r\n"
        "Content-Length: 30000000\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), PATIENCE_S) as connection:
        connection.sendall(head.encode())
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_too_many_requests(own: Contest) -> None:
    limits = {"reads_burst": 20, "reads_per_s": 0.01, "tries_burst": 3, "tries_per_s": 0.01}
    with serving(own.data, limits=limits) as web:
        tries = [web.get("/api/v1/me", "0" * 32).status for _ in range(5)]
        assert tries == [401, 401, 401, 429, 429]
        assert web.get("/api/v1/me", own.reds).status == 200
        statuses = [web.get("/api/v1/bots").status for _ in range(20)]
        assert statuses[:10] == [200] * 10
        assert statuses[-1] == 429
        reply = web.get("/api/v1/bots")
        assert reply.error.startswith("too many requests: come back in")
        assert int(reply.headers["retry-after"]) > 1
        assert web.get("/healthz").status == 200


def test_too_many_changes(own: Contest) -> None:
    with serving(own.data, limits={"writes_burst": 3, "writes_per_s": 0.01}) as web:
        path = "/api/v1/bots/red/pause"
        assert [web.post(path, None, own.reds).status for _ in range(4)] == [200, 200, 200, 429]
        assert web.post("/api/v1/bots/blue/pause", None, own.blues).status == 200
        assert web.get("/api/v1/bots", own.reds).status == 200


def test_reading_can_be_closed(own: Contest) -> None:
    with serving(own.data, public=False) as web:
        for path in ("/api/v1/standings", "/api/v1/bots", "/api/v1/events", "/api/v1/openapi.json"):
            assert web.get(path).status == 401
        assert web.get("/").status == 401
        reply = web.get("/api/v1/standings", own.viewer)
        assert reply.status == 200
        assert reply.headers["cache-control"].startswith("private")
        assert web.get("/healthz").status == 200


def test_writing_can_be_closed(own: Contest) -> None:
    with serving(own.data, writing=False) as web:
        reply = web.post("/api/v1/bots/red/pause", None, own.organiser)
        assert (reply.status, "read-only" in reply.error) == (403, True)
        assert web.read("/bots/red")["bot"]["paused"] is False


def test_pages_refuse_as_pages(shared: Served) -> None:
    web, _ = shared
    reply = web.get("/nowhere")
    assert reply.status == 404
    assert reply.headers["content-type"].startswith("text/html")
    assert web.get("/?x=<script>alert(1)</script>").status == 400
    assert b"<script>" not in web.get("/?x=<script>alert(1)</script>").body
    assert web.get("/assets/0/nothing.js").status == 404
    assert web.get("/assets/..%2f..%2fsite.py").status == 404
