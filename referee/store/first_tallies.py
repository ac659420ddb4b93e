"""The step that gives a database of version 2 its running counts, from the games that it holds.

What is not rated, what a pair is and which faults are counted is said here in SQL as it was when
the step was made; new games are counted by tally.py.
"""

from __future__ import annotations

from referee.store.tally import CREATE

_KINDS = ("nl", "nd", "nw", "ln", "ll", "ld", "lw", "dn", "dl", "dd", "dw", "wn", "wl", "wd", "ww")
_COUNTED = """('crash', 'timeout', 'flood', 'garbled', 'illegal', 'resign', 'no_start', 'no_hello',
    'wrong_protocol', 'forfeit')"""
_RATED = """points IS NOT NULL
    AND ending NOT IN ('forfeit', 'void', 'host_stall', 'referee_error')"""

_MEETING = """CREATE TEMP TABLE meeting AS
    SELECT id, first, variant, min(id) OVER (
        PARTITION BY variant, min(first, second), max(first, second)
    ) AS met FROM pairing"""
_DIGESTS = f"""INSERT INTO digest
    SELECT DISTINCT met, digest FROM game JOIN meeting ON meeting.id = game.id >> 32
    WHERE {_RATED} ORDER BY met, digest"""
_SEEN = f"""CREATE TEMP TABLE seen AS
    SELECT pairing, count(*) AS different FROM (
        SELECT min(game.id >> 32) AS pairing FROM game JOIN meeting ON meeting.id = game.id >> 32
        WHERE {_RATED} GROUP BY met, digest
    ) GROUP BY pairing"""
_GIVEN = f"""CREATE TEMP TABLE given AS
    SELECT pairing, sum(winner = first) AS one, sum(winner != first) AS other FROM (
        SELECT game.id >> 32 AS pairing, pairing.first AS first,
            CASE game.first WHEN max(fault.bot) THEN game.second ELSE game.first END AS winner
        FROM fault JOIN game ON game.id = fault.game JOIN pairing ON pairing.id = game.id >> 32
        WHERE fault.code IN {_COUNTED}
        GROUP BY game.id HAVING count(*) = 1 AND max(fault.code) = 'forfeit'
    ) GROUP BY pairing"""
_PAIRS = f"""CREATE TEMP TABLE kind AS
    SELECT pairing, sum(played) AS played, kind, count(*) AS pairs FROM (
        SELECT pairing, count(*) AS played, sum(kind) AS kind FROM (
            SELECT meeting.id AS pairing,
                CASE WHEN pair = ((game.id & 0xffffffff) + 1) / 2
                    AND (game.first != meeting.first) = (game.id & 1 = 0)
                    THEN pair ELSE -game.id END AS pair,
                CASE WHEN NOT ({_RATED}) THEN 0
                    WHEN game.first = meeting.first THEN 4 * (1 + points)
                    ELSE 3 - points END AS kind
            FROM game JOIN meeting ON meeting.id = game.id >> 32
        ) GROUP BY pairing, pair
    ) GROUP BY pairing, kind"""
_TALLIES = f"""INSERT INTO tally
    SELECT kind.pairing, sum(played), coalesce(max(different), 0),
        coalesce(max(one), 0), coalesce(max(other), 0),
        {", ".join(f"sum(pairs * (kind = {at}))" for at in range(1, 1 + len(_KINDS)))}
    FROM kind LEFT JOIN seen ON seen.pairing = kind.pairing
    LEFT JOIN given ON given.pairing = kind.pairing
    GROUP BY kind.pairing ORDER BY kind.pairing"""
_BLAME = f"""INSERT INTO blame
    SELECT variant, bot, code, count(*) FROM fault JOIN pairing ON pairing.id = fault.game >> 32
    WHERE code IN {_COUNTED} GROUP BY variant, bot, code"""

STEP = (
    *CREATE,
    *(_MEETING, _DIGESTS, _SEEN, _GIVEN, _PAIRS, _TALLIES, _BLAME),
    *(f"DROP TABLE {table}" for table in ("temp.meeting", "temp.seen", "temp.given", "temp.kind")),
)
