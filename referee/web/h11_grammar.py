"""Lines of a request are read in a time that their length asks for, whatever is in them.

Two regular expressions of h11 share out blanks between two of their parts, in as many ways as there
are blanks, and try each of them before they refuse a line: 62,000 blanks and a NUL took 7 s, in
which nobody else was answered. Here blanks belong to one part. What matches is the same as before.
"""

from __future__ import annotations

import re

from h11 import _readers

_LINEAR = {
    "header_field_re": (rb":[ \t]*(?P", rb":[ \t]*+(?P"),
    "chunk_header_re": (rb"[ \t]*\r\n", rb"(?<![ \t])[ \t]*+\r\n"),
}
"""The names of both in h11: what can be matched in many ways, and what stands in its place."""


def make_linear() -> None:
    """In this process. An h11 that has other expressions keeps them."""
    for name, (ambiguous, plain) in _LINEAR.items():
        found = getattr(_readers, name, None)
        if found is not None:
            setattr(_readers, name, re.compile(found.pattern.replace(ambiguous, plain)))
