"""Who takes part: the bots of a spec, found and told apart, and what each of them plays.

What a tournament was begun with is kept with it, so that a bot or a script that has changed since
is noticed when it goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.bots.look_alikes import look
from referee.bots.manifest import BadBot, Bot, find_bot, usual_bots
from referee.rules.registry import find_variant, is_path
from referee.store.rows import BotRow
from referee.tournament.spec import Spec, check_players, variant_name


class Definition(Struct, frozen=True, kw_only=True):
    """How a bot was named, where, and what it came to."""

    named: str
    """What `find_bot` was given."""
    here: str
    """The folder in which it was given."""
    variants: tuple[str, ...] | None
    elsewhere: bool = False
    """Whether it ran on its author's machine, where nobody here confined it."""


class Entry(Struct, frozen=True):
    """A bot that takes part."""

    definition: Definition
    bot: Bot


def find_entries(spec: Spec) -> list[Entry]:
    """The bots of a spec in its order; without any, the sample bots that play its variants."""
    entries = [_entry(named) for named in spec.bots] if spec.bots else _samples(spec)
    by_look: dict[str, Entry] = {}
    for entry in entries:
        name = entry.bot.name
        other = by_look.setdefault(look(name), entry)
        if other is not entry:
            first = other.bot.name
            names = name if first == name else f"{first} and {name}, which look alike"
            both = f"{other.definition.named} and {entry.definition.named}"
            raise BadBot(f"two bots are called {names}: {both}")
    return entries


def _samples(spec: Spec) -> list[Entry]:
    """Of the usual sample bots those that play one of the variants."""
    names = variant_names(spec).values()
    entries = [_entry(name) for name in usual_bots()]
    return [entry for entry in entries if any(plays(entry.bot, name) for name in names)]


def _entry(named: str) -> Entry:
    bot = find_bot(named)
    here = Path.cwd()
    if bot.folder is None:
        # Workers run elsewhere: a command line means what it means here.
        bot = msgspec.structs.replace(bot, folder=here)
    return Entry(Definition(named=named, here=str(here), variants=bot.variants), bot)


def plays(bot: Bot, variant: str) -> bool:
    return bot.variants is None or variant in bot.variants


def players(spec: Spec, bots: Sequence[Bot]) -> dict[str, list[str]]:
    """Who plays which variant, by what the spec calls it, in the order of the spec."""
    found = {
        text: [bot.name for bot in bots if plays(bot, name)]
        for text, name in variant_names(spec).items()
    }
    check_players(spec, found)
    return found


def variant_names(spec: Spec) -> dict[str, str]:
    """What the variants call themselves, by what the spec calls them."""
    return {text: variant_name(text) for text in spec.variants}


def bot_rows(entries: Sequence[Entry]) -> list[BotRow]:
    """As the store keeps them."""
    return [
        BotRow(
            id=number,
            name=entry.bot.name,
            version=entry.bot.version,
            hash=entry.bot.hash,
            definition=msgspec.json.encode(entry.definition).decode(),
            out=None,
        )
        for number, entry in enumerate(entries, start=1)
    ]


def entries_of(rows: Sequence[BotRow]) -> list[Entry]:
    """The bots of a tournament that was begun, found again. Raises BadBot."""
    entries: list[Entry] = []
    for row in rows:
        definition = msgspec.json.decode(row.definition, type=Definition)
        try:
            with contextlib.chdir(definition.here):
                entry = _entry(definition.named)
        except OSError as error:
            raise BadBot(f"{row.name}: {definition.here}: {error.strerror}") from None
        bot = entry.bot.renamed(row.name)
        entries.append(Entry(definition, bot))
    return entries


def changed_bots(rows: Sequence[BotRow], entries: Sequence[Entry]) -> list[str]:
    """A sentence for every bot that is not what it was."""
    return [
        f"the bot {row.name} has changed since the tournament began"
        for row, entry in zip(rows, entries, strict=True)
        if row.hash != entry.bot.hash
    ]


def variant_marks(spec: Spec) -> dict[str, str]:
    """What tells whether a variant is still the one it was, by what the spec calls it."""
    return {text: _mark(text) for text in spec.variants}


def _mark(text: str) -> str:
    if is_path(text):
        return hashlib.sha256(Path(text).read_bytes()).hexdigest()[:16]
    return f"rules {find_variant(text).rules}"


def changed_variants(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        f"the variant {variant} has changed since the tournament began"
        for variant, mark in before.items()
        if now.get(variant) != mark
    ]
