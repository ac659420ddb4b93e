"""The generated parts of docs/api.md: all addresses of the API, and what it refuses.

    python -m referee.testing.api docs/api.md

A generated part stands between two comments, as in protocol.md; a test compares the two.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.protocol.describe import table
from referee.web.endpoint import PREFIX, Endpoint
from referee.web.refusal import MEANINGS
from referee.web.table import DOCUMENT, ENDPOINTS

PART = re.compile(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
WHO = {"anyone": "anyone", "viewer": "any token", "team": "team", "organiser": "organiser"}


def addresses() -> str:
    """One row for each endpoint, with a link to what is said of it."""
    rows = [
        [f"`{each.method} {PREFIX}{each.path}`", WHO[each.needs], each.summary]
        for each in ENDPOINTS
    ]
    return table(["address", "who", "what"], rows)


def refusals() -> str:
    return table(["status", "meaning"], [[str(code), MEANINGS[code]] for code in sorted(MEANINGS)])


def parameters() -> str:
    """What the addresses take, one list for each that takes anything."""
    return "\n".join(_told(each) for each in ENDPOINTS if _taken(each))


def _told(endpoint: Endpoint) -> str:
    detail = f"{endpoint.detail}\n\n" if endpoint.detail else ""
    rows = [[f"`{name}`", where, kind, told] for name, where, kind, told in _taken(endpoint)]
    head = f"### {endpoint.method} {endpoint.path}\n"
    return f"{head}\n{detail}{table(['name', 'where', 'type', 'meaning'], rows)}\n"


def _taken(endpoint: Endpoint) -> list[tuple[str, str, str, str]]:
    operation = DOCUMENT["paths"][PREFIX + endpoint.path][endpoint.method.lower()]
    found = [
        (each["name"], each["in"], _kind(each["schema"]), _meaning(each))
        for each in operation["parameters"]
    ]
    return [*found, *_fields(operation.get("requestBody"))]


def _fields(body: Any) -> Iterator[tuple[str, str, str, str]]:
    form = {} if body is None else body["content"].get("multipart/form-data", {})
    for field, own in form.get("schema", {}).get("properties", {}).items():
        kind = "file" if own.get("format") == "binary" else _kind(own)
        yield field, "form", kind, own["description"]
    content = {} if body is None else body["content"].get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    schema = DOCUMENT["components"]["schemas"].get(name, {})
    for field, own in schema.get("properties", {}).items():
        needed = "" if field in schema.get("required", []) else "may be left out"
        yield field, "body", _kind(own), needed


def _meaning(parameter: Any) -> str:
    told = [parameter.get("description") or parameter["schema"].get("description") or ""]
    if "default" in parameter["schema"]:
        told.append(f"{parameter['schema']['default']} if left out.")
    return " ".join(each for each in told if each)


def _kind(schema: Any) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    low, high = schema.get("minimum"), schema.get("maximum")
    kind = {"integer": "whole number", "string": "text"}.get(schema["type"], schema["type"])
    return f"{kind} {low} to {high}" if low is not None and high is not None else kind


PARTS = {"addresses": addresses, "parameters": parameters, "refusals": refusals}


def written(page: str) -> str:
    """The page with its generated parts as they should be."""
    missing = PARTS.keys() - {name for name, _ in PART.findall(page)}
    if missing:
        raise ValueError(f"the page has no part {sorted(missing)[0]}")
    return PART.sub(
        lambda part: f"<!-- generated: {part[1]} -->\n{PARTS[part[1]]()}\n<!-- end: {part[1]} -->",
        page,
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text("utf-8")), "utf-8")
