"""What teams and organisers are told by a real daemon: their bots' stderr, reasons, directions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from referee.arena.core import spare_cores
from referee.daemon.priorities import UNRATED
from referee.record import Record
from referee.store.house import House
from tests.arena.playing import ROOT
from tests.cli.running import Done, referee, sentence
from tests.confinement.test_standing_still import stopped
from tests.daemon.serving import BOTS, WEB, Daemon, nothing_left, processes_of, serving
from tests.daemon.test_guests import connected, endpoint
from tests.daemon.test_submissions import bot_folder, judged
from tests.waiting import PATIENCE_S, wait_for
from tests.web.pages.scene import page_url
from tests.web.serving import Web

BOTH = (*WEB, *BOTS, "--variant", "underdog")
WORD = 'import sys\nprint("a word from rocky", file=sys.stderr, flush=True)\n'


class Contest(Struct, frozen=True):
    daemon: Daemon
    folder: Path
    web: Web
    bots: str
    chief: str
    reds: str
    alpha: str
    """The token with which it connects; it did."""


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contest]:
    """A bot of the Reds that writes to stderr, one that is broken, and a guest."""
    folder = tmp_path_factory.mktemp("contest")
    data = folder / "data"
    with House.open(data) as house:
        reds = house.teams.add("Reds", by="a test").token
        chief = house.teams.add("Chief", "organiser", by="a test").token
        team = house.teams.named("Reds")
        (folder / "rocky").mkdir()
        archive = bot_folder(folder / "rocky" / "it", before=WORD)
        rocky = house.submissions.keep("rocky", team, archive)
        broken = bot_folder(folder / "broken", crash=True)
        lame = house.submissions.keep("lame", team, broken)
        alpha = house.bots.new_token("alpha", by="a test")
        house.bots.new_token("beta", by="a test")
    assert reds is not None and chief is not None
    with serving(data, *BOTH, "--pace", "10") as daemon:
        assert judged(daemon, rocky).state == "playing", daemon.said
        assert judged(daemon, lame).state == "rejected", daemon.said
        bots = endpoint(daemon)
        with connected("random", bots, "--name", "alpha", "--token", alpha):
            daemon.wait_for_games()
            web = Web(daemon.process, page_url(daemon))
            yield Contest(daemon, folder, web, bots, chief, reds, alpha)
        assert daemon.stop() == 0, daemon.said
        assert "Traceback" not in daemon.said


def test_a_bot_that_a_person_plays_takes_nothing_from_rated_games(contest: Contest) -> None:
    """It runs where no worker plays, gives way to all others there, and stands still meanwhile."""
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    reply = contest.web.post("/play", b"variant=underdog&bot=rocky", **form)
    where = reply.headers["location"]
    wait_for(lambda: b'data-state="yours"' in contest.web.get(where).body, "the person's turn")
    (pages,) = processes_of(contest.daemon.process.pid, b"referee.web.main")
    (bot,) = processes_of(pages, b"bot.py")
    assert os.sched_getaffinity(bot) == spare_cores(1)
    assert os.getpriority(os.PRIO_PROCESS, bot) == UNRATED
    assert stopped([bot])
    assert contest.web.post(f"{where}/give-up", b"", **form).status == 303
    wait_for(lambda: nothing_left([bot]), "the bot's end")


def test_a_team_gets_the_stderr_of_its_bot_from_a_game_in_the_hall(contest: Contest) -> None:
    key, body = min(contest.daemon.games().items())
    assert set(msgspec.msgpack.decode(body, type=Record).players) == {"alpha v1", "rocky v1"}
    game = f"1/{key[0]}-{key[1]}"
    words = ["get", game, "--from", contest.web.url, "--token", contest.reds, "--out", "got"]
    done = referee(contest.folder, *words)
    assert done.status == 0, done
    (log,) = (contest.folder / "got").glob("*.stderr.txt")
    assert "a word from rocky" in log.read_text()
    told = contest.web.read("/bots/rocky/stderr", contest.reds)["logs"]
    assert "a word from rocky" in told[0]["text"]


def test_the_bot_of_the_document_says_why_it_is_not_let_in(contest: Contest) -> None:
    document = (ROOT / "protocol.md").read_text("utf-8")
    source = document.partition("```python zmq\n")[2].partition("```\n")[0]

    def started(**env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, "REFEREE_ENDPOINT": contest.bots, **env},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    done = started(REFEREE_NAME="other", REFEREE_TOKEN=contest.alpha)
    assert done.returncode == 1
    assert done.stderr == "no_hello this token is alpha's: say the name alpha (--name)\n"
    assert "nobody has this token" in started(REFEREE_TOKEN="wrong").stderr
    wait_for(
        lambda: "not let into the hall why=name times=" in contest.daemon.said,
        f"a line of the log; {contest.daemon.said}",
    )


def test_the_port_for_bots_is_told_from_that_of_the_pages(contest: Contest) -> None:
    at = contest.bots.removeprefix("tcp://")
    for words in (
        ["submit", "rocky/it", "--to", f"http://{at}"],
        ["get", "1/1-1", "--from", at],
        ["tournament", "--variant", "underdog", "--daemon", f"http://{at}"],
    ):
        told = sentence(referee(contest.folder, *words, REFEREE_TOKEN=contest.chief), status=3)
        assert told.startswith(f"http://{at} is the port for bots; "), told
    secure = contest.web.url.replace("http://", "https://")
    told = sentence(referee(contest.folder, "get", "1/1-1", "--from", secure), status=3)
    assert told == f"{secure} does not speak https; write {contest.web.url}"


def test_a_tournament_is_refused_with_the_reason(contest: Contest) -> None:
    def asked(bot: str) -> Done:
        words = ["tournament", "--variant", "underdog", "--bot", "alpha", "--bot", bot]
        told = ("--daemon", contest.web.url)
        return referee(contest.folder, *words, *told, REFEREE_TOKEN=contest.chief)

    assert sentence(asked("lame")) == "no version of lame has passed its check"
    assert sentence(asked("beta")) == "beta has not connected yet"


def test_a_disqualification_is_in_what_is_kept_and_published(contest: Contest) -> None:
    """The last of them: rocky plays no more."""
    data = ("--data", "data")
    why = "rocky v1 is disqualified: reads other folders"
    reason = ("--reason", "reads other folders")
    assert referee(contest.folder, "disqualify", "rocky", *reason, *data).status == 0
    wait_for(
        lambda: why in contest.web.read("/standings")["notes"],
        f"the reason in the notes; {contest.daemon.said}",
    )
    told = referee(contest.folder, "standings", "data/seasons/1")
    assert why in told.out
    assert referee(contest.folder, "archive", "1", *data, "--words", 0).status == 0
    archive = contest.folder / "archive-1"
    assert why in next(archive.rglob("standings.txt")).read_text("utf-8")
    assert why in (archive / "report/index.html").read_text("utf-8")
    # The last season follows though it is closed.
    assert referee(contest.folder, "season", "close", *data).status == 0
    wait_for(lambda: "season closed" in contest.daemon.said, contest.daemon.said)
    assert referee(contest.folder, "disqualify", "rocky", "--lift", *data).status == 0
    wait_for(lambda: contest.web.read("/standings")["notes"] == [], "that it was taken back")
