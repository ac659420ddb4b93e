"""Round-robin: everybody meets everybody, in every variant that both play, but for team mates.

In rounds by the circle method: with an odd number m of players, those of round r meet whose places
add up to 2r modulo m, and the one in place r rests; with an even number, the last player meets the
one who would rest. So whoever looks at the table in progress sees players with about the same
number of games, and over all rounds everybody is first as often as second, or one off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.tournament.formats.pairing import Pairing, Scores, may_meet
from referee.tournament.spec import Spec


def pairings(spec: Spec, players: Mapping[str, Sequence[str]], _: Scores) -> list[Pairing]:
    """All of them; no result is waited for."""
    different = may_meet(spec)
    by_variant = {variant: list(circle(len(names))) for variant, names in players.items()}
    most = max((len(rounds) for rounds in by_variant.values()), default=0)
    return [
        Pairing(1, variant, players[variant][first], players[variant][second], spec.games)
        for number in range(most)
        for variant, rounds in by_variant.items()
        if number < len(rounds)
        for first, second in rounds[number]
        if different(players[variant][first], players[variant][second])
    ]


def circle(count: int) -> Iterator[list[tuple[int, int]]]:
    """The rounds of so many players, each as pairs of places."""
    if count < 2:
        return
    around = count - 1 + count % 2
    for resting in range(around):
        pairs = [
            ((resting + step) % around, (resting - step) % around)
            for step in range(1, (around + 1) // 2)
        ]
        if count % 2 == 0:
            last = (resting, count - 1) if resting % 2 == 0 else (count - 1, resting)
            pairs.insert(0, last)
        yield pairs
