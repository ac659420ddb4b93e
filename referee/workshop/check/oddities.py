"""The steps beyond plain play: what a bot may be sent on any day, and how it leaves.

Every odd message is followed by a plain turn of the same game: harm that shows only a turn later is
still found in its own step.
"""

from __future__ import annotations

from referee.bots.process import told_status
from referee.clock import show_ms
from referee.protocol.codec import encode
from referee.protocol.messages import Bye, Error, Ping, ToBot, Turn
from referee.verdict import Ending
from referee.workshop.check.bench import Bench, Cell, Failed, StillWaiting, placed
from referee.workshop.check.deal import Deal
from referee.workshop.check.games import must_echo_ids, must_live_on
from referee.workshop.check.manners import PLAIN, Manner, lines
from referee.workshop.check.report import show_us
from referee.workshop.check.sitting import Sitting

NEWS = {"type": "news", "game": "none", "id": 0, "text": "a message of a type to come"}
ODD_TURNS = 2


def in_manner(manner: Manner, what: str, bench: Bench) -> str:
    """A game that is written in another way.

    A bot that has lost its way may resign. Whether it would have done so anyway is seen in the same
    game, written plainly.
    """
    cell = bench.some_cell()
    deal = bench.deal(cell)
    _begin(bench.shared(), deal, manner)
    if deal.resigned:
        again = bench.deal(cell, int(deal.name))
        _begin(bench.shared(), again, PLAIN)
        if not again.resigned:
            raise Failed(f"it resigned ({deal}), and did not where the same game came plainly")
    return what


def _begin(sitting: Sitting, deal: Deal, manner: Manner) -> None:
    """The first turns of a game in this manner, and one more. Raises BotFault."""
    messages: list[ToBot] = [deal.start()]
    while not deal.over and deal.turns < ODD_TURNS:
        turn = deal.turn(sitting.next_id())
        if turn is None:
            break
        with placed(str(deal)):
            answers = sitting.ask([*messages, turn], [turn.id], str(deal), manner)
            deal.answer(answers[turn.id])
        messages.clear()
    _finish(sitting, deal, manner)


def unknown_types(bench: Bench) -> str:
    """A message of a type that no bot knows, before a turn."""
    deal = bench.deal(bench.some_cell())
    sitting = bench.shared()
    _one_turn(sitting, deal, encode([deal.start()]) + lines([NEWS]))
    _finish(sitting, deal)
    return "a message of an unknown type was ignored"


def error(bench: Bench) -> str:
    """Blamed for an illegal move, the bot plays the next game."""
    cell = bench.some_cell()
    must_live_on(bench)
    sitting = bench.shared()
    first, second = bench.deal(cell), bench.deal(cell)
    turn_id = _one_turn(sitting, first, encode([first.start()]))
    detail = "a check: no move of yours was illegal"
    blame = Error(Ending.ILLEGAL, detail, first.name, turn_id)
    over = first.end() if first.over else first.condemn()
    _one_turn(sitting, second, encode([blame, over, second.start()]))
    _finish(sitting, second)
    return "after an error and the loss of a game it played the next"


def ping(bench: Bench) -> str:
    sitting = bench.shared()
    sitting.tell([Ping()])
    return f"answered with pong after {show_us(sitting.await_pong() // 1000)}"


def over_in_the_middle(bench: Bench) -> str:
    """A game ends while the bot's turn is open; another goes on, or the next one begins."""
    cell = bench.some_cell()
    must_live_on(bench)
    must_echo_ids(bench)
    sitting = bench.shared()
    broken, other = bench.deal(cell), bench.deal(bench.good[-1])
    together = bench.at_once > 1
    begun = [broken.start(), other.start()] if together else [broken.start()]
    _one_turn(sitting, broken, encode(begun))
    if together:
        _one_turn(sitting, other, b"")
    broken, before, withdrawn = _next_turn(bench, sitting, broken)
    sitting.withdraw(withdrawn.id)
    said = before + encode([withdrawn, broken.break_off()])
    if together:
        other, before, turn = _next_turn(bench, sitting, other)
        said += before
    else:
        said += encode([other.start()])
        turn = _must(other.turn(sitting.next_id()))
    _ask(sitting, other, said, turn)
    _finish(sitting, other)
    others = "the other game went on" if together else "the next game was played"
    return f"a game was broken off during its turn, and {others}"


def bye(bench: Bench) -> str:
    sitting = bench.shared()
    sitting.tell([Bye()])
    return _leaves(bench, sitting, "bye")


def end_of_input(bench: Bench) -> str:
    sitting = bench.shared()
    sitting.talk.hang_up()
    return _leaves(bench, sitting, "the end of its input")


def _leaves(bench: Bench, sitting: Sitting, after: str) -> str:
    began_ns, exit_ms = sitting.talk.clock_ns, bench.terms.exit_ms
    status = sitting.talk.exit_status(exit_ms)
    if status is None:
        raise StillWaiting(f"the bot still runs {show_ms(exit_ms)} after {after}")
    if status != 0:
        raise Failed(f"the bot {told_status(status)} after {after}, where status 0 is due")
    took = show_us((sitting.talk.clock_ns - began_ns) // 1000)
    bench.drop()
    return f"the bot exited, {took} after {after}"


def _one_turn(sitting: Sitting, deal: Deal, before: bytes) -> int:
    """Ask for one move and take it; the id of the turn. Raises BotFault."""
    turn = _must(deal.turn(sitting.next_id()))
    _ask(sitting, deal, before, turn)
    return turn.id


def _ask(sitting: Sitting, deal: Deal, before: bytes, turn: Turn) -> None:
    with placed(str(deal)):
        answers = sitting.ask_in_bytes(before + encode([turn]), [turn.id], str(deal))
        deal.answer(answers[turn.id])


def _next_turn(bench: Bench, sitting: Sitting, deal: Deal) -> tuple[Deal, bytes, Turn]:
    """A game, what comes before its next turn, and that turn; a new game where this one is over."""
    turn = deal.turn(sitting.next_id())
    if turn is not None:
        return deal, b"", turn
    following = bench.deal(Cell(deal.variant, deal.seat))
    turn = _must(following.turn(sitting.next_id()))
    return following, encode([deal.end(), following.start()]), turn


def _must(turn: Turn | None) -> Turn:
    assert turn is not None, "a game in which the bot was never asked is no ground for a step"
    return turn


def _finish(sitting: Sitting, deal: Deal, manner: Manner = PLAIN) -> None:
    """One more plain turn, if there is one, and the end of the game in this manner."""
    turn = deal.turn(sitting.next_id())
    if turn is not None:
        _ask(sitting, deal, b"", turn)
        if not deal.over:
            deal.call_off()
    sitting.tell([deal.end()], manner)
    sitting.games += 1
