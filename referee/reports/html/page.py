"""A report as one HTML file: nothing is loaded from anywhere, so that it can be mailed and kept.

The script and the style are the files in `assets`, put in whole; the data are JSON and base64 in
script elements that are never run. All that bots had a hand in is hostile: in the JSON every `<`,
`>` and `&` is written as an escape, so no text can end the element that it is in, and the page's
script makes text of it, never markup. Should anything get through yet, the policy in the head of
the page runs no script but the very one that is named there by its hash, and forbids the network.
"""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from pathlib import Path
from string import Template

import msgspec

from referee.reports.html.data import Report
from referee.reports.html.games import pack
from referee.reports.tables.files import write_whole

SCRIPTS = (
    *("dom.js", "tables.js", "progress.js", "rounds.js", "games.js", "pieces.js", "replay.js"),
    *("faults.js", "report.js"),
)
"""In the order in which they need each other; the last one starts it all."""


def page(report: Report) -> str:
    """The whole file."""
    style = _asset("report.css")
    script = "\n".join(_asset(name) for name in SCRIPTS)
    blocks = [
        f'<script type="text/plain" id="block-{at}">{block}</script>'
        for at, block in enumerate(report.blocks)
    ]
    return Template(_asset("report.html")).substitute(
        policy=policy(style, script),
        title=html.escape(f"{report.contents.standings.name} – tournament report"),
        style=style,
        data=harmless(msgspec.json.encode(report.contents)),
        columns=pack(msgspec.json.encode(report.columns)),
        blocks="\n".join(blocks),
        script=script,
    )


def policy(style: str, script: str) -> str:
    """What the browser may do with the page: run this script, use this style, and no more."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def harmless(json: bytes) -> str:
    """The same JSON without a character that means something to an HTML parser."""
    text = json.decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def write_page(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    write_whole(path.parent, {path.name: text.encode()})


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
