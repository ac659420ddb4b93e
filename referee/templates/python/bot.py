"""@NAME@. The function `choose` is the bot: edit it. Needs Python 3.8 or newer.

Print for yourself to stderr: stdout belongs to the referee.
"""

import random

import protocol


def choose(view, legal):
    """The move to play: one of `legal`, or None to resign.

    `view` is all that you may know of the game. `legal` lists the legal moves, numbers or texts;
    it is None where a variant has too many to list.
    `random` draws from the game's bot_seed: protocol.py seeds it before every turn.
    `protocol.note("…")` sends a word to the record; `referee watch` shows it.
    """
    # protocol.md lists the fields of each variant's view. In underdog, for example:
    #   mine = view["mine"]["numbers"]  # [1, 2, 5]: the numbers that you have left
    #   points = view["theirs"]["points"]
    return random.choice(legal) if legal else None


if __name__ == "__main__":
    protocol.play(choose)
