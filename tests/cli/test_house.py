"""`referee teams`, `keys`, `season`, `activate`, `pause`, `resume` and `disqualify`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from referee.links.keys import read_keys
from referee.store.house import House
from referee.store.house.mistakes import Conflict
from referee.store.house.tokens import hash_of
from tests.cli.running import each, referee, refuses, sentence, succeeds
from tests.records import games
from tests.reports.stored import make_real
from tests.store.housing import contents, played

KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A house in which a team has two versions of a bot."""
    with House.open(tmp_path / "referee-data") as house:
        house.teams.add("Reds", by="test")
        team = house.teams.named("Reds")
        for content in (b"one", b"two"):
            played(house, "greedy", team, content)
    return tmp_path


def test_teams_get_their_tokens_once(tmp_path: Path) -> None:
    listed = "name,role\nReds,\nAda,organiser\n"
    (tmp_path / "teams.csv").write_text(listed)
    first = succeeds(tmp_path, "teams", "import", "teams.csv", "--create")
    lines = list(csv.DictReader(io.StringIO(first)))
    assert [(line["name"], line["role"]) for line in lines] == [
        ("Reds", "team"),
        ("Ada", "organiser"),
    ]
    done = referee(tmp_path, "teams", "import", "-", "--json", stdin=listed.encode())
    assert [team["token"] for team in json.loads(done.out)] == [None, None]
    with House.open(tmp_path / "referee-data") as house:
        known = [house.teams.of_token(line["token"]) for line in lines]
        assert [team and team.name for team in known] == ["Reds", "Ada"]
        new = succeeds(tmp_path, "teams", "token", "reds").strip()
        assert house.teams.of_token(lines[0]["token"]) is None
        assert house.teams.of_token(new) == house.teams.named("Reds")
    assert "Reds  team" in succeeds(tmp_path, "teams", "list")
    told = json.loads(succeeds(tmp_path, "teams", "list", "--json"))
    assert [(team["name"], team["bots"]) for team in told] == [("Ada", 0), ("Reds", 0)]
    assert lines[1]["token"] not in json.dumps(told)


def test_a_key_is_made_and_registered(folder: Path) -> None:
    told = succeeds(folder, "keys", "new", "rocky", "--team", "Reds")
    keys = read_keys(folder / "rocky.key")
    assert keys.public in told and keys.secret not in told
    assert (folder / "rocky.key").stat().st_mode & 0o777 == 0o600
    token = succeeds(folder, "keys", "new", "sly", "--token").strip()
    succeeds(folder, "keys", "trust", "far", KEY)
    with House.open(folder / "referee-data") as house:
        assert house.bots.keys() == {keys.public: "rocky", KEY: "far"}
        assert house.bots.tokens() == {hash_of(token): "sly"}
        assert house.bots.named("rocky").team_name == "Reds"
        listed = json.loads(succeeds(folder, "keys", "list", "--json"))
        assert [bot["name"] for bot in listed] == ["far", "rocky", "sly"]
        assert keys.public in succeeds(folder, "keys", "list")
        succeeds(folder, "keys", "remove", "rocky")
        assert house.bots.keys() == {KEY: "far"}
        assert "rocky" not in succeeds(folder, "keys", "list")
    succeeds(folder, "keys", "new", "rocky", "--out", "new/keys")
    assert (folder / "new/keys/rocky.key").exists()


def test_a_key_that_cannot_be_registered_is_not_left_behind(folder: Path) -> None:
    refuses(
        folder,
        {
            "submitted": (["keys", "new", "greedy"], r"greedy .* submitted; .*"),
            "team": (["keys", "new", "rocky", "--team", "Blues"], r".* team 'Blues'"),
            "name": (["keys", "new", "../rocky"], r"a bot's name .*"),
            "made": (["keys", "new", "greedy", "--out", "gone"], r"greedy .* submitted; .*"),
            "key": (["keys", "trust", "rocky", "x"], r"a public key .*"),
            "nobody": (["keys", "remove", "rocky"], r".* bot 'rocky'"),
        },
        contents,
    )
    done = referee(folder, "keys", "new", "rocky", "--out", "referee-data/house.db")
    assert "house.db/rocky.key cannot be written: " in sentence(done, status=3)
    (folder / "rocky.key").touch()
    refuses(
        folder, {"there": (["keys", "new", "rocky"], r"rocky.key is there already; .*")}, contents
    )


def test_a_season_from_start_to_end(folder: Path) -> None:
    season = ["season"]
    told = succeeds(folder, *season, "start", "--variant", "duel", "--option", "life=30")
    assert told == "The season 1 has started: duel\n"
    with House.open(folder / "referee-data") as house:
        row = house.seasons.named("1")
        spec = json.loads(row.spec)
        assert (spec["variants"], spec["prior"]) == (["duel"], True)
        assert spec["options"]["duel"]["life"] == 30
        make_real(house.seasons.folder(row), {("random", "highest"): games("underdog")})
        assert (
            succeeds(folder, *season, "freeze") == "The season 1 is frozen until it is revealed\n"
        )
        frozen = house.seasons.frozen(row)
        assert frozen is not None and json.loads(frozen)["played"] == len(games("underdog"))
        succeeds(folder, *season, "reveal", "1")
        assert house.seasons.named("1").state == "open"
        succeeds(folder, *season, "close")
        assert "closed" in succeeds(folder, *season, "list")
        succeeds(folder, *season, "start", "finals", "--time", "100ms")
        # What is not given is as it was.
        second = json.loads(house.seasons.named("finals").spec)
        assert (second["variants"], second["time"]) == (["duel"], "100ms")
        told = json.loads(succeeds(folder, *season, "list", "--json"))
        assert [(each["name"], each["state"]) for each in told] == [
            ("1", "closed"),
            ("finals", "open"),
        ]
        assert told[1]["spec"]["variants"] == ["duel"]
    refuses(
        folder,
        {
            "two": (["season", "start"], r".* season finals .* not closed .*"),
            "no games": (["season", "freeze"], r"the season finals has no games yet"),
            "not frozen": (["season", "reveal"], r"the season finals is not frozen"),
            "closed": (["season", "close", "1"], r"the season 1 is closed already"),
            "unknown": (["season", "close", "2"], r".* season '2'; .* 1, finals"),
        },
        contents,
    )


def test_a_bad_season_is_refused_and_none_is_started(folder: Path) -> None:
    refuses(
        folder,
        {
            "variant": (["season", "start", "--variant", "chess"], r"unknown variant .chess.*"),
            "option": (["season", "start", "--option", "life=x"], r".*life.*"),
            "time": (["season", "start", "--time", "soon"], r".*soon.*"),
            "limit": (["season", "start", "--limit", "x=1"], r".*x.*"),
            "name": (["season", "start", "Finals"], r"a season's name .* not 'Finals'"),
            "none": (["season", "close"], r".* no season .*"),
            "all": (["season", "keep", "30d", "all"], r"all takes every limit away, .*"),
            "word": (
                ["rule", "1/1-1"],
                r"missing argument 'void\|award\|lift'. Choose from: void, award, lift; see .*",
            ),
        },
        contents,
    )


def test_who_plays(folder: Path) -> None:
    done = each(
        folder,
        [
            ["activate", "greedy", "1"],
            ["pause", "greedy"],
            ["resume", "Greedy"],
            ["disqualify", "greedy", "--reason", "looks into other folders"],
            ["resume", "greedy"],
            ["disqualify", "greedy", "--lift"],
        ],
    )
    assert [told.out for told in done] == [
        "greedy v1 plays\n",
        "greedy is paused\n",
        "greedy plays again\n",
        "greedy is disqualified: looks into other folders\n",
        "",
        "greedy is no longer disqualified\n",
    ]
    assert [told.status for told in done] == [0, 0, 0, 0, 2, 0]
    with House.open(folder / "referee-data") as house:
        assert [version.name for version in house.versions.playing()] == ["greedy v1"]
    refuses(
        folder,
        {
            "version": (["activate", "greedy", "3"], r"greedy has no version 3; it has 1, 2"),
            "huge": (["activate", "greedy", "9" * 30], r"greedy has no version 9+; it has 1, 2"),
            "word": (["activate", "greedy", "last"], r"invalid value .*last.*"),
            "bot": (["pause", "rocky"], r".* bot 'rocky'"),
            "why": (["disqualify", "greedy"], r"either --reason or --lift is given; .*"),
            "blank": (["disqualify", "greedy", "--reason", " "], r"a disqualification needs .*"),
        },
        contents,
    )


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    no_house = r"referee-data holds no house\.db: .*"
    refuses(
        tmp_path,
        {
            "teams": (["teams", "list"], no_house),
            "keys": (["keys", "list"], no_house),
            "season": (["season", "list"], no_house),
            "pause": (["pause", "x"], no_house),
            "file": (["teams", "import", "gone.csv"], r"gone\.csv: no such file"),
        },
        contents,
    )
    (tmp_path / "teams.csv").write_text("name\nReds\n")
    elsewhere = ["--data", "refere-data"]
    no_house = (
        r"refere-data holds no house\.db: .*--data names another; --create makes one here, .*"
    )
    refuses(
        tmp_path,
        {
            "import": (["teams", "import", "teams.csv", *elsewhere], no_house),
            "new": (["keys", "new", "rocky", *elsewhere], no_house),
            "token": (["keys", "new", "rocky", "--token", *elsewhere], no_house),
            "trust": (["keys", "trust", "rocky", KEY, *elsewhere], no_house),
            "start": (["season", "start", *elsewhere], no_house),
            "keep": (["season", "keep", "30d", *elsewhere], no_house),
        },
        contents,
    )
    (tmp_path / "latin.csv").write_bytes("name\nÄpfel\n".encode("latin-1"))
    refuses(
        tmp_path,
        {"utf-8": (["teams", "import", "latin.csv"], r"latin\.csv: not UTF-8; .*")},
        contents,
    )
    (tmp_path / "apart.csv").write_text("name;role\nReds;team\n")
    House.open(tmp_path / "here").close()
    refuses(
        tmp_path,
        {
            "apart": (
                ["teams", "import", "apart.csv", "--data", "here"],
                r"the columns .* are parted by commas, not by semicolons",
            )
        },
        contents,
    )


@pytest.mark.parametrize(
    "words",
    [["keys", "new", "rocky"], ["keys", "trust", "rocky", KEY], ["season", "start", "-v", "duel"]],
)
def test_a_house_is_made_where_that_is_asked_for(tmp_path: Path, words: list[str]) -> None:
    succeeds(tmp_path, *words, "--create")
    assert (tmp_path / "referee-data" / "house.db").exists()


def test_commands_work_while_a_daemon_has_charge(folder: Path) -> None:
    with House.open(folder / "referee-data") as house:
        house.take_charge()
        before = house.version_of_data()
        succeeds(folder, "pause", "greedy")
        assert house.version_of_data() != before
        assert house.bots.named("greedy").paused
        with House.open(folder / "referee-data") as other, pytest.raises(Conflict):
            other.take_charge()
