"""What the options on confinement cannot do is said, in a line each."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from msgspec.structs import replace

from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import best_level, why_not
from referee.store.database import Store
from referee.tournament.begin import stored_spec
from referee.tournament.spec import Spec
from tests.cli.running import referee, sentence
from tests.confinement.offered import a_bot, walls


def test_limits_that_nothing_enforces(tmp_path: Path) -> None:
    words = ["--sandbox", "none", "--limit", "memory=512MiB", "--limit", "turn=2M"]
    match = referee(tmp_path, "match", "random", "highest", "--games", 2, *words)
    told = "At level none nothing enforces the limit memory\n"
    assert match.status == 0
    assert match.err.startswith(told)
    plan = referee(tmp_path, "tournament", "--plan", *words, "--limit", "cpu=60")
    assert plan.err == "At level none nothing enforces the limits memory, cpu\n"
    assert re.search(r"level none: .* unconfined\n", plan.out)


def test_a_plan_is_refused_as_the_run_is(tmp_path: Path) -> None:
    for words in (["--sandbox", "none", "--freeze"], *_not_to_be_had()):
        plan, run = (
            sentence(done, status=done.status)
            for done in (
                referee(tmp_path, "tournament", "--plan", *words),
                referee(tmp_path, "tournament", "--out", "t", *words),
            )
        )
        assert plan == run
        assert "level" in plan


def _not_to_be_had() -> list[list[str]]:
    return [] if why_not(Level.FULL) is None else [["--sandbox", "full"]]


def test_the_level_is_in_the_plan(tmp_path: Path) -> None:
    for words in ([], ["--json"]):
        done = referee(tmp_path, "tournament", "--plan", *words, REFEREE_SANDBOX="")
        assert best_level().value in done.out


def test_a_resumed_tournament_is_refused_in_plain_words(tmp_path: Path) -> None:
    words = ["--bot", "random", "--bot", "highest", "--games", 2, "--sandbox", "none"]
    assert referee(tmp_path, "tournament", *words, "--out", "t").status == 0
    for more, told in (
        (["--limit", "memory=32M"], "the limit memory was 1G and is 32M; a tournament goes on"),
        (["--freeze"], "freeze was off and is on; a tournament goes on"),
    ):
        done = referee(tmp_path, "tournament", "--resume", "t", *more)
        assert told in sentence(done)


@walls
def test_a_spec_that_is_given_again_asks_for_nothing_else(tmp_path: Path) -> None:
    """Bots stand still as before, by default or not, though the spec does not say it."""

    def now() -> Spec:
        with Store.read(tmp_path / "t") as store:
            return stored_spec(store)

    a_bot(tmp_path / "mine", "return ''")
    (tmp_path / "t.toml").write_text('variant = "difference"\nbots = ["./mine", "lowest"]\n')
    words = ["t.toml", "--out", "t", "--sandbox", "standard", "--games", 2]
    assert referee(tmp_path, "tournament", *words).status == 0
    begun = now()
    assert begun.freeze
    for games, stored in ((4, begun), (6, replace(begun, freeze=None))):
        with Store.open(tmp_path / "t") as store:
            store.set_value("spec", msgspec.json.encode(stored).decode())
            store.commit()
        again = ["--resume", "t", "t.toml", "--games", games]
        done = referee(tmp_path, "tournament", *again)
        assert done.status == 0, done.err
        assert now() == replace(begun, games=games)
