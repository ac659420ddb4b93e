"""What tokens may change, and that it is in the house afterwards."""

from __future__ import annotations

import io
import zipfile

import pytest

from referee.store.house import House
from tests.tournament.playing import SALT
from tests.web.contest import Contest, archive, files
from tests.web.serving import Reply, Web, serving

TAR = {"Content_Type": "application/x-tar"}


def form(content: bytes, csrf: str = "") -> tuple[bytes, dict[str, str]]:
    """What a browser sends for a form with a file."""
    part = (
        b'--x\r\nContent-Disposition: form-data; name="label"\r\n\r\nmine\r\n'
        b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n' + csrf.encode() + b"\r\n"
        b'--x\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n'
        b"Content-Type: application/zip\r\n\r\n" + content + b"\r\n--x--\r\n"
    )
    return part, {"Content_Type": "multipart/form-data; boundary=x"}


def zipped(name: str, top: str = "") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for path, content in files(name).items():
            file.writestr(top + path, content)
    return packed.getvalue()


def submit(web: Web, content: bytes, token: str) -> Reply:
    return web.post("/api/v1/submissions", content, token, **TAR)


def test_a_folder_is_handed_in_as_whatever_it_was_packed(own: Contest) -> None:
    with serving(own.data) as web:
        told = submit(web, archive("fresh"), own.reds)
        assert told.status == 202
        assert (told.json["bot"], told.json["number"], told.json["state"]) == ("fresh", 1, "queued")
        with House.open(own.data) as house:
            (version,) = house.submissions.waiting()
            kept = house.submissions.archive(version)
        same = submit(web, archive("fresh", top="./", mode="w:gz"), own.reds)
        assert (same.status, "byte for byte" in same.error) == (409, True)
        for content in (archive("fresh", top="fresh/"), zipped("fresh"), zipped("fresh", "a b/")):
            assert submit(web, content, own.reds).status == 409
        body, headers = form(zipped("other"))
        told = web.post("/api/v1/submissions", body, own.blues, **headers)
        assert (told.status, told.json["label"]) == (202, "mine")
        path = "/bots/fresh/versions/1"
        assert web.read(path, own.reds)["told"] == ""
        assert web.read(path, own.blues)["told"] is None
    assert b"bot.toml" in kept


def test_what_is_not_taken(own: Contest) -> None:
    with serving(own.data) as web, House.open(own.data) as house:
        house.settings.set_limits(
            type(house.settings.limits())(submission_bytes=20_000, submissions_an_hour=4), by="x"
        )
        bad = {
            b"": "is empty",
            b"nonsense": "the archive cannot be read",
            b"PK nonsense": "the archive cannot be read",
            b"\x1f\x8b nonsense": "the archive cannot be read",
            archive("../up"): "a bot's name",
            archive("x", top="../"): "leads out",
            archive("x", top="/"): "leads out",
            archive("x").replace(b"bot.toml", b"bot.tomm"): "bad checksum",
            archive("x", top="a/b/"): "no bot.toml",
            archive("x").replace(b'name = "x"', b'nome = "x"'): "has no name",
            archive("x").replace(b'name = "x"', b'name = "x '): "cannot be read",
        }
        for content, told in bad.items():
            reply = submit(web, content, own.reds)
            assert reply.status == 400, (content[:30], reply)
            assert told in reply.error
        reply = submit(web, archive("x", "y" * 30_000), own.reds)
        assert reply.status == 413
        bomb = archive("x", "y" * 10_000_000, mode="w:gz")
        assert len(bomb) < 20_000
        reply = submit(web, bomb, own.reds)
        assert (reply.status, "bytes together" in reply.error) == (400, True)
        reply = submit(web, archive("blue"), own.reds)
        assert (reply.status, "another team's" in reply.error) == (403, True)
        assert web.post("/api/v1/submissions", archive("x"), own.reds).status == 415
        taken = [submit(web, archive("red", f"# {n}"), own.reds) for n in range(5)]
        assert [reply.status for reply in taken][:2] == [202, 202]
        assert taken[-1].status == 429
        assert int(taken[-1].headers["retry-after"]) > 60


def test_a_team_commands_its_bots(own: Contest) -> None:
    with serving(own.data) as web:
        assert web.post("/api/v1/bots/red/pause", None, own.reds).json["paused"]
        assert web.read("/bots/red")["bot"]["paused"]
        assert not web.post("/api/v1/bots/red/resume", None, own.organiser).json["paused"]
        told = web.post("/api/v1/bots/red/activate", {"version": 1}, own.reds)
        assert (told.status, told.json["state"]) == (200, "playing")
        assert web.read("/bots/red")["bot"]["active"] == 1
        names = {row["name"] for row in web.read("/standings")["tables"][0]["rows"]}
        assert names == {"red v1", "blue v1"}
        assert web.post("/api/v1/bots/red/activate", {"version": 9}, own.reds).status == 404


def test_an_organiser_decides(own: Contest) -> None:
    with serving(own.data) as web:
        reason = {"reason": "plays by telephone"}
        told = web.post("/api/v1/bots/blue/disqualify", reason, own.organiser)
        assert told.json["disqualified"] == "plays by telephone"
        assert web.post("/api/v1/bots/blue/resume", None, own.blues).status == 409
        told = web.post("/api/v1/bots/blue/reinstate", None, own.organiser)
        assert told.json["disqualified"] is None
        ruling = {"what": "award", "seat": 1, "reason": "the host was on fire"}
        told = web.post("/api/v1/games/1/1-1/ruling", ruling, own.organiser)
        assert (told.status, told.json["seat"]) == (202, 1)
        assert web.post("/api/v1/games/1/1-99/ruling", ruling, own.organiser).status == 404
        nobody = {"what": "award", "reason": "none"}
        assert web.post("/api/v1/games/1/1-1/ruling", nobody, own.organiser).status == 400
    with House.open(own.data) as house:
        (row,) = house.rulings.pending()
        assert (row.pairing, row.number, row.what, row.by) == (1, 1, "award", "Chief")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({}, "no variant"),
        ({"variants": ["chess"]}, "unknown variant"),
        ({"variants": ["./my_game.py"]}, "given by its name"),
        ({"variants": ["duel"], "options": {"/etc/x.py": {}}}, "given by its name"),
        ({"variants": ["duel"], "jobs": 100}, "jobs is the daemon's to say"),
        ({"variants": ["duel"], "sandbox": "none"}, "sandbox is the daemon's to say"),
        ({"variants": ["duel"], "games": 0}, "games must be"),
        ({"variants": ["duel"], "games": "many"}, "spec: games: expected a whole number, not text"),
        ({"variants": "duel"}, "spec: variants: expected a list, not text"),
        ({"variants": ["duel"], "bots": "red"}, "list of names"),
        ({"variants": ["duel"], "colour": "red"}, "no key 'colour'"),
        ({"variants": ["duel"], "name": "../x"}, "name"),
    ],
)
def test_a_tournament_that_cannot_be(shared: tuple[Web, Contest], spec: object, told: str) -> None:
    web, contest = shared
    reply = web.post("/api/v1/tournaments", {"spec": spec}, contest.organiser)
    assert reply.status == 400
    assert told in reply.error
    assert web.read("/tournaments") == {"tournaments": []}


def test_a_tournament_is_asked_for(own: Contest) -> None:
    with serving(own.data) as web:
        spec = {"name": "final", "variants": ["duel"], "games": 10, "bots": ["red", "blue"]}
        spec |= {"seed": "friday", "salt": SALT}
        told = web.post("/api/v1/tournaments", {"spec": spec}, own.organiser)
        assert (told.status, told.json["state"], told.json["name"]) == (202, "queued", "final")
        assert not {"seed", "salt"} & set(told.json["spec"])
        nobody = {**spec, "bots": ["nobody"]}
        assert web.post("/api/v1/tournaments", {"spec": nobody}, own.organiser).status == 404
        assert web.read("/tournaments/1")["name"] == "final"
        told = web.post("/api/v1/tournaments/1/cancel", None, own.organiser)
        assert told.json["state"] == "failed"
        assert web.post("/api/v1/tournaments/1/cancel", None, own.organiser).status == 409


def test_a_browser_needs_its_second_token(own: Contest) -> None:
    with serving(own.data) as web:
        wrong = web.post("/login", b"token=wrong", Content_Type="application/x-www-form-urlencoded")
        assert wrong.status == 401
        plain = {"Content_Type": "application/x-www-form-urlencoded"}
        elsewhere = web.post("/login", b"token=x", Origin="http://evil.example", **plain)
        assert elsewhere.status == 403
        body = f"token={own.reds}&next=//evil.example".encode()
        done = web.post("/login", body, **plain)
        assert (done.status, done.headers["location"]) == (303, "/")
        cookie = done.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()
        sent = {"Cookie": cookie.partition(";")[0]}
        assert b"Reds" in web.get("/", **sent).body
        assert web.get("/api/v1/me", **sent).json["name"] == "Reds"
        refused = web.post("/api/v1/bots/red/pause", None, **sent)
        assert (refused.status, "page of this referee" in refused.error) == (403, True)
        from referee.web.access import csrf_token

        proof = csrf_token(own.reds)
        assert web.post("/api/v1/bots/red/pause", None, X_CSRF_Token=proof, **sent).status == 200
        content, headers = form(zipped("fresh"))
        assert web.post("/api/v1/submissions", content, **headers, **sent).status == 403
        content, headers = form(zipped("fresh"), proof)
        assert web.post("/api/v1/submissions", content, **headers, **sent).status == 202
        out = web.post("/logout", b"", **sent)
        assert out.status == 303
        assert 'referee_token=""' in out.headers["set-cookie"]
        stale = {"Cookie": f"referee_token={'0' * 32}"}
        assert web.get("/", **stale).status == 200
        assert web.post("/api/v1/bots/red/pause", None, **stale).status == 401
