"""Talk to a bot's process, and play games with it in which the other side moves at random."""

from __future__ import annotations

import json
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from referee.rules.chance import Seeded
from referee.rules.registry import build_variant
from tests.waiting import PATIENCE_S

HELLO = {"type": "hello", "protocol": 1, "referee": "0.1.0"}
Message = dict[str, Any]


class Talk:
    """A bot process and the two ends of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *messages: Message) -> None:
        self.send("".join(json.dumps(message) + "\n" for message in messages))

    def send(self, text: str) -> None:
        self.send_bytes(text.encode())

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hear(self) -> Message:
        assert self.process.stdout is not None
        guard = threading.Timer(PATIENCE_S, self.process.kill)
        guard.start()
        try:
            message = json.loads(self.process.stdout.readline())
        finally:
            guard.cancel()
        assert isinstance(message, dict)
        return message

    def hang_up(self) -> tuple[bytes, int]:
        """What the bot still says after the end of its input, and its exit status."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return out, self.process.returncode


@contextmanager
def talking_to(command: Sequence[str], folder: Path | None) -> Iterator[Talk]:
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


class Opposed:
    """One game in which the bot meets a player of random moves."""

    def __init__(self, variant: str, name: str, **options: object) -> None:
        self.variant = build_variant(variant, options)
        self.name = name
        self.chance = Seeded(name)
        self.luck = random.Random(name)
        self.seat = self.luck.randrange(2)
        self.position = self.variant.setup(self.chance)
        self.events: list[Message] = []
        self.moves: list[Any] = []

    def start(self) -> Message:
        clock = {"move_ms": 1000, "bank_ms": None, "increment_ms": None, "grace_ms": 50}
        return {
            "type": "start",
            "game": self.name,
            "variant": self.variant.name,
            "rules": 1,
            "options": self.variant.settings,
            "seat": self.seat,
            "players": ["left", "right"],
            "clock": clock,
            "bot_seed": self.luck.getrandbits(53),
        }

    def turn(self, number: int) -> Message | None:
        """The bot's next turn, or None once the game is over."""
        while (actors := self.variant.actors(self.position)) and self.seat not in actors:
            self.apply({})
        if not actors:
            return None
        events, self.events = self.events, []
        return {
            "type": "turn",
            "game": self.name,
            "id": number,
            "view": self.variant.view(self.position, self.seat),
            "events": events,
            "legal": self.variant.legal(self.position, self.seat),
            "left_ms": 1000,
        }

    def answer(self, move: Any) -> None:
        legal = self.variant.legal(self.position, self.seat)
        assert legal is not None
        assert move in legal
        assert type(move) is self.variant.move_type
        self.moves.append(move)
        self.apply({self.seat: move})

    def apply(self, given: dict[int, Any]) -> None:
        plays = []
        for seat in self.variant.actors(self.position):
            legal = self.variant.legal(self.position, seat)
            assert legal is not None
            plays.append((seat, given[seat] if seat in given else self.luck.choice(legal)))
        before = self.position
        self.position = self.variant.apply(before, tuple(plays), self.chance)
        self.events += self.variant.events(before, tuple(plays), self.position, self.seat)


def play_at_once(talk: Talk, games: list[Opposed]) -> None:
    """Play the games side by side: all that is due goes out in one write."""
    talk.say(*(game.start() for game in games))
    number, going = 0, games
    while going:
        due = {}
        for game in going:
            number += 1
            if turn := game.turn(number):
                due[number] = (game, turn)
        over = [game for game in going if all(game is not other for other, _ in due.values())]
        talk.say(
            *({"type": "over", "game": game.name, "result": "draw", "events": []} for game in over),
            *(turn for _, turn in due.values()),
        )
        answers = [talk.hear() for _ in due]
        assert sorted(answer["id"] for answer in answers) == list(due)
        for answer in answers:
            due[answer["id"]][0].answer(answer["move"])
        going = [game for game, _ in due.values()]
