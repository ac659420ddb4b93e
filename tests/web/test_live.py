"""Live events: from the coordinator's socket to followers, over real sockets."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import zmq

from referee.store.house import House
from referee.web.following import STUCK_S
from referee.web.live import Live, Wanted
from tests.waiting import PATIENCE_S, wait_for
from tests.web.contest import Contest
from tests.web.serving import Web, serving
from tests.web.test_shown import freeze

GAME = "1/7-3"
T = TypeVar("T")


class Coordinator:
    """What the daemon publishes; the ZeroMQ socket is a real one."""

    def __init__(self, data: Path) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUB)
        self._socket.set(zmq.SNDHWM, 10_000)
        self._socket.bind(f"ipc://{data / 'live.ipc'}")

    def tell(self, kind: str, **fields: object) -> None:
        body = json.dumps({"type": kind, **fields}).encode()
        self._socket.send_multipart([b"live", body])

    def tell_until(self, true: Any, kind: str, **fields: object) -> None:
        """Again and again: a subscriber that has just come may miss the first."""

        def told() -> bool:
            self.tell(kind, **fields)
            return bool(true())

        wait_for(told, f"somebody to hear of {kind}")

    def close(self) -> None:
        self._context.destroy(linger=0)


@contextmanager
def live(contest: Contest, **settings: Any) -> Iterator[tuple[Web, Coordinator]]:
    """A web process that hears a coordinator."""
    coordinator = Coordinator(contest.data)
    try:
        with serving(contest.data, **settings) as web:
            coordinator.tell_until(
                lambda: web.get("/healthz").json["heard_s"] is not None, "counters", values={"x": 1}
            )
            yield web, coordinator
    finally:
        coordinator.close()


class Follower:
    """A client that reads a stream as it comes."""

    def __init__(self, web: Web, asked: str = "", token: str = "", last: str = "") -> None:
        address = urlsplit(web.url)
        self._connection = socket.create_connection((address.hostname, address.port), PATIENCE_S)
        head = f"GET /api/v1/events{asked} HTTP/1.1\r\nHost: x\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Last-Event-ID: {last}\r\n" if last else ""
        self._connection.sendall(f"{head}\r\n".encode())
        self.text = b""
        self._read_until(b": following")
        assert self.text.startswith(b"HTTP/1.1 200 ")
        assert b"text/event-stream" in self.text

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _read_until(self, mark: bytes) -> None:
        def read() -> None:
            data = self._connection.recv(65_536)
            assert data, self.text
            self.text += data

        wait_for(lambda: mark in self.text, lambda: f"{mark!r} after {self.text!r}", meanwhile=read)

    def events(self, *, to: str) -> list[tuple[str, Any]]:
        """All that came, up to an event that has this word in it."""
        self._read_until(to.encode())
        self._read_until(b"\n\n")
        found, kind = [], ""
        for line in self.text.decode().splitlines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((kind, json.loads(line.removeprefix("data: "))))
        return found


def ended(**more: object) -> dict[str, object]:
    players = ["red v2", "blue v1"]
    told = {"game": GAME, "variant": "duel", "players": players, "winner": 1, "ending": "rules"}
    return {**told, "scores": [1, 3], **more}


def test_followers_hear_of_a_game_from_its_beginning_to_its_end(own: Contest) -> None:
    with live(own) as (web, coordinator):
        names = {"players": ["red v2", "blue v1"], "variant": "duel"}
        with Follower(web) as all_of_it, Follower(web, "?only=ended,standings") as ends:
            coordinator.tell("began", game=GAME, **names)
            coordinator.tell("moved", game=GAME, move_number=1, lines=["red v2 plays 5."])
            wait_for(
                lambda: [game["moves"] for game in web.read("/live")["games"]] == [1],
                "a live game with its move",
            )
            (game,) = web.read("/live")["games"]
            assert (game["game"], game["lines"]) == (GAME, ["red v2 plays 5."])
            assert web.get("/metrics").body.count(b"referee_followers 2\n") == 1
            coordinator.tell("ended", **ended())
            coordinator.tell("standings", season="1", at="now")
            heard = all_of_it.events(to="standings")
            assert [kind for kind, _ in heard] == ["began", "moved", "ended", "standings"]
            assert heard[2][1]["scores"] == [1, 3]
            assert [kind for kind, _ in ends.events(to="standings")] == ["ended", "standings"]
            last = all_of_it.text.decode().rpartition("id: ")[2].split()[0]
        wait_for(lambda: web.read("/live")["games"] == [], "the end of the live game")
        with Follower(web, f"?game={GAME}", last=last) as late:
            coordinator.tell("ended", **ended(game="1/1-1"))
            coordinator.tell("moved", game=GAME, move_number=2, lines=[])
            assert [kind for kind, _ in late.events(to="moved")] == ["moved"]
        wait_for(
            lambda: b"referee_followers 0\n" in web.get("/metrics").body, "the followers to leave"
        )


def test_a_game_that_has_just_ended_has_a_page(own: Contest) -> None:
    """Its record comes with the next commit, and then the page becomes the replay."""
    with live(own) as (web, coordinator), Follower(web) as other:
        assert web.get(f"/games/{GAME}").status == 404
        coordinator.tell("began", game=GAME, players=["red v2", "blue v1"], variant="duel")
        coordinator.tell("moved", game=GAME, move_number=1, lines=["red v2 plays 5."])
        coordinator.tell("ended", **ended())
        other.events(to="ended")
        page = web.get(f"/games/{GAME}")
        assert (page.status, "data-over" in page.body.decode()) == (200, True)
        assert "red v2 plays 5." in page.body.decode()
        assert web.read("/live")["games"] == []


def test_who_looks_and_then_follows_misses_nothing(own: Contest) -> None:
    """However long it takes from the one to the other."""
    with live(own) as (web, coordinator), Follower(web) as other:
        coordinator.tell("began", game=GAME, players=["red v2", "blue v1"], variant="duel")
        assert [kind for kind, _ in other.events(to="began")] == ["began"]
        page = web.get("/live").body.decode()
        since = page.partition('data-since="')[2].partition('"')[0]
        assert since.partition("-")[0] == web.read("/live")["since"].partition("-")[0]
        coordinator.tell("moved", game=GAME, move_number=1, lines=["red v2 plays 5."])
        other.events(to="moved")
        coordinator.tell("moved", game=GAME, move_number=2, lines=["blue v1 plays 6."])
        with Follower(web, f"?since={since}") as late:
            numbers = [event["move_number"] for _, event in late.events(to="blue v1 plays")]
            assert numbers == [1, 2]
        with Follower(web, "?since=nonsense") as lost:
            coordinator.tell("ended", **ended())
            assert [kind for kind, _ in lost.events(to="ended")] == ["ended"]


def test_who_has_followed_for_long_enough_is_let_go_and_comes_back(own: Contest) -> None:
    with live(own, limits={"follow_s": 0.5}) as (web, _):
        for _ in range(2):
            reply = web.get("/api/v1/events")
            assert (reply.status, reply.body) == (200, b"retry: 2000\n: following\n\n")
        wait_for(
            lambda: b"referee_followers 0\n" in web.get("/metrics").body, "the followers to leave"
        )


def test_who_is_connected(own: Contest) -> None:
    with House.open(own.data) as house:
        house.bots.new_token("guest", house.teams.named("Reds").id, by="tests")
    with live(own) as (web, coordinator):
        coordinator.tell("guests", names=["guest"])
        wait_for(lambda: web.read("/bots/guest")["bot"]["connected"], "it to come")
        assert web.read("/status")["connected"] == 1
        coordinator.tell("guest", name="guest", state="departed")
        wait_for(lambda: not web.read("/bots/guest")["bot"]["connected"], "it to leave")


def test_a_frozen_season_is_played_in_secret(own: Contest) -> None:
    freeze(own, "2000-01-01T00:00:00.000Z")
    with live(own) as (web, coordinator):
        names = {"players": ["red v2", "blue v1"], "variant": "duel"}
        with Follower(web) as public, Follower(web, token=own.organiser) as organiser:
            coordinator.tell("began", game=GAME, **names)
            coordinator.tell("moved", game=GAME, move_number=1, lines=["secret"])
            coordinator.tell("ended", **ended())
            coordinator.tell("standings", season="1", at="now")
            heard = public.events(to="standings")
            assert [kind for kind, _ in heard] == ["began", "ended", "standings"]
            assert heard[1][1]["hidden"]
            assert not {"winner", "scores", "ending"} & set(heard[1][1])
            heard = organiser.events(to="standings")
            assert [kind for kind, _ in heard] == ["began", "moved", "ended", "standings"]
            assert heard[2][1]["winner"] == 1
        assert web.read("/live")["games"] == []


CALLED = {"bot-00000a": "red v2", "bot-00000b": "blue v1"}
"""What the two are told that they are called, where names are hidden."""


def test_names_are_made_up_in_events_too(own: Contest) -> None:
    """A bot may be called as a word of the rules is: that word stays where it stands."""
    line = "bot-00000a has the blue card, bot-00000b the red: red is worth more."
    with live(own, anonymous=True) as (web, coordinator):
        names = {"players": ["red v2", "blue v1"], "variant": "duel", "called": CALLED}
        with Follower(web) as public, Follower(web, token=own.organiser) as organiser:
            coordinator.tell("began", game=GAME, lines=[], **names)
            moved = {"game": GAME, "move_number": 1, "lines": [line]}
            coordinator.tell("moved", **moved, called=CALLED)
            coordinator.tell("submission", bot="blue", version=2, state="playing")
            heard = dict(public.events(to="submission"))
            whole = dict(organiser.events(to="submission"))
        first, second = heard["began"]["players"]
        told = f"{first} has the blue card, {second} the red: red is worth more."
        assert heard["moved"]["lines"] == [told]
        assert all(re.fullmatch("anon-[0-9a-f]{8} v[12]", name) for name in (first, second))
        assert heard["submission"]["bot"] == second.removesuffix(" v1")
        assert "called" not in str(heard)
        assert "bot-0000" not in str(heard)
        of_all = "red v2 has the blue card, blue v1 the red: red is worth more."
        assert (whole["began"]["players"], whole["moved"]["lines"]) == (
            ["red v2", "blue v1"],
            [of_all],
        )
        assert "called" not in str(whole)
        own_name = told.replace(first, "red v2")
        for token, lines in (("", [told]), (own.reds, [own_name]), (own.organiser, [of_all])):
            (game,) = web.read("/live", token)["games"]
            assert game["lines"] == lines
        assert told in web.get("/live").body.decode()


def test_lines_with_true_names_in_them_are_not_shown_where_names_are_hidden(own: Contest) -> None:
    with live(own, anonymous=True) as (web, coordinator), Follower(web) as public:
        coordinator.tell("began", game=GAME, players=["red v2", "blue v1"], variant="duel")
        coordinator.tell("moved", game=GAME, move_number=1, lines=["red v2 plays 5."])
        coordinator.tell("standings", season="1", at="now")
        heard = dict(public.events(to="standings"))
        assert heard["moved"] == {"type": "moved", "game": GAME, "move_number": 1, "lines": []}
        assert web.read("/live")["games"][0]["lines"] == []


def test_a_flood_of_ends_is_thinned(own: Contest) -> None:
    with live(own) as (web, coordinator), Follower(web) as follower:
        coordinator.tell("began", game=GAME, players=["red v2", "blue v1"], variant="duel")
        for number in range(1, 2001):
            coordinator.tell("ended", **ended(game=f"1/1-{number}"))
        coordinator.tell("ended", **ended())
        coordinator.tell("standings", season="1", at="now")
        heard = follower.events(to="standings")
        ends = [event["game"] for kind, event in heard if kind == "ended"]
        assert ends[-1] == GAME
        assert 12 < len(ends) < 1000


def apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """What comes of it, in a thread of its own: a browser that another test has used keeps an event
    loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def test_who_falls_behind_the_ring_is_let_go() -> None:
    """Half a minute is kept, and not a whole one."""

    async def follow() -> tuple[int, Live]:
        live = Live()
        frames = live.follow(Wanted())
        await anext(frames)
        for number in range(240):
            live.tell({"type": "standings", "at": number})
            live.hand_on()
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                async for _ in frames:
                    taken += 1
        return taken, live

    taken, events = apart(follow())
    assert (taken, events.counts["slow followers"]) == (0, 1)


def test_who_is_only_a_little_behind_misses_nothing() -> None:
    async def follow() -> list[bytes]:
        live = Live()
        frames = live.follow(Wanted())
        await anext(frames)
        for number in range(40):
            live.tell({"type": "standings", "at": number})
            live.hand_on()
        return [await anext(frames) for _ in range(40)]

    assert b'"at":39' in apart(follow())[-1]


def test_a_batch_has_a_most(own: Contest) -> None:
    with live(own) as (web, coordinator), Follower(web) as follower:
        for number in range(1, 3001):
            coordinator.tell("moved", game=GAME, move_number=number, lines=[])
        coordinator.tell("standings", season="1", at="now")
        heard = follower.events(to="standings")
        moves = [event["move_number"] for kind, event in heard if kind == "moved"]
        batches = follower.text.count(b"id: ")
        assert 1 <= len(moves) <= 250 * batches
        told = re.search(r'{type="dropped"} (\d+)', web.get("/metrics").body.decode())
        assert told is not None
        assert len(moves) + int(told[1]) == 3000
        assert heard[-1][0] == "standings"


def test_a_follower_that_does_not_read_is_let_go(own: Contest) -> None:
    assert STUCK_S <= 30
    quick = "import referee.web.following as following; following.STUCK_S = 0.5"
    with live(own, before=quick) as (web, coordinator), Follower(web, "?only=standings") as reader:
        with Follower(web, "?only=moved") as deaf:
            wait_for(lambda: b"referee_followers 2\n" in web.get("/metrics").body, "two followers")

            def let_go() -> bool:
                for _ in range(100):
                    coordinator.tell("moved", game=GAME, move_number=1, lines=["x" * 400] * 20)
                return b'{type="stuck followers"} 1\n' in web.get("/metrics").body

            wait_for(let_go, "it to be let go")
            wait_for(lambda: b"referee_followers 1\n" in web.get("/metrics").body, "one follower")
            assert deaf is not reader
        coordinator.tell("standings", season="1", at="now")
        assert reader.events(to="standings")[-1][0] == "standings"


def test_no_more_followers_than_are_taken(own: Contest) -> None:
    with live(own, limits={"followers_of_one": 2}) as (web, _):
        with Follower(web), Follower(web):
            reply = web.get("/api/v1/events")
            assert (reply.status, reply.headers["retry-after"]) == (429, "30")
        wait_for(
            lambda: b"referee_followers 0\n" in web.get("/metrics").body, "the followers to leave"
        )
        with Follower(web):
            pass


def test_an_end_lets_followers_go(own: Contest) -> None:
    with live(own) as (web, _), Follower(web) as follower:
        assert web.process.stdin is not None
        web.process.stdin.close()
        assert web.process.wait(PATIENCE_S) == 0
        follower._connection.settimeout(PATIENCE_S)
        while follower._connection.recv(65_536):
            pass
