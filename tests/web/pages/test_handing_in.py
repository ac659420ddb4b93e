"""A bot that is too large, handed in with a real browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.web.contest import Contest
from tests.web.pages.conftest import PATIENCE_MS
from tests.web.serving import serving


def test_the_page_says_that_it_is_too_large(browser: Browser, own: Contest, tmp_path: Path) -> None:
    large = tmp_path / "large.tar"
    large.write_bytes(bytes(25_000_000))
    with serving(own.data) as web:
        context = browser.new_context(base_url=web.url)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto("/login?next=/submit")
        page.get_by_label("Token").fill(own.reds)
        page.get_by_role("main").get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Submit a bot")
        page.get_by_label("Archive").set_input_files(large)
        page.get_by_role("main").get_by_role("button", name="Submit").click()
        told = "larger than the 20 MB"
        expect(page.get_by_role("main")).to_contain_text(told)
        context.close()
