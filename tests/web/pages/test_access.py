"""Everybody can use the pages: axe finds nothing, a keyboard is enough, a phone is wide enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.web.pages.conftest import PHONE, WINDOW, Window, open_a_game
from tests.web.pages.scene import Scene
from tests.web.pages.test_visit import wait_for_ladder

Keep = Callable[[Page, str], None]
PAGES = {
    "ladder": "/",
    "variant": "/?variant=underdog",
    "live": "/live",
    "games": "/games",
    "head-to-head": "/head-to-head",
    "bot": "/bots/highest",
    "bots": "/bots",
    "seasons": "/seasons",
    "tournaments": "/tournaments",
    "rules": "/rules",
    "rule-book": "/rules/deck",
    "play": "/play",
    "login": "/login",
    "refusal": "/nowhere",
}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""All that is different in the dark."""


def complaints(page: Page, *, dark: bool = False) -> list[str]:
    options = {**(COLOURS if dark else RULES), "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found
        for node in each["nodes"]
    ]


def lighten(page: Page) -> None:
    """On a desk in the light, as every window begins."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WINDOW)  # type: ignore[arg-type]


def darken(page: Page) -> None:
    """The same page on a phone in the dark."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(anybody: Page, keep: Keep, name: str) -> None:
    page = anybody
    if name == "ladder":
        wait_for_ladder(page)
    lighten(page)
    page.goto(PAGES[name])
    keep(page, f"{name}-desktop-light")
    assert complaints(page) == []
    darken(page)
    keep(page, f"{name}-phone-dark")
    assert complaints(page, dark=True) == []
    wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
    assert wide <= 0, "the page is wider than the window"


def test_axe_finds_nothing_in_a_replay(window: Window, keep: Keep) -> None:
    page = window()
    open_a_game(page)
    expect(page.locator("#controls")).to_be_visible()
    page.keyboard.press("ArrowRight")
    assert complaints(page) == []
    darken(page)
    keep(page, "replay-phone-dark")
    assert complaints(page, dark=True) == []


def test_axe_finds_nothing_in_a_game_by_hand(window: Window, keep: Keep) -> None:
    page = window()
    page.goto("/play?variant=deck&bot=highest")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("#sitting[data-state=yours]")
    keep(page, "sitting-desktop-light")
    assert complaints(page) == []
    page.get_by_role("button", name="Give up").click()
    page.wait_for_selector("#sitting[data-state=over]")
    assert complaints(page) == []
    darken(page)
    keep(page, "sitting-phone-dark")
    assert complaints(page, dark=True) == []


def test_axe_finds_nothing_for_an_organiser(window: Window, scene: Scene, keep: Keep) -> None:
    page = window()
    page.goto("/login?next=/organise")
    page.get_by_label("Token").fill(scene.organiser)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Organise")
    keep(page, "organise-desktop-light")
    for path in ("/organise", "/submit", "/bots/highest"):
        page.goto(path)
        assert complaints(page) == []


def test_a_keyboard_is_enough(window: Window) -> None:
    page = window()
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(":focus").is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate(outline) != "none"

    page.goto("/play?variant=underdog&bot=highest")
    page.get_by_label("Your name").focus()
    page.keyboard.press("Enter")
    for turn in (1, 2):
        page.wait_for_selector(f"#sitting[data-state=yours] input[name=turn][value='{turn}']",
                               state="attached")  # fmt: skip
        if turn == 1:
            page.locator(".moves button").first.focus()
        else:
            # After a move the first one that is possible has the focus.
            focused = "document.activeElement.closest('.moves') !== null"
            page.wait_for_function(focused)
        page.keyboard.press("Enter")
