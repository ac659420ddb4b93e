"""Bots by name: keys, tokens, pauses, disqualifications, and the versions that connect."""

from __future__ import annotations

import pytest

from referee.store.house import House
from referee.store.house.mistakes import Conflict, HouseMistake, TooMany, Unknown
from referee.store.house.rows import Limits, TeamRow
from referee.store.house.tokens import hash_of
from tests.store.housing import played

KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
OTHER = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"


def test_a_name_belongs_to_its_key(house: House, reds: TeamRow) -> None:
    bot = house.bots.trust("far", KEY, reds.id, by="me")
    assert (bot.kind, bot.team_name, bot.public_key) == ("connected", "Reds", KEY)
    assert house.bots.keys() == {KEY: "far"}
    with pytest.raises(Conflict, match="this key is far's"):
        house.bots.trust("near", KEY, by="me")
    assert house.bots.find("near") is None
    assert house.bots.trust("FAR", OTHER, by="me").id == bot.id
    assert house.bots.keys() == {OTHER: "far"}
    token = house.bots.new_token("far", by="me")
    assert house.bots.tokens() == {hash_of(token): "far"}
    house.bots.disqualify("far", "copied", by="me")
    assert house.bots.keys() == house.bots.tokens() == {}
    house.bots.reinstate("far", by="me")
    house.bots.forget_keys("far", by="me")
    assert house.bots.keys() == house.bots.tokens() == {}
    with pytest.raises(Conflict, match="has no key"):
        house.bots.forget_keys("far", by="me")


@pytest.mark.parametrize("key", ["", "short", KEY[:-1] + " ", KEY[:-1] + "é", KEY + "0"])
def test_what_is_no_key_is_told(house: House, key: str) -> None:
    with pytest.raises(HouseMistake, match="a public key is 40 characters of Z85"):
        house.bots.trust("far", key, by="me")


@pytest.mark.parametrize(
    "name",
    ["", " x", "x ", "a/b", "..", "x\n", "<b>", "greedy v3", 51 * "a", "a\0", "\ud800", "x v12"],
)
def test_what_is_no_name_is_told(house: House, name: str) -> None:
    with pytest.raises(HouseMistake):
        house.bots.add(name, "connected", by="me")
    assert house.bots.all() == []


def test_a_submitted_bot_has_no_key_and_a_connected_one_is_not_submitted(
    house: House, reds: TeamRow
) -> None:
    played(house, "greedy", reds, b"one")
    with pytest.raises(Conflict, match="greedy is a bot that was submitted"):
        house.bots.trust("greedy", KEY, by="me")
    with pytest.raises(Conflict, match="it does not connect"):
        house.versions.arrived("greedy", "1", "{}")
    house.bots.trust("far", KEY, reds.id, by="me")
    with pytest.raises(Conflict, match="it is not submitted"):
        house.submissions.keep("far", reds, b"one")


def test_pause_and_disqualification_take_a_bot_out_of_the_ladder(
    house: House, reds: TeamRow
) -> None:
    version = played(house, "greedy", reds, b"one")
    assert [row.id for row in house.versions.playing()] == [version.id]
    assert house.bots.pause("greedy", by="me").paused
    assert house.versions.playing() == []
    house.bots.disqualify("greedy", "two  lines\nof reason", by="me")
    with pytest.raises(Conflict, match=r"greedy is disqualified \(two lines of reason\)"):
        house.bots.resume("greedy", by="me")
    with pytest.raises(Conflict, match="greedy is disqualified"):
        house.submissions.keep("greedy", reds, b"two")
    house.bots.reinstate("greedy", by="me")
    assert not house.bots.resume("greedy", by="me").paused
    assert [row.id for row in house.versions.playing()] == [version.id]
    for reason in ("", " \n", 201 * "a", "\x1b[31m"):
        with pytest.raises(HouseMistake, match="reason"):
            house.bots.disqualify("greedy", reason, by="me")
    with pytest.raises(Unknown, match="there is no bot 'nobody'"):
        house.bots.pause("nobody", by="me")


def test_a_connected_bot_is_the_player_that_its_hello_says(house: House) -> None:
    house.bots.trust("far", KEY, by="me")
    first = house.versions.arrived("far", "1.0", '{"a":1}')
    assert (first.number, first.state, first.name) == (1, "playing", "far v1")
    assert house.versions.arrived("far", "1.0", '{"a":1}') == first
    second = house.versions.arrived("far", "2.0", "{}")
    assert [row.state for row in house.versions.of_bot(first.bot)] == ["retired", "playing"]
    assert [row.id for row in house.versions.playing()] == [second.id]
    back = house.versions.arrived("far", "1.0", '{"a":2}')
    assert (back.id, back.hello) == (first.id, '{"a":2}')
    assert [row.id for row in house.versions.playing()] == [first.id]


def test_a_connected_bot_cannot_make_versions_without_end(house: House) -> None:
    house.bots.trust("far", KEY, by="me")
    house.settings.set_limits(Limits(versions_a_bot=2), by="me")
    for label in ("1", "2", "1"):
        house.versions.arrived("far", label, "{}")
    with pytest.raises(TooMany, match="far has 2 versions, and no bot has more than 2"):
        house.versions.arrived("far", "3", "{}")
    assert len(house.versions.all()) == 2


def test_a_bot_that_was_never_seen_is_unknown(house: House) -> None:
    with pytest.raises(Unknown):
        house.versions.arrived("far", "1", "{}")
    with pytest.raises(Unknown, match="there is no version 7"):
        house.versions.get(7)
    house.bots.add("far", "connected", by="me")
    for number in (-1, 10**30):
        with pytest.raises(Unknown, match="there is no version"):
            house.versions.get(number)
    for name in ("\ud800", "a\0b", "x" * 100_000):
        with pytest.raises(Unknown, match="no bot"):
            house.bots.named(name)
    with pytest.raises(Unknown, match="far has no version 2; it has none yet"):
        house.versions.named("far", 2)
    assert house.versions.playing() == []
