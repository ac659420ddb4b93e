"""When to stop a match: the sequential probability ratio test.

H0: the first player is elo0 stronger; H1: it is elo1 stronger. After every game, or pair of games,
the log-likelihood ratio of the two is compared with two bounds, ln(β/(1−α)) and ln((1−β)/α): beyond
one of them the match is decided, with at most α wrong for H1 and β wrong for H0. To stop when "the
superiority looks significant" is invalid, for looking often enough it always does at some time.

Outcomes are games (three: 0, ½ or 1 point) or pairs of games with the same chance (five: 0 to 2
points), whose games are not independent. No shape of the distribution is assumed: with p̂ the
observed shares of outcomes of value a (in points a game), the most likely distribution with mean s
is p̂/(1 + x·(a−s)), x solving Σ p̂·(a−s)/(1 + x·(a−s)) = 0, and LLR = N·Σ p̂·ln(p1/p0). Outcomes
that were not seen count 0.001 times, so that a whole score is no exception.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from referee.mistake import Mistake

UNSEEN = 0.001
"""What an outcome counts that was not seen."""


class BadSprt(Mistake):
    """The test cannot be made like this; one sentence says why."""


class Decision(Enum):
    CONTINUE = "continue"
    ACCEPT_H0 = "accept H0"
    ACCEPT_H1 = "accept H1"


class Sprt(Struct, frozen=True):
    """What is tested, and how often the answer may be wrong."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    """How often H1 may be accepted where H0 is true."""
    beta: float = 0.05
    """How often H0 may be accepted where H1 is true."""

    def __post_init__(self) -> None:
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise BadSprt(
                f"elo0 must be less than elo1, both from -2000 to 2000: {self.elo0:g} and"
                f" {self.elo1:g} are not"
            )
        for name, share in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < share < 0.5:
                raise BadSprt(f"{name} must be more than 0 and less than 0.5: {share:g} is not")

    @property
    def lower(self) -> float:
        """At or below it, H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At or above it, H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """From how often each outcome was seen, the worst for the first player first.

        Three counts are games, five are pairs of games.
        """
        if len(counts) not in (3, 5):
            raise BadSprt(f"outcomes are three (games) or five (pairs), not {len(counts)}")
        if not any(counts):
            return 0.0
        seen = [count or UNSEEN for count in counts]
        number = math.fsum(seen)
        shares = [count / number for count in seen]
        values = [place / (len(counts) - 1) for place in range(len(counts))]
        low = _most_likely(shares, values, _score(self.elo0))
        high = _most_likely(shares, values, _score(self.elo1))
        terms = zip(shares, low, high, strict=True)
        return number * math.fsum(share * math.log(p1 / p0) for share, p0, p1 in terms)

    def decide(self, counts: Sequence[int]) -> Decision:
        ratio = self.llr(counts)
        if ratio >= self.upper:
            return Decision.ACCEPT_H1
        return Decision.ACCEPT_H0 if ratio <= self.lower else Decision.CONTINUE


def parse_sprt(words: Iterable[str]) -> Sprt:
    """`elo0=0 elo1=10 alpha=.05 beta=.05`, in any order; what is left out is as shown here."""
    names = Sprt.__struct_fields__
    found: dict[str, float] = {}
    for word in (part for text in words for part in text.replace(",", " ").split()):
        name, sign, text = word.partition("=")
        if not sign or name not in names:
            raise BadSprt(f"{word!r} is none of {', '.join(f'{name}=NUMBER' for name in names)}")
        if name in found:
            raise BadSprt(f"{name} is given twice")
        try:
            found[name] = float(text)
        except ValueError:
            raise BadSprt(f"{name} needs a number, not {text!r}") from None
    return Sprt(**found)


def game_counts(results: Iterable[tuple[int, float]]) -> tuple[int, ...]:
    """Losses, draws and wins, from (pair, points of the first player) of every rated game."""
    counts = [0] * 3
    for _, points in results:
        counts[round(2 * points)] += 1
    return tuple(counts)


def pair_counts(results: Iterable[tuple[int, float]]) -> tuple[int, ...]:
    """How many pairs gave 0, ½, 1, 1½ and 2 points, from the same; only whole pairs count."""
    games: dict[int, list[float]] = {}
    for pair, points in results:
        games.setdefault(pair, []).append(points)
    counts = [0] * 5
    for pair_points in games.values():
        if len(pair_points) == 2:
            counts[round(2 * sum(pair_points))] += 1
    return tuple(counts)


def _score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def _most_likely(shares: list[float], values: list[float], mean: float) -> list[float]:
    """The distribution with this mean under which the observed shares are most likely."""
    # The sum falls from +∞ to −∞ between the poles: halving cannot miss its zero.
    low, high = -1 / (values[-1] - mean), 1 / (mean - values[0])
    while True:
        x = (low + high) / 2
        if x in (low, high):
            break
        slope = math.fsum(
            share * (value - mean) / _tilt(x, value - mean)
            for share, value in zip(shares, values, strict=True)
        )
        if slope > 0:
            low = x
        else:
            high = x
    return [share / _tilt(x, value - mean) for share, value in zip(shares, values, strict=True)]


def _tilt(x: float, off: float) -> float:
    """1 + x·(a−s), which rounding must not take to 0 beside a pole."""
    return max(1 + x * off, 1e-300)
