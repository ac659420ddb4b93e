"""What a tournament is: one value, whole and checked before anything is started.

A spec comes from a TOML file (`reading.py`), from the command line, or from both. Whatever is wrong
with it is a `BadSpec`: one sentence, and the key that it is about, so that whoever read the spec
from a file can add the line.

Most of a spec is the tournament's identity: games that were played under another clock, by other
bots or under other rules belong to another tournament. The rest may change while it is interrupted
(`changing.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.arena.restart import Restart
from referee.bots.confinement.exposing import exposable
from referee.bots.confinement.limits import BadLimit, read_limits
from referee.clock import (
    DEFAULT_BUILD_MS,
    DEFAULT_GRACE_MS,
    DEFAULT_STARTUP_MS,
    DEFAULT_TIME,
    DEFAULT_WARM_UP_MS,
    BadTime,
    Clock,
    read_clock,
    read_duration_ms,
    show_ms,
)
from referee.rules.options import BadOption
from referee.rules.registry import (
    BadVariant,
    blame_script,
    build_variant,
    find_variant,
    is_path,
    known_names,
)
from referee.rules.variant import Variant
from referee.tournament.mistakes import BadSpec as BadSpec
from referee.tournament.mistakes import Key, did_you_mean, quoted

Format = Literal["round-robin", "gauntlet", "swiss", "knockout"]

FORMATS: tuple[Format, ...] = ("round-robin", "gauntlet", "swiss", "knockout")
WHOLE: tuple[Format, ...] = ("swiss", "knockout")
"""In these, everybody plays every variant."""
MOST_GAMES = 10_000_000
LONGEST_NAME = 100
SALT_DIGITS = 32
RANGES = {
    "games": (1, MOST_GAMES),
    "at_once": (1, 10_000),
    "block": (2, MOST_GAMES),
    "jobs": (1, 1_000),
    "rounds": (1, 1_000),
    "best_of": (1, 1_000),
    "replays": (0, 1_000),
}
"""The least and the most of every number."""
WORDS: dict[str, tuple[str, ...]] = {
    "format": FORMATS,
    "think": ("in-turn", "parallel"),
    "restart": get_args(Restart),
    "rank_by": ("elo", "points"),
    "sandbox": ("full", "standard", "none"),
}
ONLY_IN: dict[str, Format] = {
    "rounds": "swiss",
    "challengers": "gauntlet",
    "best_of": "knockout",
    "replays": "knockout",
}
"""Keys that mean something in one format alone."""


class Spec(Struct, frozen=True, kw_only=True):
    """A tournament."""

    name: str
    variants: tuple[str, ...]
    """Names, or paths of scripts."""
    bots: tuple[str, ...] = ()
    """What `find_bot` takes, in seed order; none: all Python sample bots that play."""
    left_out: dict[str, str] = {}
    """What lies among the bots and is none that can be read, and why not. No key of a file: it is
    found where a folder of bots is."""
    format: Format = "round-robin"
    games: int = 100
    """Per pairing and variant, both seatings together."""
    options: dict[str, dict[str, int | str]] = {}
    """By variant, as it is called in `variants`."""
    time: str = DEFAULT_TIME
    grace: str = show_ms(DEFAULT_GRACE_MS)
    warm_up: str = show_ms(DEFAULT_WARM_UP_MS)
    startup: str = show_ms(DEFAULT_STARTUP_MS)
    build_time: str = show_ms(DEFAULT_BUILD_MS)
    think: Literal["in-turn", "parallel"] = "in-turn"
    at_once: int = 64
    restart: Restart | None = None
    """When bots are started anew; None is never for a stateless bot, and for others with every
    pairing and every block of games."""
    block: int = 500
    """How many games of a pairing one process plays, if it keeps something from game to game."""
    seed: str | None = None
    salt: str | None = None
    """What the chance comes from besides the seed, to repeat a tournament; None: a new one."""
    jobs: int | None = None
    rounds: int | None = None
    """Swiss: None is as many as it takes to find a winner, and one more."""
    challengers: tuple[str, ...] = ()
    """Gauntlet: these meet all others; none: the first bot."""
    best_of: int = 1
    """Knockout: meetings that a tie is made of, each of `games` games in every variant."""
    replays: int = 3
    """Knockout: a drawn tie is played again at most so often, then the higher seed goes on."""
    teams: dict[str, tuple[str, ...]] = {}
    """Bots that do not meet, by their team: in a Swiss tournament, as long as others are left."""
    rank_by: Literal["elo", "points"] | None = None
    """None: by points in a Swiss tournament, where byes count as well; else by Elo."""
    advantage: bool = False
    prior: bool = False
    anchors: dict[str, float] = {}
    sandbox: Literal["full", "standard", "none"] | None = None
    """How bots are confined; None is the best that this machine offers, settled at the start."""
    limits: dict[str, int | str] = {}
    freeze: bool | None = None
    """Whether a bot stands still while the other one thinks; None, settled at the start with the
    level, is yes where bots are confined, think in turn, and one of them is no sample bot."""
    expose: tuple[str, ...] = ()

    @property
    def ranking(self) -> Literal["elo", "points"]:
        """What its tables are ordered by."""
        return self.rank_by or ("points" if self.format == "swiss" else "elo")

    def clock(self) -> Clock:
        """The time control of its games. Raises BadTime."""
        return read_clock(self.time, read_duration_ms(self.grace))


DEFAULTS: dict[str, Any] = asdict(Spec(name="", variants=()))


def check(spec: Spec) -> Spec:
    """The spec in its plain form: options as the variants read them. Raises BadSpec.

    Scripts of variants are loaded; no bot is looked for, and nothing is started.
    """
    for key, words in WORDS.items():
        word = getattr(spec, key)
        if word is not None and word not in words:
            hint = did_you_mean(str(word), words) or f"; it is one of {', '.join(words)}"
            raise BadSpec(f"{key} cannot be {quoted(word)}{hint}", (key,))
    if isinstance(spec.limits, dict):
        check_limits(spec.limits)
    try:
        spec = msgspec.convert(asdict(spec), Spec)
    except msgspec.ValidationError as error:
        raise BadSpec(str(error)) from None
    _check_texts(spec)
    _check_numbers(spec)
    _check_times(spec)
    _check_lists(spec)
    _check_confinement(spec)
    variants = build_variants(spec)
    for key, form in ONLY_IN.items():
        if spec.format != form and getattr(spec, key) != DEFAULTS[key]:
            raise BadSpec(
                f"{key} is for a {form} tournament, and this one is {spec.format}", (key,)
            )
    return replace(
        spec, options={each: plain for each in variants if (plain := _plain(spec, variants, each))}
    )


def build_variants(spec: Spec) -> dict[str, Variant[Any, Any]]:
    """Every variant with its options settled, as it is called in the spec. Raises BadSpec."""
    if not spec.variants:
        raise BadSpec('there is no variant; write variants = ["underdog"]', ("variants",))
    built: dict[str, Variant[Any, Any]] = {}
    names: dict[str, str] = {}
    for place, text in enumerate(spec.variants):
        name = variant_name(text, ("variants", place))
        if name in names:
            told = f"the variant {name} is there twice"
            raise BadSpec(
                told if names[name] == text else f"{told}, as {names[name]} and {text}",
                ("variants", place),
            )
        names[name] = text
        built[text] = built_variant(text, spec.options.get(text, {}))
    for text in spec.options:
        if text not in built:
            raise BadSpec(
                f"options for {quoted(text)}, which is not one of the variants"
                f"{did_you_mean(text, built)}",
                ("options", text),
            )
    return built


def variant_name(text: str, key: Key = ()) -> str:
    """What the variant of this name, or in this script, calls itself. Raises BadSpec."""
    if not is_path(text):
        known = known_names()
        if text not in known:
            hint = did_you_mean(text, known) or (
                f"; the variants are {', '.join(known)}, and a script is given by its path, "
                "for example ./my_game.py"
            )
            raise BadSpec(f"unknown variant {quoted(text)}{hint}", key)
    try:
        return find_variant(text).name
    except BadVariant as bad:
        raise BadSpec(str(bad), key) from None


def check_players(spec: Spec, players: Mapping[str, Sequence[str]]) -> None:
    """Whether these players, by variant, make this tournament. Raises BadSpec."""
    everybody = list(dict.fromkeys(name for names in players.values() for name in names))
    check_named(spec, everybody)
    for variant, names in players.items():
        if len(names) < 2:
            who = ", ".join(names) or "nobody"
            raise BadSpec(f"a tournament needs two bots or more; {variant} is played by {who}")
        teams = {team_of(spec).get(name) for name in names}
        if len(teams) == 1 and None not in teams:
            (team,) = teams
            raise BadSpec(
                f"{variant} is played by bots of one team alone, {quoted(team)}, and bots of one "
                "team do not meet",
                ("teams",),
            )
        if spec.format == "gauntlet":
            challenging = [name for name in names if name in (spec.challengers or everybody[:1])]
            if not challenging or len(challenging) == len(names):
                who = "no challenger" if not challenging else "challengers alone"
                raise BadSpec(f"{variant} is played by {who}, so nobody meets in this gauntlet")
        if spec.format in WHOLE:
            lacking = [name for name in everybody if name not in names]
            if lacking:
                raise BadSpec(
                    f"{lacking[0]} does not play {variant}, and in a {spec.format} tournament "
                    "everybody plays every variant"
                )


def check_teams(spec: Spec, bots: Sequence[str]) -> None:
    """Whether the teams are made of these bots. Raises BadSpec."""
    for team, names in spec.teams.items():
        for place, name in enumerate(names):
            if name not in bots:
                hint = did_you_mean(name, bots) or f"; the bots are {', '.join(bots)}"
                told = f"the team {quoted(team)} names {quoted(name)}, which is no bot here{hint}"
                raise BadSpec(told, ("teams", team, place))


def team_of(spec: Spec) -> dict[str, str]:
    """The team of every bot that has one."""
    return {name: team for team, names in spec.teams.items() for name in names}


def check_named(spec: Spec, bots: Sequence[str]) -> None:
    """Whether those whom the spec calls by name are among the bots. Raises BadSpec."""
    called: list[tuple[str, Key]] = [
        *((name, ("challengers", place)) for place, name in enumerate(spec.challengers)),
        *((name, ("anchors", name)) for name in spec.anchors),
    ]
    for name, key in called:
        if name not in bots:
            hint = did_you_mean(name, bots) or f"; the bots are {', '.join(bots)}"
            raise BadSpec(f"{key[0]} names {quoted(name)}, which is no bot here{hint}", key)


# The checks.


def _check_texts(spec: Spec) -> None:
    if trouble := name_trouble(spec.name):
        raise BadSpec(f"the name {quoted(spec.name)} {trouble}", ("name",))
    if spec.seed is not None and not (spec.seed and spec.seed.isprintable()):
        raise BadSpec(f"a seed is printable text, not {quoted(spec.seed)}", ("seed",))
    if spec.salt is not None and not re.fullmatch(f"[0-9a-f]{{{SALT_DIGITS}}}", spec.salt):
        raise BadSpec(
            f"a salt is the {SALT_DIGITS} hexadecimal digits that a tournament showed at its end, "
            f"in small letters, not {quoted(spec.salt)}; without one a new one is drawn",
            ("salt",),
        )


def name_trouble(name: str) -> str:
    """Why a tournament cannot be called so, since its folder is; empty where it can."""
    if not name.strip():
        return "is empty"
    if not name.isprintable() or name != name.strip():
        return "must be printable, without spaces at its ends"
    if "/" in name or name.startswith((".", "-", "~")):
        return "must do for a folder: no slash, and no dot, hyphen or tilde at its beginning"
    if len(name.encode()) > LONGEST_NAME:
        return f"is too long for a folder; {LONGEST_NAME} bytes will do"
    return ""


def _check_numbers(spec: Spec) -> None:
    for key, (low, high) in RANGES.items():
        value = getattr(spec, key)
        if value is not None and not low <= value <= high:
            raise BadSpec(f"{key} must be {low} to {high}, not {value}", (key,))
    if spec.block % 2:
        raise BadSpec(
            f"block must be even, since games come in pairs, and {spec.block} is not", ("block",)
        )
    for name, elo in spec.anchors.items():
        if not math.isfinite(elo):
            raise BadSpec(
                f"the anchor of {quoted(name)} must be a number, not {elo}", ("anchors", name)
            )


def _check_times(spec: Spec) -> None:
    reads: dict[str, Callable[[str], object]] = {
        "time": read_clock,
        "grace": read_duration_ms,
        "warm_up": read_duration_ms,
        "startup": read_duration_ms,
        "build_time": read_duration_ms,
    }
    for key, read in reads.items():
        try:
            read(getattr(spec, key))
        except BadTime as bad:
            raise BadSpec(f"{key}: {bad}", (key,)) from None
    if read_duration_ms(spec.startup) < 1:
        raise BadSpec("startup: a bot needs some time to start", ("startup",))
    if read_duration_ms(spec.build_time) < 1:
        raise BadSpec("build_time: a build needs some time", ("build_time",))


def _check_lists(spec: Spec) -> None:
    for key, named in (("bots", spec.bots), ("challengers", spec.challengers)):
        for place, text in enumerate(named):
            if text in named[:place]:
                raise BadSpec(f"{key} has {quoted(text)} twice", (key, place))
    seen: dict[str, str] = {}
    for team, names in spec.teams.items():
        for place, name in enumerate(names):
            if name in seen:
                told = f"{quoted(name)} is in {quoted(seen[name])} and again in {quoted(team)}"
                raise BadSpec(told, ("teams", team, place))
            seen[name] = team
    if spec.teams and spec.format == "knockout":
        raise BadSpec("teams is not for a knockout, whose bracket says who meets", ("teams",))


def check_limits(given: Mapping[str, object]) -> None:
    """Raises BadSpec with the key of the one that cannot be."""
    for name, value in given.items():
        try:
            read_limits({name: value})
        except BadLimit as bad:
            raise BadSpec(str(bad), ("limits", name)) from None


def _check_confinement(spec: Spec) -> None:
    if spec.freeze and spec.think == "parallel":
        raise BadSpec("freeze is for bots that think in turn", ("freeze",))
    for place, folder in enumerate(spec.expose):
        try:
            exposable(folder)
        except BadLimit as bad:
            raise BadSpec(str(bad), ("expose", place)) from None


def built_variant(text: str, options: Mapping[str, object]) -> Variant[Any, Any]:
    """One variant; where an option is to blame, the key says which."""
    variant = find_variant(text)
    known = {option.name: option for option in variant.options}
    for name, value in options.items():
        key: Key = ("options", text, name)
        if name not in known:
            hint = did_you_mean(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise BadSpec(f"{variant.name} has no option {quoted(name)}{hint}", key)
        try:
            known[name].read(variant.name, value)
        except BadOption as bad:
            raise BadSpec(str(bad), key) from None
    try:
        built = build_variant(text, options)
    except (BadOption, BadVariant) as bad:
        raise BadSpec(str(bad), ("options", text)) from None
    try:
        built.most_plays  # noqa: B018  # a script can fail here as well as anywhere
    except Exception as error:
        raise BadSpec(f"{blame_script(error, variant)}, in longest") from error
    return built


def _plain(
    spec: Spec, variants: Mapping[str, Variant[Any, Any]], text: str
) -> dict[str, int | str]:
    return {name: variants[text].settings[name] for name in spec.options.get(text, {})}
