"""What makes a spec that of another tournament, and what may change while one is interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referee.bots.confinement.limits import read_limits, shown_limits
from referee.clock import BadTime, read_clock, read_duration_ms
from referee.tournament.spec import Spec, built_variant

FREE = frozenset({"jobs", "build_time", "rank_by", "advantage", "prior", "anchors", "left_out"})
"""How fast it is played and how the table is made: no game would have gone otherwise."""


def changes(old: Spec, new: Spec) -> list[str]:
    """A sentence for each difference that makes `new` another tournament than `old`.

    More games extend a tournament in which every pairing is settled from the start, and more rounds
    a Swiss one: nothing that was played would have been played otherwise. A seed or salt that is
    not given is no other one.
    """
    told: list[str] = []
    for key in Spec.__struct_fields__:
        before, now = getattr(old, key), getattr(new, key)
        if key in FREE or before == now or (key in ("seed", "salt") and now is None):
            continue
        if key in ("bots", "variants", "challengers"):
            told += _changed_list(key, before, now)
        elif key == "teams":
            told.append("the teams are other ones")
        elif key == "limits":
            told += _changed_limits(before, now)
        elif key == "options":
            told += _changed_options(old, new)
        elif not _same(key, before, now) and not _extends(old, new, key):
            told.append(f"{key} was {_said(before)} and is {_said(now)}{_why(old, new, key)}")
    return told


def _changed_list(key: str, before: Sequence[str], now: Sequence[str]) -> list[str]:
    thing = key.removesuffix("s")
    if not before or not now:
        usual = {"bots": "all sample bots", "challengers": "the first bot"}.get(key, "none")
        return [f"{key} was {', '.join(before) or usual} and is {', '.join(now) or usual}"]
    gone = [f"the {thing} {each} is missing" for each in before if each not in now]
    come = [f"the {thing} {each} is new" for each in now if each not in before]
    return gone + come or [f"the order of the {key} is another"]


def _changed_limits(before: Mapping[str, int | str], now: Mapping[str, int | str]) -> list[str]:
    """By what they come to: a default that is written out is no change."""
    then, since = (shown_limits(read_limits(each)) for each in (before, now))
    return [
        f"the limit {name} was {then[name]} and is {since[name]}"
        for name in then
        if then[name] != since[name]
    ]


def _changed_options(old: Spec, new: Spec) -> list[str]:
    """By what the variants make of them: a default that is written out is no change."""
    told: list[str] = []
    for variant in new.variants:
        if variant not in old.variants:
            continue
        before = built_variant(variant, old.options.get(variant, {})).settings
        now = built_variant(variant, new.options.get(variant, {})).settings
        for name in now:
            if before.get(name) != now[name]:
                told.append(f"option {name} of {variant} was {before.get(name)} and is {now[name]}")
    return told


def _same(key: str, before: Any, now: Any) -> bool:
    """`1s` and `1000ms` are one duration. What was settled at the start need not be asked for."""
    if key in ("sandbox", "freeze"):
        return now is None
    try:
        if key == "time":
            return read_clock(before) == read_clock(now)
        if key in ("grace", "warm_up", "startup", "build_time"):
            return read_duration_ms(before) == read_duration_ms(now)
    except BadTime:
        pass
    return False


def _extends(old: Spec, new: Spec, key: str) -> bool:
    if key == "games":
        return new.games > old.games and new.format in ("round-robin", "gauntlet")
    if key == "rounds":
        return old.rounds is not None and new.rounds is not None and new.rounds > old.rounds
    return False


def _why(old: Spec, new: Spec, key: str) -> str:
    if key == "games" and new.games > old.games:
        return f"; a {new.format} tournament was drawn by its results and cannot be extended"
    return ""


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "nothing"
    return "not given" if value is None else str(value)
