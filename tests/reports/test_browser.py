"""The report in a real browser: opened from disk, looked at, clicked and typed at."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.record import Record
from referee.replaying import replay
from referee.reports.html.make import write_report
from referee.store.database import Store
from referee.store.rows import BotRow, GameRow, PairingRow
from referee.tournament.spec import Spec
from tests.records import FAULTY, faulty, games, with_notes
from tests.reports.browser import MISSING, Browser
from tests.reports.stored import Met, make, make_real
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

NASTY = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='got'\">"
)
MANY = 10_000
ROWS = "#game-table tbody tr"
STORY = "#story .part"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two variants, four bots, games that ended in many ways."""
    folder = tmp_path_factory.mktemp("cup")
    faults = [replace(faulty(name), variant="duel", players=("a", "b")) for name in FAULTY]
    made = make_real(
        folder,
        {
            ("random", "highest"): games("underdog"),
            ("a", "b"): faults,
            ("a", "highest"): [
                replace(each, players=("a", "highest")) for each in games("underdog")
            ],
        },
    )
    return write_report(made)


def opened(browser: Browser, path: Path, place: str = "") -> None:
    """The page is there, without a complaint, and has asked for nothing but itself."""
    browser.prefer("light")
    browser.resize(1280, 900)
    browser.open(path, place)
    quiet(browser, path)


def quiet(browser: Browser, path: Path) -> None:
    assert browser.complaints == []
    asked = {url.partition("#")[0] for url in browser.requests if not url.startswith("data:")}
    assert asked <= {path.resolve().as_uri()}


def replaying(browser: Browser) -> None:
    browser.wait("document.querySelector('#replay').open")


def test_the_tables_are_shown(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    assert browser.text("h1") == "real"
    assert browser.texts("[role=tab]") == ["All variants", "underdog", "duel"]
    assert sorted(browser.texts(".standings tbody th")) == ["a", "b", "highest", "random"]
    browser.click("[role=tab]", 1)
    assert browser.run("document.activeElement.getAttribute('aria-selected')") == "true"
    assert played(browser) == {"a": 6, "b": 0, "highest": 12, "random": 6}
    bars = browser.run("document.querySelectorAll('.panel:not([hidden]) td .bar .dot').length")
    assert bars >= 2
    browser.press("ArrowRight")
    rated = sum(faulty(name).rated for name in FAULTY)
    assert played(browser) == {"a": rated, "b": rated, "highest": 0, "random": 0}
    quiet(browser, cup)


def played(browser: Browser) -> dict[str, int]:
    """The games of each bot in the table that is shown."""
    names, counts = (
        browser.texts(".standings tbody th"),
        browser.texts(".standings td:nth-child(6)"),
    )
    return dict(zip(names, map(int, counts), strict=True))


def test_a_table_is_sorted_by_its_heads(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    head = ".panel:not([hidden]) .standings thead th:nth-child(2)"
    browser.click(f"{head} button")
    assert browser.texts(".standings tbody th") == ["a", "b", "highest", "random"]
    browser.click(f"{head} button")
    assert browser.texts(".standings tbody th") == ["random", "highest", "b", "a"]
    assert browser.run(f"document.querySelector('{head}').ariaSort") == "descending"


def test_a_cell_of_the_cross_table_shows_its_games(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    cells = browser.run("document.querySelectorAll('.panel:not([hidden]) .heat button').length")
    assert cells == 6
    label = browser.run("document.querySelector('.heat button').ariaLabel")
    browser.click(".heat button")
    first, second = label.partition(":")[0].split(" against ")
    rows = browser.texts(ROWS)
    assert rows
    assert all(first in row.split("\t") and second in row.split("\t") for row in rows)


def test_rating_over_time_tells_what_is_pointed_at(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    browser.run("document.querySelector('.chart').focus({preventScroll: true})")
    browser.press("ArrowLeft", "ArrowLeft")
    assert "After 90 % of the games" in browser.text(".readout")
    browser.run("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    box = "document.querySelector('.chart').getBoundingClientRect()"
    browser.wait(f"{box}.top > 0")
    x, y = browser.run(f"[{box}.left + {box}.width / 2, {box}.top + 30]")
    browser.point(x, y)
    assert "of the games" in browser.text(".readout")
    curves = browser.run("document.querySelectorAll('.panel:not([hidden]) .curve').length")
    assert curves >= 2


def test_games_are_filtered(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    everything = 12 + len(FAULTY)
    assert browser.text("#count") == f"1–{everything} of {everything} games"
    browser.choose("[name=ending]", "illegal")
    assert len(browser.texts(ROWS)) == 2
    assert all("illegal" in row for row in browser.texts(ROWS))
    assert browser.text("#count") == f"1–2 of 2 games, out of {everything}"
    browser.click("#filters button[type=reset]")
    assert len(browser.texts(ROWS)) == everything
    browser.choose("[name=variant]", "underdog")
    browser.choose("[name=bot]", "highest")
    assert len(browser.texts(ROWS)) == 12
    browser.choose("[name=opponent]", "a")
    assert len(browser.texts(ROWS)) == 6
    won = sum(
        each.winner is not None and each.players[each.winner] == "highest"
        for each in (replace(each, players=("a", "highest")) for each in games("underdog"))
    )
    browser.choose("[name=result]", "won")
    assert len(browser.texts(ROWS)) == won
    browser.choose("[name=opponent]", "highest")
    assert browser.text("#count") == f"None of the {everything} games is like that."
    quiet(browser, cup)


def test_a_game_is_replayed_step_by_step(browser: Browser, cup: Path) -> None:
    record = games("underdog")[2]
    story = replay(record).story()
    opened(browser, cup)
    browser.click(ROWS, 2)
    replaying(browser)
    assert browser.text("#replay-title") == " – ".join(record.players)
    shown = [story.opening]
    assert said(browser) == shown
    for number, lines in enumerate(story.steps, start=1):
        browser.press("ArrowRight")
        shown.append(lines)
        over = number == len(story.steps)
        assert said(browser) == [*shown, *([story.ending] if over else [])]
        assert browser.text("#step") == f"{number} / {len(story.steps)}"
    browser.press("ArrowRight")
    assert browser.text("#step") == f"{len(story.steps)} / {len(story.steps)}"
    browser.press("ArrowLeft")
    assert said(browser) == [story.opening, *story.steps[:-1]]
    browser.press("Home")
    assert said(browser) == [story.opening]
    browser.click("#forward")
    browser.click("#forward")
    browser.click("#back")
    assert said(browser) == [story.opening, story.steps[0]]
    browser.click("#to-end")
    assert said(browser)[-1] == story.ending
    browser.click("#to-start")
    browser.press("n")
    browser.wait("document.querySelector('#replay-facts').innerText.startsWith('Game 1-4 ')")
    assert said(browser) == [replay(games("underdog")[3]).story().opening]
    browser.press("p", "Escape")
    assert browser.run("document.querySelector('#replay').open") is False
    quiet(browser, cup)


def said(browser: Browser) -> list[list[str]]:
    """The parts of a story that are to be seen, as the rules tell them."""
    found = browser.run(
        f"[...document.querySelectorAll('{STORY}')].filter((each) => !each.hidden).map((part) =>"
        "[...part.querySelectorAll('.said')].map((line) =>"
        "(line.classList.contains('more') ? '  ' : '') + line.innerText))"
    )
    assert isinstance(found, list)
    return found


def test_a_link_leads_to_a_filter_and_to_a_step(browser: Browser, cup: Path) -> None:
    opened(browser, cup, "#bot=a&ending=crash")
    assert len(browser.texts(ROWS)) == 1
    opened(browser, cup, "#game=1-3&step=2")
    replaying(browser)
    assert browser.text("#step").startswith("2 / ")
    assert said(browser)[-1] == replay(games("underdog")[2]).story().steps[1]
    browser.press("ArrowRight")
    assert "step=3" in browser.run("location.hash")
    browser.press("Escape")
    browser.wait("location.hash === ''")
    opened(browser, cup, "#game=99-1&bot=nobody")
    assert browser.run("document.querySelector('#replay').open") is False


def test_faults_are_shown_with_their_games(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    assert sorted(browser.texts(".guilty summary .name")) == ["a", "b"]
    browser.click("[data-bot=b] summary")
    browser.wait("document.querySelector('[data-bot=b] tbody tr')")
    shown = browser.text("[data-bot=b]")
    expected = [each for name in FAULTY for each in faulty(name).faults() if each.seat == 1]
    assert expected
    for fault in expected:
        assert fault.detail in shown
        assert fault.code.value in shown
    browser.click("[data-bot=b] tbody tr")
    replaying(browser)
    assert any("b is at fault" in line for line in said(browser)[-1])
    quiet(browser, cup)


def test_hostile_text_is_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    record = faulty("illegal")
    assert record.fault is not None
    fault = replace(record.fault, detail=NASTY, received=NASTY)
    bad = replace(record, players=(NASTY, "b"), fault=fault, reason=NASTY)
    path = write_report(make_real(tmp_path, {(NASTY, "b"): [bad, bad]}))
    opened(browser, path)
    assert NASTY in browser.texts(".standings tbody th")
    assert NASTY in browser.texts(ROWS)[0]
    browser.click("details.guilty summary")
    browser.wait("document.querySelector('.detail')")
    assert browser.text(".detail").startswith(NASTY)
    browser.click(ROWS)
    replaying(browser)
    browser.press("End")
    assert NASTY in browser.text("#replay-title")
    assert NASTY in browser.text("#story")
    assert browser.run("document.title") == "real – tournament report"
    assert browser.run("document.images.length") == 0
    quiet(browser, path)


def test_notes_are_shown_where_they_are_asked_for(browser: Browser, tmp_path: Path) -> None:
    record = with_notes()
    folder = make_real(tmp_path, {("a", "b"): [record]})
    note = next(iter(record.notes.values()))
    for private in (False, True):
        path = write_report(folder, private=private)
        opened(browser, path, "#game=1-1&step=99")
        replaying(browser)
        assert (note in browser.text("#story")) is private


def test_light_and_dark(browser: Browser, cup: Path, tmp_path: Path) -> None:
    opened(browser, cup)

    def paper() -> int:
        """How bright the corner of the page is."""
        browser.picture(tmp_path / "shot.png")
        return sum(corner(tmp_path / "shot.png"))

    def light() -> bool:
        return paper() > 700

    def dark() -> bool:
        return paper() < 150

    wait_for(light, "a light page")
    browser.click("#theme")
    wait_for(dark, "a dark page")
    browser.prefer("dark")
    opened(browser, cup)
    # The choice is kept where the browser lets a page from disk keep anything.
    browser.run("localStorage.clear()")
    browser.open(cup)
    wait_for(light, "a light page")
    browser.prefer("dark")
    wait_for(dark, "a dark page")
    browser.click("#theme")
    wait_for(light, "a light page")
    browser.run("localStorage.clear()")


def corner(path: Path) -> tuple[int, int, int]:
    """The first pixel of a PNG: of the first line, so no other line is in its filter."""
    data = path.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    red, green, blue = zlib.decompress(packed)[1:4]
    return red, green, blue


def test_paper_shows_every_table_and_no_buttons(
    browser: Browser, cup: Path, tmp_path: Path
) -> None:
    opened(browser, cup)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.prefer("dark", "print")
    assert len(browser.texts(".standings")) == 3
    for hidden in ("#filters", ".tools", ".places", "[role=tab]", "#pager", ".list td button"):
        assert browser.texts(hidden) == [], hidden
    ink = browser.run("getComputedStyle(document.body).color")
    assert ink == "rgb(28, 33, 38)", "paper is white, whatever the screen is"
    browser.print_to(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    quiet(browser, cup)


def test_on_a_phone_nothing_sticks_out(browser: Browser, cup: Path) -> None:
    opened(browser, cup)
    browser.resize(390, 844)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    browser.click(ROWS)
    replaying(browser)
    assert browser.run("document.querySelector('#replay').getBoundingClientRect().width") <= 390
    for control in ("#back", "#forward", "#replay-close"):
        box = browser.run(f"document.querySelector('{control}').getBoundingClientRect().right")
        assert box <= 390


def test_a_tournament_without_games(browser: Browser, tmp_path: Path) -> None:
    path = write_report(make(tmp_path, [Met("a", "b", "", games=4)], finished=False))
    opened(browser, path)
    assert browser.text("#count") == "No game has been played yet."
    assert "0 of 4 games, not finished" in browser.text("#facts")
    assert browser.text("#fault-list") == "No bot was at fault in any game."


def test_rounds_are_shown(browser: Browser, tmp_path: Path) -> None:
    meetings = [Met("a", "b", "", games=4), Met("c", "d", "", games=4)]
    folder = make(tmp_path, meetings, finished=False, format="knockout", bots=("a", "b", "c", "d"))
    opened(browser, write_report(folder))
    assert browser.run("document.querySelector('#rounds').hidden") is False
    assert len(browser.texts(".round")) >= 1
    assert {"a", "b", "c", "d"} <= set(browser.texts(".side .name"))


def test_ten_thousand_games(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_report(large(tmp_path, games("underdog"), MANY))
    browser.prefer("light")
    seconds = min(browser.open(path) for _ in range(3))
    quiet(browser, path)
    with capsys.disabled():
        size = path.stat().st_size / 1e6
        print(f"\na report of {MANY} games: {size:.1f} MB, opens in {seconds:.2f} s")
    assert browser.text("#count") == "1–50 of 10,000 games"
    assert len(browser.texts(ROWS)) == 50
    browser.click("#pager button", 3)
    assert browser.text("#count") == "9,951–10,000 of 10,000 games"
    browser.click(ROWS, 49)
    replaying(browser)
    assert browser.text("#step").startswith("0 / ")
    browser.press("Escape")
    browser.choose("[name=bot]", "bot 2")
    assert browser.text("#count") == "1–50 of 4,000 games, out of 10,000"


def large(folder: Path, records: list[Record], count: int) -> Path:
    """Five bots, all of whose games are copies of these."""
    names = [f"bot {number}" for number in range(1, 6)]
    pairs = list(combinations(range(1, 6), 2))
    each = count // len(pairs)
    spec = Spec(name="large", variants=("underdog",), bots=tuple(names))
    values = {"name": "large", "spec": msgspec.json.encode(spec).decode(), "finished": "now"}
    bots = [BotRow(number, name, "1", "", "{}") for number, name in enumerate(names, start=1)]
    with Store.create(folder, values, bots) as store:
        store.add_pairings(
            PairingRow(at, 1, "underdog", *pair, each) for at, pair in enumerate(pairs, start=1)
        )
        for at, (first, second) in enumerate(pairs, start=1):
            renamed = [
                replace(record, players=(names[first - 1], names[second - 1])) for record in records
            ]
            store.add_games(
                GameRow(
                    *(at, number, (number + 1) // 2, first, second),
                    *(int(2 * record.points()[0]), "rules", len(record.moves), number),
                    record=msgspec.msgpack.encode(record),
                )
                for number in range(1, each + 1)
                for record in [renamed[number % len(renamed)]]
            )
        store.commit()
    return folder
