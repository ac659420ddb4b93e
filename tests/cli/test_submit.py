"""`referee submit` and `referee get` against a real web process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.cli.remote import DaemonRefused, Remote
from referee.store.house import House
from tests.cli.running import environment, referee, sentence
from tests.facts import Naming
from tests.loopback import own_address
from tests.waiting import wait_for
from tests.web import contest
from tests.web.serving import Web, query, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, contest.Contest]]:
    played = contest.make(tmp_path_factory.mktemp("contest") / "data")
    with serving(played.data) as web:
        yield web, played


def bot_folder(folder: Path, name: str) -> Path:
    folder.mkdir()
    for path, content in contest.files(name).items():
        (folder / path).write_bytes(content)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "junk").write_bytes(b"junk")
    (folder / "lib").mkdir()
    (folder / "lib" / "tool").write_text("#!/bin/sh\n")
    (folder / "lib" / "tool").chmod(0o755)
    return folder


@contextmanager
def judging(data: Path, *, passes: bool) -> Iterator[None]:
    """What the daemon does with the next submission."""

    def judge() -> None:
        with House.open(data) as house:
            wait_for(lambda: bool(house.submissions.waiting()), "a hand-in")
            version = house.submissions.claim()
            assert version is not None
            house.submissions.checking(version.id)
            if passes:
                house.submissions.accept(version.id, "{}", "all is well\n")
            else:
                house.submissions.reject(version.id, "it does not start\n\x1b[31mat all\n")

    thread = threading.Thread(target=judge)
    thread.start()
    yield
    thread.join()


def test_a_bot_is_handed_in_and_plays(served: tuple[Web, contest.Contest], tmp_path: Path) -> None:
    web, played = served
    bot_folder(tmp_path / "mine", "mine")
    with judging(played.data, passes=True):
        done = referee(
            tmp_path,
            "submit",
            "mine",
            "--to",
            web.url,
            "--label",
            "größer",
            REFEREE_TOKEN=played.reds,
        )
    assert (done.status, done.out) == (0, "all is well\n")
    assert done.err.splitlines()[0] == "mine v1: queued"
    assert done.err.splitlines()[-1] == "mine v1: playing"
    with House.open(played.data) as house:
        version = house.versions.named("mine", 1)
        assert (version.label, version.team_name) == ("größer", "Reds")
        packed = house.submissions.archive(version)
    assert b"lib/tool" in packed
    assert b"junk" not in packed


def test_a_bot_that_is_rejected(served: tuple[Web, contest.Contest], tmp_path: Path) -> None:
    web, played = served
    bot_folder(tmp_path / "bad", "bad")
    with judging(played.data, passes=False):
        done = referee(tmp_path, "submit", "bad", "--to", web.url, "--token", played.blues)
    assert (done.status, done.out) == (1, "it does not start\n\\x1b[31mat all\n")
    assert done.err.endswith("bad v1: rejected\n")


def test_without_waiting(served: tuple[Web, contest.Contest], tmp_path: Path) -> None:
    web, played = served
    bot_folder(tmp_path / "later", "later")
    words = ("submit", "later", "--to", web.url, "--no-wait", "--json", "--token", played.reds)
    done = referee(tmp_path, *words)
    assert done.status == 0
    assert json.loads(done.out)["state"] == "queued"
    again = referee(tmp_path, *words)
    assert "byte for byte" in sentence(again)


def test_what_is_refused(served: tuple[Web, contest.Contest], tmp_path: Path) -> None:
    web, _ = served
    bot_folder(tmp_path / "mine", "mine")
    to = ("--to", web.url)
    assert "needs the token of" in sentence(referee(tmp_path, "submit", "mine", *to))
    wrong = referee(tmp_path, "submit", "mine", *to, "--token", "0" * 32)
    assert sentence(wrong) == Naming("token", "not known")
    told = sentence(referee(tmp_path, "submit", "nothing", *to))
    assert told == Naming("nothing: ", "no such folder; a bot is handed in as one, with bot.toml")
    nobody = referee(tmp_path, "submit", "mine", "--to", "http://127.0.0.1:1")
    assert "cannot be reached" in sentence(nobody, 3)
    for url in ("ftp://x", "http://", "file:///etc/passwd"):
        assert f"{url!r} is no address" in sentence(
            referee(tmp_path, "submit", "mine", "--to", url)
        )
    assert "is no game" in sentence(referee(tmp_path, "get", "12-34", "--from", web.url))
    missing = referee(tmp_path, "get", "1/99-99", "--from", web.url)
    assert sentence(missing) == Naming("no game 1/99-99")


def test_a_game_is_brought_home(served: tuple[Web, contest.Contest], tmp_path: Path) -> None:
    web, played = served
    game = web.read("/games" + query(bot="blue", against="red"))["games"][0]["game"]
    name = game.replace("/", "-")
    done = referee(tmp_path, "get", game, "--from", web.url, "--token", played.blues)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [f"{name}.jsonl", f"{name}.blue v1.stderr.txt"]
    record = json.loads((tmp_path / f"{name}.jsonl").read_text())
    assert set(record["notes"].values()) == {"note of blue-v1"}
    log = (tmp_path / f"{name}.blue v1.stderr.txt").read_text()
    assert log.startswith("stderr of blue-v1")
    assert referee(tmp_path, "verify", f"{name}.jsonl").status == 0
    public = referee(tmp_path, "get", game, "--from", web.url, "--json")
    assert json.loads(public.out)["notes"] == {}


def test_a_token_does_not_follow_an_answer_elsewhere(tmp_path: Path) -> None:
    here = own_address()
    script = (
        "import http.server\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        "        self.send_response(302)\n"
        "        self.send_header('Location', 'http://127.0.0.1:1/')\n"
        "        self.end_headers()\n"
        f"server = http.server.HTTPServer(('{here}', 0), Handler)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as elsewhere:
        assert elsewhere.stdout is not None
        port = int(elsewhere.stdout.readline())
        done = referee(tmp_path, "get", "1/1-1", "--from", f"http://{here}:{port}")
        elsewhere.kill()
    assert "is no daemon of the referee (HTTP status 302)" in sentence(done, 3)


def test_a_folder_that_is_too_large_is_not_sent(
    served: tuple[Web, contest.Contest], tmp_path: Path
) -> None:
    web, played = served
    folder = bot_folder(tmp_path / "mine", "mine")
    (folder / "weights").write_bytes(os.urandom(25_000_000))
    done = referee(tmp_path, "submit", "mine", "--to", web.url, REFEREE_TOKEN=played.reds)
    told = sentence(done)
    assert "packed, it has 25.0 MB" in told
    assert "takes up to 20 MB" in told


def test_the_sentence_of_a_daemon_that_takes_less_arrives(
    served: tuple[Web, contest.Contest],
) -> None:
    """Where the limit changes in between, or nobody asks for it."""
    web, played = served
    with pytest.raises(DaemonRefused, match="larger than the 20 MB"):
        Remote(web.url, played.reds).post("/submissions", bytes(90_000_000), "application/gzip")
