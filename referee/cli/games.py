"""`referee replay` and `referee verify`: finished games."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from referee.cli import console
from referee.cli.store import must_be_records
from referee.record import BadRecord, Record, lines_of, read_records
from referee.replaying import Mismatch, replay
from referee.reports.archive.reading import is_archive, lines_of_archive, unpacked_lines
from referee.rules.numbers import amount
from referee.rules.registry import BadVariant
from referee.verifying import verify

SHOWN_MISMATCHES = 20
GZIP = b"\x1f\x8b"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="Records, JSON lines, or an archive or a piece of one; - is stdin."
    ),
]
Script = Annotated[
    str | None,
    typer.Option("--variant", "-v", help="Path of the script, where the variant is one."),
]


def replay_command(
    file: File,
    game: Annotated[
        str | None, typer.Argument(help="Which game; the first if left out.", show_default=False)
    ] = None,
    variant: Script = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the record itself instead of its story.")
    ] = False,
) -> None:
    """Show a finished game round by round, in the words of its rule book.

    **Examples**

        referee replay games.jsonl

        referee replay games.jsonl 17

        referee replay archive-1 12-34
    """
    with record_lines(file, game) as lines:
        record = find_record((record for _, record in read_records(lines)), game)
    if json:
        console.print_json(record)
        return
    try:
        story = replay(record, variant).tell()
    except Mismatch as mismatch:
        raise BadRecord(f"{file}: game {record.game}: {mismatch}") from None
    for line in story:
        console.out.print(console.printable(line))


@contextmanager
def record_lines(file: str, game: str | None = None) -> Iterator[Iterator[bytes]]:
    """The lines of a file of records; what is wrong with one of them names the file.

    Of an archive it is all lines, or those of the piece with the game that is wanted.
    """
    with ExitStack() as stack:
        try:
            if is_archive(Path(file)):
                yield lines_of_archive(Path(file), game)
            else:
                must_be_records(file)
                yield _lines(stack.enter_context(console.open_input(file)), file)
        except BadVariant as bad:
            raise BadVariant(f"{file}: {bad} (--variant PATH says where a script is)") from None
        except BadRecord as bad:
            raise BadRecord(f"{file}: {bad}") from None


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Of a plain file or a compressed one; what comes through a pipe is plain."""
    if name == "-" or not file.seekable():
        return lines_of(file)
    if name.endswith(".tar"):
        raise BadRecord("a tar file is unpacked first: tar -xf, and give the folder that comes out")
    start = file.read(len(GZIP))
    file.seek(0)
    return unpacked_lines(file) if start == GZIP else lines_of(file)


def find_record(records: Iterator[Record], game: str | None) -> Record:
    """The game of this name, or the first. Raises BadRecord."""
    names: list[str] = []
    for record in records:
        if game is None or record.game == game:
            return record
        names.append(record.game)
    if not names:
        raise BadRecord("there is no record in it")
    shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
    raise BadRecord(f"there is no game {game!r} in it; it holds {shown}")


def verify_command(
    file: File,
    variant: Script = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Judge every record again from its chance and moves, and compare every field.

    What the rules decide is judged again; that a bot was late or crashed can only be attested.
    Exit status 1 where a record does not hold.

    **Examples**

        referee verify games.jsonl

        referee verify archive-1
    """
    with record_lines(file) as lines:
        report = verify(lines, variant)
        if not report.records:
            raise BadRecord("there is no record in it")
    if json:
        console.print_json(report)
    else:
        for finding in report.mismatches[:SHOWN_MISMATCHES]:
            found = f"game {finding.game}: {finding.field}: {finding.why}"
            console.out.print(console.printable(f"{file}:{finding.line}: {found}"))
        more = len(report.mismatches) - SHOWN_MISMATCHES
        if more > 0:
            console.out.print(f"… and {more} more")
        mismatches = amount(len(report.mismatches), "mismatch", "mismatches")
        console.out.print(
            f"{amount(report.records, 'record')}, {mismatches} "
            f"({report.judged} judged again, {report.attested} attested by the referee)"
        )
    if report.mismatches:
        raise typer.Exit(console.DOES_NOT_HOLD)
