"""The steps that play: every variant from both seats, many games, games at once, a long game.

A game that fails in a process that has played before is played again in a fresh one. Where it goes
well there, the variant is not to blame, but the step `many games` is.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from referee.clock import NS_PER_MS, show_ms
from referee.protocol.messages import ToBot
from referee.rules.numbers import amount
from referee.rules.registry import build_variant
from referee.verdict import ENDS_PROCESS, BotFault, Ending
from referee.workshop.check.bench import (
    BY_TIME,
    NO_GAME,
    Bench,
    Cell,
    Failed,
    NotTried,
    Skipped,
    StillWaiting,
    placed,
    tell,
)
from referee.workshop.check.deal import AnyVariant, Deal
from referee.workshop.check.report import Step
from referee.workshop.check.sitting import Sitting

MANY = 20
FEWEST = 3
"""Games in one process, however slow the bot is."""
LATECOMERS = 8
"""Games that begin in the place of others that are over."""
SILENT_GAMES = 2
"""A bot that has never answered is asked in this many variants."""
LONG: dict[str, dict[str, object]] = {
    "difference": {"size": 100},
    "underdog": {"size": 100, "points": 100},
    "duel": {"size": 100, "uses": 1, "life": 10_000},
    "deck": {"hp": 300},
}
"""Options that make games of about 100 turns. Other variants are played as they are: in target
more numbers make no longer game, but a search that no bot would be blamed for."""
LONG_PLAYS = 200
GIVEN_UP = "it resigned at its first turn in every game; does choose() return a move?"
LEFT = "exited with status 0"
LOOK_BACK = (
    "games before it went well, so look at what the bot keeps from game to game, and at this turn"
)
"""The lesson where the bot did not leave after a game but failed in one."""


class Played(Struct):
    """What came of one variant, by seat."""

    variant: AnyVariant
    turns: dict[int, int] = {}
    """Of the games that came to an end."""
    given_up: set[int] = set()
    """Where the bot resigned as soon as it was asked."""
    remarks: dict[int, str] = {}
    """Where a game ended in another way than by its rules."""
    faults: dict[int, BotFault] = {}
    steps: dict[int, Step] = {}
    """The faults as failed steps, with what was seen."""
    evidence: dict[str, list[str]] = {}
    """What was sent and written in the last game that came to its end."""

    @property
    def seats(self) -> set[int]:
        """Those from which the bot has really played."""
        return set(self.turns) - self.given_up


def play_variant(bench: Bench, variant: AnyVariant) -> Played:
    """One game from each seat."""
    played = Played(variant)
    for seat in (0, 1):
        cell = Cell(variant, seat)
        deal = bench.deal(cell)
        try:
            deal = _play_fairly(bench, cell, deal)
        except BotFault as fault:
            played.faults[seat] = fault
            played.steps[seat] = bench.failed(f"variant {variant.name}", fault)
            if fault.code is Ending.TIMEOUT and not bench.findings.spent_ns:
                # It says nothing at all: the other seat would only take as long again.
                played.faults[1] = fault
                break
        else:
            if deal.given_up:
                played.given_up.add(seat)
            elif deal.turns:
                bench.good.append(cell)
            played.turns[seat] = deal.turns
            played.evidence = bench.evidence()
            if deal.resigned:
                played.remarks[seat] = " (it resigned)"
            elif deal.called_off:
                played.remarks[seat] = f" (enough after {show_ms(bench.terms.budget_ms)})"
    return played


def _play_fairly(bench: Bench, cell: Cell, deal: Deal) -> Deal:
    """Play a game, again in a fresh process if the first had played before. Raises BotFault."""
    sitting = bench.shared()
    sitting.talk.mark()
    before = sitting.games
    try:
        bench.play(sitting, deal)
        return deal
    except BotFault as fault:
        if not before:
            raise
        again = bench.deal(cell, int(deal.name))
        bench.drop()
        bench.play(bench.shared(), again)
        bench.one_game_only = f"after {amount(before, 'game')} in one process: {tell(fault)}"
        bench.one_game_late = fault.code in BY_TIME
        return again


def variant_step(played: Played) -> Step:
    """A variant fails where no seat brings it to an end; one seat alone is for `both seats`."""
    name = f"variant {played.variant.name}"
    if not played.seats and played.steps:
        first = min(played.steps)
        return played.steps[first]
    if played.given_up and not any(played.turns[seat] for seat in played.seats):
        return Step(name=name, result="failed", detail=GIVEN_UP, **played.evidence)
    games = []
    for seat, turns in played.turns.items():
        games.append(f"{amount(turns, 'turn')} as seat {seat}{played.remarks.get(seat, '')}")
    told = f"played to the end: {', '.join(games)}"
    return Step(name=name, result="passed", detail=told, **played.evidence)


def seats_step(everything: Sequence[Played]) -> Step:
    """The step `both seats`: no variant is played from one seat only."""
    played = [each for each in everything if each.seats]
    if not played:
        return Step(name="both seats", result="not tried", detail=NO_GAME)
    halves = [(each, seat) for each in played for seat in each.faults]
    if not halves:
        return Step(
            name="both seats",
            result="passed",
            detail=f"played from seat 0 and from seat 1 in {amount(len(played), 'variant')}",
        )
    each, seat = halves[0]
    shown = each.steps[seat]
    more = f" (and {len(halves) - 1} more like it)" if len(halves) > 1 else ""
    return Step(
        name="both seats",
        result="failed",
        detail=f"{shown.detail}{more}; from seat {1 - seat} it plays to the end",
        sent=shown.sent,
        stdout=shown.stdout,
        stderr=shown.stderr,
    )


def many_games(bench: Bench) -> str:
    """Game after game in one process."""
    bench.some_cell()
    # What the variants have shown is shown once more, with what the bot wrote.
    sitting = bench.shared() if bench.one_game_only is None else bench.fresh()
    began_ns = sitting.talk.clock_ns
    given_up = True
    for number in range(MANY):
        deal = bench.deal(bench.good[number % len(bench.good)])
        before = amount(sitting.games, "game")
        try:
            bench.play(sitting, deal)
        except BotFault as fault:
            if fault.code in ENDS_PROCESS:
                bench.one_game_only = bench.one_game_only or tell(fault)
            if LEFT not in fault.detail:
                bench.lesson = LOOK_BACK
            detail = f"{fault.detail}, after {before} in one process"
            raise BotFault(fault.code, detail, fault.received) from None
        given_up &= deal.given_up
        spent_ns = sitting.talk.clock_ns - began_ns
        if number + 1 >= FEWEST and spent_ns > bench.terms.budget_ms * NS_PER_MS:
            break
    if given_up:
        bench.lesson = LOOK_BACK
        raise Failed(GIVEN_UP)
    if bench.one_game_only is not None:
        if LEFT not in bench.one_game_only:
            bench.lesson = LOOK_BACK
        kind = StillWaiting if bench.one_game_late else Failed
        raise kind(f"{bench.one_game_only}, but not in a fresh process")
    return f"{amount(sitting.games, 'game')} in one process"


def games_at_once(bench: Bench) -> str:
    """As many games side by side as the bot takes, in all variants that it plays."""
    if bench.at_once == 1:
        raise Skipped("the bot takes one game at a time")
    bench.some_cell()
    must_live_on(bench)
    must_echo_ids(bench)
    count = bench.at_once
    cells = bench.good
    deals = [bench.deal(cells[number % len(cells)]) for number in range(count + LATECOMERS)]
    sitting = bench.fresh()
    turns, largest = play_together(bench, sitting, deals, count)
    bench.plays_at_once = True
    how = "with a legal move"
    if any(deal.resigned for deal in deals):
        how += " or by resigning"
    return f"{largest} games side by side, {turns} turns, each answered {how}"


def play_together(
    bench: Bench, sitting: Sitting, deals: Sequence[Deal], at_once: int
) -> tuple[int, int]:
    """How many turns were played, and the most games that were open at the same time.

    Half of the games begin first and the others join them, so that the positions differ.
    """
    waiting, going = list(deals), list[Deal]()
    began_ns = sitting.talk.clock_ns
    turns = largest = 0
    places = max(1, at_once // 2)
    messages: list[ToBot] = []
    while waiting or going:
        joining, waiting = waiting[: places - len(going)], waiting[places - len(going) :]
        going += joining
        messages += [deal.start() for deal in joining]
        places = at_once
        largest = max(largest, len(going))
        asked: dict[int, Deal] = {}
        for deal in going:
            turn = deal.turn(sitting.next_id())
            if turn is None:
                messages.append(deal.end())
            else:
                asked[turn.id] = deal
                messages.append(turn)
        turns += len(asked)
        where = f"{len(asked)} turns in one write"
        with placed(where):
            answers = sitting.ask(messages, asked, where)
        for turn_id, answer in answers.items():
            with placed(f"{asked[turn_id]}, one of {where}"):
                asked[turn_id].answer(answer)
        messages = []
        going = list(asked.values())
        if sitting.talk.clock_ns - began_ns > bench.terms.budget_ms * NS_PER_MS:
            waiting = []
            for deal in going:
                if not deal.over:
                    deal.call_off()
    sitting.tell(messages)
    sitting.games += len(deals)
    return turns, largest


def long_game(bench: Bench) -> str:
    """The game with the most turns that there is for the bot."""
    bench.some_cell()
    cells = []
    for cell in bench.good:
        options = LONG.get(cell.variant.name)
        long = build_variant(cell.variant.name, options) if options is not None else cell.variant
        cells.append(Cell(long, cell.seat))
    cell = max(cells, key=lambda cell: min(cell.variant.most_plays, LONG_PLAYS))
    deal = bench.deal(cell)
    bench.play(bench.shared(), deal)
    name = cell.variant.name
    how = "".join(f" {option}={value}" for option, value in LONG.get(name, {}).items())
    enough = f", enough after {show_ms(bench.terms.budget_ms)}" if deal.called_off else ""
    if deal.resigned:
        enough = " (it resigned)"
    return f"{amount(deal.turns, 'turn')} of {name}{how}{enough}"


def must_live_on(bench: Bench) -> None:
    """What needs more than one game in a process. Raises NotTried."""
    if bench.one_game_only is not None:
        raise NotTried("the bot does not get through several games in one process")


def must_echo_ids(bench: Bench) -> None:
    """What needs more than one open turn. Raises NotTried."""
    if bench.findings.wrong_id_count:
        raise NotTried("answers with wrong ids cannot be told apart")
