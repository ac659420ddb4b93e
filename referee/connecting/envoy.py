"""A bot that runs here and plays for a referee elsewhere.

    bot's lines ──► messages ──► the referee's ROUTER, and back

An envoy says the bot's hello in its name, and says it again whenever the referee may have forgotten
it: over a new connection, or after a long silence. It answers pings, since it knows whether the bot
lives. Where the bot breaks down, or is blamed for what ends a process, it is started anew. A bot
that is to stand still between its turns is stopped while none of its turns is open.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import zmq

from referee.connecting.local import Ended, LocalBot, WillNotStart
from referee.connecting.news import (
    Blamed,
    BrokeDown,
    Connected,
    GameBegan,
    GameOver,
    Left,
    Lost,
    Running,
    Tell,
)
from referee.connecting.remote import MOST_MESSAGE, RECEIVE_MARK, Destination, Remote
from referee.mistake import REFUSED, Mistake
from referee.protocol.messages import PROTOCOL, HelloReceived
from referee.verdict import AT_START, ENDS_PROCESS, Ending

SLICE_MS = 100
SILENCE_S = 30.0
"""After so long without a word from the referee, the hello is said again."""
ANSWER_S = 5.0
"""So long a hello waits for its answer before it is said again."""
NO_ZEROMQ = "what listens there says nothing that a referee would; is it the port for bots?"
REFUSAL_S = 0.5
"""A hello that was refused is not answered any more after so long."""
FAILED_STARTS = 3
LAST_TURNS_S = 0.2
MOST_TURNS = 10_000
"""That wait for the bot: one for each game that it can have at once."""
MOST_UNREAD = 4 * MOST_MESSAGE
"""Bytes that wait for the bot. A referee asks a bot once in each game, and then waits for it."""
PAUSE_S = 1.0
"""Between two starts of a bot that breaks down."""


class Dismissed(Mistake):
    """The referee does not want this bot; the message has its reason."""

    status = REFUSED


class Envoy:
    """Carries the words of one bot."""

    def __init__(self, local: LocalBot, destination: Destination, tell: Tell) -> None:
        destination.check()
        self._local = local
        self._destination = destination
        self._tell = tell
        self._remote: Remote | None = None
        self._hello = b""
        self._welcome = False
        """Whether the referee has answered the hello."""
        self._came_at = 0.0
        """When the referee was first called, or is called again."""
        self._hello_at = 0.0
        self._heard_at = 0.0
        self._turns: dict[int, str] = {}
        """Turns that the bot has not answered, with their games."""
        self._told_lost = False
        self._games = 0
        self._blame = ""
        """What the referee said last, if it was a reproach that names no game."""
        self._refused = ""
        self._refused_at = 0.0

    def run(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Play until it is not wanted any more. What interrupts it ends the bot in good order.

        Raises WillNotStart, Dismissed, NotConfined.
        """
        try:
            self._start_bot()
            while wanted():
                self._step()
        finally:
            self._leave()

    # The bot.

    def _start_bot(self) -> None:
        for attempt in range(1, FAILED_STARTS + 1):
            try:
                hello = self._local.start()
            except WillNotStart as problem:
                if attempt == FAILED_STARTS:
                    raise
                self._tell(BrokeDown(bot=self._destination.name, why=str(problem)))
                time.sleep(PAUSE_S)
            else:
                break
        self._local.hold()
        self._hello = self._introduction(hello)
        self._tell(Running(bot=self._destination.name, pid=self._local.pid))
        self._remote = Remote(self._destination)
        self._welcome = False
        self._came_at = self._hello_at = self._heard_at = time.monotonic()

    def _introduction(self, hello: HelloReceived) -> bytes:
        """The bot's hello, in the name of the bot; the manifest counts before it.

        `stateless` is left out: it concerns whoever starts the bot, and the referee does not.
        """
        bot = self._local.bot
        variants = hello.variants if bot.variants is None else bot.variants
        fields: dict[str, Any] = {
            "type": "hello",
            "protocol": PROTOCOL,
            "name": self._destination.name,
            "token": self._destination.token,
            "version": bot.version or hello.version,
            "author": hello.author,
            "variants": None if variants is None else list(variants),
            "games_at_once": bot.games_at_once or hello.games_at_once,
        }
        told = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(told, ensure_ascii=False).encode()

    def _start_anew(self, why: str) -> None:
        """End what is left of the bot, and come back with a new one over a new connection."""
        self._tell(BrokeDown(bot=self._destination.name, why=why))
        self._hang_up()
        self._local.stop()
        time.sleep(PAUSE_S)
        self._start_bot()

    # The conversation.

    def _step(self) -> None:
        remote = self._remote
        assert remote is not None
        poller = zmq.Poller()
        for each in (remote.socket, remote.monitor, self._local.fd):
            poller.register(each, zmq.POLLIN)
        ready = dict(poller.poll(SLICE_MS))
        self._local.push()
        try:
            if self._local.fd in ready:
                for line in self._local.hear():
                    self._pass_on(line)
            if remote.monitor in ready:
                remote.watch()
            for _ in range(RECEIVE_MARK):
                message = remote.receive()
                if message is None:
                    break
                self._hear(message)
        except Ended as how:
            self._start_anew(str(how))
            return
        if not self._turns:
            self._local.hold()
        self._keep_in_touch(remote)

    def _pass_on(self, line: bytes) -> None:
        """A line of the bot. One that nobody would hear is lost, with the game."""
        assert self._remote is not None
        try:
            answer = json.loads(line)
            if isinstance(answer, dict) and isinstance(answer.get("id"), int):
                self._turns.pop(answer["id"], None)
        except (ValueError, RecursionError):
            pass
        if self._welcome:
            self._remote.send(line)

    def _keep_in_touch(self, remote: Remote) -> None:
        """Say hello where it has not been said, or not been answered, or may be forgotten."""
        now, to = time.monotonic(), self._destination.to
        if remote.hoards():
            raise Dismissed(f"what answers at {to} sends a message without end")
        if remote.turned_away and not self._welcome:
            raise Dismissed(f"the referee at {to} {self._why_turned_away(remote)}")
        if self._refused and now - self._refused_at > REFUSAL_S:
            raise Dismissed(f"the referee at {to} refuses: {self._refused}")
        if remote.down and not self._told_lost:
            self._told_lost, self._welcome = True, False
            self._tell(Lost(to=to, why=remote.down))
        if not self._welcome and not self._told_lost and now - self._came_at > ANSWER_S:
            self._told_lost = True
            what = "the hello is not answered" if remote.shook_hands else NO_ZEROMQ
            self._tell(Lost(to=to, why=what))
        patience_s = SILENCE_S if self._welcome else ANSWER_S
        forgotten = now - max(self._heard_at, self._hello_at) > patience_s
        if (remote.fresh or forgotten) and not remote.down:
            remote.fresh, self._welcome = False, False
            self._hello_at = now
            remote.send(self._hello)

    def _why_turned_away(self, remote: Remote) -> str:
        if self._destination.keys is None:
            return "does not take bots without a key"
        if remote.turned_away == "key":
            return "does not take this key"
        # It hangs up without a word: what it was shown may have been locked for somebody else.
        return "hangs up: --server-key is not its own, or it does not take this key"

    def _hear(self, message: bytes) -> None:
        """A message of the referee. Raises Ended, Dismissed."""
        try:
            fields = json.loads(message)
            kind = fields["type"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Dismissed(f"what answers at {self._destination.to} is no referee") from None
        self._heard_at = time.monotonic()
        if kind == "hello":
            self._welcomed(str(fields.get("referee", "")))
        elif kind == "ping":
            assert self._remote is not None
            self._remote.send(b'{"type":"pong"}')
        elif kind == "bye":
            self._sent_away()
        else:
            try:
                self._take_note(kind, fields)
            except (KeyError, TypeError, ValueError):
                told = f"what answers at {self._destination.to} speaks another protocol"
                raise Dismissed(told) from None
            if kind == "turn":
                self._local.release()
            self._local.say(message.replace(b"\n", b" ") + b"\n")
            if self._local.unread > MOST_UNREAD or len(self._turns) > MOST_TURNS:
                raise Dismissed(f"what answers at {self._destination.to} asks without end")

    def _welcomed(self, version: str) -> None:
        if not self._welcome:
            self._welcome, self._told_lost = True, False
            self._blame = self._refused = ""
            to, name = self._destination.to, self._destination.name
            self._tell(Connected(bot=name, to=to, referee=version))

    def _sent_away(self) -> None:
        """A referee that leaves may come back; one that gave a reason means it."""
        if self._blame:
            raise Dismissed(f"the referee at {self._destination.to} says: {self._blame}")
        self._welcome = False
        self._hello_at = time.monotonic()
        if not self._told_lost:
            self._told_lost = True
            self._tell(Lost(to=self._destination.to, why="the referee said bye"))

    def _note_turn(self, fields: dict[str, Any]) -> None:
        turn_id, game = fields["id"], fields["game"]
        if type(turn_id) is not int or type(game) is not str:
            raise TypeError
        self._turns[turn_id] = game

    def _take_note(self, kind: str, fields: dict[str, Any]) -> None:
        if kind == "turn":
            self._note_turn(fields)
        elif kind == "start":
            game, variant, seat = fields["game"], fields["variant"], fields["seat"]
            first, second = fields["players"]
            self._tell(GameBegan(game=game, variant=variant, players=(first, second), seat=seat))
        elif kind == "over":
            self._games += 1
            self._turns = {
                turn: game for turn, game in self._turns.items() if game != fields["game"]
            }
            first, second = fields["scores"]
            self._tell(
                GameOver(
                    game=fields["game"],
                    result=fields["result"],
                    ending=fields["ending"],
                    scores=(first, second),
                )
            )
        elif kind == "error":
            self._blamed(fields["code"], fields["detail"], fields.get("game"))

    def _blamed(self, code: str, detail: str, game: str | None) -> None:
        self._tell(Blamed(code=code, detail=detail, game=game))
        if game is not None:
            return
        if code in AT_START:
            # It may mean something that was said before the hello, which then is answered all
            # the same.
            self._refused, self._refused_at = detail, time.monotonic()
            return
        self._blame = detail
        if code in ENDS_PROCESS and code != Ending.CRASH:
            raise Ended(f"the referee's verdict is {code}: {detail}")

    # The end.

    def _leave(self) -> None:
        """Give up what is open, so that nobody waits for it, and see the bot out."""
        if self._remote is not None and self._welcome:
            self._hear_last_turns(self._remote)
            for turn_id in self._turns:
                self._remote.send(json.dumps({"type": "resign", "id": turn_id}).encode())
        self._hang_up()
        self._local.leave()
        self._tell(Left(bot=self._destination.name, games=self._games))

    def _hear_last_turns(self, remote: Remote) -> None:
        """A turn may be on its way right behind a start that was heard."""
        give_up = time.monotonic() + LAST_TURNS_S
        while (left_s := give_up - time.monotonic()) > 0 and remote.socket.poll(int(left_s * 1000)):
            try:
                fields = json.loads(remote.receive() or b"")
                if fields["type"] == "turn":
                    self._note_turn(fields)
            except (ValueError, KeyError, TypeError, RecursionError):
                return

    def _hang_up(self) -> None:
        if self._remote is not None:
            self._remote.close()
            self._remote = None
        self._turns.clear()
