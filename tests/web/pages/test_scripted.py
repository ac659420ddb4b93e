"""The rules of a variant that is a script, from a game by hand in a real browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.arena.playing import ROOT
from tests.daemon.serving import WEB, serving
from tests.web.pages.conftest import PATIENCE_MS, open_a_game
from tests.web.pages.scene import page_url
from tests.web.serving import Web
from tests.web.serving import serving as web_serving

OPTIONS = (*WEB, "--bots", "none", "--pace", "2", "--variant")
SCRIPT = ROOT / "docs/examples/goofspiel.py"


def test_the_rules_of_a_script_are_a_click_away(browser: Browser, tmp_path: Path) -> None:
    # A file may be called otherwise than the game in it.
    script = tmp_path / "my_prizes.py"
    script.write_bytes(SCRIPT.read_bytes())
    with serving(tmp_path / "data", *OPTIONS, str(script)) as daemon:
        web = Web(daemon.process, page_url(daemon))
        daemon.wait_for_games()
        told = web.read("/variants/goofspiel")
        assert told["book"].startswith("Goofspiel: bid for prizes")
        names = [each["name"] for each in web.read("/variants")["variants"]]
        assert (names[0], names[-1]) == ("difference", "goofspiel")
        assert web.read("/seasons")["seasons"][0]["variants"] == ["goofspiel"]
        context = browser.new_context(base_url=web.url)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto("/rules")
        page.get_by_role("link", name="Play goofspiel").click()
        page.locator("select[name=bot]").select_option("random")
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("main").get_by_role("link", name="rules").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("goofspiel")
        expect(page.get_by_role("main")).to_contain_text("Each player holds the bids 1 to 13")
        expect(page.get_by_role("table", name="Options of goofspiel")).to_contain_text("carry")
        open_a_game(page)
        page.get_by_role("main").get_by_role("link", name="goofspiel").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("goofspiel")
        context.close()
        assert daemon.stop() == 0, daemon.said


def test_a_script_without_a_word_has_a_page_and_one_that_is_gone_has_none(tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    _, _, code = SCRIPT.read_text().partition('"""\n\n')
    script.write_text(code)
    data = tmp_path / "data"
    with serving(data, *OPTIONS, str(script)) as daemon:
        web = Web(daemon.process, page_url(daemon))
        page = web.get("/rules/goofspiel")
        assert (page.status, b"more points win" in page.body) == (200, True)
        daemon.wait_for_games()
        assert daemon.stop() == 0, daemon.said
    script.unlink()
    # No daemon plays without it; what was played before can still be looked at.
    with web_serving(data) as web:
        assert web.get("/rules/goofspiel").status == 404
        assert web.get("/rules/duel").status == 200
        assert web.get("/").status == 200
