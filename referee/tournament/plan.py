"""How large a tournament is, and how long it can take at worst. Nothing is started for it.

At worst every game is as long as its rules allow and every move takes its whole limit and the grace
(with a bank: both seats use theirs up, increments and all), every start of a bot takes its limit,
and the first move of a process its warm-up. One process plays as many games at once as the spec
lets it; answers are waited for one by one all the same, so games at once save nothing at worst, and
thinking in parallel saves nothing where players take turns. Only more workers do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from msgspec import Struct

from referee.arena.player import FAILED_STARTS
from referee.clock import Clock, read_duration_ms
from referee.rules.numbers import amount
from referee.rules.variant import Variant
from referee.tournament.chunk import START_SHARE
from referee.tournament.formats import gauntlet, swiss
from referee.tournament.spec import Spec, build_variants, team_of

GAMES_OF_A_CHUNK = START_SHARE + 1
_UNITS_MS = (("day", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))


class VariantPlan(Struct, frozen=True, kw_only=True):
    """What is played of one variant."""

    variant: str
    players: int
    pairings: int
    games: int
    most_plays: int
    """In one game, of both seats together."""
    game_ms: int | None
    """The longest that one game can take; None: there is no limit."""


class Plan(Struct, frozen=True, kw_only=True):
    """The size of a tournament."""

    format: str
    variants: tuple[VariantPlan, ...]
    rounds: int | None
    """None where no pairing waits for results."""
    pairings: int
    games: int
    exact: bool
    """False: `pairings` and `games` are the most there can be, and results decide."""
    jobs: int
    level: str | None
    """At which bots are confined; None where that is not settled."""
    worst_ms: int | None
    """None: moves have no limit, so neither has the tournament."""


def plan(spec: Spec, players: Mapping[str, Sequence[str]]) -> Plan:
    """The plan of a checked spec with these players, by variant."""
    built = build_variants(spec)
    clock = spec.clock()
    parts = [_part(spec, players, variant, built[variant], clock) for variant in players]
    jobs = spec.jobs or 1
    # Before the first game every bot is started, up to three times.
    bots = len({name for names in players.values() for name in names})
    worst_ms = bots * FAILED_STARTS * read_duration_ms(spec.startup)
    for part in parts:
        if part.game_ms is None:
            break
        starts = _starts(spec, hidden_chance=built[part.variant].hidden_chance) * part.pairings
        worst_ms += part.games * part.game_ms + starts * _start_ms(spec)
    unlimited = any(part.game_ms is None for part in parts)
    return Plan(
        format=spec.format,
        variants=tuple(parts),
        rounds=_rounds(spec, players),
        pairings=sum(part.pairings for part in parts),
        games=sum(part.games for part in parts),
        # The best of two takes two meetings, whoever wins the first.
        exact=spec.format != "knockout" or (spec.best_of <= 2 and spec.replays == 0),
        jobs=jobs,
        level=spec.sandbox,
        worst_ms=None if unlimited else -(-worst_ms // jobs),
    )


def told(plan: Plan) -> list[str]:
    """The plan for people, line by line."""
    at_most = "" if plan.exact else "at most "
    rounds = "" if plan.rounds is None else f", {amount(plan.rounds, 'round')}"
    lines = [
        f"{plan.format}{rounds}: {at_most}{amount(plan.pairings, 'pairing')}, "
        f"{at_most}{amount(plan.games, 'game')}"
    ]
    for part in plan.variants:
        longest = "no limit" if part.game_ms is None else f"{show_long_ms(part.game_ms)} at worst"
        lines.append(
            f"  {part.variant}: {amount(part.players, 'bot')}, "
            f"{at_most}{amount(part.pairings, 'pairing')}, "
            f"{at_most}{amount(part.games, 'game')} of up to {amount(part.most_plays, 'play')} "
            f"({longest})"
        )
    if plan.level is not None:
        confined = "run unconfined" if plan.level == "none" else "are confined"
        lines.append(f"level {plan.level}: the bots {confined}")
    if plan.worst_ms is None:
        lines.append("worst case: no end, since moves have no time limit")
    else:
        lines.append(
            f"worst case with {amount(plan.jobs, 'job')}: {show_long_ms(plan.worst_ms)}, if every "
            "move takes its whole limit and every bot is slow to start"
        )
    return lines


def show_long_ms(duration_ms: int) -> str:
    """A long duration for people, rounded up, in its two largest units: `3 days 4 h`."""
    for at, (unit, unit_ms) in enumerate(_UNITS_MS):
        if duration_ms < unit_ms:
            continue
        if unit == "s":
            return f"{-(-duration_ms // 1_000)} s"
        lesser, lesser_ms = _UNITS_MS[at + 1]
        whole, rest = divmod(-(-duration_ms // lesser_ms), unit_ms // lesser_ms)
        head = amount(whole, unit) if unit == "day" else f"{whole} {unit}"
        return f"{head} {rest} {lesser}" if rest else head
    return f"{duration_ms} ms"


# The parts.


def _part(
    spec: Spec,
    players: Mapping[str, Sequence[str]],
    text: str,
    variant: Variant[Any, Any],
    clock: Clock,
) -> VariantPlan:
    count = len(players[text])
    pairings = _pairings(spec, players, text, count)
    return VariantPlan(
        variant=text,
        players=count,
        pairings=pairings,
        games=pairings * spec.games,
        most_plays=variant.most_plays,
        game_ms=longest_game_ms(clock, variant.most_plays),
    )


def _pairings(spec: Spec, players: Mapping[str, Sequence[str]], text: str, count: int) -> int:
    """Of one variant; in a knockout the most there can be."""
    if spec.format == "round-robin":
        mates = Counter(_team_names(spec, players[text]))
        return comb(count, 2) - sum(comb(each, 2) for each in mates.values())
    if spec.format == "gauntlet":
        challenging = gauntlet.challengers(spec, players)
        ours = [name for name in players[text] if name in challenging]
        others = [name for name in players[text] if name not in challenging]
        mates = Counter(_team_names(spec, ours))
        return len(ours) * len(others) - sum(mates[team] for team in _team_names(spec, others))
    if spec.format == "swiss":
        return swiss.count_pairings(spec, count)
    return (count - 1) * (spec.best_of + spec.replays)


def _team_names(spec: Spec, names: Sequence[str]) -> list[str]:
    """The teams of those who have one."""
    teams = team_of(spec)
    return [teams[name] for name in names if name in teams]


def _rounds(spec: Spec, players: Mapping[str, Sequence[str]]) -> int | None:
    count = max((len(names) for names in players.values()), default=0)
    if spec.format == "swiss":
        return swiss.count_rounds(spec, count)
    return (count - 1).bit_length() if spec.format == "knockout" else None


def longest_game_ms(clock: Clock, most_plays: int) -> int | None:
    """How long the two seats of one game can take together; None: there is no limit."""
    limits_ms: list[int] = []
    if clock.move_ms is not None:
        limits_ms.append(most_plays * clock.move_ms)
    if clock.bank_ms is not None:
        # The increment after a seat's last move is of no use to it.
        increments_ms = max(most_plays - 2, 0) * (clock.increment_ms or 0)
        limits_ms.append(2 * clock.bank_ms + increments_ms)
    return min(limits_ms) + most_plays * clock.grace_ms if limits_ms else None


def _starts(spec: Spec, *, hidden_chance: bool) -> int:
    """How often both bots are started for a pairing where every game takes its longest: a worker
    then gives a chunk back after its sixth game, and where no process may play both games of a
    pair, each half of the games has processes of its own."""
    if not hidden_chance:
        return -(-spec.games // GAMES_OF_A_CHUNK)
    first, second = -(-spec.games // 2), spec.games // 2
    return -(-first // GAMES_OF_A_CHUNK) + -(-second // GAMES_OF_A_CHUNK)


def _start_ms(spec: Spec) -> int:
    """Both bots, one after the other, with the warm-up of their first moves."""
    return 2 * (read_duration_ms(spec.startup) + read_duration_ms(spec.warm_up))
