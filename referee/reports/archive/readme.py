"""What an archive says of itself, to somebody who finds it without us."""

from __future__ import annotations

from referee.reports.archive.facts import Facts
from referee.reports.archive.reading import INDEX, Index
from referee.rules.numbers import amount


def readme(facts: Facts, index: Index, manifest: str) -> str:
    what = f"season {facts.season}" if facts.season is not None else "a tournament"
    ended = f"finished {facts.finished}" if facts.finished else "not finished when this was made"
    lines = [
        f"{facts.name} ({what}): {amount(facts.games, 'game')}",
        f"started {facts.started or 'at an unknown time'}, {ended}",
        "",
        "report/index.html   open it in a browser: tables, ratings over time, who met whom,",
        "                    and from there every game to replay; needs no network",
        "tables/             the tables as text, Markdown, CSV and JSON",
        f"games/              the records, {amount(len(index.pieces), 'file')} of JSON lines,",
        f"                    compressed with gzip; {INDEX} says which games each holds",
        "variants/           the source of the rules",
        "facts.json          who played, in which version, with the hash of what was played",
        "spec.json           clock, options, confinement",
        f"{manifest}            SHA-256 of every file: sha256sum -c {manifest}",
        "",
        "Judge every game again from its chance and its moves:   referee verify THIS_FOLDER",
        "Read one game in the words of the rules:                referee replay THIS_FOLDER GAME",
        "",
        f"Made by referee {facts.referee}; its protocol.md says what the fields of a record mean.",
    ]
    if facts.records < facts.games:
        dropped = facts.games - facts.records
        lines += [
            "",
            f"The records of {amount(dropped, 'game')} were no longer kept and are not here;",
            "their results are in the tables.",
        ]
    if facts.private:
        lines += ["", "Private: the records have the notes that bots wrote for their authors."]
    return "\n".join(lines) + "\n"
