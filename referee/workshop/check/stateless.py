"""The step `stateless`: a bot that says that it keeps nothing from game to game is held to it.

The same games are played in a fresh process and in processes with a past. The bot is sent the same
lines in all of them, so a stateless bot plays the same moves. One that does not may still be
stateless: its luck may come from the system, or its thinking may end by the clock. So where the
moves differ, both processes are tried once more. Only if each plays again as it did, the games
before are the reason.

A bot may remember its last game alone, and each game that it plays overwrites that. In the fresh
process each of the compared games follows the one before it in the list. In a process with a past
each follows a game of its own, with the same variant and seat. The game between them also shifts
how many games there were before, by one more each time: a count of games differs by even and odd
numbers. Each process with a past meets one rival in all its other games, so each of the compared
games follows a game against each of them.

A bot that plays several games at once plays the compared games side by side as well. The ids of
turns rise on a connection, so they are others then. Where a game comes out in another way, it is
played alone with the ids that it had beside the others, and only the other games can be the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import cycle, islice

import msgspec
from msgspec import Struct

from referee.clock import NS_PER_MS
from referee.rules.numbers import amount
from referee.workshop.check.bench import Bench, Cell, Failed, Skipped
from referee.workshop.check.deal import OPPONENT, RANDOM, Deal, Rival
from referee.workshop.check.games import must_live_on, play_together
from referee.workshop.check.sitting import Sitting

COMPARED = 10
EARLIER = 10
RIVALS = (Rival(OPPONENT, 0), Rival(OPPONENT, -1), Rival("another"))
"""One for each process with a past: the opponent of the compared games with two habits that it has
lost by then, and another one that plays as it does."""
FIRST_ID = 100_000_007
ID_RANGE = 1_000_000
"""The turns of the compared games have the same ids in each process. The first of the games begins
with FIRST_ID, which is more than the earlier games use up. ID_RANGE is from one game to the next,
more than the game and the one between use up."""
NO_CLAIM = (
    "the bot does not say that it is stateless; one that keeps nothing from game to game can, by "
    "stateless = true in its bot.toml, and its process is then kept through many pairings"
)
UNCLEAR = (
    "but two processes with the same past do not agree either, so what it keeps cannot be seen; "
    "likely causes: luck that is not drawn from bot_seed, thinking that ends by the clock, a file "
    "that outlives the process"
)
KEEP_APART = (
    "it seems to mix up games that it plays at the same time: keep what belongs to a game by the "
    "game's name, its random generator too, or take one game at a time"
)


class Planned(Struct, frozen=True):
    """A game that can be dealt again and again."""

    cell: Cell
    number: int
    rival: Rival


class Past(Struct, frozen=True):
    """What a process plays besides the compared games."""

    earlier: Sequence[Planned] = ()
    """Before the first of them."""
    between: Sequence[Planned] = ()
    """One right before each of them, in their order; empty for none."""


class Difference(Struct, frozen=True):
    """The first move that was another one."""

    where: str
    fresh: object
    later: object


FRESH = Past()


def stateless(bench: Bench) -> str:
    if not bench.stateless:
        raise Skipped(NO_CLAIM)
    bench.some_cell()
    must_live_on(bench)
    compared = _plan(bench, COMPARED, RANDOM)
    fresh = _play(bench, bench.fresh(), compared, FIRST_ID)
    games = list(zip(compared, fresh, strict=False))
    for rival in RIVALS:
        past = Past(_plan(bench, EARLIER, rival), _plan(bench, len(games), rival))
        seen = _difference(bench, past, games)
        if seen is not None:
            raise _verdict(bench, past, games, seen)
    told = (
        f"{amount(len(fresh), 'game')} came out the same in a fresh process and in "
        f"{len(RIVALS)} that had played others before"
    )
    if not bench.plays_at_once or len(games) == 1:
        return told
    _compare_together(bench, games)
    return f"{told}, and side by side"


def _verdict(
    bench: Bench, past: Past, games: Sequence[tuple[Planned, Deal]], seen: Difference
) -> Failed | Skipped:
    """Try both processes once more: whether what was seen comes from the games before."""
    told = (
        f"{seen.where}: it played {_show(seen.fresh)} in a fresh process and {_show(seen.later)} "
        "in one that had played other games before"
    )
    if _difference(bench, FRESH, games) is not None or _difference(bench, past, games) != seen:
        return Skipped(f"{told}, {UNCLEAR}")
    return Failed(f"{told}, twice each, though it was sent the same")


def _plan(bench: Bench, count: int, rival: Rival) -> list[Planned]:
    """Games against a rival, from all seats of all variants in which the bot plays well."""
    cells = islice(cycle(bench.good), count)
    return [Planned(cell, bench.next_number(), rival) for cell in cells]


def _play(
    bench: Bench, sitting: Sitting, planned: Sequence[Planned], first_id: int | None = None
) -> list[Deal]:
    """One game after the other, until they have taken long enough. Raises BotFault."""
    played: list[Deal] = []
    budget_ns = bench.terms.budget_ms * NS_PER_MS // len(RIVALS)
    until_ns = sitting.talk.clock_ns + budget_ns
    for place, game in enumerate(planned):
        if played and sitting.talk.clock_ns > until_ns:
            break
        if first_id is not None:
            sitting.skip_ids(first_id + place * ID_RANGE)
        played.append(bench.deal(game.cell, game.number, game.rival))
        bench.play(sitting, played[-1])
    return played


def _difference(
    bench: Bench, past: Past, games: Sequence[tuple[Planned, Deal]]
) -> Difference | None:
    """What a process with this past plays in another way; nothing more is played after that."""
    sitting = bench.fresh()
    _play(bench, sitting, past.earlier)
    for place, (game, known) in enumerate(games):
        _play(bench, sitting, past.between[place : place + 1])
        sitting.skip_ids(FIRST_ID + place * ID_RANGE)
        deal = bench.deal(game.cell, game.number, game.rival)
        sitting.talk.mark()
        bench.play(sitting, deal, enough=partial(_departs, deal, known))
        if _departs(deal, known):
            turn = len(deal.moves)
            return Difference(_where(deal, turn), known.moves[turn - 1], deal.moves[-1])
    return None


def _compare_together(bench: Bench, games: Sequence[tuple[Planned, Deal]]) -> None:
    """Whether games come out the same beside each other. Raises Failed, Skipped, BotFault."""
    together = _play_together(bench, games)
    changed = [place for place, (_, known) in enumerate(games) if _departs(together[place], known)]
    if not changed:
        return
    game, beside = games[changed[0]][0], together[changed[0]]
    alone, once_more = (_play_alone(bench, game, beside.ids) for _ in range(2))
    if not _departs(beside, alone):
        return  # The bot goes by the ids, as it may.
    again = _play_together(bench, games)[changed[0]]
    pairs = enumerate(zip(alone.moves, beside.moves, strict=False))
    place, moves = next((place, moves) for place, moves in pairs if moves[0] != moves[1])
    told = (
        f"{_where(beside, place + 1)}: it played {_show(moves[0])} where this game was alone and "
        f"{_show(moves[1])} where {amount(len(games) - 1, 'other game')} went on beside it"
    )
    if _departs(alone, once_more) or _departs(beside, again):
        raise Skipped(f"{told}, {UNCLEAR}")
    bench.lesson = KEEP_APART
    raise Failed(f"{told}, twice each, though it was sent the same")


def _play_together(bench: Bench, games: Sequence[tuple[Planned, Deal]]) -> list[Deal]:
    """In a fresh process."""
    deals = [bench.deal(game.cell, game.number, game.rival) for game, _ in games]
    play_together(bench, bench.fresh(), deals, min(bench.at_once, len(deals)))
    return deals


def _play_alone(bench: Bench, game: Planned, ids: Sequence[int]) -> Deal:
    """In a fresh process, with these ids of its turns."""
    sitting, deal = bench.fresh(), bench.deal(game.cell, game.number, game.rival)
    sitting.plan_ids(ids)
    bench.play(sitting, deal)
    return deal


def _departs(deal: Deal, known: Deal) -> bool:
    """Whether a move is another one; of a game that was broken off no more can be told."""
    return any(one != other for one, other in zip(deal.moves, known.moves, strict=False))


def _where(deal: Deal, turn: int) -> str:
    return f"{deal.variant.name}, seat {deal.seat}, game {deal.name}, turn {turn}"


def _show(move: object) -> str:
    return "nothing (it resigned)" if move is None else msgspec.json.encode(move).decode()
