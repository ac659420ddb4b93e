"""The real web process at an address of its own, and requests to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

from tests.forking import Forked
from tests.loopback import own_address
from tests.waiting import PATIENCE_S

MODULE = "referee.web.main"
PROGRAM = f"from {MODULE} import main; main()"
START = [sys.executable, "-c", PROGRAM]


class Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json", self
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The one sentence of a refusal."""
        told = self.json
        assert list(told) == ["error"], told
        assert isinstance(told["error"], str)
        assert told["error"]
        assert "Traceback" not in told["error"]
        return str(told["error"])


class Web:
    """A web process that serves."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self.process = process
        self.url = url

    def get(self, path: str, token: str = "", **headers: str) -> Reply:
        return self.ask("GET", path, None, token, headers)

    def read(self, path: str, token: str = "") -> Any:
        """What the API answers to a good question."""
        reply = self.get(f"/api/v1{path}", token)
        assert reply.status == 200, reply
        return reply.json

    def post(self, path: str, body: object = None, token: str = "", **headers: str) -> Reply:
        if isinstance(body, bytes) or body is None:
            return self.ask("POST", path, body or b"", token, headers)
        headers = {"Content-Type": "application/json", **headers}
        return self.ask("POST", path, json.dumps(body).encode(), token, headers)

    def ask(
        self, method: str, path: str, body: bytes | None, token: str, headers: dict[str, str]
    ) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url + path, data=body, headers=sent, method=method)
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                return Reply(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.headers, error.read())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@contextmanager
def serving(data: Path, *, before: str = "", **settings: Any) -> Iterator[Web]:
    """The process, until it is told to end; it ends by itself and in good order.

    `before` is Python that it runs first, to make something smaller or slower in it.
    """
    pipe = subprocess.PIPE
    process = Forked((MODULE,), f"{before}\n{PROGRAM}", stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(
            json.dumps({"data": str(data), "host": own_address(), **settings}).encode() + b"\n"
        )
        process.stdin.flush()
        ready = process.stdout.readline()
        if not ready:
            raise AssertionError(process.stderr.read().decode())
        yield Web(process, json.loads(ready)["ready"])
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        told = process.stderr.read().decode()
        assert told == "", told
    finally:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout, process.stderr):
            each.close()


def cpu_s(pid: int) -> float:
    """The processor time of a process so far: as good as none where it waits, on any machine."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def query(**values: str) -> str:
    return "?" + urllib.parse.urlencode(values)
