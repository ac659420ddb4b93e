"""Pairs of strangers: matchings in a graph whose edges join players who have not met too often.

A pairing that goes by preference alone can paint itself into a corner: the last two have met. So a
matching of everybody who can be matched at all is found first (Edmonds' blossom algorithm), and
kept as a witness while preferred pairs are fixed one by one. Fixing p–q leaves their two partners
in the witness alone; if those have not met, they are the new pair, and if they have, one search for
an augmenting path says whether the rest can still be matched. With few rounds behind them nearly
all players are strangers, so that the search is rare and short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

ALONE = -1


class Matching:
    """A largest matching of the players 0 … n-1, those first who come first in `order`."""

    def __init__(self, met: Sequence[set[int]], order: Sequence[int]) -> None:
        self._met = met
        self._order = list(order)
        """Players who are not fixed yet, in rank order."""
        self.mate = [ALONE] * len(met)
        for player in self._order:
            if self.mate[player] == ALONE:
                self._augment(player)

    def alone(self) -> list[int]:
        """Whom a largest matching leaves out, in rank order. Each two of them have met."""
        return [player for player in self._order if self.mate[player] == ALONE]

    def leave_out(self, players: Collection[int]) -> None:
        """Go on without those who are alone."""
        self._order = [player for player in self._order if player not in players]

    def fix(self, first: int, second: int) -> bool:
        """Make these two a pair, if the others can be matched without them; False if not."""
        if second in self._met[first]:
            return False
        mate = self.mate
        left, right = mate[first], mate[second]
        order = self._order
        self._order = [player for player in order if player not in (first, second)]
        if left == second:
            return True
        if right not in self._met[left]:
            mate[left], mate[right] = right, left
        else:
            mate[left] = mate[right] = ALONE
            if not self._augment(left):
                mate[left], mate[right] = first, second
                self._order = order
                return False
        mate[first], mate[second] = second, first
        return True

    def _augment(self, root: int) -> bool:
        """Match this player who is alone, changing partners of others as it takes."""
        return _Search(self._met, self._order, self.mate, root).run()


class _Search:
    """One search for an augmenting path, by blossoms.

    Vertices at the end of an even alternating path from the root are outer, their partners inner.
    `via` is the vertex before an inner one on its way from the root; `base` the root's side end of
    the odd cycle (blossom) that a vertex has been drawn into, at first itself.

    Each vertex that becomes outer looks for another one who is alone at once, before the search
    grows any further: among strangers the first or second look nearly always finds one.
    """

    def __init__(
        self, met: Sequence[set[int]], order: Sequence[int], mate: list[int], root: int
    ) -> None:
        self._met, self._order, self._mate = met, order, mate
        self._via = [ALONE] * len(met)
        self._base = list(range(len(met)))
        self._alone = [player for player in order if mate[player] == ALONE and player != root]
        self._outer: set[int] = set()
        self._queue: deque[int] = deque()
        self._done = False
        self._reach(root)

    def run(self) -> bool:
        while self._queue and not self._done:
            here = self._queue.popleft()
            self._grow(here)
            self._close_cycles(here)
        return self._done

    def _reach(self, outer: int) -> None:
        """A vertex has become outer: if it knows not everybody who is alone, that is a path."""
        self._outer.add(outer)
        self._queue.append(outer)
        known = self._met[outer]
        for end in self._alone:
            if end not in known:
                self._via[end] = outer
                self._flip(end)
                self._done = True
                return

    def _grow(self, here: int) -> None:
        mate, via, known = self._mate, self._via, self._met[here]
        for there in self._order:
            if self._done:
                return
            if via[there] == ALONE and there not in self._outer and there not in known:
                via[there] = here
                self._reach(mate[there])

    def _close_cycles(self, here: int) -> None:
        base, known = self._base, self._met[here]
        for there in self._order:
            if self._done:
                return
            if there in self._outer and base[there] != base[here] and there not in known:
                self._shrink(here, there)

    def _flip(self, end: int) -> None:
        """Along the path from the root to `end`, pairs become gaps and gaps become pairs."""
        mate, via = self._mate, self._via
        while end != ALONE:
            before = via[end]
            following = mate[before]
            mate[end], mate[before] = before, end
            end = following

    def _shrink(self, here: int, there: int) -> None:
        """Two outer vertices are joined: the odd cycle through them becomes one outer vertex."""
        stem = self._stem(here, there)
        inside: set[int] = set()
        self._mark(here, there, stem, inside)
        self._mark(there, here, stem, inside)
        for player in self._order:
            if self._base[player] in inside:
                self._base[player] = stem
                if player not in self._outer and not self._done:
                    self._reach(player)

    def _stem(self, here: int, there: int) -> int:
        """Where the ways from both to the root meet first."""
        mate, via, base = self._mate, self._via, self._base
        seen: set[int] = set()
        at = base[here]
        seen.add(at)
        while mate[at] != ALONE:
            at = base[via[mate[at]]]
            seen.add(at)
        at = base[there]
        while at not in seen:
            at = base[via[mate[at]]]
        return at

    def _mark(self, here: int, other: int, stem: int, inside: set[int]) -> None:
        """One side of the cycle, and the way around it for each vertex that becomes outer."""
        mate, via, base = self._mate, self._via, self._base
        while base[here] != stem:
            inside.add(base[here])
            inside.add(base[mate[here]])
            via[here] = other
            other = mate[here]
            here = via[mate[here]]
