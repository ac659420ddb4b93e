"""Archives that are small, and would cost whoever unpacks or parses them without care."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

from tests.web.contest import archive, files


def dotted_key(parts: int = 300_000) -> bytes:
    """A manifest with one key of many parts: the reader of TOML takes a step for every two."""
    return gzip.compress(_tar({"bot.toml": ".".join("a" * parts).encode() + b" = 1"}))


def nested_manifest(levels: int = 16_000) -> bytes:
    """A manifest with lists within lists."""
    return gzip.compress(_tar({"bot.toml": b"name = " + b"[" * levels}))


def digits_in_a_header(count: int = 300_000) -> bytes:
    """An extended header of digits alone, which tarfile searches anew from every one of them."""
    return gzip.compress(_extended(b"1" * count) + archive("digits"))


def records_in_headers(headers: int = 1_700, records: int = 2_700) -> bytes:
    """Millions of short records in extended headers, which are read one by one."""
    file = _extended(b"6 a=b\n" * records) + tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT)
    return gzip.compress(file * headers + archive("records"))


def zip_bomb(size: int = 100_000_000) -> bytes:
    """A file that is a thousand times as large when it is unpacked."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for path, content in files("bomb").items():
            file.writestr(path, content)
        file.writestr("zeros", bytes(size))
    return packed.getvalue()


def many_members(count: int = 40_000) -> bytes:
    """Empty files, far more than are taken."""
    header = tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT)
    return gzip.compress(header * count + archive("many"))


def folders_in_names(names: int = 4_000) -> bytes:
    """Names that lead through two hundred folders each, of which the archive says nothing."""
    deep = "/".join("a" * 190)
    return gzip.compress(_tar({f"{number}/{deep}": b"" for number in range(names)} | files("deep")))


def _tar(content: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:", format=tarfile.GNU_FORMAT) as file:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def _extended(content: bytes) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(content)
    return info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)
