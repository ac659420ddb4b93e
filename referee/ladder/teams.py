"""Bots of one team do not meet on the ladder.

A team could enter bots whose only purpose is to lose to another bot of the team, which would then
be rated above bots of its strength. The organisers' own bots, samples among them, are of no team
and meet everybody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from referee.ladder.informative import Bools

ONE_TEAM = (
    "No game is played: all bots that play are of one team, and bots of one team do not meet."
)


def may_meet(teams: Sequence[str | None]) -> Bools:
    """Which of these players may meet by their teams; None is no team."""
    number = {team: at for at, team in enumerate(dict.fromkeys(teams))}
    own = np.array([-1 - at if team is None else number[team] for at, team in enumerate(teams)])
    different: Bools = own[:, None] != own
    return different


def are_one_team(teams: Sequence[str | None]) -> bool:
    """Whether players of these teams wait for an opponent in vain."""
    return len(teams) > 1 and None not in teams and len(set(teams)) == 1
