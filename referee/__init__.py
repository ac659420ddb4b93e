"""A referee for bot competitions.

    import referee

    result = referee.play_match("counter", "random", variant="underdog", games=100)
    print(result.score.elo, "±", result.score.err95)

    for number, record in referee.read_records(open("games.jsonl", "rb")):
        print("\\n".join(referee.replay(record).tell()))

The command line is thin on top of this.
"""

from referee.bots.manifest import BadBot, Bot, find_bot, sample_bots
from referee.clock import BadTime, Clock, read_clock
from referee.match import BadMatch, MatchResult, play_match
from referee.ratings.two_players import Score
from referee.record import BadRecord, Record, encode_record, read_record, read_records
from referee.replay import Mismatch, Replay, Step, replay
from referee.rules.options import BadOption, Option
from referee.rules.registry import BadVariant, all_variants, build_variant, find_variant
from referee.rules.variant import IllegalMove, Outcome, UnreadableMove, Variant
from referee.verdict import PRECEDENCE, Ending, Fault, Verdict
from referee.verify import Finding, Report, verify
from referee.version import __version__

__all__ = [
    "PRECEDENCE",
    "BadBot",
    "BadMatch",
    "BadOption",
    "BadRecord",
    "BadTime",
    "BadVariant",
    "Bot",
    "Clock",
    "Ending",
    "Fault",
    "Finding",
    "IllegalMove",
    "MatchResult",
    "Mismatch",
    "Option",
    "Outcome",
    "Record",
    "Replay",
    "Report",
    "Score",
    "Step",
    "UnreadableMove",
    "Variant",
    "Verdict",
    "__version__",
    "all_variants",
    "build_variant",
    "encode_record",
    "find_bot",
    "find_variant",
    "play_match",
    "read_clock",
    "read_record",
    "read_records",
    "replay",
    "sample_bots",
    "verify",
]
