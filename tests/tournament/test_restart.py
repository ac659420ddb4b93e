"""How long a bot's process lives: through many pairings, a block of games, or one game."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.bots.confinement.levels import Level
from referee.bots.manifest import find_bot
from referee.store.database import Store
from referee.tournament import workers
from referee.tournament.begin import play_tournament
from referee.tournament.chunk import Contestant
from referee.tournament.run import manner_of
from referee.tournament.spec import Spec
from referee.tournament.workers import Workers
from tests.cli.running import referee
from tests.confinement.offered import LEVELS as OFFERED
from tests.daemon.serving import processes_of
from tests.once import once
from tests.tournament.playing import SALT
from tests.tournament.test_nothing_lost import begin, games, hear, stored, tables
from tests.tournament.test_workers import MANNER, chunk, reports
from tests.waiting import PATIENCE_S, wait_for

ROOT = Path(__file__).resolve().parents[2]
LEVELS = [level.value for level in (Level.NONE, *OFFERED)]
Words = tuple[object, ...]
NAMES = ("ann", "bob", "cat", "dan")
PAIRINGS = 6


def bots(folder: Path, *, stateless: bool | None = None, **habits: str) -> list[str]:
    """Four bots that tell what their processes do, as words of the command."""
    said = "" if stateless is None else f"stateless = {str(stateless).lower()}\n"
    for name in NAMES:
        place = folder / name
        place.mkdir(parents=True)
        # A confined bot sees its own folder alone.
        for module in ("lasting", "base"):
            text = (ROOT / "tests/bots" / f"{module}.py").read_text()
            (place / f"{module}.py").write_text(text.replace("tests.bots.base", "base"))
        command = json.dumps(["python3", "lasting.py", habits.get(name, "plain")])
        (place / "bot.toml").write_text(f'name = "{name}"\ncommand = {command}\n{said}')
    return [word for name in NAMES for word in ("--bot", str(folder / name))]


class Logs:
    """What the bots of a tournament told on stderr."""

    def __init__(self, folder: Path, *, is_by_pairing: bool = True) -> None:
        self.games: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        """By bot and process: the games that it played, in their order."""
        self.starts: dict[str, list[int]] = defaultdict(list)
        """By bot: the numbers of its processes. Behind walls they are those of its namespace."""
        self.left: set[int] = set()
        places: dict[str, set[str]] = defaultdict(set)
        for path in sorted((folder / "logs").rglob("*.stderr.txt")):
            name = path.name.partition(".")[0]
            for line in path.read_text().splitlines():
                if found := re.fullmatch(r"process (\d+)", line):
                    self.starts[name].append(int(found[1]))
                elif found := re.fullmatch(r"(\d+) leaves", line):
                    self.left.add(int(found[1]))
                else:
                    found = re.fullmatch(r"(\d+) plays (\d+)-(\d+) seat \d", line)
                    assert found, line
                    self.games[name][int(found[1])].append(f"{found[2]}-{found[3]}")
                    places[found[2]].add(path.parent.name)
        if is_by_pairing:
            assert all(len(found) == 1 for found in places.values()), "stderr is filed by pairing"
            assert len(set.union(set(), *places.values())) == len(places)


def play(
    folder: Path, words: list[str], *more: object, games: int = 4, where: Words = ("--jobs", 1)
) -> Logs:
    done = referee(
        folder,
        *("tournament", "--variant", "underdog", *words, "--games", games),
        *("--out", "t", "--time", "60s", *where, *more),
        # Locks of its own: a worker that gets its core late, since another test had it, ends what
        # it keeps.
        TMPDIR=str(folder),
    )
    assert done.status == 0, done.err
    return Logs(folder / "t")


@pytest.mark.parametrize("level", LEVELS)
def test_a_stateless_bot_is_started_once(tmp_path: Path, level: str) -> None:
    logs = play(tmp_path, bots(tmp_path, stateless=True), "--sandbox", level)
    for name in NAMES:
        (pid,) = logs.starts[name]
        (played,) = logs.games[name].values()
        assert len(played) == 4 * 3
        assert pid in logs.left


def test_bots_that_are_kept_play_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that keeps two processes says which, and each pairing has one of these two."""
    small = "import referee.arena.process_cache as c; c.MOST, c.PONG_MS = 2, 60_000"
    program = workers.PROGRAM.replace("main(workers)", f"{small}\nmain(workers)")
    monkeypatch.setattr(workers, "PROGRAM", program)
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # as in `play`
    named = tuple(bots(tmp_path, stateless=True)[1::2])
    spec = Spec(name="t", variants=("underdog",), bots=named, games=4, jobs=1, sandbox="none")
    play_tournament(replace(spec, time="60s"), tmp_path / "t")
    starts = Logs(tmp_path / "t").starts
    # The roll call starts each of them. The last two of it play at once.
    assert sum(map(len, starts.values())) == len(NAMES) + PAIRINGS - 1


@pytest.mark.parametrize(
    ("stateless", "restart", "starts"),
    [
        (False, None, 1 + 3),
        (None, None, 1 + 3),
        (True, "pairing", 1 + 3),
        (True, "game", 1 + 3 * 4),
        (False, "never", 1),
    ],
)
def test_when_bots_are_started(
    tmp_path: Path, stateless: bool | None, restart: str | None, starts: int
) -> None:
    """Once to see whether it comes up, and then as often as is due."""
    more = [] if restart is None else ["--restart", restart]
    logs = play(tmp_path, bots(tmp_path, stateless=stateless), "--sandbox", "none", *more)
    assert {name: len(logs.starts[name]) for name in NAMES} == dict.fromkeys(NAMES, starts)


def test_a_hello_can_say_that_a_bot_is_stateless(tmp_path: Path) -> None:
    """Then it has no blocks either."""
    words = bots(tmp_path, stateless=None, **dict.fromkeys(NAMES, "says"))
    logs = play(tmp_path, words, "--sandbox", "none", "--block", 2)
    assert [len(logs.starts[name]) for name in NAMES] == [1, 1, 1, 1]


FLAKY = """
from referee.rules.underdog import Underdog

class Flaky(Underdog):
    name = "flaky"
    rounds = 0

    def apply(self, position, plays, chance):
        type(self).rounds += 1
        if self.rounds == 2:
            raise RuntimeError
        return super().apply(position, plays, chance)
"""


def test_a_game_that_is_played_again_has_new_processes_too(tmp_path: Path) -> None:
    (tmp_path / "flaky.py").write_text(FLAKY)
    two = bots(tmp_path / "bots")[:4]
    done = referee(
        tmp_path,
        *("tournament", "--variant", "./flaky.py", *two, "--games", 4, "--out", "t"),
        *("--jobs", 1, "--sandbox", "none", "--restart", "game"),
    )
    assert "RuntimeError" in done.err
    played = Logs(tmp_path / "t").games
    for name in ("ann", "bob"):
        assert sorted(played[name].values()) == [["1-1"], ["1-1"], ["1-2"], ["1-3"], ["1-4"]]


@pytest.mark.parametrize("habit", ["illegal", "resigns", "stray", "deaf", "half"])
def test_what_a_process_did_wrong_does_not_reach_the_next_pairing(
    tmp_path: Path, habit: str
) -> None:
    logs = play(tmp_path, bots(tmp_path, stateless=True, bob=habit), "--sandbox", "none")
    assert all(len(played) == 4 for played in logs.games["bob"].values()), "a pairing each"
    assert len(logs.games["bob"]) == 3
    assert len(logs.games["ann"]) == 1


@pytest.mark.skipif("standard" not in LEVELS, reason="no level standard")
def test_what_a_process_used_counts_by_pairing(tmp_path: Path) -> None:
    """Twelve games of half a second are too much for a limit of four seconds, four are not."""
    words = bots(tmp_path, stateless=True, bob="burner")
    more = ("--sandbox", "standard", "--limit", "cpu=4", "--time", "60s")
    logs = play(tmp_path, words, *more)
    assert sum(len(played) for played in logs.games["bob"].values()) == 12
    listed = json.loads((tmp_path / "t" / "standings.json").read_text())
    assert "crash" not in json.dumps(listed["variants"])


@pytest.mark.skipif("standard" not in LEVELS, reason="no level standard")
def test_a_process_that_grows_is_started_anew(tmp_path: Path) -> None:
    """Twelve games of 4 MB, two files or two threads are within the limits, and more than a tenth
    of them."""
    words = bots(tmp_path, stateless=True, bob="grower", cat="opener", dan="starter")
    logs = play(tmp_path, words, "--sandbox", "standard", "--limit", "memory=128M")
    for name in ("bob", "cat", "dan"):
        assert len(logs.starts[name]) > 1, name
        assert sum(len(played) for played in logs.games[name].values()) == 12
    assert len(logs.starts["ann"]) == 1


DEADLY = """
import os, time
from referee.rules.underdog import Underdog

class Deadly(Underdog):
    name = "deadly"
    begun = 0

    def setup(self, chance):
        type(self).begun += 1
        if self.begun == 6:
            time.sleep(0.5)  # The games before are reported meanwhile.
            os._exit(1)
        return super().setup(chance)
"""


def test_a_block_that_ends_every_worker_is_given_up(tmp_path: Path) -> None:
    """Its games before that are played again each time, and are no progress."""
    (tmp_path / "deadly.py").write_text(DEADLY)
    words = bots(tmp_path / "bots", stateless=False)
    done = referee(
        tmp_path,
        *("tournament", "--variant", "./deadly.py", *words, "--games", 100, "--out", "t"),
        *("--jobs", 1, "--sandbox", "none"),
    )
    assert done.status not in (0, 2), done.err


def test_a_block_is_played_by_one_process(tmp_path: Path) -> None:
    words = bots(tmp_path, stateless=False)
    logs = play(tmp_path, words, "--sandbox", "none", "--block", 4, games=10)
    for name in NAMES:
        blocks = sorted(len(played) for played in logs.games[name].values())
        assert blocks == [2] * 3 + [4] * 6
        for played in logs.games[name].values():
            numbers = [int(game.partition("-")[2]) for game in played]
            assert len({(number - 1) // 4 for number in numbers}) == 1
            assert numbers == sorted(numbers)


LEARNING = (
    *("--seed", "7", "--salt", SALT, "--sandbox", "none"),
    *("--block", 20, "--time", "60s"),
)


def test_what_bots_learn_does_not_depend_on_workers(tmp_path: Path) -> None:
    words = bots(tmp_path / "bots", stateless=False, **dict.fromkeys(NAMES, "learner"))
    for jobs in (1, 3):
        place = tmp_path / str(jobs)
        place.mkdir()
        more = (*LEARNING, "--at-once", 7 * jobs)
        play(place, words, *more, games=70, where=("--jobs", jobs))
    assert tables(tmp_path / "1" / "t") == tables(tmp_path / "3" / "t")
    assert games(tmp_path / "1" / "t") == games(tmp_path / "3" / "t")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bots that learn, and a tournament that they played in one go."""

    def begun(folder: Path) -> None:
        words = bots(folder / "bots", stateless=False, **dict.fromkeys(NAMES, "learner"))
        play(folder, words, *LEARNING, games=100)

    return once(tmp_path_factory, "learned", begun)


def games_begun(folder: Path) -> list[tuple[str, int, str]]:
    """By whom, in which process, and which: as the logs tell by now, which are being written. A bot
    whose worker was killed may have told other things last."""
    return [
        (path.name.partition(".")[0], int(pid), game)
        for path in (folder / "logs").rglob("*.stderr.txt")
        for pid, game in re.findall(r"^(\d+) plays (\d+-\d+) seat \d$", path.read_text(), re.M)
    ]


def learning(folder: Path, *more: object) -> list[object]:
    """The words for a tournament of these bots."""
    named = [word for name in NAMES for word in ("--bot", folder / "bots" / name)]
    terms = ("--out", "t", *LEARNING, "--name", "underdog")
    return ["tournament", "--variant", "underdog", *named, *terms, *more]


def test_what_bots_learn_does_not_depend_on_kills(learned: Path, tmp_path: Path) -> None:
    all_words = learning(learned, "--games", 100, "--jobs", 2)
    for kill in range(2):
        process = begin(tmp_path, f"kill {kill}", *all_words)
        assert process.stdout is not None
        kept = len(stored(tmp_path / "t"))
        while len(stored(tmp_path / "t")) == kept:
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        all_words = ["tournament", "--resume", "t"]
    assert 0 < len(stored(tmp_path / "t")) < PAIRINGS * 100
    done = referee(tmp_path, *all_words)
    assert done.status == 0, done.err
    assert games(tmp_path / "t") == games(learned / "t")
    assert tables(tmp_path / "t") == tables(learned / "t")
    with Store.read(tmp_path / "t") as store:
        counted = sum(row.moves for row in store.times())
    assert counted == sum(len(record["moves"]) for record in games(tmp_path / "t"))


def test_what_bots_learn_does_not_depend_on_the_ends_of_workers(
    learned: Path, tmp_path: Path
) -> None:
    """The coordinator lives on, and has a block played again of which it has kept a part."""
    folder = tmp_path / "t"
    process = begin(tmp_path, "a worker", *learning(learned, "--games", 100, "--jobs", 2))

    def in_a_block() -> int | None:
        """A worker whose bots are in the middle of a block; while they start, none is lost."""
        assert process.poll() is None, process.communicate()
        begun = Counter(pid for _, pid, _ in games_begun(folder))
        for worker in processes_of(process.pid, b"tournament.worker"):
            if any(1 < begun[bot] <= 10 for bot in processes_of(worker, b"lasting.py")):
                return worker
        return None

    def played() -> list[tuple[str, str]]:
        return [(name, game) for name, _, game in games_begun(folder)]

    kills = 0
    # At most until every game has been told of: then `hear` fails.
    while kills < 3 or len(played()) == len(set(played())):
        hear(process, 70)
        os.kill(wait_for(in_a_block, "a block that is played"), signal.SIGKILL)
        kills += 1
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert len(played()) > len(set(played())) == PAIRINGS * 100 * 2
    assert games(tmp_path / "t") == games(learned / "t")
    assert tables(tmp_path / "t") == tables(learned / "t")


def test_what_bots_learn_does_not_depend_on_added_games(learned: Path, tmp_path: Path) -> None:
    """Added before the end, to a pairing whose last block is not full."""
    process = begin(tmp_path, "extended", *learning(learned, "--games", 70, "--jobs", 1))
    assert process.stdout is not None
    told = b""
    while b'-70"' not in told:
        told = process.stdout.readline()
        assert told, process.communicate()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert 70 <= len(stored(tmp_path / "t")) < PAIRINGS * 70
    done = referee(tmp_path, "tournament", "--resume", "t", "--games", 100, "--jobs", 2)
    assert done.status == 0, done.err
    assert games(tmp_path / "t") == games(learned / "t")
    assert tables(tmp_path / "t") == tables(learned / "t")


def test_no_process_plays_both_games_of_a_pair_with_hidden_chance(tmp_path: Path) -> None:
    """Of bots that are trusted, as sample bots are; games of strangers have chance of their own."""
    bots(tmp_path, stateless=True)
    ann, bob = (Contestant(n, find_bot(str(tmp_path / NAMES[n]))) for n in (0, 1))
    manner = replace(MANNER, logs=tmp_path / "t" / "logs")
    crew = Workers(1)
    worker = crew.idle()[0]
    try:
        for pairing in (3, 4):
            given = {"pairing": pairing, "first": ann, "second": bob, "manner": manner}
            worker.give(chunk(4, variant="deck", **given))
            reports(crew)
    finally:
        crew.close()
    logs = Logs(tmp_path / "t", is_by_pairing=False)
    for name in ("ann", "bob"):
        played = sorted(logs.games[name].values())
        assert played == [[f"{at}-{n}", f"{at}-{n + 2}"] for at in (3, 4) for n in (1, 2)]


@pytest.mark.parametrize("stateless", [False, True])
def test_no_process_carries_what_it_learned_to_another_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stateless: bool
) -> None:
    """A worker of a daemon plays one after the other, of whatever names."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # as in `play`
    bots(tmp_path, stateless=stateless)
    ann, bob = (Contestant(n, find_bot(str(tmp_path / NAMES[n]))) for n in (0, 1))
    spec = Spec(name="cup", variants=("underdog",), restart="never", sandbox="none", freeze=False)
    crew = Workers(1)
    worker = crew.idle()[0]
    try:
        manners = {number: manner_of(spec, tmp_path / number) for number in ("first", "second")}
        for pairing, number in ((1, "first"), (2, "first"), (1, "second")):
            manner = manners[number]
            worker.give(chunk(4, pairing=pairing, first=ann, second=bob, manner=manner))
            reports(crew)
    finally:
        crew.close()
    found = [Logs(tmp_path / number, is_by_pairing=False).starts for number in ("first", "second")]
    assert [len(starts["ann"]) for starts in found] == [1, 0 if stateless else 1]


def test_strangers_play_no_hidden_chance_twice(tmp_path: Path) -> None:
    """Neither in the other seat nor when games are added, for what a bot might have learned."""
    two = bots(tmp_path / "bots", stateless=False)[:4]
    done = referee(tmp_path, *("tournament", "--variant", "deck", *two, "-n", 4, "--out", "t"))
    assert done.status == 0, done.err
    done = referee(tmp_path, *("tournament", "--resume", "t", "--games", 6))
    assert done.status == 0, done.err
    chances = [json.dumps(record["chance"][0]) for record in games(tmp_path / "t")]
    assert len(set(chances)) == len(chances) == 6
    played = [each for games in Logs(tmp_path / "t").games["ann"].values() for each in games]
    assert sorted(played) == [f"1-{number}" for number in range(1, 7)]


@pytest.mark.parametrize("block", [7, 0])
def test_a_block_that_cannot_be(tmp_path: Path, block: int) -> None:
    done = referee(tmp_path, "tournament", "--variant", "underdog", "--block", block)
    assert done.status == 2
    assert str(block) in done.err
