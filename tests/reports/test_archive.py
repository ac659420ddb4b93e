"""The archive of a tournament: whole, the same every time, and quick to open."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from referee.record import Record, read_records
from referee.reports.archive.make import BadArchiving, Made, Wish, make_archive
from referee.reports.archive.reading import lines_of_archive, read_index
from referee.store.database import Store
from referee.tournament.spec import Spec
from referee.verifying import verify
from tests.records import faulty, games, with_notes
from tests.reports.browser import MISSING, Browser, BrowserError
from tests.reports.pages import contents, read
from tests.reports.stored import make_real
from tests.waiting import PATIENCE_S

READY = "document.documentElement?.dataset.ready === 'yes'"


def numbered(pairing: int, records: list[Record], *players: str) -> list[Record]:
    """As the games of a pairing are called in a real store."""
    return [
        replace(each, game=f"{pairing}-{number}", players=tuple(players))
        for number, each in enumerate(records, start=1)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two variants and a fault, 4 pairings."""
    played = games("underdog")
    late = replace(faulty("timeout"), players=("random", "highest"))
    return make_real(
        tmp_path_factory.mktemp("cup"),
        {
            ("random", "highest"): numbered(1, [*played, late], "random", "highest"),
            ("random", "lowest"): numbered(2, played, "random", "lowest"),
            ("highest", "lowest"): numbered(3, played, "highest", "lowest"),
            ("lowest", "counter"): numbered(4, games("duel"), "lowest", "counter"),
        },
    )


@pytest.fixture(scope="module")
def made(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_archive(folder, tmp_path_factory.mktemp("out") / "cup", Wish(games_a_piece=4))


def test_every_game_is_in_one_piece_and_holds(folder: Path, made: Made) -> None:
    with Store.read(folder) as store:
        there = [f"{pairing}-{number}" for pairing, number, _ in store.records()]
    index = read_index(Path(made.path))
    assert (made.games, made.records, made.pieces) == (len(there), len(there), len(index.pieces))
    found = [record.game for _, record in read_records(lines_of_archive(Path(made.path)))]
    assert found == there
    assert [piece.games for piece in index.pieces[:-1]] == [4] * (len(index.pieces) - 1)
    assert [piece.first for piece in index.pieces] == there[::4]
    assert verify(lines_of_archive(Path(made.path))).mismatches == []


def test_the_manifest_has_every_file(made: Made) -> None:
    lines = (Path(made.path) / "MANIFEST").read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = [
        each for each in Path(made.path).rglob("*") if each.is_file() and each.name != "MANIFEST"
    ]
    assert told == {
        str(each.relative_to(Path(made.path))): hashlib.sha256(each.read_bytes()).hexdigest()
        for each in files
    }
    assert {"README.txt", "facts.json", "spec.json", "variants/duel.py"} <= told.keys()
    assert {f"tables/standings.{kind}" for kind in ("txt", "md", "csv", "json")} <= told.keys()


def test_the_same_state_gives_the_same_bytes(folder: Path, made: Made, tmp_path: Path) -> None:
    again = make_archive(folder, tmp_path / "again", Wish(games_a_piece=4))
    assert (Path(again.path) / "MANIFEST").read_bytes() == (
        Path(made.path) / "MANIFEST"
    ).read_bytes()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = make_archive(folder, tmp_path / "a/cup.tar", Wish())
    second = make_archive(folder, tmp_path / "b/cup.tar", Wish())
    assert Path(first.path).read_bytes() == Path(second.path).read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "again", "b"]


def test_one_game_is_found_without_the_others(made: Made) -> None:
    names = [record.game for _, record in read_records(lines_of_archive(Path(made.path), "3-1"))]
    assert "3-1" in names
    assert len(names) == 4


def test_a_piece_that_was_changed_is_noticed(folder: Path, tmp_path: Path) -> None:
    made = make_archive(folder, tmp_path / "cup", Wish())
    piece = tmp_path / "cup/games/0001.jsonl.gz"
    piece.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(Exception, match=r"is not the file of which games/index.json has the hash"):
        list(lines_of_archive(Path(made.path)))


def test_nothing_is_overwritten_and_nothing_half_made_is_left(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(BadArchiving, match="is there already"):
        make_archive(folder, tmp_path / "mine", Wish())

    def stop(done: int, _all: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_archive(folder, tmp_path / "cup", Wish(), stop)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_notes_and_the_machine_are_nobodys_business(tmp_path: Path) -> None:
    noted = replace(with_notes(), game="1-1")
    assert noted.notes
    script = tmp_path / "secret-place" / "mine.py"
    script.parent.mkdir()
    script.write_text("broken(")
    made = make_real(tmp_path / "t", {noted.players: [noted]})
    with Store.open(made) as store:
        spec = Spec(name="x", variants=("underdog", str(script)), seed="hidden", salt="hidden")
        store.set_value("spec", msgspec.json.encode(spec).decode())
        store.set_value("finished", "")
        store.commit()
    make_archive(made, tmp_path / "public", Wish(scripts=(str(script),)))
    public = tmp_path / "public"
    everything = b"".join(each.read_bytes() for each in public.rglob("*.json"))
    assert b"secret-place" not in everything
    assert b"hidden" not in everything
    (_, record), *_ = read_records(lines_of_archive(public))
    assert record.notes == {}
    facts = json.loads((public / "facts.json").read_bytes())
    assert "syntax error" in facts["variants"][1]["trouble"]
    make_archive(made, tmp_path / "private", Wish(private=True))
    private = tmp_path / "private"
    (_, record), *_ = read_records(lines_of_archive(private))
    assert record.notes == noted.notes


def test_a_script_that_a_database_names_is_run_only_where_its_path_is_given(
    tmp_path: Path,
) -> None:
    """Whoever archives a folder that somebody else made runs nothing of theirs."""
    script = tmp_path / "theirs.py"
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    made = make_real(tmp_path / "t", {("random", "highest"): games("underdog")})
    with Store.open(made) as store:
        spec = Spec(name="x", variants=("underdog", str(script)))
        store.set_value("spec", msgspec.json.encode(spec).decode())
        store.commit()
    make_archive(made, tmp_path / "theirs", Wish())
    facts = json.loads((tmp_path / "theirs/facts.json").read_bytes())
    assert facts["variants"][1]["trouble"]
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "theirs/variants/theirs.py").exists()
    make_archive(made, tmp_path / "ours", Wish(scripts=(str(script),)))
    assert (tmp_path / "ran").exists()


def test_the_first_page_does_not_grow_with_the_games(made: Made) -> None:
    page = read(Path(made.path) / "report/index.html")
    assert not [name for name in page.parts if name.startswith("block-")]
    found = contents(Path(made.path) / "report/index.html")
    assert [piece["page"] for piece in found["pieces"]] == [
        f"games-{number:04d}.html" for number in range(1, made.pieces + 1)
    ]
    assert contents(Path(made.path) / "report/games-0001.html")["home"] == "index.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if MISSING is not None:
        pytest.skip(str(MISSING))
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def follow(browser: Browser, selector: str, there: str) -> None:
    """To another page, until it is there: while it comes, the browser has no page to ask."""
    browser.run(f"setTimeout(() => document.querySelector({json.dumps(selector)}).click())")
    arrive(browser, there)


def arrive(browser: Browser, there: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            browser.wait(there)
            return
        except BrowserError as error:
            if "navigated" not in str(error) or time.monotonic() > until:
                raise


def test_from_the_tables_to_a_game_and_back(browser: Browser, made: Made) -> None:
    browser.open(Path(made.path) / "report/index.html")
    assert browser.complaints == []
    rows = "#game-table tbody tr"
    assert len(browser.texts(rows)) == 4
    browser.choose("#filters [name=bot]", "lowest")
    browser.choose("#filters [name=variant]", "duel")
    (row,) = browser.texts(rows)
    assert row.split()[:5] == ["4", "duel", "lowest", "counter", str(len(games("duel")))]
    follow(browser, f"{rows} a", f"{READY} && location.pathname.includes('games-')")
    assert browser.texts(rows)
    assert all("lowest" in each for each in browser.texts(rows))
    browser.click(f"{rows} button")
    browser.wait("document.querySelector('#replay')?.open")
    assert browser.texts("#story .part")
    browser.press("Escape")
    follow(browser, "#kicker a", "document.querySelector('#panels table')")
    assert browser.complaints == []


def test_a_fault_and_a_link_lead_to_the_page_with_the_game(browser: Browser, made: Made) -> None:
    last = len(games("underdog")) + 1
    browser.open(Path(made.path) / "report/index.html", "#faults")
    browser.click("#fault-list summary")
    browser.wait("document.querySelector('#fault-list tbody button')")
    follow(browser, "#fault-list tbody button", "document.querySelector('#replay')?.open")
    assert f"Game 1-{last} " in browser.text("#replay-facts")
    browser.open(Path(made.path) / "report/index.html")
    browser.run("setTimeout(() => { location.hash = 'game=3-2'; })")
    arrive(browser, "document.querySelector('#replay')?.open")
    assert "Game 3-2 " in browser.text("#replay-facts")
    assert browser.complaints == []
