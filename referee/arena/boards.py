"""The matches of the hall: who sits at which board, what is dealt, what is lost. No I/O.

A match is played by the same `Games` as those of a slot; here is when a game can begin (both guests
are there and have a hand free), which guests have something to hear, and when a match is over.
"""

from __future__ import annotations

from collections.abc import Mapping

from referee.arena.following import Following
from referee.arena.game import Game
from referee.arena.games import Games
from referee.arena.guest import Guest, Side
from referee.arena.happenings import Happening, Match, MatchOver, Played
from referee.clock import NS_PER_MS, Clock
from referee.protocol.messages import MoveReceived, OddMoveReceived, ResignReceived
from referee.schedule import GameOrder
from referee.verdict import Ending

Answer = MoveReceived | OddMoveReceived | ResignReceived


class Contest:
    """One match at its boards."""

    __slots__ = ("games", "marked", "match", "sides", "unplayed", "width")

    def __init__(self, match: Match, guests: tuple[Guest, Guest]) -> None:
        setting = match.setting
        limit_ns = least_limit_ns(setting.clock)
        self.match = match
        self.sides = (
            Side(0, guests[0], match.id, setting, limit_ns),
            Side(1, guests[1], match.id, setting, limit_ns),
        )
        self.games = Games(self.sides, setting)
        self.games.order(match.orders)
        self.width = match.at_once
        self.unplayed: list[GameOrder] = []
        self.marked = False
        for side in self.sides:
            side.sit_down(self.games.open)
            side.guest.sides.append(side)


def least_limit_ns(clock: Clock) -> int | None:
    """No answer is late before this; with a bank, each has to be looked at."""
    if clock.bank_ms is not None:
        return 0
    return None if clock.move_ms is None else (clock.move_ms + clock.grace_ms) * NS_PER_MS


class Boards:
    """All matches."""

    def __init__(self) -> None:
        self.contests: dict[int, Contest] = {}
        self.following = Following()
        self.to_hear: list[Guest] = []
        """Guests for whom there is something to send."""
        self._changed: list[Contest] = []
        """Where a game has begun or ended, or can begin."""

    @property
    def open_games(self) -> int:
        return sum(len(contest.games.open) for contest in self.contests.values())

    def seat(self, match: Match, guests: Mapping[str, Guest]) -> list[Happening]:
        """Take a match on. Where somebody is missing, it is over before it began."""
        first, second = (guests.get(name) for name in match.guests)
        if first is None or second is None or first is second:
            return [MatchOver(match.id, list(match.orders))]
        contest = Contest(match, (first, second))
        self.contests[match.id] = contest
        self.changed(contest)
        return []

    def call_off(self, match: int) -> None:
        """No further game of this match begins."""
        contest = self.contests.get(match)
        if contest is not None:
            waiting = contest.games.waiting
            contest.unplayed += waiting
            waiting.clear()
            self.changed(contest)

    def abandon(self) -> None:
        """Every game that is open is void and comes back unplayed."""
        for contest in self.contests.values():
            self.call_off(contest.match.id)
            contest.unplayed += contest.games.abandon()
            self.went_on(contest)
        self.following.look_at_all()

    # What follows from answers and faults.

    def judged(self, side: Side, game: Game) -> None:
        """A round has been judged: ask on, or close the game."""
        contest = self.contests[side.match]
        if self.following.games:
            self.following.look(game)
        due = game.table.due
        if not due:
            contest.games.finish(game)
            self.went_on(contest)
            return
        for seat in due:
            asked = contest.sides[seat ^ game.swap]
            asked.due.append(game)
            guest = asked.guest
            if not guest.marked:
                guest.marked = True
                self.to_hear.append(guest)

    def went_on(self, contest: Contest) -> None:
        """Something may be said to either side, and a game may have ended."""
        self.changed(contest)
        for side in contest.sides:
            self.mark(side.guest)
            if len(side.guest.sides) > 1:
                # A hand may be free for another match.
                self.can_play(side.guest)

    def mark(self, guest: Guest) -> None:
        if not guest.marked:
            guest.marked = True
            self.to_hear.append(guest)

    def changed(self, contest: Contest) -> None:
        if not contest.marked:
            contest.marked = True
            self._changed.append(contest)

    def can_play(self, guest: Guest) -> None:
        """A guest has come back, or has answered a ping: what waits for it can begin."""
        for side in guest.sides:
            self.changed(self.contests[side.match])

    def lose_one(
        self, side: Side, game: Game, answer: Answer, code: Ending, detail: str, said: str
    ) -> None:
        contest = self.contests[side.match]
        contest.games.fail_one(side, game, answer.id, code, detail, said)
        self.went_on(contest)
        self.following.look_at_all()

    def lose_all(
        self,
        guest: Guest,
        code: Ending,
        detail: str,
        said: str = "",
        spent_us: int | None = None,
        limit_us: int | None = None,
    ) -> None:
        """A fault that names no game loses every open game of this guest."""
        for side in guest.sides:
            contest = self.contests[side.match]
            contest.games.fail_all(side, code, detail, said, spent_us, limit_us)
            self.went_on(contest)
        self.following.look_at_all()

    def bug(self, side: Side, game: Game, error: Exception) -> None:
        contest = self.contests[side.match]
        contest.games.bug(game, error)
        self.went_on(contest)
        self.following.look_at_all()

    def stalled(self, side: Side) -> None:
        contest = self.contests[side.match]
        contest.games.stalled()
        self.went_on(contest)
        self.following.look_at_all()

    def leave(self, guest: Guest) -> None:
        """A guest is not there any more, and its open games are lost: its matches are over."""
        for side in guest.sides:
            self.call_off(side.match)

    # Dealing.

    def deal(self) -> list[Happening]:
        """Begin what can begin; what has ended, and which matches are over."""
        # First what moved: the last moves of a game come before its record.
        told, self.following.told = self.following.told, []
        while self._changed:
            contest = self._changed.pop()
            contest.marked = False
            self._deal(contest)
            match, finished = contest.match.id, contest.games.finished
            told.extend(Played(match, record) for record in finished)
            finished.clear()
            if not contest.games.waiting and not contest.games.open:
                self._end(contest)
                told.append(_over(contest))
        if self.following.told:
            told += self.following.told
            self.following.told = []
        return told

    def _deal(self, contest: Contest) -> None:
        games, setting = contest.games, contest.match.setting
        first, second = contest.sides
        opened = games.open
        while games.waiting and len(opened) < contest.width:
            if not (first.guest.free and second.guest.free):
                break
            count = len(opened)
            games.begin()
            if len(opened) > count and self.following.most:
                newest = next(reversed(opened.values()))
                self.following.begin(contest.match.id, newest, setting)
            self.mark(first.guest)
            self.mark(second.guest)

    def _end(self, contest: Contest) -> None:
        del self.contests[contest.match.id]
        for side in contest.sides:
            side.guest.sides.remove(side)


def _over(contest: Contest) -> MatchOver:
    games = contest.games
    return MatchOver(
        contest.match.id, contest.unplayed, games.stalls, games.replayed, dict(games.errors)
    )
