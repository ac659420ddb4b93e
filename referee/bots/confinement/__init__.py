"""How a bot is kept from doing harm: what is promised, and by which means.

    levels, limits      what an organiser asks for
    exposing            folders that bots are shown besides, and those that they must not be
    calls, seccomp      system calls that are refused: their numbers, and the program for the kernel
    walls               what a bot sees of the machine
    identity, cgroups   whom it runs as; what all its processes may use together
    guard               all of it for one process, as the keeper (keeper.py) carries it out
    probe               what this machine can do, found out by trying

A level is not a matter of taste: it is what the probe has seen to hold on this machine.
"""

from __future__ import annotations

from msgspec import Struct

from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits


class Confinement(Struct, frozen=True, kw_only=True):
    """How the bots of a match or a tournament are confined."""

    level: Level = Level.NONE
    limits: Limits = Limits()
    freeze: bool = False
    """Whether a bot stands still while the other one is to move."""
    expose: tuple[str, ...] = ()
    """Folders of this machine that bots may read, beside the system's own."""


UNCONFINED = Confinement()


def several_told(name: str, processes: int) -> str:
    """That a bot asked for more than one process. It may have asked for more than its limit."""
    return f"{name} asked for several processes and was let run {processes}"
