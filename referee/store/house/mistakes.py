"""What the house refuses, each with one sentence; the kind tells a web page its status."""

from __future__ import annotations

from referee.mistake import REFUSED, Mistake


class HouseMistake(Mistake):
    """What was asked for makes no sense; the base of all the others."""


class Unknown(HouseMistake):
    """There is no team, bot, version, season or tournament of this name."""


class Conflict(HouseMistake):
    """It makes sense, but not as things stand: a name is taken, a season is closed."""


class NotYours(HouseMistake):
    """It belongs to somebody else, or to people of another role."""


class TooLarge(HouseMistake):
    """More bytes than are taken."""


class TooMany(HouseMistake):
    """More of something than a team may have."""


class OverQuota(TooMany):
    """More of the disk than a team may use."""


class TooOften(HouseMistake):
    """More of something in an hour than a team may ask for."""

    def __init__(self, sentence: str, wait_s: int) -> None:
        super().__init__(sentence)
        self.wait_s = wait_s
        """When to come again."""


class BadHouse(HouseMistake):
    """A data folder that cannot be made, opened, read or written; says why."""


class HouseRefused(BadHouse):
    """The system does not let us write there."""

    status = REFUSED


class HouseFull(HouseRefused):
    """The disk takes no more, for want of room or because it fails. What was written is safe."""
