"""What the tests let other processes do to a house: python -m tests.store.house_worker WHAT DATA"""

from __future__ import annotations

import os
import sys
from itertools import count
from pathlib import Path

from referee.store.database import Store
from referee.store.house import House
from referee.store.house.mistakes import TooOften
from referee.store.rows import BotRow, GameRow, PairingRow


def make(house: House) -> None:
    house.teams.first_organiser()
    house.teams.add(f"team {os.getpid()}", by="worker")


def submit(house: House) -> None:
    """As much as is taken; the names of what was."""
    team = house.teams.named("Reds")
    for number in range(8):
        try:
            version = house.submissions.keep("greedy", team, f"{os.getpid()} {number}".encode())
        except TooOften:
            continue
        print(version.name, flush=True)


def claim(house: House) -> None:
    """Work on the queue until it is empty."""
    while (version := house.submissions.claim()) is not None:
        print(version.id, flush=True)
        house.submissions.checking(version.id)
        house.submissions.accept(version.id, "{}")


def hold(house: House) -> None:
    """Take charge and the next in the queue, and never end."""
    print(house.take_charge(), flush=True)
    version = house.submissions.claim()
    house.tournaments.claim()
    print("nothing" if version is None else version.id, flush=True)
    sys.stdin.read()


def churn(house: House) -> None:
    """Submit, claim and judge without end."""
    number = 0
    while True:
        number += 1
        version = house.submissions.keep("churned", None, f"{os.getpid()} {number}".encode() * 1000)
        print(version.id, flush=True)
        claimed = house.submissions.claim()
        if claimed is not None:
            house.submissions.accept(claimed.id, "{}")


def ladder(house: House) -> None:
    """Hand in versions and let each play a game at once, without end: a season in a hurry."""
    season = house.seasons.named("1")
    with Store.create(house.seasons.folder(season), {"spec": "{}"}, []) as store:
        for number in count(1):
            version = house.submissions.keep("churned", None, f"{number}".encode() * 10_000)
            house.submissions.claim()
            house.submissions.accept(version.id, "{}")
            store.set_bot(BotRow(version.id, version.name, "", version.hash, "{}"))
            store.add_pairings([PairingRow(number, 1, "underdog", version.id, version.id, 1)])
            game = GameRow(number, 1, 1, version.id, version.id, 1, "rules", 9, 0, b"record")
            store.add_games([game])
            store.commit()
            print(number, flush=True)


WORK = {
    **{"make": make, "submit": submit, "claim": claim, "hold": hold, "churn": churn},
    "ladder": ladder,
}

if __name__ == "__main__":
    with House.open(Path(sys.argv[2])) as opened:
        WORK[sys.argv[1]](opened)
