"""Teams and tokens: imported whole or not at all, known by a hash alone."""

from __future__ import annotations

import pytest

from referee.store.house import House
from referee.store.house.books import FILE
from referee.store.house.mistakes import Conflict, HouseMistake, Unknown


def test_a_list_gives_every_team_a_token_once(house: House) -> None:
    found = house.teams.import_csv("name,role\nReds,team\nEye,viewer\nÄpfel,\n", by="me")
    assert [(team.name, team.role) for team in found] == [
        ("Reds", "team"),
        ("Eye", "viewer"),
        ("Äpfel", "team"),
    ]
    tokens = [team.token for team in found]
    assert all(token and len(token) == 32 and int(token, 16) >= 0 for token in tokens)
    assert len(set(tokens)) == 3
    for team in found:
        known = house.teams.of_token(team.token or "")
        assert known is not None and known.name == team.name
    again = house.teams.import_csv("name,role\nreds,organiser\nGreens,\n", by="me")
    assert [(team.name, team.role, team.token is None) for team in again] == [
        ("Reds", "organiser", True),
        ("Greens", "team", False),
    ]
    assert house.teams.named("REDS").role == "organiser"
    assert house.teams.of_token(tokens[0] or "") == house.teams.named("Reds")


def test_no_token_is_in_the_database(house: House) -> None:
    token = house.teams.add("Reds", by="me").token or ""
    bot = house.bots.new_token("far", by="me")
    house.close()
    for path in house.data.glob(f"{FILE}*"):
        assert token.encode() not in path.read_bytes()
        assert bot.encode() not in path.read_bytes()


def test_a_new_token_makes_the_old_one_void(house: House) -> None:
    old = house.teams.add("Reds", by="me").token or ""
    new = house.teams.new_token("Reds", by="me")
    assert house.teams.of_token(old) is None
    assert house.teams.of_token(new) == house.teams.named("Reds")
    for stranger in ("", "x", new.upper(), new + "0", "\udc80", "\ud800", "é", "x" * 1_000_000):
        assert house.teams.of_token(stranger) is None


def test_the_first_organiser_is_made_once(house: House) -> None:
    house.teams.add("organiser", "team", by="me")
    first = house.teams.first_organiser()
    assert first is not None and (first.name, first.role) == ("organiser 2", "organiser")
    assert house.teams.first_organiser() is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the first line"),
        ("team,role\nReds,team\n", "the first line"),
        ("name,name\nReds,Blues\n", "the first line"),
        ("name,role\n", "1 to 10000 teams"),
        ("name,role\nReds\n", "line 2: 1 cells, where there are 2 columns"),
        ("name,role\nReds,captain\n", "line 2: the role is one of"),
        ("name\nReds\n\nreds\n", "line 4: reds is there twice"),
        ("name\n<b>\n", "line 2: a team's name has letters"),
        ("name\n" + 51 * "a" + "\n", "line 2: a team's name has at most 50"),
        ('name\n"Reds\n', "cannot be read"),
        ("name\nRe\0ds\n", "line"),
    ],
)
def test_a_bad_list_is_told_and_changes_nothing(house: House, text: str, told: str) -> None:
    with pytest.raises(HouseMistake, match=told):
        house.teams.import_csv("\ufeff" + text, by="me")
    assert house.teams.all() == []


def test_names_that_read_the_same_are_one(house: House) -> None:
    house.teams.add("Reds", by="me")
    for name in ("REDS", "\uff32eds"):
        with pytest.raises(Conflict, match="there is a team"):
            house.teams.add(name, by="me")
    with pytest.raises(Unknown, match="there is no team 'Greens'"):
        house.teams.named("Greens")


ALIKE = {
    "Greek and Cyrillic letters": "Rеd Τеаm 1O",
    "capitals that are small letters elsewhere": "RЕD ТΕАΜ 10",
    "digits and letters": "Red Team I0",
    "digits of another alphabet": "Red Team ١٠",
    "two blanks": "Red  Team 10",
    "letters that are drawn as nothing": "Red Te\u3164am 10",
}


@pytest.mark.parametrize("name", ALIKE.values(), ids=ALIKE)
def test_a_name_that_looks_like_another_is_refused(house: House, name: str) -> None:
    house.teams.add("Red Team 10", by="me")
    house.submissions.keep("Red Team 10", None, b"one")
    before = house.teams.all()
    with pytest.raises(Conflict, match="Red Team 10"):
        house.teams.add(name, by="me")
    with pytest.raises(Conflict):
        house.bots.add(name, "connected", by="me")
    with pytest.raises(Conflict, match="can be told from it"):
        house.teams.import_csv(f"name\nGreens\n{name}\n", by="me")
    assert house.teams.all() == before


def test_names_that_can_be_told_apart_are_taken(house: House) -> None:
    for name in ("Red Team 1", "Red Team 2", "Red Teams 1", "Команда", "Κόκκινοι", "Équipe 1"):
        house.teams.add(name, by="me")
        house.bots.add(name, "connected", by="me")
    with pytest.raises(Conflict):
        house.teams.import_csv("name\nOne more\nОne morе\n", by="me")
    with pytest.raises(HouseMistake):
        house.teams.add("\u3164", by="me")
    with pytest.raises(HouseMistake, match="what a version of one is called"):
        house.bots.add("rocky ѵ3", "connected", by="me")


def test_the_journal_says_who_did_what(house: House) -> None:
    house.teams.add("Reds", by="Ada")
    house.teams.new_token("Reds", by="Bob")
    rows = house.journal.recent()
    assert [(row.who, row.what) for row in rows] == [
        ("Bob", "new token for Reds"),
        ("Ada", "added Reds (team)"),
    ]
    assert house.journal.recent(most=1, before=rows[0].id) == rows[1:]
    assert rows[0].at == "2026-11-16T12:00:00.000Z"
