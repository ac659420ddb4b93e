from referee.bots.manifest import BadBot as BadBot
from referee.bots.manifest import Bot as Bot
from referee.bots.manifest import find_bot as find_bot
from referee.bots.manifest import sample_bots as sample_bots
from referee.clock import BadTime as BadTime
from referee.clock import Clock as Clock
from referee.clock import read_clock as read_clock
from referee.deciding import SprtResult as SprtResult
from referee.match import BadMatch as BadMatch
from referee.match import MatchResult as MatchResult
from referee.match import play_match as play_match
from referee.ratings.rating import Ratings as Ratings
from referee.ratings.rating import rate as rate
from referee.ratings.sprt import BadSprt as BadSprt
from referee.ratings.sprt import Sprt as Sprt
from referee.ratings.two_players import Score as Score
from referee.record import BadRecord as BadRecord
from referee.record import Record as Record
from referee.record import encode_record as encode_record
from referee.record import read_record as read_record
from referee.record import read_records as read_records
from referee.replaying import Mismatch as Mismatch
from referee.replaying import Replay as Replay
from referee.replaying import Step as Step
from referee.replaying import replay as replay
from referee.reports.standings import Standings as Standings
from referee.reports.standings import read_standings as read_standings
from referee.rules.options import BadOption as BadOption
from referee.rules.options import Option as Option
from referee.rules.registry import BadVariant as BadVariant
from referee.rules.registry import all_variants as all_variants
from referee.rules.registry import build_variant as build_variant
from referee.rules.registry import find_variant as find_variant
from referee.rules.variant import IllegalMove as IllegalMove
from referee.rules.variant import Outcome as Outcome
from referee.rules.variant import UnreadableMove as UnreadableMove
from referee.rules.variant import Variant as Variant
from referee.store.database import BadStore as BadStore
from referee.tournament.begin import Changed as Changed
from referee.tournament.begin import play_tournament as play_tournament
from referee.tournament.begin import resume_tournament as resume_tournament
from referee.tournament.reading import read_spec as read_spec
from referee.tournament.run import TournamentBroken as TournamentBroken
from referee.tournament.run import TournamentResult as TournamentResult
from referee.tournament.spec import BadSpec as BadSpec
from referee.tournament.spec import Spec as Spec
from referee.verdict import PRECEDENCE as PRECEDENCE
from referee.verdict import Ending as Ending
from referee.verdict import Fault as Fault
from referee.verdict import Verdict as Verdict
from referee.verifying import Finding as Finding
from referee.verifying import Report as Report
from referee.verifying import verify as verify
from referee.version import __version__ as __version__

__all__ = [
    "PRECEDENCE",
    "BadBot",
    "BadMatch",
    "BadOption",
    "BadRecord",
    "BadSpec",
    "BadSprt",
    "BadStore",
    "BadTime",
    "BadVariant",
    "Bot",
    "Changed",
    "Clock",
    "Ending",
    "Fault",
    "Finding",
    "IllegalMove",
    "MatchResult",
    "Mismatch",
    "Option",
    "Outcome",
    "Ratings",
    "Record",
    "Replay",
    "Report",
    "Score",
    "Spec",
    "Sprt",
    "SprtResult",
    "Standings",
    "Step",
    "TournamentBroken",
    "TournamentResult",
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
    "play_tournament",
    "rate",
    "read_clock",
    "read_record",
    "read_records",
    "read_spec",
    "read_standings",
    "replay",
    "resume_tournament",
    "sample_bots",
    "verify",
]
