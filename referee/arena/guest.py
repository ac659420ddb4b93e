"""A bot that connected from elsewhere: its conversation, what it owes, and where it sits.

A guest outlives its connection for a while: one that is *away* may come back and go on. It can sit
at the boards of several matches, up to the number of games that its hello allows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from referee.arena.game import Game, Setting
from referee.arena.hints import ZEROMQ
from referee.arena.pace import Pace
from referee.links.router import Arrival
from referee.protocol.messages import PROTOCOL, Hello, HelloReceived, Start, ToBot, Turn
from referee.protocol.session import Session
from referee.version import __version__

NEVER_NS = 1 << 62

Asked = tuple[Game, "Side", int, int, Turn]
"""An open turn: the game, who is asked, when, how long the host had stood still until then, and
what was sent, should it have to be sent again."""


class Guest:
    """Who is in the hall under a name."""

    __slots__ = (
        "address",
        "away_ns",
        "away_why",
        "check_ns",
        "connection",
        "dropped_before",
        "fresh",
        "games_at_once",
        "gone",
        "greeted_ns",
        "heard_ns",
        "hello",
        "hints",
        "marked",
        "name",
        "outbox",
        "pace",
        "peer",
        "pinged_ns",
        "session",
        "sides",
        "turns",
        "unsent",
        "user",
        "vouched",
    )

    def __init__(self, name: str, arrival: Arrival, hello: HelloReceived, address: str) -> None:
        self.name = name
        self.user = arrival.user
        self.peer = arrival.peer
        self.connection = arrival.connection
        self.address = address
        self.hello = replace(hello, token=None)
        self.vouched = hello.token is not None
        """Whether a token has proved who it is; then a routing id alone does not."""
        self.games_at_once = hello.games_at_once
        self.hints = ZEROMQ
        self.session = Session()
        self.dropped_before = 0
        self.outbox: list[ToBot] = []
        """What goes out next."""
        self.unsent: list[bytes] = []
        """What its full queue did not take."""
        self.turns: dict[int, Asked] = {}
        self.sides: list[Side] = []
        self.fresh = True
        """Whether it has answered no turn since its hello."""
        self.pace = Pace(hello.games_at_once)
        self.check_ns = NEVER_NS
        """No open turn is late before this."""
        self.greeted_ns = 0
        self.heard_ns = 0
        self.pinged_ns: int | None = None
        """Since when a ping waits for an answer."""
        self.away_ns: int | None = None
        """Since when it is away."""
        self.away_why = ""
        self.gone = False
        """Whether it has left for good; games that it has lost may still wait for the other."""
        self.marked = False
        """Whether it is on the list of those to whom something is to be sent."""

    @property
    def dropped(self) -> int:
        return self.dropped_before + self.session.dropped

    @property
    def open_games(self) -> int:
        return sum(side.open_games() for side in self.sides)

    @property
    def free(self) -> bool:
        """Whether it can begin another game now."""
        ready = self.away_ns is None and self.pinged_ns is None
        return ready and self.open_games < self.games_at_once

    def greet(self, session: Session, arrival: Arrival, now_ns: int) -> None:
        """Its hello was heard in this session: answer it, and go on where games are open."""
        self.dropped_before += self.session.dropped
        self.session = session
        self.peer, self.connection = arrival.peer, arrival.connection
        self.greeted_ns = self.heard_ns = now_ns
        self.pinged_ns = self.away_ns = None
        self.unsent.clear()
        self.outbox[:] = [Hello(PROTOCOL, __version__), *self._open_again()]

    def reconnect(self, arrival: Arrival, now_ns: int) -> None:
        """It speaks on, over a new connection: what was under way when the old one ended is sent
        again, since nobody knows how far it came."""
        self.peer, self.connection = arrival.peer, arrival.connection
        self.heard_ns = now_ns
        self.pinged_ns = self.away_ns = None
        self.unsent.clear()
        self.outbox[:0] = [turn for *_, turn in self.turns.values()]

    def _open_again(self) -> Iterator[ToBot]:
        """The games that go on, for one who may know nothing of them: a start and the turn."""
        for side in self.sides:
            for game in side.games():
                yield start_of(game, side.setting, side.index ^ game.swap)
        turns, self.turns = self.turns, {}
        for game, side, asked_ns, stalled_ns, turn in turns.values():
            turn_id = self.session.ask()
            again = replace(turn, id=turn_id)
            self.turns[turn_id] = (game, side, asked_ns, stalled_ns, again)
            yield again

    def encode(self, messages: Sequence[ToBot]) -> list[bytes]:
        """Whatever can be: a variant's script may put into an event what no encoding knows."""
        frames = []
        for message in messages:
            with contextlib.suppress(Exception):
                frames += self.session.frames([message])
        return frames

    def forget_turns(self) -> None:
        """Answers that still come are dropped."""
        for turn_id in self.turns:
            self.session.withdraw(turn_id)
        self.turns.clear()
        self.check_ns = NEVER_NS


class Side:
    """A guest's place in a match."""

    __slots__ = (
        "_base",
        "_open",
        "banked",
        "due",
        "guest",
        "index",
        "limit_ns",
        "match",
        "move_ms",
        "outbox",
        "setting",
    )

    def __init__(
        self, index: int, guest: Guest, match: int, setting: Setting, limit_ns: int | None
    ) -> None:
        self.index = index
        self.guest = guest
        self.match = match
        self.setting = setting
        self.move_ms = setting.clock.move_ms
        self.banked = setting.clock.bank_ms is not None
        self.limit_ns = limit_ns
        """No answer is late before this much time; None is no limit at all."""
        self.outbox = guest.outbox
        self.due: list[Game] = []
        """Games in which the guest is to be asked."""
        self._base = guest.dropped
        self._open: dict[int, Game] = {}

    @property
    def dropped(self) -> int:
        return self.guest.dropped - self._base

    def sit_down(self, games: dict[int, Game]) -> None:
        """The open games of the match, as its `Games` keep them."""
        self._open = games

    def games(self) -> list[Game]:
        return list(self._open.values())

    def open_games(self) -> int:
        return len(self._open)


def start_of(game: Game, setting: Setting, seat: int) -> Start:
    """What this seat was told when the game began."""
    first, second = setting.players
    variant = setting.variant
    return Start(
        game.name,
        variant.name,
        variant.rules,
        variant.settings,
        seat,
        (second, first) if game.swap else (first, second),
        setting.clock,
        game.order.bot_seeds[seat],
    )
