"""`referee play` as a person meets it: a real terminal or a pipe, real bots, whole games."""

from __future__ import annotations

import codecs
import fcntl
import itertools
import json
import os
import re
import select
import shlex
import subprocess
import sys
import termios
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from referee.bots import fork_server
from referee.cli.app import build_app
from referee.rules.chance import Seeded
from referee.rules.deck import Deck
from referee.schedule import pairing_games
from tests.arena.playing import MARK, ROOT, command, left_of
from tests.facts import Naming
from tests.forking import COMMAND, MAIN, run
from tests.waiting import PATIENCE_S, wait_for
from tests.workshop.confined import must_offer_standard, open_folder, put_bot

REFEREE = [sys.executable, "-c", MAIN, "play"]
VARIANTS = ("difference", "underdog", "duel", "target", "deck")
EVERY_MOVE = [typed for number in range(1, 11) for typed in (f"{number}", f"play +{number}")]
WHOLE_GAME = "\n".join(EVERY_MOVE * 40)
"""Whatever the variant, a legal move comes up soon, with typing mistakes before it."""
OTHER_SCREEN, FIRST_SCREEN = "\x1b[?1049h\x1b[2J\x1b[H", "\x1b[2J\x1b[H\x1b[?1049l"
SEED = "h7"


def bot(script: str, *words: object) -> list[str]:
    return ["--against", f"{script}={shlex.join(command(script, *words))}"]


@contextmanager
def marked() -> Iterator[dict[str, str]]:
    """The environment of a command that has to leave nothing behind."""
    mark = uuid.uuid4().hex
    yield {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", MARK: mark}
    assert left_of(mark) == []


def piped(tmp_path: Path, typed: str, *words: str, status: int = 0) -> str:
    with marked() as env:
        found, out, err = run(
            COMMAND, MAIN, "play", *words, stdin=typed.encode(), cwd=tmp_path, env=env
        )
    assert found == status, err
    return (out + err).decode()


def quick(typed: str, *words: str) -> str:
    """As `piped`, without a process for the referee; a mistake is given as its sentence."""
    fork_server.SERVER.start()  # it is that of this process, and outlives the game
    with marked() as env:
        done = CliRunner().invoke(build_app(), ["play", *words], input=typed, env=env)
    return str(done.exception) if done.exception is not None else done.stdout


class Terminal:
    """A person at a pseudo-terminal, who waits for the prompt and then types."""

    def __init__(self, tmp_path: Path, env: dict[str, str], *words: str) -> None:
        self._master, self.keys = os.openpty()
        self._process = subprocess.Popen(
            [*REFEREE, *words],
            stdin=self.keys,
            stdout=self.keys,
            stderr=self.keys,
            env=env,
            cwd=tmp_path,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.shown = ""
        self._read = 0
        self._decode = codecs.getincrementaldecoder("utf-8")().decode

    def until(self, *texts: str) -> str:
        """What is shown from the last reading on, up to one of these texts."""
        found = wait_for(
            lambda: [at for text in texts if (at := self._end(text)) >= 0],
            lambda: f"{texts} after:\n{self.shown}",
            meanwhile=self._read_more,
        )
        start, self._read = self._read, min(found)
        return self.shown[start : self._read]

    def _read_more(self) -> None:
        if select.select([self._master], [], [], 0.1)[0]:
            self.shown += self._decode(os.read(self._master, 65536))

    def _end(self, text: str) -> int:
        at = self.shown.find(text, self._read)
        return at + len(text) if at >= 0 else at

    def type(self, text: str, key: str = "\n") -> None:
        os.write(self._master, (text + key).encode())

    def ends(self, status: int = 0) -> str:
        """Wait for the end of the command; all that it showed."""
        assert self._process.wait(PATIENCE_S) == status, self.shown
        while select.select([self._master], [], [], 0)[0]:
            self.shown += self._decode(os.read(self._master, 65536))
        return self.shown

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)
        os.close(self.keys)


@contextmanager
def terminal(tmp_path: Path, *words: str) -> Iterator[Terminal]:
    with marked() as env, closing(Terminal(tmp_path, env, *words)) as opened:
        yield opened


def dealt() -> tuple[list[int], list[int]]:
    """The hands that SEED deals in deck."""
    (order,) = pairing_games(SEED, "deck", "first", "second", 1, hidden_chance=False)
    first, second = Deck().setup(Seeded(order.chance_seed)).hands
    return list(first), list(second)


# A person against a bot.


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_whole_game_through_a_pipe(tmp_path: Path, variant: str) -> None:
    seat = str(VARIANTS.index(variant) % 2)
    time_limit = ("10s", "60s+1s", "none")[VARIANTS.index(variant) % 3]
    words = ["-v", variant, *bot("honest"), "--seed", "a b", "--seat", seat, "--time", time_limit]
    text = piped(tmp_path, WHOLE_GAME, *words, "--name", "Ann")
    assert text.startswith(f"{variant}: ")
    assert ("Ann and honest" if seat == "0" else "honest and Ann") in text
    assert re.search(r"wins? .*!$|is the winner!$|a draw", text.splitlines()[-2]), text[-500:]
    assert text.endswith("\nSeed a b: with --seed 'a b' the same game is dealt again.\n")
    assert "is at fault" not in text
    assert not (tmp_path / "referee-logs").exists(), "honest.py found the referee in error"


def test_a_whole_game_at_a_terminal(tmp_path: Path) -> None:
    """The other's hand and draws are never shown, and the books' commands work."""
    with terminal(tmp_path, "-v", "deck", *bot("honest"), "--seed", SEED) as person:
        ours, theirs = dealt()
        person.until("Enter command (")
        for typed, named, end in [
            ("hand", "\nYour hand: ", f"{ours}\r\nEnter"),
            (" HP ", "\nHP: ", "Player 1 10, honest 10.\r\nEnter"),
            ("play 10", "\n10 ", f" {ours}.\r\nEnter"),
            ("", "\nA move is an integer, ", f" {ours}.\r\nEnter"),
            ("\x1b[A", "\nA move is an integer, ", f" {ours}.\r\nEnter"),
        ]:
            person.type(typed)
            assert named in person.until(end)
        for move in itertools.count(1):
            asked = person.until(" hp): ", f"Seed {SEED}")
            if "Seed" in asked:
                break
            card = re.findall(r"play (\d), hand", asked)[0]
            person.type(f"Play {card}" if move % 2 else card)
        shown = person.ends()
    assert str(theirs) not in shown
    assert set(re.findall(r"honest draws (.*?)\.", shown)) == {"a card"}
    assert re.search(r"Player 1 draws \d\.", shown)
    assert re.search(r"(Player 1|honest) wins the game!\r\n", shown)
    assert "honest is thinking …\r\x1b[K" in shown


def test_the_same_seed_is_the_same_game(tmp_path: Path) -> None:
    words = ["-v", "duel", *bot("honest"), "--seed", "again"]
    words += ["--logs", str(tmp_path)]
    first, second = (quick("9\n" * 4 + "quit", *words) for _ in range(2))
    assert first == second
    assert "honest defends with" in first or "honest attacks with" in first


def test_what_the_bot_hears(tmp_path: Path) -> None:
    wire = tmp_path / "wire"
    honest = f"tee {shlex.quote(str(wire))} | {shlex.join(command('honest'))}"
    words = ["-v", "difference", "--option", "size=2", "--logs", str(tmp_path), "--seed", "any"]
    text = quick("2\n1\n", *words, "--against", f"ears=sh -c {shlex.quote(honest)}", "--seat", "1")
    heard = [json.loads(line) for line in wire.read_text().splitlines()]
    assert [message["type"] for message in heard] == [
        "hello",
        "start",
        "turn",
        "turn",
        "over",
        "bye",
    ]
    assert (heard[1]["seat"], heard[1]["players"]) == (0, ["ears", "Player 2"])
    assert heard[1]["clock"]["move_ms"] == heard[2]["left_ms"] == 10_000
    assert heard[2]["legal"] == [1, 2]
    assert heard[3]["events"][0]["theirs"] == 2
    assert heard[4]["ending"] == "rules"
    assert (heard[4]["result"] == "loss") == ("Player 2 won" in text)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (bot("crash", "status"), "crash, the bot exited with status 3."),
        (bot("crash", "half"), "crash, the bot exited with status 6 in the middle"),
        (bot("illegal", "float"), "illegal, a move is an integer, "),
        (bot("illegal", "resign"), "resign, the bot resigned."),
        (bot("garbage", "stray print"), "garbled, not JSON"),
        (bot("garbage", "stray print", "behind"), "garbled, not JSON"),
        (
            [*bot("hang", "silent"), "--time", "50ms"],
            "timeout, no answer within 1100 ms (50 ms, grace 50 ms, warm-up 1000 ms); does it ",
        ),
        (bot("startup", "exits"), "no_start, the bot exited with status 1."),
        (["--against", "none=/no/such/bot"], "no_start, No such file or directory: /no/such/bot."),
    ],
)
def test_a_fault_of_the_bot_ends_the_game(tmp_path: Path, words: list[str], fault: str) -> None:
    text = quick("1\n2\n3\n", "--option", "size=3", "--logs", str(tmp_path), *words)
    name = words[1].partition("=")[0]
    assert f"\n{name} is at fault: {fault}" in text
    assert "\nPlayer 1 wins the game.\nSeed " in text


def test_the_log_of_a_bot_at_fault_is_named(tmp_path: Path) -> None:
    against = "my bot=sh -c 'echo oops >&2; exit 4'"
    text = quick("", "--against", against, "--logs", str(tmp_path / "logs"))
    assert "my bot is at fault: no_start, the bot exited with status 4.\n" in text
    log = re.findall(rf"  {STDERR} (.*)\n", text)[0]
    assert Path(log).read_text() == "oops\n"


# A bot that is confined.


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for confined bots; the test is skipped where there can be none."""
    must_offer_standard()
    with open_folder() as folder:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder


@pytest.mark.parametrize("variant", ["underdog", "deck"])
def test_a_whole_game_against_a_confined_bot(place: Path, variant: str) -> None:
    words = ["-v", variant, "--against", "counter", "--seed", SEED, "--sandbox", "standard"]
    text = piped(place, WHOLE_GAME, *words)
    assert re.search(r"(Player 1|counter) .*wins the game", text)
    assert "is at fault" not in text
    free = piped(place, WHOLE_GAME, *words[:-1], "none")
    assert text == free, "the same game, walls or not"


def test_a_confined_bot_that_writes_beside_itself(place: Path) -> None:
    put_bot(place, "mine", "open('log.txt', 'w')")
    text = piped(place, "1\n2\n3\n", "--against", "mine", "--sandbox", "standard")
    assert "mine is at fault: no_start, the bot exited with status 1." in text
    log = re.findall(rf"  {STDERR} (.*)\n", text)[0]
    assert "Read-only file system: 'log.txt'" in (place / log).read_text()


# Two people at one terminal.


def test_choices_at_the_same_time_are_not_shown(tmp_path: Path) -> None:
    with terminal(tmp_path, "-v", "underdog", "--name", "Ann", "--name", "Bob") as people:
        assert "what you type does not show" in people.until("10]: ")
        for typed in ("77", "help", "7"):
            assert not termios.tcgetattr(people.keys)[3] & termios.ECHO
            people.type(typed)
            assert people.until("\r\n") == "(not shown)\r\n"
            people.until("10]: ")
        people.type("8")
        assert people.until("\r\n") == "(not shown)\r\n"
        told = people.until("Current scores: Ann 1, Bob 0")
        assert "  Ann chose: 7\r\n  Bob chose: 8\r\n  Underdog Rule Activated! Ann wins" in told
        people.until("10]: ")
        people.type("", "\x03")
        shown = people.ends(130)
        assert termios.tcgetattr(people.keys)[3] & termios.ECHO, "the terminal is as it was"
    assert "77" not in shown
    assert f"{NOT_HERE} 1, 2, 3" in shown


def test_hands_are_shown_in_private(tmp_path: Path) -> None:
    with terminal(tmp_path, "-v", "deck", "--seed", SEED) as people:
        names = []
        while "Seed" not in people.until("looking: ", f"Seed {SEED}"):
            names.append(people.shown.splitlines()[-1].partition(",")[0])
            people.type("")
            people.type(re.findall(r"play (\d), ", people.until(" hp): "))[0])
        shown = people.ends()
    first, second = dealt()
    alone = re.findall(f"{re.escape(OTHER_SCREEN)}(.*?){re.escape(FIRST_SCREEN)}", shown, re.DOTALL)
    assert len(alone) == len(names) >= 3
    assert names[:3] == ["Player 1", "Player 2", "Player 1"]
    assert f"Your hand: {first}" in alone[0]
    assert f"Your hand: {second}" in alone[1]
    for name, other, text in zip(names, names[1:] + names[-2:-1], alone, strict=True):
        assert set(re.findall(rf"{other} draws (.*?)\.", text)) <= {"a card"}
        assert f"{other}'s turn. Hand" not in text
        assert f"{name}'s turn. HP" in text
    assert re.search(r"Player 1 draws \d\.", alone[2])
    for text in alone:
        assert text.count(" played ") <= 2, "what happened since this player's last look"
        shown = shown.replace(text, "")
    assert "and: [" not in shown
    assert " draws " not in shown
    assert shown.count("Player 1 played ") == names.count("Player 1")
    assert re.search(r"Player [12] wins the game!", shown)


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_people_through_a_pipe(variant: str) -> None:
    text = quick(WHOLE_GAME, "-v", variant)
    assert re.search(r"Player [12] .*(wins|winner)|a draw", text.splitlines()[-2]), text[-500:]


def test_a_script_with_default_texts() -> None:
    script = str(ROOT / "docs/examples/goofspiel.py")
    text = quick("help\n2\n1\n2\n1\n2\n", "-v", script, "--option", "size=2")
    assert "\n  1 or play 1 - plays 1; you can play 1, 2\n" in text
    assert "Player 1 plays 2.\nPlayer 2 plays 1.\n" in text
    assert f"{NOT_HERE} 1.\n" in text
    assert re.search(r"Final points: Player 1 \d, Player 2 \d\.\n", text)


def test_a_script_that_fails(tmp_path: Path) -> None:
    script, good = tmp_path / "bad_game.py", ROOT / "docs/examples/goofspiel.py"
    script.write_text(good.read_text().replace("return position.bids[seat]", "return 1 / 0"))
    text = piped(tmp_path, "", "-v", str(script), status=2)
    assert re.search(r"^referee: .*bad_game.py, line \d+: ZeroDivisionError: ", text, re.MULTILINE)


# Words that are no moves, and ways to leave.


def test_help_rules_and_quit_at_a_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "-v", "target", *bot("honest"), "--option", "first=seat0") as person:
        prompt = "for example +1: "
        person.until(prompt)
        person.type("?")
        told = person.until(prompt)
        assert "  +1 or play +1 - plays +1; you can play +1, +2, +3" in told
        assert "  quit - ends the game\r\n" in told
        person.type("RULES")
        told = person.until(prompt)
        assert "be the first to hit the target exactly" in told
        assert "Available Numbers: 1,2,3" in told, "what the choice is about is shown again"
        person.type("five")
        assert Naming("'five'", '["+1"') == person.until(prompt)
        person.type('"+9"')
        person.until("Player 1's new score is 9")
        person.until("for example +1: ")
        person.type("quit")
        person.until("Player 1 leaves the game.\r\nSeed ")
        person.ends()


STDERR = "What it wrote to stderr is in"
NOT_HERE = "That cannot be played here; you can play"
LEFT = "The input has ended: Player 1 leaves the game."


@pytest.mark.parametrize(
    ("words", "prompts", "key", "status"),
    [
        (["-v", "duel", *bot("honest")], ["): "], "\x04", 0),
        (["-v", "deck"], ["looking: "], "\x04", 0),
        (["-v", "deck"], ["looking: ", "hp): "], "\x04", 0),
        (["-v", "deck"], ["looking: ", "hp): "], "\x03", 130),
        (["-v", "deck", "--seat", "1", *bot("hang", "silent")], ["is thinking …"], "\x03", 130),
    ],
)
def test_leaving_by_a_key(
    tmp_path: Path, words: list[str], prompts: list[str], key: str, status: int
) -> None:
    with terminal(tmp_path, *words) as person:
        for prompt in prompts[:-1]:
            person.until(prompt)
            person.type("")
        person.until(prompts[-1])
        person.type("", key)
        shown = person.ends(status)
    assert (LEFT in shown) == (status == 0)
    assert shown.count(OTHER_SCREEN) == shown.count(FIRST_SCREEN) == len(prompts) - 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--seat", "1"], "--seat is for a game against a bot; two people sit in the order of"),
        (["--name", "A", "--name", "A"], "both players are called A; --name gives another name"),
        (["--name", "A", "--name", "B", "--name", "C"], "--name is given 3 times, for 2 at"),
        (["--name", "\x1b[2J"], "--name takes 1 to 60 printable characters, not '\\x1b[2J'"),
        (["--against", "nobody"], "no bot 'nobody'"),
        (["--time", "soon"], "'soon' "),
    ],
)
def test_mistakes_on_the_command_line(words: list[str], sentence: str) -> None:
    assert quick("", *words).startswith(sentence)
