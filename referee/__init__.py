"""A referee for bot competitions.

    import referee

    result = referee.play_match("counter", "random", variant="underdog", games=100)
    print(result.score.elo, "±", result.score.err95)

    spec = referee.read_spec("tournaments/five.toml")
    referee.play_tournament(spec, "tournaments/five")
    for row in referee.read_standings("tournaments/five").tables[-1].rows:
        print(row.rank, row.name, row.elo, "±", row.err95)

    for number, record in referee.read_records(open("games.jsonl", "rb")):
        print("\\n".join(referee.replay(record).tell()))

The command line is thin on top of this.
"""

from __future__ import annotations

from importlib import import_module

from referee.version import __version__

_HOME = {
    "referee.bots.manifest": (
        "BadBot",
        "Bot",
        "find_bot",
        "sample_bots",
    ),
    "referee.clock": (
        "BadTime",
        "Clock",
        "read_clock",
    ),
    "referee.deciding": ("SprtResult",),
    "referee.match": (
        "BadMatch",
        "MatchResult",
        "SprtResult",
        "play_match",
    ),
    "referee.ratings.rating": (
        "Ratings",
        "rate",
    ),
    "referee.ratings.sprt": (
        "BadSprt",
        "Sprt",
    ),
    "referee.ratings.two_players": ("Score",),
    "referee.record": (
        "BadRecord",
        "Record",
        "encode_record",
        "read_record",
        "read_records",
    ),
    "referee.replaying": (
        "Mismatch",
        "Replay",
        "Step",
        "replay",
    ),
    "referee.reports.standings": (
        "Standings",
        "read_standings",
    ),
    "referee.rules.options": (
        "BadOption",
        "Option",
    ),
    "referee.rules.registry": (
        "BadVariant",
        "all_variants",
        "build_variant",
        "find_variant",
    ),
    "referee.rules.variant": (
        "IllegalMove",
        "Outcome",
        "UnreadableMove",
        "Variant",
    ),
    "referee.store.database": ("BadStore",),
    "referee.tournament.begin": (
        "Changed",
        "play_tournament",
        "resume_tournament",
    ),
    "referee.tournament.reading": ("read_spec",),
    "referee.tournament.run": (
        "TournamentBroken",
        "TournamentResult",
    ),
    "referee.tournament.spec": (
        "BadSpec",
        "Spec",
    ),
    "referee.verdict": (
        "Ending",
        "Fault",
        "PRECEDENCE",
        "Verdict",
    ),
    "referee.verifying": (
        "Finding",
        "Report",
        "verify",
    ),
}
"""Where each name lives. Imported when it is first asked for, so that no command waits for what it
does not use; __init__.pyi says the same to type checkers."""
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    thing = getattr(import_module(_MODULES[name]), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
