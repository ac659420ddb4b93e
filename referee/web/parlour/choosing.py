"""What a person can play, and against whom.

The variants of the season come with its options, the others as they are. The bots are those of the
ladder that were handed in and play now: they run on this machine, confined as the season has it.
Bots that connect from elsewhere answer to their hall alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.daemon.definition import CACHE, bot_of
from referee.protocol.messages import NAME_LIMIT
from referee.rules.registry import all_variants, build_variant
from referee.rules.variant import Seat, Variant
from referee.store.connect import FILE
from referee.store.database import Store
from referee.store.house import House
from referee.tournament.begin import stored_spec
from referee.tournament.confining import confinement_of, for_strangers
from referee.tournament.spec import Spec
from referee.web.parlour.sitting import Terms
from referee.web.reading import Library, called
from referee.web.refusal import Refusal
from referee.web.sight import Sight

GRACE_MS = 3000
"""Beyond what a bot has for its move: who only looks on must not cost it the game."""
PERSON = "Guest"
OTHER_PERSON = "Visitor"


class Choice(Struct, frozen=True, kw_only=True):
    """A bot that can be played against."""

    name: str
    """As the visitor knows it."""
    label: str
    bot: Bot

    def plays(self, variant: str) -> bool:
        return self.bot.variants is None or variant in self.bot.variants


class Offer(Struct, frozen=True, kw_only=True):
    """All that there is to choose from."""

    spec: Spec | None
    """Of the season, None before its first game: nobody is confined by it yet."""
    variants: dict[str, str]
    """By name, with what builds it."""
    bots: list[Choice]

    def variant(self, name: str) -> Variant[Any, Any]:
        """Raises Refusal, BadVariant."""
        if name not in self.variants:
            raise Refusal(404, f"there is no variant {name!r}")
        options = {} if self.spec is None else self.spec.options.get(self.variants[name], {})
        return build_variant(self.variants[name], options)

    def bot(self, name: str) -> Choice:
        """Raises Refusal."""
        for choice in self.bots:
            if choice.name == name:
                return choice
        raise Refusal(404, f"there is no bot {name!r} to play against")


def offer(library: Library, house: House, sight: Sight) -> Offer:
    spec = _spec(library)
    bots: list[Choice] = []
    for version in house.versions.playing():
        if version.kind != "submitted" or not version.definition or version.definition == "{}":
            continue
        bot = sight.roster.bot(version.bot_name)
        name = version.bot_name if bot is None else sight.bot_name(bot)
        bots.append(
            Choice(
                name=name, label=sight.label(version), bot=bot_of(version.definition, house.data)
            )
        )
    return Offer(
        spec=spec,
        variants=_variants(spec),
        bots=sorted(bots, key=lambda choice: choice.name) if spec is not None else [],
    )


def terms(chosen: Offer, variant: str, bot: str, seat: Seat, person: str, data: Path) -> Terms:
    """A game as it was asked for. Raises Refusal."""
    rules, opponent, spec = chosen.variant(variant), chosen.bot(bot), chosen.spec
    assert spec is not None, "there are bots to choose from only in a season"
    if not opponent.plays(variant):
        raise Refusal(400, f"{opponent.name} does not play {variant}")
    clock: Clock = spec.clock()
    return Terms(
        variant=rules,
        bot=opponent.bot,
        bot_name=opponent.name,
        person=_person(person, opponent.name),
        seat=seat,
        clock=replace(clock, grace_ms=max(clock.grace_ms, GRACE_MS)),
        confinement=confinement_of(spec),
        cache=(data / CACHE).resolve(),
    )


def _person(name: str, bot: str) -> str:
    name = " ".join(name.split())
    if not name:
        return OTHER_PERSON if bot == PERSON else PERSON
    if len(name) > NAME_LIMIT or not name.isprintable():
        raise Refusal(400, f"a name has 1 to {NAME_LIMIT} printable characters")
    if name == bot:
        raise Refusal(400, f"the bot is called {bot}: take another name")
    return name


def _spec(library: Library) -> Spec | None:
    seasons = library.seasons()
    if not seasons:
        return None
    folder = library.folder(seasons[-1])
    if not (folder / FILE).is_file():
        return None
    with Store.read(folder) as store:
        return for_strangers(stored_spec(store))


def _variants(spec: Spec | None) -> dict[str, str]:
    """Those of the season first."""
    own = {} if spec is None else {called(each): each for each in spec.variants}
    return {**own, **{name: name for name in all_variants() if name not in own}}
