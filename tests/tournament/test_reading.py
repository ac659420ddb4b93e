"""Specs from files: what they mean, and the sentence for every mistake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.bots.manifest import find_bot
from referee.tournament.reading import KINDS, LARGEST_FILE, read_spec
from referee.tournament.spec import BadSpec, Spec, check
from referee.tournament.submissions import bots_in
from tests.facts import Naming
from tests.tournament.playing import SALT

WHOLE = """
name = "everything"
variants = ["underdog", "./mine.py"]
bots = ["random", "mine", "./sub/other", "cmd=python3 bot.py --x=1/2"]
format = "gauntlet"
games = 10
time = "10s+100ms"
grace = "10ms"
warm_up = "2s"
startup = "3s"
think = "parallel"
at_once = 8
restart = "pairing"
block = 50
seed = 7
salt = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
jobs = 2
challengers = ["mine", "cmd"]
rank_by = "points"
advantage = true
prior = true
anchors = { random = 1000, mine = -1.5 }
options.underdog = { wrap = true, size = 8 }
[teams]
ours = ["mine", "other"]
[options.my-game]
target = 30
"""

SCRIPT = '''"""Mine."""
from referee.rules.target import Target as _Target

class Mine(_Target):
    name = "my-game"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SCRIPT)
    for path, name in (("mine", "mine"), ("sub/other", "other"), ("sub/third", "third")):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "bot.toml").write_text(f'name = "{name}"\ncommand = ["true"]\n')
    (tmp_path / "sub" / "nothing").mkdir()
    return tmp_path


def read(folder: Path, text: str) -> Spec:
    path = folder / "spec.toml"
    path.write_text(text)
    return read_spec(path)


def mistake(folder: Path, text: str) -> str:
    """The sentence, without the folder."""
    with pytest.raises(BadSpec) as caught:
        read(folder, text)
    told = str(caught.value)
    assert "\n" not in told
    return told.replace(f"{folder}{os.sep}", "")


# What a file means.


def test_everything(folder: Path) -> None:
    script = str(folder / "mine.py")
    assert read(folder, WHOLE) == Spec(
        name="everything",
        variants=("underdog", script),
        bots=(
            "random",
            str(folder / "mine"),
            str(folder / "sub" / "other"),
            "cmd=python3 bot.py --x=1/2",
        ),
        format="gauntlet",
        games=10,
        options={"underdog": {"wrap": "yes", "size": 8}, script: {"target": 30}},
        time="10s+100ms",
        grace="10ms",
        warm_up="2s",
        startup="3s",
        think="parallel",
        at_once=8,
        restart="pairing",
        block=50,
        seed="7",
        salt=SALT,
        jobs=2,
        challengers=("mine", "cmd"),
        teams={"ours": ("mine", "other")},
        rank_by="points",
        advantage=True,
        prior=True,
        anchors={"random": 1000.0, "mine": -1.5},
    )


def test_next_to_nothing(folder: Path) -> None:
    assert read(folder, 'variant = "duel"') == Spec(name="spec", variants=("duel",))


def test_every_key_of_the_spec_can_be_in_a_file() -> None:
    found = {"left_out"}  # what a folder of bots holds besides
    assert set(KINDS) == {*Spec.__struct_fields__, "variant", "bots_dir"} - found


def test_wherever_it_is_read_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = read(folder, WHOLE)
    monkeypatch.chdir(folder / "sub")
    assert read_spec("../spec.toml") == there
    assert [find_bot(text).name for text in there.bots] == ["random", "mine", "other", "cmd"]
    monkeypatch.chdir(folder)
    assert read_spec("./spec.toml") == there


def test_a_folder_of_bots(folder: Path) -> None:
    found = tuple(str(folder / "sub" / name) for name in ("other", "third"))
    assert read(folder, 'variant = "duel"\nbots_dir = "sub"').bots == found
    both = read(folder, 'variant = "duel"\nbots = ["random", "sub/third"]\nbots_dir = "./sub"')
    assert both.bots == ("random", str(folder / "sub" / "third"), str(folder / "sub" / "other"))
    assert bots_in(folder / "sub").bots == found


@pytest.mark.parametrize(
    "text",
    [
        'variant = "target"\noptions = { target = 40 }',
        'variant = "target"\n[options]\ntarget = 40',
        'variant = "target"\noptions.target = 40',
        'variant = "target"\n[options.target]\ntarget = 40',
        'variants = ["target", "duel"]\n[options]\ntarget.target = 40',
        'variants = ["target", "duel"]\noptions.target.target = "40"',
    ],
)
def test_ways_to_write_an_option(folder: Path, text: str) -> None:
    assert read(folder, text).options == {"target": {"target": 40}}


@pytest.mark.parametrize("name", ["my-game", "./mine.py"])
def test_a_script_has_its_options_by_its_name_or_its_path(folder: Path, name: str) -> None:
    text = f'variants = ["duel", "./mine.py"]\n[options."{name}"]\ntarget = 20'
    assert read(folder, text).options == {str(folder / "mine.py"): {"target": 20}}


def test_a_mark_at_the_beginning_and_windows_line_ends(folder: Path) -> None:
    (folder / "spec.toml").write_bytes(b'\xef\xbb\xbfvariant = "duel"\r\ngames = 3\r\n')
    assert read_spec(folder / "spec.toml").games == 3


# Mistakes.


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'variant="duel"\n\n\ngame = 3',
            'spec.toml, line 4: unknown key "game"; did you mean games?',
        ),
        (
            'variant="duel"\nx.y = 3',
            'line 2: unknown key "x"; the keys are name, variant, variants',
        ),
        ('variant="duel"\n[option]\nlife=3', 'line 2: unknown key "option"; did you mean options?'),
        ('variant="underdgo"', 'line 1: unknown variant "underdgo"; did you mean underdog?'),
        (
            'variants = [\n  "duel", # one\n  "underdgo",\n]',
            'spec.toml, line 3: unknown variant "underdgo"; did you mean underdog?',
        ),
        ('variants=["duel",\n"duel"]', "line 2: the variant duel is there twice"),
        ('variants=["./mine.py",\n"mine.py"]', "line 2: the variant my-game is there twice"),
        (
            '\nvariants="duel"',
            'line 2: variants … list of texts; for one, write variant = "',
        ),
        ("\nvariants=[]", "line 2: variants is missing"),
        ("games = 3", 'spec.toml: variants is missing; write variants = ["underdog"]'),
        ("", "spec.toml: variants is missing"),
        ('variants=["duel"]\nvariant="duel"', "line 2: variant is short for variants"),
        ('variant="./no.py"', "line 1: no.py: … no such file"),
        ('variant="duel"\ngames="3"', 'line 2: games must be a whole number, not "3"'),
        ('variant="duel"\ngames=3.0', "line 2: games must be a whole number, not 3.0"),
        ('variant="duel"\ngames=true', "line 2: games must be a whole number, not true"),
        ('variant="duel"\ngames=[3]', "line 2: games must be a whole number, not a list"),
        ('variant="duel"\n[games]', "line 2: games must be a whole number, not a table"),
        ('variant="duel"\ngames=0', "line 2: games must be 1 to 10000000, not 0"),
        ('variant="duel"\nadvantage="yes"', 'line 2: advantage must be true or false, not "yes"'),
        ('variant="duel"\ntime=1', "line 2: time must be text in quotes, not 1"),
        ('variant="duel"\ntime="1"', "line 2: time: '1' "),
        ('variant="duel"\nformat="swis"', 'line 2: format cannot be "swis"; did you mean swiss?'),
        ('variant="duel"\nrounds=2', "line 2: rounds is for a swiss tournament"),
        ('variant="duel"\nseed=1.5', "line 2: seed must be text in quotes or a number, not 1.5"),
        ('variant="duel"\nname="a/b"', 'line 2: the name "a/b" must do for a folder'),
        ('variant="duel"\nbots="random"', 'line 2: bots must be … texts, not "random"'),
        (
            'variant="duel"\nbots=["random",\n3]',
            "line 3: every item of bots must be text in quotes",
        ),
        ('variant="duel"\nbots=[]', "line 2: bots is empty; leave it out"),
        (
            'variant="duel"\nbots=["random",\n\n"randm"]',
            "line 4: no bot 'randm': did you mean random?",
        ),
        ('variant="duel"\nbots=["random", "random"]', 'line 2: bots has "random" twice'),
        ('variant="duel"\nbots=["x=", "random"]', "line 2: x=: … command"),
        ('variant="duel"\nbots=["sub/nothing"]', "line 2: sub/nothing: … bot.toml"),
        ('variant="duel"\nbots=["./no"]', "line 2: no: … bot.toml"),
        ('variant="duel"\nbots=["\\u0000"]', "line 2: no bot '\\x00'"),
        (
            'variant="duel"\n[limits]\nmemory = true',
            "line 3: the limit memory … 16M to 1024G, not true",
        ),
        ('variant="duel"\n[limits]\n\nmemory = 1.5', "line 4: the limit memory is a size"),
        ('variant="duel"\nlimits = {cpu = [1]}', "line 2: the limit cpu … 1 to"),
        ('variant="duel"\n[limits.disk]\nmost = 1', "the limit disk is a size"),
        ('variant="duel"\n\nbots_dir="no"', "line 3: no: … is no such folder"),
        ('variant="duel"\nbots_dir="mine"', "line 2: mine: … bot.toml"),
        ('variant="duel"\nbots_dir="mine.py"', "line 2: mine.py: … is no such folder"),
        (
            'variant="duel"\nformat="gauntlet"\nchallengers=[\n"randm"]',
            'line 4: challengers names "randm", … did you mean random?',
        ),
        (
            'variant="duel"\n[anchors]\nno-one = 3',
            'line 3: anchors names "no-one", ',
        ),
        (
            'variant="duel"\nanchors={random="x"}',
            "line 2: the anchor of random must be a number, not",
        ),
        (
            'variant="duel"\n[anchors]\nrandom = inf',
            'line 3: the anchor of "random" must be a number',
        ),
        (
            'variant="duel"\n[options]\n\nlive=3',
            'line 4: duel has no option "live"; did you mean life?',
        ),
        (
            'variants=["duel","deck"]\n[options.duel]\nsize=9\nlife=0',
            "line 4: option life of duel … 1 to 10000, not 0",
        ),
        (
            'variants=["duel","deck"]\noptions.duel.life=1.5',
            "line 2: option life must be a whole number",
        ),
        (
            'variants=["duel","deck"]\n[options.dule]',
            'line 2: options for "dule", ',
        ),
        (
            'variants=["duel","deck"]\n[options]\nhp=3',
            'line 3: option "hp": with several variants, ',
        ),
        (
            'variants=["duel","./mine.py"]\n[options.my-game]\nsize=9\ntagret=3',
            'line 4: my-game has no option "tagret"; did you mean target?',
        ),
        ('variant="./mine.py"\n[options]\nx=1\ntarget=1', 'line 3: my-game has no option "x"'),
        (
            'variant="difference"\n[options]\nrounds=9',
            "line 2: option rounds of difference must be at most size",
        ),
        (
            'variant="target"\noptions.target=4\n[options.target]\ntarget=3',
            "line 3: a key is there twice",
        ),
        ('variant="duel"\ngames=1\n\ngames=2', "line 4: the key games is there twice"),
        ('variant="duel"\n[options]\n[options]', "line 3: the table [options] is there twice"),
        ('variant="duel"\ngames=', "line 2: no TOML: invalid value"),
        ('variant="duel"\ngames 3', "line 2: no TOML: expected '=' after a key"),
        ('variant="duel\n', "line 1: no TOML: illegal character"),
        ('variant="duel"\nbots=["a",\n"b"\n\n', "line 3: the file ends too early"),
        ("a=" + "[" * 20_000, "spec.toml: lists within lists"),
        ("games=" + "9" * 5_000, "spec.toml: Exceeds the limit"),
    ],
)
def test_a_mistake_gets_one_sentence(folder: Path, text: str, told: str) -> None:
    assert mistake(folder, text) == Naming.of(told)


def test_files_that_are_none(folder: Path) -> None:
    cases: list[tuple[str | Path, str]] = [
        (folder / "no.toml", "no.toml: … no such file"),
        (folder, ": a folder, where the file of a spec is due"),
        (folder / "mine.py" / "x", "cannot be read: Not a directory"),
        ("x" * 5_000, "cannot be read: File name too long"),
        ("a\0b", "cannot be read: embedded null byte"),
        ("/dev/zero", "/dev/zero: larger than"),
    ]
    for path, told in cases:
        with pytest.raises(BadSpec) as caught:
            read_spec(path)
        assert str(caught.value) == Naming.of(told)
    (folder / "spec.toml").write_bytes(b'variant = "duel"\nname = "\xff"\n')
    with pytest.raises(BadSpec, match=r"spec.toml, line 2: not UTF-8 text"):
        read_spec(folder / "spec.toml")
    (folder / "spec.toml").write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(BadSpec, match="larger than"):
        read_spec(folder / "spec.toml")


_keys = st.sampled_from([*KINDS, "gmaes", "options.duel", "options.target.size", '"x y"', "a.b"])
_numbers = ["1", "-1", "0.5", "nan", "true", "1979-05-27"]
_texts = ['""', '"duel"', '"swiss"', '"../x"', '["duel"]', '["random"]', '["random", "highest"]']
_others = ["[]", "[1]", "[[1]]", "{}", "{a = 1}", "{duel = {life = 3}}", "="]
_values = st.sampled_from([*_numbers, *_texts, *_others])


@settings(max_examples=300)
@given(st.lists(st.tuples(_keys, _values), max_size=5), st.booleans())
def test_whatever_is_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], variant: bool
) -> None:
    lines = ['variant = "duel"'] * variant + [f"{key} = {value}" for key, value in pairs]
    folder = tmp_path_factory.getbasetemp()
    told = None
    try:
        spec = read(folder, "\n".join(lines))
    except BadSpec as bad:
        told = str(bad)
    if told is None:
        assert check(spec) == spec
    else:
        assert told.startswith(str(folder / "spec.toml"))
        assert "\n" not in told
