"""A stored tournament as tables: one a variant, and one over all where there are several.

The tables hold nothing that depends on the machine, on the clock or on the order in which games
were finished; the time per move is kept apart in Timing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from referee.ratings.ranks import RankBy
from referee.reports.arrays import GameArrays
from referee.reports.placing import champion, placed, places, ranked_without
from referee.reports.rulings import Ruled, told_rulings
from referee.reports.tallies import (
    Tallied,
    Tallies,
    points_of_pairings,
    ruled,
    stored,
)
from referee.reports.variant_table import (
    Cell,
    Results,
    Row,
    Terms,
    VariantTable,
    variant_table,
)
from referee.store.buckets import value_of
from referee.store.database import BadStore, Store
from referee.store.rows import BotRow, Dropped, PairingRow, RulingRow
from referee.tournament.formats import (
    Pairing,
    Round,
    Score,
    bracket,
    games_in_all,
    has_rounds,
)
from referee.tournament.spec import Spec

__all__ = [
    "Cell",
    "Row",
    "Setting",
    "Standings",
    "Timing",
    "VariantTable",
    "read_standings",
    "setting_of",
    "standings",
    "timings",
]


class Standings(Struct, frozen=True, kw_only=True):
    """All tables of a tournament, finished or in progress."""

    name: str
    format: str
    variants: list[str]
    finished: bool
    played: int
    planned: int
    """Games in all; in a knockout those of all pairings known so far."""
    seed: str | None
    salt: str | None
    """Both are not told before the end: they tell the chance of games to come."""
    level: str
    """How strictly the bots were confined."""
    tables: list[VariantTable]
    changes: list[str] = []
    """What was allowed to change while it was interrupted."""
    left_out: dict[str, str] = {}
    """Bots that could not be built or run, and why."""
    processes: dict[str, int] = {}
    """Bots that were let run more than one, and how many."""
    elsewhere: list[str] = []
    """Bots that connected to a daemon: nobody confined them there."""
    disqualified: dict[str, str] = {}
    """Bots that organisers have excluded, and why; the games that they played count."""
    dropped: Dropped | None = None
    """Games whose records are no longer kept; the tables have their results."""
    rulings: list[Ruled] = []
    """What organisers decided of single games; the tables follow them."""
    champion: str | None = None
    """Who won the final of a knockout."""
    bracket: list[Round]
    """The rounds of a knockout or Swiss tournament; empty for others. As they were drawn, which is
    from the results before any ruling, where a ruling would have drawn them otherwise."""


class Timing(Struct, frozen=True, kw_only=True):
    """How long a bot took over its moves."""

    variant: str
    name: str
    moves: int
    mean_us: int
    """With many games at once, answers that arrive together cost nothing but the first of them:
    the median says little then, the mean is what a move took of the bot's time."""
    median_us: int
    p99_us: int


class Setting(Struct, frozen=True, kw_only=True):
    """What a tournament is, apart from its games."""

    spec: Spec
    bots: list[BotRow]
    pairings: list[PairingRow]
    finished: bool
    seed: str | None
    salt: str | None
    level: str
    changes: list[str] = []
    left_out: dict[str, str] = {}
    processes: dict[str, int] = {}
    """Bots that were let run more than one, and how many."""
    disqualified: dict[str, str] = {}
    rulings: list[RulingRow] = []
    dropped: Dropped | None = None


def standings(store: Store, *, rank_by: RankBy | None = None) -> Standings:
    """The tables of the games that are stored; `rank_by` overrides the spec.

    From the running counts: of single games, those that a ruling touches are read.
    """
    setting = setting_of(store)
    played = counted = stored(store, setting.pairings)
    rulings: list[Ruled] = []
    if setting.rulings:
        counted, games = ruled(store, played, setting.pairings, setting.rulings)
        rulings = _told(games, setting)
    return _tables(setting, played, counted, rulings, rank_by)


def read_standings(folder: str | Path) -> Standings:
    """The tables of the tournament in a folder, finished or not. Raises BadStore."""
    with Store.read(folder) as store:
        return standings(store)


def setting_of(store: Store) -> Setting:
    """Raises BadStore where what the tournament is cannot be read."""
    try:
        spec = msgspec.json.decode(store.value("spec") or "", type=Spec)
    except msgspec.MsgspecError as error:
        raise BadStore(f"{store.folder}: its spec cannot be read: {error}") from None
    return Setting(
        spec=spec,
        bots=store.bots(),
        pairings=store.pairings(),
        finished=bool(store.value("finished")),
        seed=store.value("seed"),
        salt=store.value("salt"),
        level=store.value("level") or "none",
        changes=(store.value("changes") or "").splitlines(),
        left_out=msgspec.json.decode(store.value("left_out") or "{}", type=dict[str, str]),
        processes=msgspec.json.decode(store.value("processes") or "{}", type=dict[str, int]),
        disqualified=msgspec.json.decode(store.value("disqualified") or "{}", type=dict[str, str]),
        rulings=store.rulings(),
        dropped=store.dropped(),
    )


def _told(games: GameArrays, setting: Setting) -> list[Ruled]:
    names = {row.id: row.name for row in setting.bots}
    return told_rulings(games, setting.rulings, setting.pairings, names)


def _tables(
    setting: Setting,
    played: Tallied,
    counted: Tallied,
    rulings: list[Ruled],
    rank_by: RankBy | None,
) -> Standings:
    """From what was counted before and after the rulings, each in the order of the pairings."""
    spec = setting.spec
    everybody = {row.id: row.name for row in setting.bots}
    variants = _variants(setting)
    rounds = _bracket(setting, variants, played.tallies)
    if rulings and rounds:
        rounds = _same_ties(rounds, _bracket(setting, variants, counted.tallies))
    terms = Terms(
        *(rank_by or spec.ranking, spec.advantage, spec.prior, spec.anchors),
        byes=_byes(rounds) if spec.format == "swiss" else {},
        games=spec.games,
    )
    tables = [
        variant_table(
            variant,
            _players(setting, variant),
            _results(setting, counted, variant),
            terms,
            rulings=[ruling for ruling in rulings if ruling.variant == variant],
        )
        for variant in variants
    ]
    if len(variants) > 1:
        over_all = _results(setting, counted, None)
        tables.append(
            variant_table(None, everybody, over_all, terms, len(variants), rulings=rulings)
        )
    return Standings(
        name=spec.name,
        format=spec.format,
        variants=variants,
        finished=setting.finished,
        played=int(played.tallies.played.sum()),
        planned=_planned(setting, variants),
        seed=setting.seed if setting.finished else None,
        salt=setting.salt if setting.finished else None,
        level=setting.level,
        tables=_ranked(tables, setting, rounds, rank_by),
        champion=champion(rounds) if spec.format == "knockout" else None,
        bracket=rounds,
        changes=setting.changes,
        left_out=setting.left_out,
        processes=setting.processes,
        elsewhere=[row.name for row in setting.bots if _definition(row).elsewhere],
        disqualified=setting.disqualified,
        dropped=setting.dropped,
        rulings=rulings,
    )


def _ranked(
    tables: list[VariantTable], setting: Setting, rounds: list[Round], rank_by: RankBy | None
) -> list[VariantTable]:
    """A knockout in its own order, unless another one was asked for."""
    if setting.spec.format != "knockout":
        variants = [table.variant for table in tables if table.variant is not None]
        return [_with_ranks(table, setting, variants) for table in tables]
    if rank_by is not None:
        return tables
    by_name = places(rounds)
    return [placed(table, by_name) for table in tables]


def _with_ranks(table: VariantTable, setting: Setting, variants: Sequence[str]) -> VariantTable:
    """A bot that is disqualified has no rank; nor has one that skips variants, over all of them,
    where another plays them all."""
    partial: list[str] = []
    if table.variant is None:
        for bot in setting.bots:
            if not all(map(_definition(bot).plays, variants)):
                partial.append(bot.name)
        if len(partial) == len(setting.bots):
            partial = []
    without = {*setting.disqualified, *partial}
    if without:
        table = ranked_without(table, without)
    return msgspec.structs.replace(table, partial=partial)


def _results(setting: Setting, counted: Tallied, variant: str | None) -> Results:
    """What the table of a variant is made of, or that over all."""
    rows = sorted(setting.pairings, key=lambda row: row.id)
    first, second = (
        np.array(bots, np.int64)
        for bots in ([row.first for row in rows], [row.second for row in rows])
    )
    faults: Counter[tuple[int, int]] = Counter()
    for (where, bot, code), number in counted.blame.items():
        if variant in (None, where):
            faults[bot, code] += number
    here = np.array([variant in (None, row.variant) for row in rows], np.bool_)
    if here.all():
        return Results(first, second, counted.tallies, faults)
    return Results(first[here], second[here], counted.tallies.of(here), faults)


def _same_ties(drawn: list[Round], ruled: list[Round]) -> list[Round]:
    """The rounds after the rulings, if the same bots would have met in them; else as drawn."""
    before, after = (
        [[{tie.first, tie.second} for tie in each.ties] for each in rounds]
        for rounds in (drawn, ruled)
    )
    return ruled if before == after else drawn


def _byes(rounds: Sequence[Round]) -> dict[str, int]:
    """How many byes each had, in Swiss rounds that were drawn."""
    return dict(Counter(tie.first for each in rounds for tie in each.ties if tie.second is None))


def _variants(setting: Setting) -> list[str]:
    """By name: the spec may have the paths of scripts, which are nobody's business."""
    named = dict.fromkeys(row.variant for row in setting.pairings)
    return list(named) or [Path(variant).stem for variant in setting.spec.variants]


class _Definition(Struct):
    """What matters here of the definition of a bot."""

    variants: tuple[str, ...] | None = None
    elsewhere: bool = False

    def plays(self, variant: str) -> bool:
        return self.variants is None or variant in self.variants


def _players(setting: Setting, variant: str) -> dict[int, str]:
    """Those who play a variant, met or not, by their number in the store."""
    rows = [row for row in setting.pairings if row.variant == variant]
    met = {row.first for row in rows} | {row.second for row in rows}
    return {
        bot.id: bot.name for bot in setting.bots if bot.id in met or _definition(bot).plays(variant)
    }


def _definition(bot: BotRow) -> _Definition:
    return msgspec.json.decode(bot.definition, type=_Definition)


def _bracket(setting: Setting, variants: list[str], tallies: Tallies) -> list[Round]:
    """The rounds as the format sees them. To it, a variant's name is as good as a path."""
    if not has_rounds(setting.spec):
        return []
    names = {row.id: row.name for row in setting.bots}
    points = points_of_pairings(tallies)
    scores: dict[Pairing, Score] = {}
    for row in setting.pairings:
        pairing = Pairing(
            round=row.round,
            variant=row.variant,
            first=names[row.first],
            second=names[row.second],
            games=row.games,
            replay=row.replay,
        )
        scores[pairing] = Score(*points[row.id])
    return bracket(_named(setting.spec, variants), _by_variant(setting, variants), scores)


def _planned(setting: Setting, variants: Sequence[str]) -> int:
    known = sum(row.games for row in setting.pairings)
    if setting.finished:
        return known
    return games_in_all(setting.spec, _by_variant(setting, variants), known)


def _named(spec: Spec, variants: Sequence[str]) -> Spec:
    return msgspec.structs.replace(spec, variants=tuple(variants), options={})


def _by_variant(setting: Setting, variants: Sequence[str]) -> dict[str, list[str]]:
    return {variant: list(_players(setting, variant).values()) for variant in variants}


def timings(store: Store) -> list[Timing]:
    """Median and 99th percentile of the time per move, as exact as the stored buckets."""
    names = {row.id: row.name for row in store.bots()}
    counts: dict[tuple[str, int], dict[int, int]] = {}
    for time in store.times():
        buckets = counts.setdefault((time.variant, time.bot), {})
        buckets[time.bucket] = buckets.get(time.bucket, 0) + time.moves
    return [
        Timing(
            variant=variant,
            name=names[bot],
            moves=sum(buckets.values()),
            mean_us=_mean(buckets),
            median_us=_quantile(buckets, 50),
            p99_us=_quantile(buckets, 99),
        )
        for (variant, bot), buckets in sorted(counts.items())
    ]


def _mean(buckets: Mapping[int, int]) -> int:
    total = sum(value_of(bucket) * moves for bucket, moves in buckets.items())
    return round(total / max(sum(buckets.values()), 1))


def _quantile(buckets: Mapping[int, int], percent: int) -> int:
    """The value that so many per cent of the moves do not exceed."""
    due = -(-sum(buckets.values()) * percent // 100)
    for bucket in sorted(buckets):
        due -= buckets[bucket]
        if due <= 0:
            return value_of(bucket)
    return 0
