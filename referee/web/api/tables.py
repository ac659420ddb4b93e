"""The tables of a tournament that the daemon was asked for, whole: what its folder holds, too."""

from __future__ import annotations

from msgspec import Struct

from referee.reports.standings import Standings, Timing, timings
from referee.store.database import Store
from referee.web.api.asked import OneTournament
from referee.web.endpoint import Call, Endpoint
from referee.web.refusal import Refusal


class TournamentTables(Struct, frozen=True):
    """Standings as in a tournament's `standings.json`; so far, while it is played."""

    standings: Standings
    times: list[Timing]
    """How long the bots took over their moves, once it is finished."""


def tables(call: Call, asked: OneTournament) -> TournamentTables:
    row = call.house.tournaments.get(asked.tournament)
    folder = call.house.tournaments.folder(row)
    stood = call.library.standings_in(folder)
    if stood is None:
        raise Refusal(404, f"tournament {row.id} has no games yet: it is {row.state}")
    names = {each.name for table in stood.standings.tables for each in table.rows}
    if any(call.sight.called(name) != name for name in names):
        raise Refusal(403, "names are hidden here, so the tables are for organisers")
    if row.state != "finished":
        return TournamentTables(stood.standings, [])
    with Store.read(folder) as store:
        return TournamentTables(stood.standings, timings(store))


TABLES = (
    Endpoint(
        method="GET",
        path="/tournaments/{tournament}/standings",
        name="tournament_standings",
        summary="The tables of one of them, so far or to the end.",
        run=tables,
        asks=OneTournament,
        answers=TournamentTables,
        refuses=(403,),
    ),
)
