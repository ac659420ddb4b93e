"""Files that pages use, from the package: contests are often without internet.

The address of a file has the hash of its content in it, so a browser may keep it for good: another
content has another address.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.web.refusal import Refusal

FOLDER = Path(__file__).parent / "assets"
FOR_GOOD = "public, max-age=31536000, immutable"
WORTH_PACKING = 1024
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""What the system may have other ideas of."""


class Asset(Struct, frozen=True):
    url: str
    content: bytes
    packed: bytes | None
    """Compressed, where that is shorter."""
    media_type: str


class Assets:
    """All of them, in memory."""

    def __init__(self, folder: Path = FOLDER) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self._by_name = {
            path.relative_to(folder).as_posix(): _read(path)
            for path in paths
            if not path.name.startswith(".") and path.suffix != ".py"
        }
        self._by_url = {asset.url: asset for asset in self._by_name.values()}

    def url(self, name: str) -> str:
        """The address of a file by its name, for templates."""
        return self._by_name[name].url

    def route(self) -> Route:
        return Route("/assets/{hash}/{name}", self._serve)

    async def _serve(self, request: Request) -> Response:
        asset = self._by_url.get(request.url.path)
        if asset is None:
            raise Refusal(404, "there is no such file")
        headers = {"Cache-Control": FOR_GOOD, "Vary": "Accept-Encoding"}
        content = asset.content
        if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            content = asset.packed
            headers["Content-Encoding"] = "gzip"
        return Response(content, headers=headers, media_type=asset.media_type)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    digest = hashlib.blake2b(content, digest_size=6).hexdigest()
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    packed = gzip.compress(content, 9, mtime=0) if len(content) >= WORTH_PACKING else None
    if packed is not None and len(packed) >= len(content):
        packed = None
    return Asset(
        f"/assets/{digest}/{path.name}", content, packed, kind or "application/octet-stream"
    )
