"""The generated tables of docs/events.md, made from the types of the events.

python -m referee.testing.describe_events docs/events.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import get_args

from referee.protocol.describe import field_rows, fields_of, table
from referee.testing.describe import refresh
from referee.tournament.events import Told

EVENTS = {str(struct.__struct_config__.tag): struct for struct in get_args(Told)}

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "building": {
        "bot": "who is built",
    },
    "left_out": {
        "bot": "who does not take part; the folder, where it has no bot that can be read",
        "why": "what is wrong with it, which command was not found, or how the build ended",
        "output": "what the compiler said, cut after 20 lines",
    },
    "started": {
        "name": "name of the tournament",
        "folder": "where it is kept",
        "format": "`round-robin`, `gauntlet`, `swiss` or `knockout`",
        "variants": "names of the variants",
        "bots": "names of the bots, in seed order",
        "played": "games that are in the store already",
        "planned": "games in all; a knockout learns of more after every round",
        "jobs": "worker processes",
        "resumed": "whether it goes on after an interruption",
    },
    "game": {
        "game": "pairing and number of the game, for example `3-17`; `referee replay` takes it",
        "variant": "the variant",
        "round": "the round, from 1; always 1 where there are no rounds",
        "players": "names in seat order",
        "ending": "`rules`, a blame code or another ending, as in protocol.md",
        "points": "in seat order: 1, 0.5 or 0; null for a void game",
        "rated": "whether the game counts for the ratings; void and forfeited ones do not",
        "plays": "moves that took effect",
    },
    "fault": {
        "game": "the game, as in `game`",
        "bot": "who was at fault",
        "code": "the blame code",
        "turn": "the place in the record's `moves` that the fault left empty, from 1",
        "detail": "one sentence",
    },
    "out": {
        "bot": "who is out",
        "why": "one sentence",
    },
    "round": {
        "round": "the round that is over, from 1",
        "played": "games in the store",
        "planned": "games in all, as far as they are known now",
    },
    "finished": {
        "played": "games in the store",
        "seed": "the seed: not told before, since it tells the luck of games to come",
        "salt": "the salt, or all of one that was extended: not told before, for the same reason",
    },
}


def event_table(name: str) -> str:
    rows = field_rows(fields_of(EVENTS[name]), MEANINGS[name])
    return table(["field", "type", "meaning"], rows)


def event_parts() -> dict[str, Callable[[], str]]:
    return {name: partial(event_table, name) for name in EVENTS}


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit("usage: python -m referee.testing.describe_events docs/events.md")
    path = Path(arguments[0])
    path.write_text(refresh(path.read_text("utf-8"), event_parts()), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
