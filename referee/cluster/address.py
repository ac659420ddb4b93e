"""What `--cluster` names: the URL of a dask scheduler, or a scheduler file that has one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from distributed.security import Security

from referee.mistake import Mistake

LOCAL = "local"
FORMS = "tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, or local"
_URL = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>\[[^\]]+\]|[^:/\[\]]+):(?P<port>\d{1,5})/?")
_BARE = re.compile(r"[\w.-]+:\d{1,5}")
_TLS = (
    ("tls_ca_file", "ca-file"),
    ("tls_client_cert", "client.cert"),
    ("tls_client_key", "client.key"),
)
"""What dask needs to speak TLS: how its Security calls it, and how its configuration does."""


class BadAddress(Mistake):
    """What can never be the address of a cluster; the message says why."""


class Url(NamedTuple):
    """Where a scheduler is."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def url_of(where: str) -> Url:
    """What a URL or the path of a scheduler file comes to, and that dask can go there. A file is
    read anew each time: a scheduler that is started again may write another address. Raises
    BadAddress."""
    if "://" in where:
        url = _read(where, f"--cluster takes {FORMS}, not {where}")
    else:
        text = _in_file(where)
        url = _read(text, f"the scheduler file {where} has no address such as tcp://HOST:PORT")
    _must_have_keys(url)
    return url


def _read(text: str, otherwise: str) -> Url:
    found = _URL.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise BadAddress(otherwise)
    return Url(found["scheme"], found["host"].strip("[]"), int(found["port"]))


def _in_file(where: str) -> str:
    try:
        found = json.loads(Path(where).read_bytes())
    except (OSError, ValueError) as problem:
        if Path(where).is_file():
            raise BadAddress(f"the scheduler file {where} cannot be read: {problem}") from None
        hint = f"; did you mean tcp://{where}?" if _BARE.fullmatch(where) else ""
        raise BadAddress(f'--cluster takes {FORMS}; "{where}" is no file{hint}') from None
    address = found.get("address") if isinstance(found, dict) else None
    return address if isinstance(address, str) else ""


def _must_have_keys(url: Url) -> None:
    """That dask is configured to speak as this URL asks."""
    security = Security()
    if url.scheme == "tcp":
        if security.require_encryption:
            raise BadAddress(
                f"dask's configuration requires encryption, and {url} has none; use tls://"
            )
        return
    for attribute, key in _TLS:
        path = getattr(security, attribute)
        if path is None:
            raise BadAddress(
                f"{url} needs certificates: set distributed.comm.tls.{key} in dask's configuration"
            )
        if "\n" not in path and not Path(path).is_file():
            raise BadAddress(f"distributed.comm.tls.{key} is {path}, and there is no such file")
