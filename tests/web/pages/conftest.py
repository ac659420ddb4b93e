"""One contest and one browser for all tests here; screenshots are kept, and pytest says where."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.waiting import PATIENCE_S, wait_for
from tests.web.pages.scene import Scene, contest

SHOTS = Path(__file__).parent / "screenshots"
MISSING = "no chromium here; on Debian: apt-get install chromium"
PATIENCE_MS = 1_000 * PATIENCE_S
WINDOW = {"width": 1200, "height": 850}
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="package")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with contest(tmp_path_factory.mktemp("visited")) as found:
        yield found


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    command = shutil.which("chromium")
    if command is None:
        if "CI" in os.environ:
            raise RuntimeError(MISSING)
        pytest.skip(MISSING)
    # Without it chromium refuses to run as root; the pages here are our own.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=command, args=options)
        yield found
        found.close()


Window = Callable[..., Page]


def open_a_game(page: Page) -> None:
    """The first of those that are listed, once there is one."""
    link = page.locator("table a[href^='/games/']").first

    def listed() -> bool:
        page.goto("/games")
        return link.count() > 0

    wait_for(listed, "a game")
    link.click()


@contextmanager
def windows(browser: Browser, scene: Scene) -> Iterator[Window]:
    """Opens new windows at the contest. No page of ours may complain, nor ask anybody else for
    anything: whatever does fails the test."""
    complaints: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(*, phone: bool = False, dark: bool = False, script: bool = True) -> Page:
        context = browser.new_context(
            base_url=scene.url,
            viewport=PHONE if phone else WINDOW,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            # Colours that change little by little would be judged half-way.
            reduced_motion="reduce",
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", lambda said: _note(said.text, complaints))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: _note_stranger(asked.url, scene.url, complaints))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def window(browser: Browser, scene: Scene) -> Iterator[Window]:
    """A function that opens a window of this test alone."""
    with windows(browser, scene) as opened:
        yield opened


@pytest.fixture(scope="module")
def anybody(browser: Browser, scene: Scene) -> Iterator[Page]:
    """One window for all tests of a file that only look: a new one costs more than a page in it."""
    with windows(browser, scene) as opened:
        yield opened()


def _note(said: str, complaints: list[str]) -> None:
    # A page that refuses is a page too, and no complaint.
    if "the server responded with a status of 4" not in said:
        complaints.append(said)


def _note_stranger(url: str, home: str, complaints: list[str]) -> None:
    if not url.startswith((home, "data:")):
        complaints.append(f"asks {url}")


@pytest.fixture
def keep() -> Callable[[Page, str], None]:
    """Keep a screenshot."""

    def kept(page: Page, name: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"{name}.png")

    return kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SHOTS.is_dir() and any(SHOTS.iterdir()):
        terminalreporter.write_line(f"screenshots of the pages: {SHOTS}")
