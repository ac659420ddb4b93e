"""What comes with a request: read no further than its limit, and no longer than its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from referee.web.access import CSRF_FIELD
from referee.web.endpoint import Archive, told_of
from referee.web.openapi import ARCHIVES, FORM, JSON
from referee.web.refusal import Refusal

FIELD = "archive"
LONGEST_LABEL = 80
FORM_ROOM = 16 * 1024
"""For the other fields of a form with a file."""
_PIECE = 256 * 1024
PLAIN_FORM = "application/x-www-form-urlencoded"


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
        sentence = f"the archive is larger than the {archive / 1e6:g} MB that are taken"
        return Refusal(413, sentence, close)
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


async def read_archive(body: bytes, request: Request, limit: int) -> tuple[Archive, str]:
    """A bot's folder, sent as it is or in a form; and the form's proof that it is ours."""
    media = media_type(request)
    if media == FORM:
        form = await read_form(body, request, limit)
        found = form.get(FIELD)
        if not isinstance(found, UploadFile):
            raise Refusal(400, f"the form has no file {FIELD!r}: a tar or zip file is expected")
        content = await found.read()
        label, csrf = str(form.get("label", "")).strip(), str(form.get(CSRF_FIELD, ""))
    elif media in ARCHIVES:
        content, label, csrf = body, "", ""
    else:
        kinds = ", ".join((*ARCHIVES, FORM))
        raise Refusal(415, f"a bot's folder comes as {kinds}, not {media or 'without a type'}")
    if not content:
        raise Refusal(400, "the archive is empty")
    if len(content) > limit:
        raise _too_large(limit, limit)
    if len(label) > LONGEST_LABEL:
        raise Refusal(400, f"the label is longer than {LONGEST_LABEL} characters")
    return Archive(content=content, label=label), csrf


async def read_form(body: bytes, request: Request, limit: int) -> FormData:
    """The fields of a form, of either kind. Raises Refusal."""
    try:
        if media_type(request) == PLAIN_FORM:
            return await FormParser(request.headers, _pieces(body)).parse()
        parser = MultiPartParser(
            request.headers, _pieces(body), max_files=2, max_fields=20, max_part_size=limit
        )
        return await parser.parse()
    except (MultiPartException, HTTPException, KeyError, ValueError, LookupError) as error:
        raise Refusal(400, f"the form cannot be read: {error}") from None


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _pieces(body: bytes) -> AsyncGenerator[bytes, None]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]
        await asyncio.sleep(0)  # Others are to be served in between.
    yield b""
