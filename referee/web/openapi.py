"""The OpenAPI document, made from the table of endpoints and from the types that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from referee.version import __version__
from referee.web.endpoint import PREFIX, Archive, Endpoint
from referee.web.forms import FORM
from referee.web.refusal import MEANINGS, Told

REF = "#/components/schemas/{name}"
JSON = "application/json"
ARCHIVES = ("application/x-tar", "application/gzip", "application/zip", "application/octet-stream")
"""What a bot's folder may come as; a form of a browser has it as its file `archive`."""
_BYTES = {"type": "string", "format": "binary"}

Document = dict[str, Any]


def document(endpoints: Sequence[Endpoint]) -> Document:
    """All of the API in the words of OpenAPI 3.1."""
    types: list[type] = [Told]
    for endpoint in endpoints:
        types += [endpoint.asks, endpoint.answers]
        if endpoint.takes is not None and endpoint.takes is not Archive:
            types.append(endpoint.takes)
    made = msgspec.json.schema_components(types, ref_template=REF)
    # As it is read: a default of a type here may be a tuple, which JSON does not have.
    schemas, components = msgspec.json.decode(msgspec.json.encode(made))
    known = dict(zip(types, schemas, strict=True))
    paths: dict[str, Document] = {}
    for endpoint in endpoints:
        operations = paths.setdefault(PREFIX + endpoint.path, {})
        operations[endpoint.method.lower()] = _operation(endpoint, known, components)
    for endpoint in endpoints:
        # Parameters are told one by one; as an object they would be nobody's.
        components.pop(endpoint.asks.__name__, None)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "referee",
            "version": __version__,
            "description": "Standings, games and records of a ladder of bots; submissions and "
            "appeals. Every refusal is a JSON object with one sentence.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, known: dict[type, Document], components: Document) -> Document:
    media = "text/event-stream" if endpoint.streams else JSON
    good: Document = {"description": "Done."}
    good["content"] = {media: {"schema": known[endpoint.answers]}}
    if endpoint.streams:
        good["content"] = {media: {"schema": {"type": "string"}}}
    responses = {str(endpoint.status): good}
    for status in endpoint.refusals:
        responses[str(status)] = {
            "description": MEANINGS[status],
            "content": {JSON: {"schema": known[Told]}},
        }
    if not endpoint.changes and not endpoint.streams:
        responses["304"] = {"description": "It is still what `If-None-Match` names."}
    operation: Document = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": _parameters(endpoint, components),
        "responses": responses,
        # Reading needs no token unless it is closed, and with one shows its team more.
        "security": [{"token": []}] if endpoint.needs != "anyone" else [{}, {"token": []}],
    }
    if endpoint.detail:
        operation["description"] = endpoint.detail
    if endpoint.takes is not None:
        operation["requestBody"] = _body(endpoint.takes, known)
    return operation


def _parameters(endpoint: Endpoint, components: Document) -> list[Document]:
    schema = components.get(endpoint.asks.__name__, {})
    required = schema.get("required", [])
    found = []
    for name, own in schema.get("properties", {}).items():
        told = {key: value for key, value in own.items() if key not in ("description", "default")}
        if "anyOf" in told:  # None is what a parameter is that was left out.
            (told,) = [each for each in told["anyOf"] if each != {"type": "null"}]
        parameter: Document = {
            "name": name,
            "in": "path" if name in endpoint.in_path else "query",
            "required": name in required or name in endpoint.in_path,
            "schema": told,
        }
        if "description" in own:
            parameter["description"] = own["description"]
        if own.get("default") is not None:
            parameter["schema"] = {**told, "default": own["default"]}
        found.append(parameter)
    return found


def _body(takes: type, known: dict[type, Document]) -> Document:
    if takes is not Archive:
        return {"required": True, "content": {JSON: {"schema": known[takes]}}}
    content: Document = {media: {"schema": _BYTES} for media in ARCHIVES}
    content[FORM] = {
        "schema": {
            "type": "object",
            "properties": {
                "archive": {**_BYTES, "description": "The bot's folder, as a tar or zip file."},
                "label": {
                    "type": "string",
                    "maxLength": 80,
                    "description": "What its authors call this version; may be left out.",
                },
            },
            "required": ["archive"],
        }
    }
    return {"required": True, "content": content}
