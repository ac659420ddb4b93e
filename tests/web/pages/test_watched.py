"""A game between bots that were handed in, watched in a real browser while a worker plays it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.daemon.serving import serving
from tests.daemon.test_watched import OPTIONS, two_slow_bots
from tests.waiting import wait_for
from tests.web.pages.conftest import PATIENCE_MS
from tests.web.pages.scene import page_url


def test_moves_come_by_themselves(browser: Browser, tmp_path: Path) -> None:
    data = two_slow_bots(tmp_path, 0.4)
    with serving(data, *OPTIONS, "--variant", "difference") as daemon:
        context = browser.new_context(base_url=page_url(daemon))
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto("/live")
        card = page.locator("article.running:not(.ended)").filter(has_text="tortoise")
        expect(card.first).to_be_visible(timeout=PATIENCE_MS)
        game = card.first.get_attribute("data-game")
        lines = page.locator(f"[data-game='{game}'] [data-lines] p")
        expect(lines.nth(4)).to_be_attached()
        seen = lines.count()
        expect(lines.nth(seen + 2)).to_be_attached()
        expect(page.locator(f"[data-game='{game}'].ended")).to_be_attached()
        told = lines.all_inner_texts()
        # Every round once, in its order, whether the page was there when it was played or not.
        rounds = [line for line in told if "wins the round" in line or "is a tie" in line]
        assert len(rounds) == 5, told
        # A record is kept within a second or so of its game's end.
        api = f"{page_url(daemon)}/api/v1/games/{game}"
        wait_for(lambda: context.request.get(api).ok, "the record")
        page.goto(f"/games/{game}")
        expect(page.get_by_role("heading", name="Replay")).to_be_visible()
        context.close()
        assert complaints == []
        assert daemon.stop() == 0, daemon.said
