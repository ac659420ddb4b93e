"""People at the tables of the parlour, against real bots: what they see, and what is left of it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement import UNCONFINED
from referee.bots.manifest import Bot, find_bot, read_bot
from referee.clock import Clock
from referee.daemon.samples import enter_samples
from referee.rules.registry import BUNDLED, build_variant
from referee.store.house import House
from referee.web.parlour import parlour as room
from referee.web.parlour import sitting as tables
from referee.web.parlour.parlour import Parlour
from referee.web.parlour.sitting import Shown, Sitting, Terms
from referee.web.refusal import Refusal
from referee.web.settings import Limits
from tests.confinement.test_standing_still import stopped
from tests.daemon.serving import nothing_left, processes_of
from tests.waiting import PATIENCE_S, wait_for
from tests.web.contest import Contest
from tests.web.serving import Reply, Web, serving

SLOW_BOT = Path(__file__).parent / "slow_bot.py"


def terms(variant: str = "underdog", bot: Bot | None = None, seat: int = 0) -> Terms:
    return Terms(
        variant=build_variant(variant, {}),
        bot=bot or find_bot("lowest"),
        bot_name="lowest",
        person="Ann",
        seat=seat,
        clock=Clock(move_ms=10_000),
        confinement=UNCONFINED,
        cache=Path("never-used"),
    )


def settled(sitting: Sitting) -> Shown:
    wait_for(lambda: sitting.settled or None, "the bot")
    return sitting.show()


def play_on(sitting: Sitting, look: Callable[[Shown], None] = lambda _: None) -> Shown:
    """Always the last legal move, to the end."""
    while (shown := settled(sitting)).state != "over":
        assert shown.asked is not None
        assert shown.asked.legal is not None
        look(shown)
        sitting.play(shown.asked.number, str(shown.asked.legal[-1]))
    return shown


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("variant", BUNDLED)
def test_every_variant_is_played_to_its_end(variant: str, seat: int) -> None:
    sitting = Sitting("ann", terms(variant, seat=seat))
    sitting.start()
    seen: list[int] = []
    end = play_on(sitting, lambda shown: seen.append(len(shown.steps)))
    assert end.result in ("won", "lost", "drawn")
    assert end.ending
    assert seen == sorted(seen)
    assert len(end.steps) >= len(seen) >= 1
    sitting.wait(PATIENCE_S)


def test_a_hidden_hand_stays_hidden_until_the_end() -> None:
    sitting = Sitting("ann", terms("deck"))
    sitting.start()

    def look(shown: Shown) -> None:
        own = [step for step in shown.steps if step[0].startswith("Ann")]
        theirs = [step for step in shown.steps if step[0].startswith("lowest")]
        assert all("Hand:" in step[0] for step in own)
        assert all("Hand:" not in line for step in theirs for line in step)
        assert all(step[-1] == "  lowest draws a card." for step in theirs)

    end = play_on(sitting, look)
    assert all("Hand:" in step[0] for step in end.steps)


def test_what_is_no_move_is_said_so_and_may_be_put_right() -> None:
    sitting = Sitting("ann", terms())
    sitting.start()
    settled(sitting)
    for typed in ("11", "five", "", "9" * 500, "\x00", "5.0"):
        sitting.play(1, typed)
        assert sitting.show().slip, typed
        assert sitting.show().state == "yours"
    sitting.play(2, "5")  # of a turn that has not come
    assert sitting.show().state == "yours"
    sitting.play(1, "5")
    sitting.play(1, "6")  # a form that was sent twice
    shown = settled(sitting)
    assert shown.slip == ""
    assert any("Ann chose: 5" in line for line in shown.steps[0])
    sitting.leave("Ann gives up.")
    assert sitting.show().state in ("thinking", "over")  # nothing more is asked of Ann
    end = settled_over(sitting)
    assert end.result == "lost"
    assert end.ending[0] == "Ann gives up."


def settled_over(sitting: Sitting) -> Shown:
    wait_for(lambda: sitting.over or None, "the end")
    return sitting.show()


def test_a_bot_that_breaks_down_has_lost() -> None:
    crash = find_bot(f"crash={sys.executable} -c raise(SystemExit(3))")
    sitting = Sitting("ann", terms(bot=crash))
    sitting.start()
    end = settled_over(sitting)
    assert end.result == "won"
    assert "no_start" in end.ending[0]


@pytest.mark.parametrize(
    ("known", "told"), [("gone", "there-is-no-such-program"), ("anon-1", "could not be started")]
)
def test_a_command_that_is_not_there_is_no_game(known: str, told: str) -> None:
    asked = terms(bot=find_bot("gone=there-is-no-such-program"))
    sitting = Sitting("ann", replace(asked, bot_name=known))
    sitting.start()
    end = settled_over(sitting)
    assert end.result == "void"
    assert told in end.ending[0]
    assert "gone" not in str(end.ending)


def test_who_is_away_too_long_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "IDLE_S", 0.2)
    sitting = Sitting("ann", terms())
    sitting.start()
    end = settled_over(sitting)
    assert end.result == "lost"
    assert "away" in end.ending[0]


def test_a_bot_stands_still_while_the_person_thinks(tmp_path: Path) -> None:
    """With its children, which would else take the core from whatever runs there."""
    burner = tmp_path / "burner.py"
    burns = "import os\nif os.fork() == 0:\n    while True:\n        pass\n"
    burner.write_text(burns + SLOW_BOT.read_text().replace("from __future__", "# "))
    bot = find_bot(f"burner={sys.executable} -S {burner} 0")
    sitting = Sitting("ann", terms(bot=bot))
    sitting.start()
    bots: list[int] = []
    for _ in range(2):
        shown = settled(sitting)
        assert shown.asked is not None
        bots = processes_of(os.getpid(), b"burner.py")
        assert len(bots) == 2
        wait_for(partial(stopped, bots), "a stop")
        sitting.play(shown.asked.number, "5" if shown.asked.number == 1 else "6")
    sitting.leave("Ann has seen enough.")
    settled_over(sitting)
    wait_for(lambda: nothing_left(bots), "the bots' end")


def test_what_has_to_be_built_first_is_no_game(tmp_path: Path) -> None:
    """Builds are for the cores on which nobody plays."""
    folder, cache = tmp_path / "bot", tmp_path / "cache"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "b"\ncommand = ["true"]\nbuild = ["true"]\n')
    sitting = Sitting("ann", replace(terms(bot=read_bot(folder)), cache=cache))
    sitting.start()
    end = settled_over(sitting)
    assert end.result == "void"
    assert not list(cache.glob("*.whole"))


def test_there_are_only_so_many_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(processes_of(os.getpid()))
    parlour = Parlour(Limits(plays_at_once=3, plays_of_one=2))
    names = [parlour.sit_down("ann", terms()) for _ in range(2)]
    with pytest.raises(Refusal, match="end one of them"):
        parlour.sit_down("ann", terms())
    names.append(parlour.sit_down("bob", terms()))
    with pytest.raises(Refusal, match="all tables are taken"):
        parlour.sit_down("cid", terms())
    for name in names:
        settled(parlour.find(name))
    monkeypatch.setattr(room, "MAKES_WAY_S", 0.0)
    parlour.sit_down("cid", terms())
    wait_for(lambda: any(parlour.find(name).over for name in names) or None, "a free table")
    parlour.close()
    assert parlour.playing == 0
    with pytest.raises(Refusal):
        parlour.sit_down("ann", terms())
    left = [pid for pid in processes_of(os.getpid()) if pid not in before]
    wait_for(lambda: nothing_left(left) or None, "the bots' end")
    wait_for(
        lambda: "sitting" not in {thread.name for thread in threading.enumerate()}, "their end"
    )


def test_a_game_that_is_over_is_kept_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "KEPT", 1)
    parlour = Parlour(Limits())
    names = []
    for _ in range(3):
        names.append(parlour.sit_down("ann", terms()))
        parlour.find(names[-1]).leave("enough")
        settled_over(parlour.find(names[-1]))
    with pytest.raises(Refusal):
        parlour.find(names[0])
    assert parlour.find(names[-1]).over
    parlour.close()


def test_a_slow_bot_does_not_hold_the_end_up() -> None:
    sleeper = find_bot(f"sleeper={sys.executable} -S {SLOW_BOT} 600")
    before = set(processes_of(os.getpid()))
    parlour = Parlour(Limits())
    patient = replace(terms(bot=sleeper), clock=Clock(move_ms=600_000))
    name = parlour.sit_down("ann", patient)
    shown = settled(parlour.find(name))
    assert shown.asked is not None
    parlour.find(name).play(shown.asked.number, "5")
    began = time.monotonic()
    parlour.close()
    assert time.monotonic() - began < PATIENCE_S
    # The thread is left behind, and ends with its process: here, its bot is ended by hand.
    for pid in set(processes_of(os.getpid())) - before:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: parlour.find(name).over or None, "the end of the game")


# Over HTTP, in the real process.


@pytest.fixture
def house_with_bots(own: Contest) -> Contest:
    with House.open(own.data) as house:
        assert "highest" in enter_samples(house)
    return own


def send(web: Web, path: str, fields: str) -> Reply:
    return web.post(path, fields.encode(), Content_Type="application/x-www-form-urlencoded")


def sit_down(web: Web) -> str:
    reply = send(web, "/play", "variant=underdog&bot=highest&seat=1&name=Ann")
    assert reply.status == 303, reply
    where = reply.headers["location"]
    assert re.fullmatch("/play/[0-9a-f]{32}", where)
    wait_for(lambda: b'data-state="yours"' in web.get(where).body or None, "the first turn")
    return where


def test_a_game_by_forms_alone(house_with_bots: Contest) -> None:
    with serving(house_with_bots.data) as web:
        assert b"highest" in web.get("/play?variant=duel").body
        for wish in ("variant=chess&bot=highest", "variant=duel&bot=nobody", "", "seat=7"):
            assert send(web, "/play", wish).status in (400, 404)
        same = "variant=duel&bot=highest&name=highest"
        assert send(web, "/play", same).status == 400
        where = sit_down(web)
        assert send(web, where, "move=98").status == 303
        assert b"&#39;98&#39; was for no turn of this game" in web.get(where).body
        assert send(web, where, "turn=1&move=99").status == 303
        slipped = web.get(where)
        assert b"is not legal here" in slipped.body
        assert slipped.headers["cache-control"] == "private, no-cache"
        for turn in range(1, 11):
            assert send(web, where, f"turn={turn}&move={turn}").status == 303
            assert send(web, where, f"turn={turn}&move={turn}").status == 303
            wait_for(
                lambda: re.search(b'data-state="(yours|over)"', web.get(where).body), "the bot"
            )
            if b'data-state="over"' in web.get(where).body:
                break
        assert re.search(b"You (won|lost)|A draw", web.get(where).body)
        assert send(web, where, "turn=1&move=1").status == 303


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_no_bot_is_left_behind(house_with_bots: Contest, killed: bool) -> None:
    with contextlib.suppress(AssertionError), serving(house_with_bots.data) as web:
        sit_down(web)
        bots = processes_of(web.process.pid)
        if killed:
            web.process.kill()
    assert bots
    wait_for(lambda: nothing_left(bots) or None, "the bot's end")


def test_moves_are_limited(house_with_bots: Contest) -> None:
    limits = {"plays_per_s": 0.001, "plays_burst": 2}
    with serving(house_with_bots.data, limits=limits) as web:
        where = sit_down(web)
        assert send(web, where, "turn=1&move=1").status == 303
        assert send(web, where, "turn=2&move=2").status == 429


def test_bots_have_other_names_where_the_ladder_is_anonymous(house_with_bots: Contest) -> None:
    with serving(house_with_bots.data, anonymous=True) as web:
        offered = web.get("/play").body.decode()
        assert "highest" not in offered
        # Which of them comes first is chance, and some do not play underdog.
        (name, *_) = re.findall(r'"(anon-[0-9a-f]{8})" data-plays="[^"]*underdog', offered)
        reply = send(web, "/play", f"variant=underdog&bot={name}")
        assert reply.status == 303
        assert send(web, "/play", "variant=underdog&bot=highest").status == 404
