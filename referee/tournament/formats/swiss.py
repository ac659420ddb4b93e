"""Swiss: in every round players meet others who have about as many points, and nobody twice.

Ranked by points over all variants, then by seed. Players with the same points are a group; its
upper half meets its lower half in order (1–4, 2–5, 3–6), and whoever finds nobody goes down to the
next group. A pair that would leave others no one but old acquaintances is not made, so a rematch
comes only where no pairing of the round is without one, and then as few as can be. Bots of one team
meet only where nothing else is left.

With an odd number of players one has a bye: the lowest of those with the fewest byes, or the next
one up where that saves a rematch. A bye counts as a meeting won to nothing in the pairing order,
and in no table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from referee.tournament.formats.matching import Matching
from referee.tournament.formats.pairing import (
    Meeting,
    Pairing,
    Round,
    Scores,
    Tie,
    meeting,
    seeds,
    show_points,
)
from referee.tournament.spec import Spec, team_of

BYE = -1
TEAM_MATES = 1_000_000
"""As if they had met so often."""
Pair = tuple[int, int]
"""Places in seed order; the second is BYE for a player who rests."""
History = tuple[tuple[Pair, ...], ...]
"""The pairs of every round."""


def pairings(spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores) -> list[Pairing]:
    """The rounds that are complete, and the one after them."""
    return [
        pairing
        for number, pairs in enumerate(_history(spec, players, scores), start=1)
        for pair in pairs
        for pairing in _pairings(spec, players, number, pair)
    ]


def rounds(spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores) -> list[Round]:
    """Who met whom, for people."""
    names = seeds(players)
    found: list[Round] = []
    for number, pairs in enumerate(_history(spec, players, scores), start=1):
        ties = [
            _tie(names, pair, meeting(_pairings(spec, players, number, pair), scores))
            for pair in pairs
        ]
        found.append(Round(number, f"round {number}", tuple(ties)))
    return found


def count_rounds(spec: Spec, count: int) -> int:
    """As asked for; else as many as leave one player unbeaten, one more, but no rematch."""
    if spec.rounds is not None:
        return spec.rounds
    return min(math.ceil(math.log2(max(count, 1))) + 1, count - 1 + count % 2)


def count_pairings(spec: Spec, count: int) -> int:
    """In one variant, in all rounds; fewer where the last rounds find nobody to pair."""
    return count_rounds(spec, count) * (count // 2)


def _pairings(
    spec: Spec, players: Mapping[str, Sequence[str]], number: int, pair: Pair
) -> list[Pairing]:
    first, second = pair
    if second == BYE:
        return []
    names = seeds(players)
    return [
        Pairing(number, variant, names[first], names[second], spec.games) for variant in players
    ]


def _tie(names: Sequence[str], pair: Pair, met: Meeting) -> Tie:
    first, second = pair
    if second == BYE:
        return Tie(
            first=names[first],
            first_seed=first + 1,
            second=None,
            second_seed=None,
            complete=True,
            winner=names[first],
            why="bye",
        )
    ahead = met.first_points - met.second_points
    winner = names[first] if ahead > 0 else names[second] if ahead < 0 else None
    why = show_points(*sorted((met.first_points, met.second_points), reverse=True))
    return Tie(
        first=names[first],
        first_seed=first + 1,
        second=names[second],
        second_seed=second + 1,
        meetings=(met,),
        complete=met.complete,
        winner=winner if met.complete else None,
        why=("drawn" if winner is None else why) if met.complete else "",
    )


# Round after round.


def _history(spec: Spec, players: Mapping[str, Sequence[str]], scores: Scores) -> History:
    count = len(seeds(players))
    points = [0.0] * count
    teams = team_of(spec)
    own = tuple(teams.get(name) for name in seeds(players))
    history: History = ()
    for number in range(1, count_rounds(spec, count) + 1 if count > 1 else 1):
        pairs = pair_round(tuple(points), history, own)
        history = (*history, pairs)
        for first, second in pairs:
            if second == BYE:
                points[first] += spec.games * len(players)
                continue
            met = meeting(_pairings(spec, players, number, (first, second)), scores)
            if not met.complete:
                return history
            points[first] += met.first_points
            points[second] += met.second_points
    return history


@lru_cache(maxsize=64)
def pair_round(
    points: tuple[float, ...], history: History, teams: tuple[str | None, ...] = ()
) -> tuple[Pair, ...]:
    """The next round. Kept for a while: a tournament in progress is asked for again and again."""
    ranked = sorted(range(len(points)), key=lambda player: (-points[player], player))
    acquaintance: list[Counter[int]] = [Counter() for _ in points]
    for player, team in enumerate(teams):
        mates = [other for other, own in enumerate(teams) if own == team and other != player]
        acquaintance[player].update(dict.fromkeys(mates if team is not None else (), TEAM_MATES))
    firsts: Counter[int] = Counter()
    byes: Counter[int] = Counter()
    for first, second in (pair for pairs in history for pair in pairs):
        if second == BYE:
            byes[first] += 1
            continue
        acquaintance[first][second] += 1
        acquaintance[second][first] += 1
        firsts[first] += 1
    resting = _bye(ranked, acquaintance, byes) if len(ranked) % 2 else None
    playing = [player for player in ranked if player != resting]
    pairs = [
        (low, high) if firsts[high] > firsts[low] else (high, low)
        for high, low in _pair_up(playing, acquaintance, points)
    ]
    return tuple(pairs if resting is None else [*pairs, (resting, BYE)])


def _bye(ranked: Sequence[int], acquaintance: Sequence[Counter[int]], byes: Counter[int]) -> int:
    """Who rests."""
    fewest = min(byes[player] for player in ranked)
    met = [set(known) for known in acquaintance]
    found, rematches = BYE, len(ranked)
    for candidate in reversed(ranked):
        if byes[candidate] > fewest:
            continue
        others = [player for player in ranked if player != candidate]
        alone = len(Matching(met, others).alone())
        if alone < rematches:
            found, rematches = candidate, alone
        if alone == 0:
            break
    return found


def _pair_up(
    ranked: Sequence[int], acquaintance: Sequence[Counter[int]], points: Sequence[float]
) -> list[Pair]:
    """With as few rematches as can be; team mates meet only where rematches do not help."""
    times = sorted({0, *(count for known in acquaintance for count in known.values())})
    found: list[Pair] = []
    for at in range(len(times)):
        pairs = _in_steps(ranked, acquaintance, points, times[at:])
        found = found or pairs
        if all(acquaintance[first][second] < TEAM_MATES for first, second in pairs):
            return pairs
    return found


def _in_steps(
    ranked: Sequence[int],
    acquaintance: Sequence[Counter[int]],
    points: Sequence[float],
    steps: Sequence[int],
) -> list[Pair]:
    """First those who have met no more often than the first step says; those who are left, no more
    often than the next one says, and so on."""
    pairs: list[Pair] = []
    for times in steps:
        met = [{other for other, count in known.items() if count > times} for known in acquaintance]
        matching = Matching(met, ranked)
        alone = set(matching.alone())
        matching.leave_out(alone)
        pairs += _by_groups(matching, [each for each in ranked if each not in alone], points)
        ranked = [player for player in ranked if player in alone]
        if not ranked:
            break
    return pairs


def _by_groups(matching: Matching, ranked: Sequence[int], points: Sequence[float]) -> list[Pair]:
    pairs: list[Pair] = []
    floating: list[int] = []
    for _, group in groupby(ranked, key=lambda player: points[player]):
        waiting = [*floating, *group]
        floating = _fold(matching, waiting, pairs)
    return pairs


def _fold(matching: Matching, group: Sequence[int], pairs: list[Pair]) -> list[int]:
    """Pair the upper half with the lower one; gives those who found nobody."""
    half = len(group) // 2
    paired: set[int] = set()

    def pair_with_one_of(player: int, others: Sequence[int]) -> None:
        for other in others:
            if other not in paired and matching.fix(player, other):
                paired.update((player, other))
                pairs.append((player, other))
                return

    for at, player in enumerate(group[:half]):
        if player not in paired:
            nearest_last = group[at + 1 : half + at]
            pair_with_one_of(player, [*group[half + at :], *reversed(nearest_last)])
    for at, player in enumerate(group):
        if player not in paired:
            pair_with_one_of(player, group[at + 1 :])
    return [player for player in group if player not in paired]
