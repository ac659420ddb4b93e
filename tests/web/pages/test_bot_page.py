"""The page of a bot of a real daemon, in a real browser: how it does, and what its team sees."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, expect

from referee.daemon.definition import definition_of
from referee.daemon.examining import unpacked
from referee.daemon.samples import packed
from referee.store.house import House
from referee.store.house.ratings import RatingNow
from tests.daemon.serving import WEB, Daemon, serving
from tests.daemon.test_submissions import team
from tests.web.pages.conftest import PATIENCE_MS
from tests.web.pages.scene import page_url

OPTIONS = (*WEB, "--bots", "none", "--variant", "underdog", "--pace", "30")
BOT = """
import json, random, sys

chance = random.Random(1)
print("rocky begins", file=sys.stderr, flush=True)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "name": "rocky"}), flush=True)
    elif message["type"] == "ping":
        print(json.dumps({"type": "pong"}), flush=True)
    elif message["type"] == "turn":
        move = 99 if chance.random() < 0.1 else chance.choice(message["legal"])
        print(json.dumps({"id": message["id"], "move": move}), flush=True)
    elif message["type"] == "bye":
        break
"""


def rocky(tmp_path: Path, data: Path) -> str:
    """A bot with faults that writes to stderr, beside the sample bots; its team's token."""
    folder = tmp_path / "rocky"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    words = json.dumps([sys.executable, "bot.py"])
    (folder / "bot.toml").write_text(f'name = "rocky"\ncommand = {words}\n')
    with House.open(data) as house:
        version = house.submissions.keep("rocky", team(house), packed(folder))
        house.submissions.claim()
        bot = unpacked(house.submissions.path(version), data, version.id).renamed("rocky")
        house.submissions.accept(version.id, definition_of(bot, data), "")
        return house.teams.new_token("Reds", by="a test")


def note_the_past(daemon: Daemon) -> None:
    """Ratings of the half hour before, as the daemon would have noted them minute by minute."""
    for minute in (30, 20, 10):
        moment = datetime.now(UTC) - timedelta(minutes=minute)
        with House.open(daemon.data, now=partial(_same, moment)) as house:
            season = house.seasons.named("1")
            version = house.versions.named("rocky", 1)
            for variant in ("", "underdog"):
                point = RatingNow(version.id, variant, -3.0 * minute, 40.0, minute)
                house.ratings.note(season, [point])


def _same(moment: datetime) -> datetime:
    return moment


def test_a_bots_page_has_all_of_it(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "data"
    token = rocky(tmp_path, data)
    with serving(data, *OPTIONS, "--samples") as daemon:
        context = browser.new_context(base_url=page_url(daemon))
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto("/bots/rocky")
        daemon.wait_for_games(100)
        # Until there are two points there is no line, and the page says when there will be one.
        faults = page.get_by_role("table", name="Faults by version and variant")
        for _ in range(60):
            if faults.count():
                break
            page.wait_for_timeout(500)
            page.reload()
        expect(faults).to_contain_text("illegal")
        time = page.get_by_role("heading", name=re.compile("Rating over time"))
        expect(time).to_be_visible()
        chart = page.get_by_role("img", name=re.compile("Rating over time: v1 is at"))
        if not chart.count():  # A minute may have passed.
            expect(page.get_by_role("main")).to_contain_text("the curve begins with the second")
        note_the_past(daemon)
        page.reload()
        expect(chart).to_be_visible()
        points = chart.locator("polyline").first.get_attribute("points") or ""
        assert len(points.split()) >= 3
        expect(page.get_by_role("table", name="How it did against others")).to_contain_text(" v1")
        expect(page.get_by_text("rocky begins")).to_have_count(0)
        page.goto("/login?next=/bots/rocky")
        page.get_by_label("Token").fill(token)
        page.get_by_role("main").get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="wrote to stderr last")).to_be_visible()
        expect(page.locator("pre").last).to_contain_text("rocky begins")
        context.close()
        assert daemon.stop() == 0, daemon.said
