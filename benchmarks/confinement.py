"""What confinement costs: per answer, and per start of a bot.

    make bench-confinement

(a) The arena with two C bots that play the same games every time (highest-c against itself), one
    game at a time and 64 at once, at every level that this machine offers: time per answer as a
    ratio to level none, measured before and after in the same run. Aim: at most 1.10. With freezing
    on as well, which has no aim.
(b) From the start of a bot to its hello, less the same at level none, in milliseconds.
    Aim: at most 50.
"""

from __future__ import annotations

import json
import statistics
import time

from benchmarks.bench import BIN, build
from benchmarks.sizes import SizeParser
from referee.arena.core import take_core
from referee.arena.game import Setting
from referee.arena.player import Player, Upkeep
from referee.arena.slot import House, Slot
from referee.bots.building import built
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import findings, holds, why_not
from referee.bots.manifest import Bot, find_bot
from referee.clock import read_clock
from referee.record import BotInfo
from referee.rules.registry import build_variant
from referee.schedule import pairing_games

AIM_RATIO = 1.10
AIM_MS = 50.0


def answer_us(confinement: Confinement, games: int, at_once: int) -> float:
    """Microseconds per answer, from the first finished game to the last."""
    bot = built(find_bot("highest-c"), confinement)
    bots = (bot, bot.renamed("other"))
    setting = Setting(
        variant=build_variant("underdog", {}),
        clock=read_clock("1s"),
        players=(bots[0].name, bots[1].name),
        bots=(BotInfo("", ""), BotInfo("", "")),
        level=confinement.level,
    )
    orders = pairing_games("bench", "underdog", *setting.players, games, hidden_chance=False)
    records = Slot(bots, setting, House(at_once=at_once, confinement=confinement)).play(orders)
    kept = [next(records)]
    began = time.perf_counter()
    kept.extend(records)
    took = time.perf_counter() - began
    assert all(record.fault is None for record in kept)
    return took * 1e6 / sum(len(record.moves) for record in kept[1:])


def ratio(confinement: Confinement, games: int, at_once: int, repeats: int) -> float:
    """To level none: the median over repeats, each between two measurements of none."""
    ratios = []
    for _ in range(repeats):
        before = answer_us(UNCONFINED, games, at_once)
        took = answer_us(confinement, games, at_once)
        after = answer_us(UNCONFINED, games, at_once)
        ratios.append(took / ((before + after) / 2))
    return statistics.median(ratios)


def start_ms(confinement: Confinement, repeats: int) -> float:
    """From the start of a C bot to its hello, the median."""
    bot = built(Bot(name="c", command=(str(BIN / "bot"),)), confinement)
    took = []
    for _ in range(repeats):
        player = Player(0, bot, Upkeep(startup_ms=10_000, confinement=confinement))
        began = time.perf_counter()
        player.start()
        took.append((time.perf_counter() - began) * 1000)
        player.stop()
    return statistics.median(took)


def measured(level: Level, games: int, repeats: int, starts: int) -> dict[str, float]:
    """Everything about one level, printed as it comes."""
    plain = Confinement(level=level)
    frozen = Confinement(level=level, freeze=True)
    result: dict[str, float] = {}
    for name, confinement in (("", plain), ("freeze_", frozen)):
        for kind, at_once, length in (("single", 1, games), ("many", 64, 3 * games)):
            value = ratio(confinement, length, at_once, repeats)
            result[f"{name}{kind}_ratio"] = round(value, 3)
            print(f"  {name}{kind:8} {value:5.2f} × none   aim {AIM_RATIO:.2f}", flush=True)
    none_ms, ms = start_ms(UNCONFINED, starts), start_ms(plain, starts)
    result["start_ms"] = round(ms - none_ms, 2)
    print(f"  a start {ms:.1f} ms, {ms - none_ms:+.1f} ms to none   aim +{AIM_MS:.0f}", flush=True)
    return result


def main() -> None:
    parser = SizeParser(__doc__)
    parser.add_size("--repeats", 7, 1)
    parser.add_size("--games", 1_000, 2, about="games per measurement")
    parser.add_size("--starts", 28, 2, about="of a bot, at each level")
    arguments = parser.sizes()
    build()
    core = take_core()
    print(f"referee bench-confinement: {arguments.repeats} repeats, pinned: {core is not None}")
    result: dict[str, object] = {}
    for level in (Level.FULL, Level.STANDARD):
        if holds(level):
            print(f"level {level}, {len(findings(level))} checks pass")
            result[level.value] = measured(
                level, arguments.games, arguments.repeats, arguments.starts
            )
        else:
            lacking = why_not(level)
            assert lacking is not None
            print(f"level {level} is not offered here: {lacking.reason}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
