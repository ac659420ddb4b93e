"""A whole visit in a real browser: the ladder, a game as it is played, its replay, a game played by
hand in every variant, and what a team does."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from referee.rules.registry import BUNDLED
from tests.web.pages.conftest import PATIENCE_MS, Window, open_a_game
from tests.web.pages.scene import SLOW, Scene

Keep = Callable[[Page, str], None]
OPPONENTS = {
    "difference": "difference-solver",
    "underdog": "underdog-mixer",
    "duel": "duel-wall",
    "target": "target-racer",
    "deck": "deck-odds",
}
SETTLED = "#sitting[data-state=yours], #sitting[data-state=over]"


def rows(page: Page) -> int:
    return page.locator("#ladder tbody tr").count()


def wait_for_ladder(page: Page) -> None:
    """Ratings need a few games first."""
    page.goto("/")
    for _ in range(60):
        if page.locator("#ladder .dot").count() > 2:
            return
        page.wait_for_timeout(1000)
        page.reload()
    raise AssertionError("there were no ratings")


def test_from_the_ladder_to_a_live_game_and_its_replay(window: Window, keep: Keep) -> None:
    page = window()
    wait_for_ladder(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Ladder")
    assert rows(page) >= len(OPPONENTS)
    page.wait_for_selector("html[data-live=yes]", state="attached")
    keep(page, "ladder-desktop-light")
    page.get_by_role("link", name="duel", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("duel")

    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Live").click()
    card = page.locator("article.running:not(.ended)").filter(has_text=re.compile("|".join(SLOW)))
    expect(card.first).to_be_visible(timeout=PATIENCE_MS)
    keep(page, "live-desktop-light")
    card.first.get_by_role("link").click()
    follow(page)
    expect(page.locator("#controls")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name="Replay")).to_be_visible()
    scrub(page, keep)


def follow(page: Page) -> None:
    """Moves come without a reload; at the end the game becomes its replay, by itself."""
    page.evaluate("window.unreloaded = true")
    if page.locator("[data-follow]").count():
        before = page.locator("[data-lines] p").count()
        page.wait_for_function(
            "n => !window.unreloaded || document.querySelectorAll('[data-lines] p').length > n",
            arg=before,
        )


def scrub(page: Page, keep: Keep) -> None:
    last = int(page.locator("#slider").get_attribute("max") or "0")
    assert last > 1
    shown = page.locator("#steps > li:visible")
    expect(page.locator("#step")).to_have_text(f"0 / {last}")
    expect(shown).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#step")).to_have_text(f"1 / {last}")
    expect(shown).to_have_count(2)
    keep(page, "replay-desktop-light")
    page.get_by_role("button", name="One step on").click()
    expect(page.locator("#step")).to_have_text(f"2 / {last}")
    page.keyboard.press("End")
    expect(shown).to_have_count(last + 2)
    expect(page.locator("#ending")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#step")).to_have_text(f"0 / {last}")
    page.locator("#slider").fill(str(last - 1))
    expect(shown).to_have_count(last)
    assert page.url.endswith(f"#step-{last - 1}")
    page.reload()
    expect(shown).to_have_count(last)


def test_a_replay_without_scripts_is_the_whole_game(window: Window) -> None:
    page = window(script=False)
    open_a_game(page)
    expect(page.locator("#controls")).to_be_hidden()
    assert page.locator("#steps > li:visible").count() > 2
    expect(page.locator("#ending")).to_be_visible()


@pytest.mark.parametrize("variant", BUNDLED)
def test_a_game_by_hand(window: Window, keep: Keep, variant: str) -> None:
    """One variant as browsers do it, the others with nothing but forms."""
    script = variant == "duel"
    page = window(script=script, phone=variant in ("deck", "target"), dark=variant == "deck")
    page.goto(f"/play?variant={variant}")
    page.locator("select[name=bot]").select_option(OPPONENTS[variant])
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Begin").click()
    moves = play_on(page, lambda made: keep(page, f"play-{variant}") if made == 1 else None)
    assert moves >= 1  # A hand of luck ends a game of deck at once.
    heading = page.locator("#turn-title")
    expect(heading).to_have_text(re.compile("You won|You lost|A draw"))
    expect(page.locator("#status")).to_contain_text(re.compile("win|draw|won"))
    assert page.locator(".so-far li").count() > moves
    keep(page, f"over-{variant}")
    page.get_by_role("button", name="Play again").click()
    # Not before it is our move: while the bot thinks, the page calls itself again.
    page.wait_for_selector("#sitting[data-state=yours]")
    page.get_by_role("button", name="Give up").click()
    expect(heading).to_have_text("You lost")
    expect(page.locator("#status")).to_contain_text("Ann gives up.")


def play_on(page: Page, look: Callable[[int], None]) -> int:
    """Always the first legal move, to the end; how many there were."""
    made = 0
    while True:
        page.wait_for_selector(SETTLED)
        if page.locator("#sitting[data-state=over]").count():
            return made
        look(made)
        turn = page.locator("#move input[name=turn]").input_value()
        page.locator(".moves button").first.click()
        made += 1
        page.wait_for_selector(
            "#sitting[data-state=over], "
            f"#sitting[data-state=yours]:not(:has(input[name=turn][value='{turn}']))"
        )


def test_a_team_hands_a_bot_in(window: Window, scene: Scene, keep: Keep) -> None:
    page = window()
    page.goto("/submit")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in first")
    page.get_by_role("link", name="Log in").last.click()
    page.get_by_label("Token").fill("0" * 32)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("main")).to_contain_text("not known")
    page.goto("/login?next=/submit")
    page.get_by_label("Token").fill(scene.reds)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Submit a bot")
    archive = {"name": "rocky.tar", "mimeType": "application/x-tar", "buffer": packed("rocky")}
    page.get_by_label("Archive").set_input_files(archive)  # type: ignore[arg-type]
    page.get_by_label("Label").fill("first try")
    page.get_by_role("main").get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("rocky")
    expect(page.get_by_role("table", name="Versions of rocky")).to_contain_text("first try")
    # It says nothing and is rejected, and its team reads why.
    for _ in range(60):
        if page.get_by_text("Build and check of v1: rejected").count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    expect(page.locator("details pre")).to_contain_text("hello")
    keep(page, "own-bot-desktop-light")
    page.get_by_role("button", name="Pause it").click()
    expect(page.get_by_role("button", name="Let it play again")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    page.goto("/bots/rocky")
    expect(page.get_by_role("heading", level=1)).to_have_text("rocky")
    assert page.locator("details").count() == 0


def packed(name: str) -> bytes:
    """A bot that ends at once."""
    files = {
        "bot.toml": f'name = "{name}"\ncommand = ["python3", "bot.py"]\n',
        "bot.py": "raise SystemExit('no hello')\n",
    }
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return found.getvalue()
