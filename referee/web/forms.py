"""The fields of a form, of either kind that browsers send.

A body is here as a whole, and is cut where its boundary stands, so that reading it takes no longer
than its length asks for. Nothing but the standard library is imported: the process that reads
uploads starts with this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

PLAIN_FORM = "application/x-www-form-urlencoded"
FORM = "multipart/form-data"
CSRF_FIELD = "csrf"
"""What a form of ours proves with that it is ours."""
MOST_FIELDS = 20
LONGEST_HEAD = 4096
"""Bytes of what a part of a form says of itself."""
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))', re.IGNORECASE)
_DISPOSITION = re.compile(rb"^content-disposition:\s*form-data\s*(;.*)$", re.IGNORECASE)
_PARAMETER = re.compile(rb';\s*(name|filename)=(?:"([^"]*)"|([^\s";]+))', re.IGNORECASE)


Fields = Mapping[str, str]
"""What a page gets of a form."""


class BadForm(Exception):
    """A form that cannot be read; the message says why."""


class Field(NamedTuple):
    content: bytes
    is_file: bool

    @property
    def text(self) -> str:
        """Empty for a file."""
        return "" if self.is_file else self.content.decode("utf-8", "replace")


def media_type(content_type: str) -> str:
    """
    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def read_form(content_type: str, body: bytes) -> dict[str, Field]:
    """The fields by name; of two of one name, the last. Raises BadForm."""
    if media_type(content_type) == PLAIN_FORM:
        return _urlencoded(body)
    return _multipart(content_type, body)


def _urlencoded(body: bytes) -> dict[str, Field]:
    text = body.decode("utf-8", "replace")
    try:
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadForm(f"it has more than {MOST_FIELDS} fields") from None
    return {name: Field(value.encode(), is_file=False) for name, value in fields}


def _multipart(content_type: str, body: bytes) -> dict[str, Field]:
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise BadForm("its Content-Type names no boundary")
    delimiter = b"\r\n--" + (boundary[1] or boundary[2]).encode("latin-1", "replace")
    _, *parts = (b"\r\n" + body).split(delimiter, MOST_FIELDS + 2)
    fields: dict[str, Field] = {}
    for number, part in enumerate(parts, start=1):
        if part.startswith(b"--"):
            return fields
        if number > MOST_FIELDS:
            raise BadForm(f"it has more than {MOST_FIELDS} fields")
        name, field = _field(part)
        fields[name] = field
    raise BadForm("its last boundary is missing")


def _field(part: bytes) -> tuple[str, Field]:
    """Of what stands between two boundaries."""
    end = part.find(b"\r\n\r\n", 0, LONGEST_HEAD)
    if end < 0 or part[:end].strip(b" \t")[:2] != b"\r\n":
        raise BadForm("a part of it has no head, or one that is too long")
    for line in part[:end].split(b"\r\n"):
        if disposition := _DISPOSITION.match(line):
            found = {
                parameter[1].lower(): parameter[2] if parameter[3] is None else parameter[3]
                for parameter in _PARAMETER.finditer(disposition[1])
            }
            if b"name" in found:
                name = found[b"name"].decode("utf-8", "replace")
                return name, Field(part[end + 4 :], is_file=b"filename" in found)
    raise BadForm("a part of it has no name")
