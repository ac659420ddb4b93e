"""What people read on a terminal or in a file, by rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

WIDEST_TABLE = 200


class Screen(Console):
    """A console that shows text as it is: no markup, no emoji, no line breaks of its own, so that
    what is shown can be copied whole."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=True, stderr=stderr)
        if not self.is_terminal:
            # A file has no width: a table in it must not be cut to that of a screen.
            self.width = WIDEST_TABLE

    def prose(self, text: str) -> None:
        """A longer text: on a terminal its paragraphs are filled to the width there is."""
        for paragraph in _paragraphs(text) if self.is_terminal else [text]:
            self.print(paragraph, soft_wrap=not self.is_terminal)

    def pieces(self, pieces: Iterable[RenderableType]) -> None:
        """Tables as they are, sentences as prose."""
        for piece in pieces:
            if isinstance(piece, str) and piece:
                self.prose(piece)
            else:
                self.print(piece)

    def columns(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A plain list with a heading for each column."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self.print(table)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _paragraphs(text: str) -> list[str]:
    """One string for each paragraph, item of a list, heading and blank line."""
    paragraphs: list[str] = []
    open_ended = False
    for line in text.splitlines():
        heading = len(line.split()) <= 3 and not line.endswith((".", ",", ":", ";"))
        if open_ended and line.strip() and not line.startswith("- ") and not heading:
            paragraphs[-1] += " " + line.strip()
        else:
            paragraphs.append(line)
        open_ended = bool(line.strip()) and (not heading or len(paragraphs[-1]) > len(line))
    return paragraphs
