"""The conformance kit: play a variant at random and hold it to the contract of `Variant`.

`check_variant(MyGame())` gives a report of named steps, each passed or with the sentence that says
what is wrong and where. An exception of the script is a failed step with its file and line. After
a failure the kit goes on where it can; a step that no game got to is not passed.

Secrets. What a seat may know is defined by its view alone, so a kit for any variant cannot say
that a view shows too much: an open hand may be meant. It can say what follows from
`hidden_chance`. After a game it changes one outcome of chance (two cards of a shuffle change
places, a pick becomes another), plays the same moves again as far as they are legal, and looks for
the first moment at which each seat is sent anything else (view, legal, events):

- Without hidden chance both moments are the start: all luck is known to both before they play.
- With hidden chance, some change shows to both later, or some to seat 0 alone and some to seat 1
  alone. A view with both hands in it fails this, unless a pile stays hidden: then the kit cannot
  find the leak.
- Up to that moment the texts for this seat (narrate, prompt, question) are the same too: they
  tell no more than what a bot is sent.

A round that both play at once needs no such test: `view` is not handed the other's choice. The
exact test of the bundled deck, which knows where each card is, is in tests/rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from referee.rules.chance import BadChance, Recorded, Seeded
from referee.rules.chance import Outcome as Luck
from referee.rules.registry import blame_script
from referee.rules.variant import IllegalMove, Move, Outcome, Plays, Seat, UnreadableMove, Variant
from referee.testing.playthrough import changed, replay, sights

STEPS = {
    "text": "the summary, the rule book and the reasons are there",
    "setup": "the same luck sets up the same position",
    "actors": "seats play until there is an outcome, and nobody after it",
    "legal": "who plays has a legal move, and every move is listed once",
    "read_move": "legal moves are taken, and anything else is refused as unreadable or illegal",
    "views": "views are JSON objects",
    "apply": "the same plays lead to equal positions and leave the old one as it was",
    "events": "events are lists of JSON objects",
    "outcome": "every game ends with a winner or a draw, for a reason that is declared",
    "scores": "scores are two whole numbers",
    "length": "no game takes more plays than longest() says",
    "replay": "a game replays from its options, chance and moves to the same end",
    "secrets": "luck shows to the seats as hidden_chance says, and texts tell no more than views",
    "words": "the texts for people can be had at any time, and a typed move is read",
}
NAMES = ("Ann", "Bob {0} %s")
TWICE = "gave unequal positions for the same luck: positions are values, and luck is chance alone"
JUNK = ("", " ", "help", "hand", "play", "play play", "-", "1e9", "9" * 30, "\x00", "日本", "{0}%s")
LARGEST = 2**53  # of the integers on the wire
MOST_PLAYS = 100_000  # where the kit gives a game up, whatever longest() says

AnyVariant = Variant[Any, Any]
Propose = Callable[[Any, Seat, Seeded], Move]


class Step(Struct, frozen=True):
    name: str
    passed: bool
    detail: str


class Report(Struct, frozen=True):
    variant: str
    games: int
    steps: list[Step]

    @property
    def passed(self) -> bool:
        return all(step.passed for step in self.steps)


def check_variant(
    variant: AnyVariant, games: int = 200, seed: str = "conformance", propose: Propose | None = None
) -> Report:
    """Play random games and report on every step.

    `propose` gives a legal move where the variant does not list them.
    """
    kit = _Kit(variant, propose)
    kit.check_text()
    for number in range(games):
        with suppress(_GameOver):
            kit.play(f"{seed}/{number}", number)
    kit.check_hidden_chance()
    steps = []
    for name, sentence in STEPS.items():
        reached = name in kit.reached
        detail = kit.failures.get(name, sentence if reached else f"not reached: {sentence}")
        steps.append(Step(name, reached and name not in kit.failures, detail))
    return Report(variant.name, games, steps)


class _Failed(Exception):
    """What the variant does wrong, in one sentence."""


class _GameOver(Exception):
    """This game cannot go on; why is noted."""


class _Face(Struct, frozen=True):
    """All that a position shows of itself."""

    actors: tuple[Seat, ...]
    legal: tuple[list[Move] | None, ...]
    views: tuple[bytes, ...]
    outcome: Outcome | None
    scores: object


class _Kit:
    def __init__(self, variant: AnyVariant, propose: Propose | None) -> None:
        self.variant = variant
        self.propose = propose
        self.failures: dict[str, str] = {}
        self.reached: set[str] = set()
        self.moment = "before the first game"
        self.shown = self.late = False
        self.alone: set[Seat] = set()
        """The seats to which some change of luck has shown first."""

    @contextmanager
    def step(self, name: str, fatal: bool = False) -> Iterator[None]:
        """Note the first failure of a step; a fatal one ends the game."""
        self.reached.add(name)
        try:
            yield
        except _GameOver:
            raise
        except Exception as error:
            told = str(error)
            if not isinstance(error, _Failed):
                told = blame_script(error, type(self.variant))
            self.failures.setdefault(name, f"{told} ({self.moment})")
            if fatal:
                raise _GameOver from None

    def check_text(self) -> None:
        variant = self.variant
        with self.step("text"):
            texts: dict[str, object] = {"summary": variant.summary, "book()": variant.book()}
            texts |= {"move_help": variant.move_help, "scores_mean": variant.scores_mean}
            texts |= {f"reasons[{key!r}]": text for key, text in variant.reasons.items()}
            texts |= {f"the help of option {each.name}": each.help for each in variant.options}
            for what, text in texts.items():
                _require(isinstance(text, str) and text.strip(), f"{what} is empty")
            _require(variant.reasons, "reasons is empty")
            _require("\n" not in variant.summary, "summary is longer than one line")

    # One game.

    def play(self, seed: str, number: int) -> None:
        variant, luck, choice = self.variant, Seeded(seed), Seeded(f"{seed}/moves")
        self.moment = f"game {number + 1}, set-up"
        with self.step("setup", fatal=True):
            position = variant.setup(luck)
        with self.step("setup"):
            again = Seeded(seed)
            twin = variant.setup(again)
            _require(luck.outcomes == again.outcomes, "setup asked chance otherwise a second time")
            _require(twin == position, f"setup {TWICE}")
        with self.step("words"):
            _lines("opening", variant.opening(position, NAMES))
        with self.step("length", fatal=True):
            longest = variant.longest()
            _require(type(longest) is int and longest > 0, f"longest() is {longest!r}")
        rounds: list[Plays[Any]] = []
        face = self.look(position)
        while face.actors:
            count = sum(map(len, rounds))
            self.moment = f"game {number + 1}, play {count + 1}"
            with self.step("length", fatal=True):
                most = min(longest, MOST_PLAYS)
                _require(count < most, f"a game of {count} plays goes on; longest() is {longest}")
            if number < 20:  # the dearest of the checks, and the least likely to find news later
                self.check_answers(position, face)
            with self.step("legal", fatal=True):
                moves = [self.choose(position, face, seat, choice) for seat in face.actors]
                plays = tuple(zip(face.actors, moves, strict=True))
            position, face = self.advance(position, face, plays, luck)
            rounds.append(plays)
        self.moment = f"game {number + 1}, at the end"
        with self.step("words"):
            said = _lines("conclusion", variant.conclusion(position, NAMES))
            _require(said, "conclusion is empty")
        if not self.failures.keys() & {"setup", "apply", "read_move"}:
            self.check_replay(luck.outcomes, rounds, position, face)
        if not self.failures.keys() & {"setup", "apply", "views", "events", "words"}:
            with self.step("secrets"):
                self.change_luck(luck.outcomes, rounds, choice)

    def choose(self, position: Any, face: _Face, seat: Seat, choice: Seeded) -> Move:
        legal = face.legal[seat]
        if legal is not None:
            return legal[choice.pick(len(legal))]
        if self.propose is None:
            raise _Failed("legal is None, so the kit can play it only where propose= is given")
        return self.propose(position, seat, choice)

    def look(self, position: Any) -> _Face:
        """Everything about a position that can be checked without playing on."""
        variant = self.variant
        with self.step("outcome", fatal=True):
            outcome = variant.outcome(position)
        with self.step("actors", fatal=True):
            actors = variant.actors(position)
            _require(type(actors) is tuple, f"actors is {actors!r}, not a tuple")
            _require(actors in ((), (0,), (1,), (0, 1)), f"actors is {actors!r}")
            _require(actors or outcome is not None, "nobody plays, and there is no outcome")
            _require(not actors or outcome is None, f"{actors} still play after the outcome")
        with self.step("outcome"):
            if outcome is not None:
                _require(isinstance(outcome, Outcome), f"outcome is {outcome!r}")
                _require(outcome.winner in (None, 0, 1), f"the winner is {outcome.winner!r}")
                reason = outcome.reason
                _require(reason in variant.reasons, f"the reason {reason!r} is not in reasons")
        scores: object = None
        with self.step("scores"):
            scores = variant.scores(position)
            two = type(scores) is tuple and [type(each) for each in scores] == [int, int]
            _require(two, f"scores is {scores!r}, not a tuple of two whole numbers")
        legal: list[list[Move] | None] = [None, None]
        with self.step("legal", fatal=True):
            for seat in actors:
                listed = variant.legal(position, seat)
                if listed is not None:
                    legal[seat] = _legal(list(listed), variant.move_type)
        views = [b"", b""]
        with self.step("views"):
            for seat in (0, 1):
                view = variant.view(position, seat)
                _require(type(view) is dict, f"view is {view!r}, not a dict")
                views[seat] = _json(view, "view")
        return _Face(actors, tuple(legal), tuple(views), outcome, scores)

    def advance(
        self, position: Any, face: _Face, plays: Plays[Any], luck: Seeded
    ) -> tuple[Any, _Face]:
        variant, used = self.variant, len(luck.outcomes)
        with self.step("apply", fatal=True):
            after = variant.apply(position, plays, luck)
            _require(self.look(position) == face, "apply changed the position it was given")
        seen = self.look(after)
        with self.step("apply"):
            recorded = Recorded(luck.outcomes[used:])
            try:
                twin = variant.apply(position, plays, recorded)
                recorded.finish()
            except BadChance as error:
                raise _Failed(f"apply asked chance otherwise a second time: {error}") from None
            _require(twin == after, f"apply {TWICE}")
            _require(self.look(twin) == seen, "two equal positions show different views or moves")
        with self.step("events"):
            for seat in (0, 1):
                events = variant.events(position, plays, after, seat)
                plain = type(events) is list and all(type(event) is dict for event in events)
                _require(plain, f"events is {events!r}, not a list of dicts")
                _json(events, "events")
        with self.step("words"):
            for reader in (None, 0, 1):
                _lines("narrate", variant.narrate(position, plays, after, NAMES, reader))
        return after, seen

    def check_answers(self, position: Any, face: _Face) -> None:
        """What bots may send and people may type, good and bad."""
        variant = self.variant
        for seat in face.actors:
            legal = face.legal[seat] or []
            with self.step("read_move"):
                for move in legal:
                    taken = self.read(position, seat, move, legal)
                    _require(taken == move, f"read_move refuses {move!r}, which is legal")
                for no_move in (True, False, None, [], {}, legal[:1], {"move": legal[:1]}):
                    taken = self.read(position, seat, no_move, legal)
                    _require(taken is None, f"read_move takes {no_move!r} for a move")
                for odd in (-1, 0, 1.0, 1.5, 2**70, "", "1", "no such move"):
                    self.read(position, seat, odd, legal)
            with self.step("words"):
                _require(_lines("prompt", variant.prompt(position, seat, NAMES)), "prompt is empty")
                for typed in JUNK:
                    answer = variant.question(position, seat, typed, NAMES)
                    if answer is not None:
                        _lines("question", answer)
                    self.read(position, seat, variant.typed_move(typed), legal)
                for move in legal if "read_move" not in self.failures else ():
                    taken = self.read(position, seat, variant.typed_move(str(move)), legal)
                    _require(taken == move, f"a person who types {move} has not played {move!r}")

    def read(self, position: Any, seat: Seat, raw: object, legal: list[Move]) -> Move | None:
        """The move that read_move takes this for, or None where it refuses."""
        try:
            move: Move = self.variant.read_move(position, seat, raw)
        except (UnreadableMove, IllegalMove):
            return None
        fits = type(move) is self.variant.move_type and (move in legal or not legal)
        _require(fits, f"read_move takes {raw!r} and gives {move!r}, which is not a legal move")
        return move

    def check_replay(
        self, luck: Sequence[Luck], rounds: Sequence[Plays[Any]], end: Any, face: _Face
    ) -> None:
        settings = self.variant.settings
        moves = [play for plays in rounds for play in plays]
        with self.step("replay"):
            fresh = type(self.variant)(**settings)
            _require(fresh.settings == settings, f"settings {settings} become {fresh.settings}")
            record = msgspec.json.decode(msgspec.json.encode([luck, moves]))
            try:
                position = replay(fresh, *record)
            except (BadChance, IllegalMove) as error:
                raise _Failed(f"the replay goes otherwise: {error}") from None
            _require(position == end and self.look(position) == face, "the replay ends otherwise")

    # Secrets.

    def change_luck(
        self, luck: Sequence[Luck], rounds: Sequence[Plays[Any]], choice: Seeded
    ) -> None:
        """Compare what the seats see with one outcome of chance changed."""
        played = list(sights(self.variant, luck, rounds))
        searching = self.variant.hidden_chance and not (self.late or len(self.alone) == 2)
        for _ in range((20 if searching else 2) if luck else 0):
            at = choice.pick(len(luck))
            other_luck = [*luck[:at], changed(luck[at], choice), *luck[at + 1 :]]
            replayed = list(sights(self.variant, other_luck, rounds))
            moments = [MOST_PLAYS, MOST_PLAYS]
            for seat in (0, 1):
                for moment, (one, other) in enumerate(zip(played, replayed, strict=False)):
                    if one[seat].sent != other[seat].sent:
                        moments[seat] = moment
                        break
                    same = one[seat].read == other[seat].read
                    _require(same, f"the texts for seat {seat} tell what its view does not")
            first, second = moments
            self.shown |= min(moments) < MOST_PLAYS
            self.late |= 0 < first == second < MOST_PLAYS
            self.alone |= {seat for seat in (0, 1) if moments[seat] < moments[1 - seat]}
            told = f"chance[{at}] does not show to both seats at the start: hidden_chance is False"
            _require(self.variant.hidden_chance or first == second in (0, MOST_PLAYS), told)

    def check_hidden_chance(self) -> None:
        self.moment = "over all games"
        if self.variant.hidden_chance and self.shown:
            with self.step("secrets"):
                told = "hidden_chance is True, but both seats know all the luck from the start"
                _require(self.late or len(self.alone) == 2, told)


def _require(good: object, otherwise: str) -> None:
    if not good:
        raise _Failed(otherwise)


def _legal(moves: list[Move], kind: type) -> list[Move]:
    _require(moves, "a seat that plays has no legal move")
    for move in moves:
        _require(type(move) is kind, f"the legal move {move!r} is not of move_type")
        _json(move, "legal")
    _require(len(set(moves)) == len(moves), f"legal lists a move twice: {moves!r}")
    return moves


def _lines(method: str, lines: object) -> list[str]:
    if type(lines) is list and all(type(line) is str for line in lines):
        return lines
    raise _Failed(f"{method} gives {lines!r}, not a list of texts")


def _json(value: object, name: str) -> bytes:
    """The bytes of a value that both JSON and MessagePack can carry."""
    if trouble := _trouble(value):
        raise _Failed(name + trouble)
    return msgspec.json.encode(value)


def _trouble(value: Any) -> str:
    """Where and why JSON cannot carry a value; empty where it can."""
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        for key, inner in value.items() if kind is dict else enumerate(value):
            if kind is dict and type(key) is not str:
                return f" has the key {key!r}, which is not a text"
            if trouble := _trouble(inner):
                return f"[{key!r}]{trouble}"
        return ""
    if kind is int:
        return f" is {value}, beyond ±2**53" if abs(value) > LARGEST else ""
    if (kind is float and isfinite(value)) or kind is bool or value is None:
        return ""
    if kind is str and not any("\ud800" <= each <= "\udfff" for each in value):
        return ""
    return f" is {value!r}, a {kind.__name__} that JSON cannot carry"
