"""What comes with a request: read no further than its limit, and no longer than its time."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request

from referee.web import forms
from referee.web.endpoint import told_of
from referee.web.openapi import ARCHIVES, JSON
from referee.web.refusal import Refusal
from referee.web.upload_reader import too_large

FORM_ROOM = 16 * 1024
"""For the other fields of a form with a file."""


async def read_body(
    request: Request, limit: int, within_s: float, archive: int | None = None
) -> bytes:
    """All of it. Raises Refusal for one that is too large, or does not come in time. `archive` is
    the limit of what is sent in it, where that is what its sender knows of."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and (len(told) > 18 or int(told) > limit):
        raise _too_large(limit, archive)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(within_s):
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise _too_large(limit, archive)
                pieces.append(piece)
    except TimeoutError:
        raise Refusal(
            408, f"the body did not come within {within_s:g} s", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise Refusal(400, "the body broke off") from None
    return b"".join(pieces)


def _too_large(limit: int, archive: int | None) -> Refusal:
    # Whoever sends too much would go on sending, and nobody reads it.
    close = {"Connection": "close"}
    if archive is not None:
        return Refusal(413, too_large(archive), close)
    return Refusal(413, f"the body is larger than {limit} bytes", close)


def read_json(body: bytes, media: str, kind: type) -> Any:
    """A value of this type. Raises Refusal."""
    if media != JSON:
        raise Refusal(415, f"the body has to be {JSON}, not {media or 'of no type'}")
    if not body.strip():
        raise Refusal(400, "the body is empty: a JSON object is expected")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Refusal(400, told_of(error)[0]) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(400, f"the body is not JSON: {error}") from None
    except RecursionError:
        raise Refusal(400, "the body is nested too deep") from None


def read_form(body: bytes, request: Request) -> dict[str, str]:
    """The fields of a form, of either kind; a file is an empty one. Raises Refusal."""
    try:
        found = forms.read_form(request.headers.get("content-type", ""), body)
    except forms.BadForm as bad:
        raise Refusal(400, f"the form cannot be read: {bad}") from None
    return {name: field.text for name, field in found.items()}


def archive_type(request: Request) -> str:
    """The Content-Type of a bot's folder, sent as it is or in a form. Raises Refusal."""
    media = media_type(request)
    if media not in (*ARCHIVES, forms.FORM):
        kinds = ", ".join((*ARCHIVES, forms.FORM))
        raise Refusal(415, f"a bot's folder comes as {kinds}, not {media or 'without a type'}")
    return request.headers.get("content-type", "")


def media_type(request: Request) -> str:
    return forms.media_type(request.headers.get("content-type", ""))
