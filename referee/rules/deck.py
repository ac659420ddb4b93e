"""Deck: play a card against the opponent's last one; the difference costs HP.

Both players have 10 HP. A deck with the cards 1 to 9, four of each, is shuffled and both are dealt
a hand of three, which the other does not see. In turn, seat 0 first, a player plays a card:

- the very first card of the game meets nothing and does no damage,
- a card higher than the opponent's last one costs the opponent the difference in HP,
- a lower one costs the player the difference,
- an equal one costs both 1 HP.

Then the player draws a card. Who falls to zero HP or below loses the game.

Rulings
- Equal cards that bring both to zero: the player who played last wins. (Option double_knockout:
  with `draw` the game is a draw.)
- Nobody draws after the play that ends the game.
- The draw pile is empty when a card has to be drawn: the discarded cards are shuffled and become
  the pile. The two last played cards stay on the table. By default it never comes to that.
- The number of cards in the pile and every card that was played are public; drawn cards are not.
- There must always be a card to draw, so the deck needs two cards more than the two hands hold
  (one more where hp is 1, as the second play ends such a game). Other decks are refused.
- HP below zero are recorded as they are.

Best play
A play moves the player's lead in HP by its card less the opponent's last one, whoever pays. So
over a game every card counts twice for the lead of its player, when it is played and when it is
answered, except the very first and the very last, which count once. Whoever answers a 9 pays: the
difference, or 1 each for another 9. Every play but the first costs somebody HP, so by default a
game ends by play 20, and as no play costs anyone more than 8, not before play 3.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from referee.rules.chance import Chance
from referee.rules.numbers import Numbers, amount, listed, without
from referee.rules.options import Option
from referee.rules.variant import Names, Outcome, Plays, Seat, Variant

_ALONE: tuple[tuple[Seat, ...], ...] = ((0,), (1,))


class Position(Struct, frozen=True):
    hands: tuple[Numbers, Numbers]
    """Sorted."""
    hp: tuple[int, int]
    last: tuple[int | None, int | None]
    """The card of each seat that lies on the table."""
    discard: Numbers
    """The cards played before those two since the last shuffle, in order."""
    deck: Numbers
    """The cards of the last shuffle, in draw order."""
    drawn: int
    """How many of them are drawn."""
    played: int
    """Plays so far, both seats counted."""


class Deck(Variant[Position, int]):
    name = "deck"
    summary = "10 HP, hidden hands of three from a shared deck: the difference to their last card"
    options = (
        Option(name="hp", default=10, low=1, high=1_000, help="HP at the start"),
        Option(name="size", default=9, low=2, high=100, help="the cards go from 1 to this number"),
        Option(name="copies", default=4, low=1, high=20, help="cards of each number"),
        Option(name="hand", default=3, low=1, high=20, help="cards in a hand"),
        Option(
            name="double_knockout",
            default="active",
            choices=("active", "draw"),
            help="both at zero: whoever played wins, or a draw",
        ),
    )
    reasons = {
        "knockout": "the loser fell to zero HP or below",
        "double_knockout": "equal cards brought both to zero HP and the winner played last",
        "double_knockout_draw": "equal cards brought both to zero HP, by option a draw",
    }
    scores_mean = "HP"
    hidden_chance = True

    def settle(self) -> None:
        # When a card is drawn, one hand lacks a card, and one card lies on the table after the
        # first play, two after later ones. With 1 HP nobody draws after the second play.
        size, spare = self.number("size"), min(self.number("hp"), 2)
        cards = size * self.number("copies")
        most = (cards - spare) // 2
        if most < 1:
            raise self.bad_option(
                "copies", f"2 or more where size is {size}: a card must be left to draw"
            )
        if self.number("hand") > most:
            raise self.bad_option(
                "hand", f"at most {most} where the deck has {cards} cards: one must be left to draw"
            )

    def setup(self, chance: Chance) -> Position:
        copies, hand, hp = self.number("copies"), self.number("hand"), self.number("hp")
        cards = (card for card in range(1, self.number("size") + 1) for _ in range(copies))
        deck = chance.shuffle(cards)
        hands = (tuple(sorted(deck[:hand])), tuple(sorted(deck[hand : 2 * hand])))
        return Position(hands, (hp, hp), (None, None), (), deck, 2 * hand, 0)

    def actors(self, position: Position) -> tuple[Seat, ...]:
        first, second = position.hp
        return () if first <= 0 or second <= 0 else _ALONE[position.played % 2]

    def legal(self, position: Position, seat: Seat) -> Numbers:
        return tuple(dict.fromkeys(position.hands[seat]))

    def apply(self, position: Position, plays: Plays[int], chance: Chance) -> Position:
        ((seat, card),) = plays
        hands, discard = position.hands, position.discard
        deck, drawn = position.deck, position.drawn
        before, theirs = position.last[seat], position.last[1 - seat]
        first, second = position.hp
        own, other = self._damage(card, theirs)
        hp = (first - other, second - own) if seat else (first - own, second - other)
        if before is not None:
            discard = (*discard, before)
        hand = without(hands[seat], card)
        if hp[0] > 0 and hp[1] > 0:
            if drawn == len(deck):
                deck, drawn, discard = chance.shuffle(discard), 0, ()
            hand = tuple(sorted((*hand, deck[drawn])))
            drawn += 1
        return Position(
            (hands[0], hand) if seat else (hand, hands[1]),
            hp,
            (theirs, card) if seat else (card, theirs),
            discard,
            deck,
            drawn,
            position.played + 1,
        )

    def _damage(self, card: int, last: int | None) -> tuple[int, int]:
        """What a card costs its player and the opponent whose last card it meets."""
        if last is None:
            return (0, 0)
        if card == last:
            return (1, 1)
        return (0, card - last) if card > last else (last - card, 0)

    def _reshuffled(self, before: Position, after: Position) -> bool:
        return before.drawn == len(before.deck) and bool(self.actors(after))

    def view(self, position: Position, seat: Seat) -> dict[str, Any]:
        other = 1 - seat
        hands, hp, last = position.hands, position.hp, position.last
        return {
            "turn": position.played + 1,
            "pile": len(position.deck) - position.drawn,
            "discard": position.discard,
            "mine": {"hand": hands[seat], "hp": hp[seat], "last": last[seat]},
            "theirs": {"cards": len(hands[other]), "hp": hp[other], "last": last[other]},
        }

    def events(
        self, before: Position, plays: Plays[int], after: Position, seat: Seat
    ) -> list[dict[str, Any]]:
        ((player, card),) = plays
        other = 1 - seat
        known: list[dict[str, Any]] = [
            {
                "by": "mine" if player == seat else "theirs",
                "card": card,
                "damage": {
                    "mine": before.hp[seat] - after.hp[seat],
                    "theirs": before.hp[other] - after.hp[other],
                },
            }
        ]
        if self._reshuffled(before, after):
            known.append({"reshuffled": True})
        if player == seat and self.actors(after):
            known.append({"drew": after.deck[after.drawn - 1]})
        return known

    def outcome(self, position: Position) -> Outcome | None:
        first, second = position.hp
        if first > 0 and second > 0:
            return None
        if first > 0 or second > 0:
            return Outcome(0 if first > 0 else 1, "knockout")
        if self.settings["double_knockout"] == "draw":
            return Outcome(None, "double_knockout_draw")
        return Outcome((position.played - 1) % 2, "double_knockout")

    def scores(self, position: Position) -> tuple[int, int]:
        return position.hp

    def longest(self) -> int:
        return 2 * self.number("hp")

    # Text for people.

    def opening(self, position: Position, names: Names) -> list[str]:
        return [
            f"{names[0]} and {names[1]} have {self.number('hp')} HP each and hold "
            f"{amount(self.number('hand'), 'card')} of a deck with {self.number('copies')} × "
            f"1 to {self.number('size')}. {names[0]} begins."
        ]

    def narrate(
        self,
        before: Position,
        plays: Plays[int],
        after: Position,
        names: Names,
        reader: Seat | None = None,
    ) -> list[str]:
        ((seat, card),) = plays
        player, opponent, last = names[seat], names[1 - seat], before.last[1 - seat]
        shown = reader is None or reader == seat
        hand = f" Hand: {listed(before.hands[seat])}" if shown else ""
        lines = [f"{player}'s turn.{hand}", f"  {player} played {card}."]
        if last is None:
            lines.append("  No previous card to compare. No damage dealt.")
        elif card == last:
            lines.append(f"  {card} = {last}, both take 1 damage.")
        elif card > last:
            lines.append(f"  {card} > {last}, {player} deals {card - last} damage to {opponent}.")
        else:
            lines.append(f"  {card} < {last}, {player} takes {last - card} damage.")
        lines.append(f"  {self._both_hp(after, names)}")
        if self._reshuffled(before, after):
            lines.append("  The discard pile is shuffled and becomes the draw pile.")
        if self.actors(after):
            what = after.deck[after.drawn - 1] if shown else "a card"
            lines.append(f"  {player} draws {what}.")
        return lines

    def conclusion(self, position: Position, names: Names) -> list[str]:
        outcome = self.outcome(position)
        if outcome is None:
            return []
        if outcome.winner is None:
            return [f"{names[0]} and {names[1]} are both out of HP: the game is a draw."]
        winner, loser = names[outcome.winner], names[1 - outcome.winner]
        how = f"{loser}'s HP is {position.hp[1 - outcome.winner]}"
        if outcome.reason == "double_knockout":
            how = f"Both are out of HP, and {winner} played last"
        return [f"{how}: {winner} wins the game!"]

    def prompt(self, position: Position, seat: Seat, names: Names) -> list[str]:
        return [
            f"{names[seat]}'s turn. {self._both_hp(position, names)}",
            f"Your hand: {listed(position.hands[seat])}",
            f"Opponent's last card: {position.last[1 - seat]}",
            f"Enter command (play {position.hands[seat][0]}, hand, hp): ",
        ]

    def question(
        self, position: Position, seat: Seat, typed: str, names: Names
    ) -> list[str] | None:
        command = typed.strip().lower()
        if command == "hand":
            return [f"Your hand: {listed(position.hands[seat])}"]
        if command == "hp":
            return [self._both_hp(position, names)]
        if command == "help":
            return ["hand - shows your hand", "hp - shows both players' HP"]
        return None

    def _both_hp(self, position: Position, names: Names) -> str:
        return f"HP: {names[0]} {position.hp[0]}, {names[1]} {position.hp[1]}."
