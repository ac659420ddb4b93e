"""Where the fuzzing starts: real conversations and files, most of them made on the fly."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fuzz.targets.spec import BOTS, SCRIPT
from referee.bots.manifest import Bot, Manifest, find_bot, sample_bots
from referee.bots.manifest_text import MANIFEST
from referee.match import play_match
from referee.protocol.messages import STALE_LIMIT
from referee.record import Record, encode_record
from referee.rules.registry import BUNDLED
from referee.tournament.reading import KINDS
from referee.verdict import Ending

ROOT = Path(__file__).parents[1]
HELLO = b'{"type":"hello","name":"mine","games_at_once":64}\n'
_OBJECT = re.compile(rb"^\{.*\}$", re.MULTILINE)
_STUBBORN = """
import json
for line in iter(input, ""):
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello"}', flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"id": message["id"], "move": 99, "note": "so there"}), flush=True)
    elif message["type"] == "bye":
        break
"""


def session() -> list[bytes]:
    """The examples of protocol.md, and what bots are known to do wrong."""
    examples = _OBJECT.findall((ROOT / "protocol.md").read_bytes())
    answers = b"".join(b'{"id":%d,"move":5}\n' % turn for turn in range(1, 9))
    ended = [
        answers,
        answers.replace(b"\n", b"\r\n\n"),
        b'{"type":"pong"}\n{"id":1,"move":"+5","note":"n"}\n{"type":"resign","id":2}\n',
        b'{"id":1,"move":5}\n' * (STALE_LIMIT + 2),
        b'{"id":1,"id":2,"move":5}\n',
        b'{"id":1,"move":[{"a":1e999}]}\n',
        b'{"id":1,"move":"\\ud800"}\n{"id":2,"move":NaN}\n',
        b'{"type":"move","id":1,"move":5}{"id":2,\n"move":5}\n',
        b'{"id":1,"move":5}\x1fa{"id":65,"move":5}\n\x1fw{"id":2,"move":5}\n\x1fbbye\n',
        b'{"id":1,"move":"\xc3\xa9\xff"}\n',
        b" " * 600 + b"\x1fa" + b" " * 300,
        b"\x1fx" + b'{"id":1,"move":5}   \n',
        b'\x1fx{"id":1,"move":' + b"[" * 40,
    ]
    alone = [HELLO + b"\x1fm" + example + b"\n" for example in examples]
    return [HELLO, b"\n" * 1001, *alone, *(HELLO + b"\x1fm" + each for each in ended)]


def records() -> list[bytes]:
    """Games of all five variants between sample bots, and some that a fault ended."""
    one, other = find_bot("random"), find_bot("highest")
    stubborn = Bot(name="stubborn", command=(sys.executable, "-S", "-c", _STUBBORN))
    absent = Bot(name="absent", command=("/nowhere/to/be/found",))
    games = [_played(one, other, variant) for variant in BUNDLED]
    games.append(_played(stubborn, other, "duel"))
    games.append(_played(stubborn, stubborn.renamed("twin"), "underdog", games=1))
    games.append(_played(absent, other, "deck", games=4))
    lines = [[encode_record(record) + b"\n" for record in match] for match in games]
    return [line for match in lines for line in match] + [b"".join(match) for match in lines]


def _played(first: Bot, second: Bot, variant: str, games: int = 2) -> list[Record]:
    kept: list[Record] = []
    terms: dict[str, Any] = {"time": "60s", "seed": "fuzz", "pin": False}
    play_match(first, second, variant=variant, games=games, on_record=kept.append, **terms)
    return kept


def spec() -> list[bytes]:
    """The tournaments that come with the referee, and one that says all there is to say."""
    shipped = [path.read_bytes() for path in sorted((ROOT / "tournaments").glob("*.toml"))]
    full = f"""
name = "everything"
variants = ["underdog", "./{SCRIPT}"]
bots = ["random", "{BOTS}/one", "cmd=python3 bot.py --x=1/2"]
format = "gauntlet"
games = 10
time = "10s+100ms"
grace = "10ms"
warm_up = "2s"
startup = "3s"
build_time = "1m"
think = "parallel"
at_once = 8
seed = 7
jobs = 0x2
challengers = ["one", 'cmd']
rank_by = "points"
advantage = true
prior = true
sandbox = "none"
freeze = false
expose = ["."]
limits = {{ memory = "512M", processes = 8 }}
anchors = {{ random = 1000, one = -1.5 }}
options.underdog = {{ wrap = true, size = 8 }}
[options.my-game]
target = 30
"""
    small = f'variant = "deck"\nbots_dir = "{BOTS}"\nformat = "swiss"\nrounds = 2\n'
    huge = [small.replace("2", number).encode() for number in ("9" * 5000, "0x" + "f" * 5000)]
    deep = b"bots = " + b"[" * 3000
    windows = full.replace("\n", "\r\n")
    return [*shipped, full.encode(), windows.encode(), small.encode(), *huge, deep]


def csv_games() -> list[bytes]:
    """With and without a header, pairs, quotes, blank lines, and in the spelling of Windows."""
    plain = b"a,b,result\na,b,1-0\nb,a,0-1\nc,a,1/2-1/2\nc,b,*\n"
    paired = b"pair,a,b,result\n1,a,b,1-0\n1,b,a,0.5-0.5\n,b,c,0-1\nx,c,b,\xc2\xbd-\xc2\xbd\n"
    quoted = b'"' + plain.replace(b",", b'","').replace(b"\n", b'"\n"')[:-1]
    return [
        plain,
        paired,
        quoted,
        plain.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + plain.replace(b"\n", b"\n \n\n"),
        plain.removeprefix(b"a,b,result\n") * 20,
        b'"a ""1""","b,\nc",1-0\n' + plain.removeprefix(b"a,b,result\n"),
        paired.replace(b"a", b"\xc3\xa4" * 40),
    ]


def pgn_games() -> list[bytes]:
    """Games with tags in any shape, and comments that look like tags."""
    game = b'[Event "x"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
    drawn = b'[White "b \\"2\\""]\n[Black "a"]\n[Result "1/2-1/2"]\n\n1/2-1/2\n'
    return [
        game + drawn,
        game.replace(b"\n", b"\r\n") * 3,
        b"\xef\xbb\xbf% made by hand\n" + drawn * 2,
        game.replace(b"e5", b'e5 {[White "c"]\n{; } ; {[Black "d"]\n'),
        game.replace(b'"1-0"', b'"*"') + game.replace(b'"a"', b'"?"'),
        b'[White "a"] [Black "b"] {x} [Result "0-1"] 1. e4 0-1\n' * 3,
        b"{ first }\n; then\n" + game,
        game + b"{}" * 3000 + b"{\n}",
    ]


def manifest() -> list[bytes]:
    """Those of the sample bots, and one with every key."""
    shipped = [(folder / MANIFEST).read_bytes() for folder in sample_bots().values()]
    full = b"""name = "full (1.0)"
command = ["python3", "bot.py"]
build = ['cc', "-O2"]
description = "all \\u00e4"
version = "2"
author = "Ann"
variants = ["duel", "deck"]
games_at_once = 64
transport = "stdio"
env = { LANG = "C", "A b" = "" }
processes = 2
limits = { memory = "128M", cpu = 60 }
"""
    huge = [full.replace(b"64", number) for number in (b"9" * 5000, b"0x" + b"f" * 5000)]
    deep = b"command = " + b"[" * 3000
    return [*shipped, full, *huge, deep]


SEEDS: Mapping[str, Callable[[], list[bytes]]] = {
    "session": session,
    "records": records,
    "spec": spec,
    "csv_games": csv_games,
    "pgn_games": pgn_games,
    "manifest": manifest,
}

_TOML = ['"""', "'''", "[[", "]]", "0x", "1e9", "inf", "nan", "2024-01-01", "\\u0000", " = ", "\n["]
_JSON = ['"id":', '"move":', '"type":', '"note":', "null", "true", "1e999", "\\u0000", "{}", "[]"]
WORDS: Mapping[str, list[str]] = {
    "session": [
        *_JSON,
        '"hello"',
        '"resign"',
        '"pong"',
        "\n",
        "\r\n",
        "\x1fa",
        "\x1fm",
        "\x1fw",
    ],
    "records": [
        *_JSON[4:],
        *(f'"{name}":' for name in Record.__struct_fields__),
        *Ending,
        *BUNDLED,
    ],
    "spec": [*_TOML, *KINDS, *BUNDLED, "swiss", "knockout", "gauntlet", "round-robin"],
    "csv_games": [
        ",",
        "\n",
        "\r\n",
        '"',
        '","',
        '"\n"',
        "1-0",
        "0-1",
        "1/2-1/2",
        "*",
        "result",
        "pair",
    ],
    "pgn_games": [
        '[White "',
        '[Black "',
        '[Result "',
        '"]',
        "{",
        "}",
        ";",
        "\n%",
        "\\",
        "1-0",
        "?",
    ],
    "manifest": [*_TOML, *Manifest.__struct_fields__],
}
"""What a target's inputs are made of: mutations put them in."""
