"""Token buckets: so many at once, so many a second, for each address or token.

Memory is bounded: where there are too many buckets, the one that was used longest ago goes first.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BUCKETS = 50_000


class Rate:
    """One limit for many visitors, each by a key of its own."""

    def __init__(
        self,
        per_s: float,
        burst: int,
        now: Callable[[], float] = time.monotonic,
        most: int = MOST_BUCKETS,
    ) -> None:
        self._per_s = per_s
        self._burst = float(burst)
        self._now = now
        self._most = most
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """What is left in each, and when that was so; the one used last at the end."""

    def take(self, key: Hashable) -> int:
        """Take one: 0, or after how many whole seconds there will be one.

        >>> rate = Rate(0.5, 2, now=lambda: 0.0)
        >>> [rate.take("a"), rate.take("a"), rate.take("a"), rate.take("b")]
        [0, 0, 2, 0]
        """
        now = self._now()
        left, then = self._buckets.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_s)
        wait = 0
        if left >= 1.0:
            left -= 1.0
        else:
            wait = max(1, math.ceil((1.0 - left) / self._per_s))
        self._buckets[key] = (left, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return len(self._buckets)
