"""A contest with two teams, three versions of their bots and a season of real games."""

from __future__ import annotations

import io
import shlex
import sys
import tarfile
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.store.house import House
from referee.store.house.ratings import RatingNow
from referee.tournament.begin import play_tournament
from referee.tournament.spec import Spec

BOT = Path(__file__).parent / "bot.py"
VARIANTS = ("underdog", "duel")
GAMES = 4
PLAYERS = {"red v1": "low", "blue v1": "high", "red v2": "high"}


class Contest(Struct, frozen=True):
    """A data folder, and the tokens of those who take part."""

    data: Path
    organiser: str
    reds: str
    blues: str
    viewer: str

    def copied_to(self, data: Path) -> Contest:
        return msgspec.structs.replace(self, data=data)


def make(data: Path) -> Contest:
    """Real games in a real season, as the daemon would leave them."""
    spec = Spec(
        name="1",
        variants=VARIANTS,
        games=GAMES,
        seed="tests",
        jobs=1,
        sandbox="none",
        bots=tuple(f"{name}={_command(name, way)}" for name, way in PLAYERS.items()),
    )
    with House.open(data) as house:
        chief = house.teams.add("Chief", "organiser", by="tests").token
        viewer = house.teams.add("Guests", "viewer", by="tests").token
        teams = {name: house.teams.add(name, by="tests").token for name in ("Reds", "Blues")}
        for name in PLAYERS:
            hand_in(house, name.split()[0])
        house.seasons.start(msgspec.json.encode(spec).decode(), "1", by="tests")
        season = house.seasons.named("1")
        play_tournament(spec, house.seasons.folder(season))
        house.ratings.note(
            season,
            [RatingNow(version, "underdog", 10.0 * version, 5.0, 8) for version in (1, 2, 3)],
        )
    found = (chief, teams["Reds"], teams["Blues"], viewer)
    assert all(found)
    return Contest(data, *map(str, found))


def hand_in(house: House, bot: str) -> int:
    """A new version of a bot of the team that its name begins with, which plays at once."""
    team = house.teams.named(f"{bot.capitalize()}s")
    number = len(house.versions.all())
    version = house.submissions.keep(bot, team, archive(bot, f"# {number}"))
    assert house.submissions.claim() is not None
    house.submissions.checking(version.id)
    house.submissions.accept(version.id, "{}", f"the check of {version.name}")
    return version.id


def archive(name: str, more: str = "", *, top: str = "", mode: str = "w:") -> bytes:
    """A bot's folder as an archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as file:  # type: ignore[call-overload]
        for path, content in files(name, more).items():
            info = tarfile.TarInfo(top + path)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def files(name: str, more: str = "") -> dict[str, bytes]:
    manifest = f'name = "{name}"\ncommand = ["python3", "bot.py"]\n'
    return {"bot.toml": manifest.encode(), "bot.py": f"print()  {more}\n".encode()}


def _command(name: str, way: str) -> str:
    return shlex.join([sys.executable, "-S", str(BOT), name.replace(" ", "-"), way])
