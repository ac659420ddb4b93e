"""Debian's chromium, driven as a person would: it opens files, is clicked and typed at.

It is spoken to through two pipes in the language of its developer tools, one JSON object after
another, each with a zero byte at its end. So no driver and no further package is needed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE_S, wait_for

COMMAND = "chromium"
WINDOW = (1280, 900)
CLICKS = 5
STILL_S = PATIENCE_S
ARRIVES_S = 2.0
SETTLED = "document.documentElement?.dataset.ready === 'yes'"
MISSING = None if shutil.which(COMMAND) else "no chromium here; on Debian: apt-get install chromium"
KEYS = {
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "Home": 36,
    "End": 35,
    "Escape": 27,
    "Tab": 9,
    "Enter": 13,
    "n": 78,
    "p": 80,
}


class BrowserError(Exception):
    """What the browser, or a script in the page, had to complain about."""


class Browser:
    """One window. What a page logs, what fails in it, and all it asks for is kept."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        options = [
            *("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars"),
            *("--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
            *("--disable-component-update", f"--user-data-dir={profile}", "about:blank"),
            # Without it chromium refuses to run as root; the pages here are our own.
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]
        line = f"exec {shlex.join([COMMAND, *options])} 3<&{theirs_in} 4>&{theirs_out}"
        self._process = subprocess.Popen(
            ["bash", "-c", line],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(1280, 900)

    def close(self) -> None:
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._in)
            os.close(self._out)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The pipes.

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its result; what happens in between is noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], PATIENCE_S)[0]:
                raise BrowserError(f"no word from {COMMAND} for {PATIENCE_S} s")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError(f"{COMMAND} ended with status {self._process.wait()}")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, told = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(json.dumps(told["entry"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(told["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    # What a person does.

    def open(self, path: Path, place: str = "") -> float:
        """Open a file, and wait until it is ready: how long that took, in seconds."""
        self.resize(*WINDOW)  # whatever the page before was shown in
        self.call("Page.navigate", url="about:blank")
        self.complaints.clear()
        self.requests.clear()
        start = time.perf_counter()
        self.call("Page.navigate", url=path.resolve().as_uri() + place)
        self.wait(SETTLED)
        return time.perf_counter() - start

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in told:
            raise BrowserError(json.dumps(told["exceptionDetails"]))
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        wait_for(
            lambda: self.run(f"Boolean({condition})"), lambda: f"{condition}; {self.complaints}"
        )

    def text(self, selector: str) -> str:
        """What is to be read there."""
        found = self.run(f"document.querySelector({json.dumps(selector)}).innerText")
        assert isinstance(found, str)
        return found

    def texts(self, selector: str) -> list[str]:
        every = f"[...document.querySelectorAll({json.dumps(selector)})]"
        found = self.run(
            f"{every}.filter((each) => each.checkVisibility()).map((each) => each.innerText)"
        )
        assert isinstance(found, list)
        return found

    def click(self, selector: str, at: int = 0) -> None:
        """With the mouse, in the middle of it.

        Where the page draws a row anew between press and release, the click is lost, as it is for a
        hasty person: one that did not arrive is made again.
        """
        for _ in range(CLICKS):
            box = self._still(selector, at)
            self.run(
                "window.hit = false; document.addEventListener('click', (event) => {"
                f"window.hit ||= event.target.closest({json.dumps(selector)}) !== null; }},"
                "{capture: true, once: true})"
            )
            self.point(*box)
            for kind in ("mousePressed", "mouseReleased"):
                self.call(
                    "Input.dispatchMouseEvent",
                    **{"type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1},
                )
            arrives = time.monotonic() + ARRIVES_S
            while time.monotonic() < arrives:
                if self.run("window.hit"):
                    return
                time.sleep(0.01)
        raise BrowserError(f"never clicked: {selector} {at}")

    def _still(self, selector: str, at: int) -> list[float]:
        """The middle of it, once it is there to be hit and the page has stopped scrolling."""
        where = (
            f"(() => {{ const it = document.querySelectorAll({json.dumps(selector)})[{at}];"
            "it.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = it.getBoundingClientRect();"
            "const middle = [box.x + box.width / 2, box.y + box.height / 2];"
            "const there = document.elementFromPoint(...middle);"
            "return it.contains(there) ? middle : there?.outerHTML.slice(0, 200) ?? 'nothing'; })()"
        )
        before: list[float] | str = []
        patience = time.monotonic() + STILL_S
        while time.monotonic() < patience:
            box: list[float] | str = self.run(where)
            if isinstance(box, list) and box == before:
                return box
            before = box
            time.sleep(0.05)
        raise BrowserError(f"never still: {selector} {at}; {before}")

    def point(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def choose(self, selector: str, value: str) -> None:
        """An option of a select, as a screen reader would choose it."""
        self.run(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)});"
            f"it.value = {json.dumps(value)};"
            "it.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            for kind in ("keyDown", "keyUp"):
                self.call(
                    "Input.dispatchKeyEvent",
                    **{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]},
                )

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def prefer(self, scheme: str, media: str = "screen") -> None:
        """`light` or `dark`; on `screen` or in `print`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))

    def print_to(self, path: Path) -> None:
        self.call("Emulation.setEmulatedMedia", media="", features=[])
        told = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(told["data"]))
