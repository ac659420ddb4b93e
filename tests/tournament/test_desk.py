"""The desk hands out every game once, in pieces that keep pairs together, pairings in turn."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from referee.tournament.chunk import spans
from referee.tournament.desk import LARGEST, SMALLEST, Desk, missing

Ranges = tuple[tuple[int, int], ...]


def numbers(ranges: Ranges | list[tuple[int, int]]) -> list[int]:
    return [number for low, high in ranges for number in range(low, high + 1)]


def take(desk: Desk, hands: int) -> tuple[int, Ranges]:
    piece = desk.take(hands)
    assert piece is not None
    return piece


def test_pairings_take_turns() -> None:
    desk = Desk()
    for pairing in (1, 2, 3):
        desk.add(pairing, [(1, 10_000)])
    assert [take(desk, 2)[0] for _ in range(6)] == [1, 2, 3, 1, 2, 3]


def test_a_small_pairing_is_one_piece_for_one_worker() -> None:
    desk = Desk()
    desk.add(1, [(1, 50)])
    assert take(desk, 1) == (1, ((1, 50),))
    assert desk.take(1) is None


def test_a_small_pairing_is_shared_by_all_workers() -> None:
    desk = Desk()
    desk.add(1, [(1, 50)])
    assert [take(desk, 2)[1] for _ in range(3)] == [((1, 26),), ((27, 38),), ((39, 44),)]


def test_one_pairing_is_shared_by_all_workers() -> None:
    desk = Desk()
    desk.add(1, [(1, 1000)])
    assert [take(desk, 2)[1] for _ in range(3)] == [((1, 250),), ((251, 438),), ((439, 580),)]


def test_whoever_joins_or_leaves_counts_from_the_next_piece_on() -> None:
    desk = Desk()
    desk.add(1, [(1, 10_000)])
    assert [take(desk, hands)[1][0] for hands in (1, 100, 10)] == [
        (1, 5000),
        (5001, 5050),
        (5051, 5298),
    ]


def test_pieces_have_a_most() -> None:
    desk = Desk()
    desk.add(1, [(1, 1_000_000)])
    assert take(desk, 1) == (1, ((1, LARGEST),))


def test_what_comes_back_is_handed_out_again() -> None:
    desk = Desk()
    desk.add(1, [(1, SMALLEST)])
    assert take(desk, 1) == (1, ((1, SMALLEST),))
    assert desk.waiting == 0
    desk.add(1, [(7, 9), (3, 3)])
    assert desk.waiting == 4
    assert take(desk, 1) == (1, ((3, 3), (7, 9)))


@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=6),
    st.integers(1, 8),
    st.randoms(use_true_random=False),
)
def test_every_game_is_handed_out_until_it_does_not_come_back(
    games: list[int], jobs: int, chance: Random
) -> None:
    desk = Desk()
    for pairing, count in enumerate(games):
        desk.add(pairing, [(1, count)])
    played: dict[int, list[int]] = {pairing: [] for pairing in range(len(games))}
    while (piece := desk.take(jobs)) is not None:
        pairing, ranges = piece
        got = numbers(ranges)
        cut = chance.randint(1, len(got))
        played[pairing] += got[:cut]
        desk.add(pairing, spans(got[cut:]))
    assert {p: sorted(n) for p, n in played.items()} == {
        pairing: list(range(1, count + 1)) for pairing, count in enumerate(games)
    }
    assert desk.waiting == 0


@given(st.sets(st.integers(1, 60)), st.integers(0, 60))
def test_missing_is_what_is_not_there(there: set[int], games: int) -> None:
    lacking = numbers(missing(games, spans(there)))
    assert lacking == [number for number in range(1, games + 1) if number not in there]


def test_a_cheap_pairing_comes_first_and_nobody_waits_for_ever() -> None:
    """A bot that is never kept costs more than the others in each of its pairings."""
    desk = Desk()
    for pairing in (1, 2, 3):
        desk.add(pairing, [(1, 100_000)])
    taken: list[int] = []
    for _ in range(9):
        piece = desk.take(2, cost=lambda pairing: int(pairing == 1))
        assert piece is not None
        taken.append(piece[0])
    assert taken == [2, 3, 1, 2, 3, 1, 2, 3, 1]
