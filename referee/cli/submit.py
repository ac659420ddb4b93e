"""`referee submit` and `referee get`: a team and the daemon of a contest."""

from __future__ import annotations

import gzip
import io
import re
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from referee.bots.archive import pack
from referee.bots.manifest import BadBot, find_bot
from referee.bots.manifest_text import MANIFEST
from referee.cli import console
from referee.cli.options import Token
from referee.cli.remote import Remote, part
from referee.mistake import Mistake

FIRST_LOOK_S = 0.2
LOOK_S = 2.0
"""How often the daemon is asked what has become of a submission, at first and later."""
ALWAYS_TAKEN = 100_000
"""Bytes; most bots are smaller, and nobody has to be asked."""
DONE = ("playing", "rejected", "retired")
_GAME = re.compile(r"([a-z0-9][a-z0-9_-]{0,39})/([1-9][0-9]*-[1-9][0-9]*)")
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer of the daemon as JSON.")]


class TooLarge(Mistake):
    """A folder that the daemon does not take; the message says how large one may be."""


def submit_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help=f"Folder of the bot, with its {MANIFEST}.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="Where the daemon's pages are.")],
    token: Token = "",
    label: Annotated[str, typer.Option(help="What you call this version.")] = "",
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait until it plays or is rejected."),
    ] = True,
    json: AsJson = False,
) -> None:
    """Hand in a bot's folder to a ladder, and see what becomes of it.

    It is queued, built and checked there, and then plays; or it is rejected, with the output of the
    build or of the check, while the version before it plays on. Exit status 1 where it is rejected.

    **Examples**

        referee submit my_bot --to http://contest.example:7780

        referee submit my_bot --to http://localhost:7780 --label "looks two moves ahead"
    """
    remote = Remote(to, token)
    if not folder.is_dir():
        raise BadBot(
            f"{folder}: there is no such folder; a bot is handed in as one, with {MANIFEST}"
        )
    bot = find_bot(str(folder))
    if bot.folder is None or not bot.owns_folder:
        raise BadBot(f"{folder}: a bot is handed in as its folder, with a {MANIFEST}")
    version = _hand_in(remote, bot.folder, label)
    where = f"/bots/{part(version['bot'])}/versions/{version['number']}"
    shown = None
    pause = FIRST_LOOK_S
    while True:
        if version["state"] != shown:
            shown = version["state"]
            told = console.printable(f"{version['name']}: {shown}")
            print(told, file=sys.stderr, flush=True)
        if not wait or shown in DONE:
            break
        time.sleep(pause)
        pause = min(LOOK_S, pause * 1.5)
        version = remote.get(where)
    if json:
        console.print_json(version)
    elif version["told"]:
        for line in version["told"].splitlines():
            print(console.printable(line.expandtabs()))
    if shown == "rejected":
        raise typer.Exit(console.DOES_NOT_HOLD)


def _hand_in(remote: Remote, folder: Path, label: str) -> Any:
    """The new version, as the daemon tells it."""
    archive = io.BytesIO()
    with gzip.GzipFile(fileobj=archive, mode="wb", mtime=0) as out:
        pack(folder, out)
    packed = archive.getvalue()
    _must_be_taken(remote, folder, len(packed))
    if not label:
        return remote.post("/submissions", packed, "application/gzip")
    edge = "referee-submission-7b1f0c"
    body = (
        (
            f'--{edge}\r\nContent-Disposition: form-data; name="label"\r\n'
            f"Content-Type: text/plain; charset=utf-8\r\n\r\n{label}\r\n"
            f'--{edge}\r\nContent-Disposition: form-data; name="archive"; filename="bot.tar.gz"\r\n'
            "Content-Type: application/gzip\r\n\r\n"
        ).encode()
        + packed
        + f"\r\n--{edge}--\r\n".encode()
    )
    return remote.post("/submissions", body, f"multipart/form-data; boundary={edge}")


def _must_be_taken(remote: Remote, folder: Path, size: int) -> None:
    """Raises TooLarge before anything large is sent for nothing."""
    if size <= ALWAYS_TAKEN:
        return
    most = remote.get("/status").get("submission_bytes", size)
    if size > most:
        raise TooLarge(
            f"{folder}: packed, it has {size / 1e6:.1f} MB, and {remote.url} takes up to "
            f"{most / 1e6:g} MB; leave out what is built there"
        )


def get_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="SEASON/PAIRING-NUMBER, for example 1/12-34.")
    ],
    source: Annotated[
        str, typer.Option("--from", metavar="URL", help="Where the daemon's pages are.")
    ],
    token: Token = "",
    out: Annotated[Path, typer.Option(help="Folder to write to.", file_okay=False)] = Path(),
    json: Annotated[
        bool, typer.Option("--json", help="Print the record, and write nothing.")
    ] = False,
) -> None:
    """Fetch the record of a game; with your token also notes and stderr of your own bots.

    The record is written as one line of JSON, which `referee replay`, `referee verify` and
    `referee repro` read. The paths are printed.

    **Examples**

        referee get 1/12-34 --from http://contest.example:7780

        referee get 1/12-34 --from http://localhost:7780 --json
    """
    found = _GAME.fullmatch(game)
    if found is None:
        raise Mistake(f"{game!r} is no game; write SEASON/PAIRING-NUMBER, for example 1/12-34")
    season, number = found.groups()
    remote = Remote(source, token)
    page = remote.get(f"/games/{season}/{number}")
    if json:
        console.print_json(page["record"])
        return
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{season}-{number}.jsonl"
    path.write_bytes(msgspec.json.encode(page["record"]) + b"\n")
    console.out.print(console.printable(str(path)))
    logs = remote.get(f"/games/{season}/{number}/stderr")["logs"] if page["yours"] else []
    for log in logs:
        path = out / f"{season}-{number}.{_file_name(log['bot'])}.stderr.txt"
        path.write_text(log["text"], "utf-8")
        console.out.print(console.printable(str(path)))


def _file_name(bot: str) -> str:
    """A daemon is not to say where a file goes."""
    return re.sub(r"[^\w .+#()-]", "_", bot).strip(". ") or "bot"
