"""A cluster as the place where a tournament is played."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec.structs import replace

from referee.bots.building import built
from referee.bots.confinement.guard import NotConfined
from referee.bots.confinement.levels import Level
from referee.bots.confinement.probe import best_level, said_aloud
from referee.bots.manifest import BadBot, Bot, is_sample
from referee.clock import read_duration_ms
from referee.cluster.cluster import WORKERS_S, Cluster, NoCluster
from referee.cluster.crew import ClusterCrew
from referee.cluster.parcel import Parcel, parcel_of_bot, parcel_of_script
from referee.cluster.stations import Cargo, Station, Trouble
from referee.rules.registry import is_path
from referee.tournament.confining import at_level, confinement_of, strangers_of
from referee.tournament.crew import Crew
from referee.tournament.entries import Entry
from referee.tournament.events import Building, LeftOut, Listener
from referee.tournament.spec import BadSpec, Spec


class ClusterGround:
    """Where `--cluster` plays."""

    def __init__(self, cluster: Cluster, logs: Path | None = None) -> None:
        self._cluster = cluster
        self._logs = logs
        self._scripts: dict[str, str] = {}

    def settle(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        """The least that a station has to offer; each confines as strictly as it can."""
        stations = self._fit(self._surveyed())
        wanted = said_aloud(spec.sandbox)
        strangers = strangers_of(entries)
        if wanted is None:
            confining = any(each.offers(Level.STANDARD) for each in stations)
            wanted = Level.STANDARD if confining else Level.NONE
            if strangers and not confining:
                raise BadSpec(
                    f"no worker of {self._cluster.address} can confine bots, and {strangers[0]} is "
                    "no sample bot; see `referee doctor --cluster`, or say --sandbox none to let "
                    "it run with the workers' rights"
                )
        elif not any(each.offers(wanted) for each in stations):
            raise NotConfined(f"no worker of {self._cluster.address} offers level {wanted}")
        return at_level(spec, wanted, strangers=bool(strangers))

    def settle_again(self, spec: Spec, entries: Sequence[Entry]) -> Spec:
        level = Level(spec.sandbox or Level.NONE)
        if not any(each.offers(level) for each in self._fit(self._surveyed())):
            raise NotConfined(f"no worker of {self._cluster.address} offers level {level}")
        return at_level(spec, level, strangers=bool(strangers_of(entries)))

    def ready_or_left_out(
        self, spec: Spec, entries: Sequence[Entry], tell: Listener
    ) -> tuple[list[Entry], dict[str, str]]:
        for folder, why in spec.left_out.items():
            tell(LeftOut(bot=folder, why=why, output=""))
        left_out: dict[str, str] = {}
        sent: dict[str, tuple[Bot, Parcel]] = {}
        for entry in entries:
            try:
                sent[entry.bot.name] = self._packed(spec, entry.bot, tell)
            except BadBot as problem:
                why = str(problem).removeprefix(f"{entry.bot.name}: ")
                left_out[entry.bot.name] = why
                tell(LeftOut(bot=entry.bot.name, why=why, output=problem.quoted))
        stations = self._send(spec, list(sent.values()), tell)
        for name in sent:
            nowhere = _why_nowhere(name, stations)
            if nowhere is not None:
                left_out[name] = nowhere.why
                tell(LeftOut(bot=name, why=nowhere.why, output=nowhere.output))
        ready = [
            replace(entry, bot=sent[entry.bot.name][0])
            for entry in entries
            if entry.bot.name not in left_out
        ]
        return ready, left_out

    def make_ready(self, spec: Spec, entries: Sequence[Entry], tell: Listener) -> list[Entry]:
        if self._cluster.cargo is not None:
            return list(entries)  # When it was begun, a moment ago.
        sent = [self._packed(spec, entry.bot, tell) for entry in entries]
        stations = self._send(spec, sent, tell)
        for entry in entries:
            nowhere = _why_nowhere(entry.bot.name, stations)
            if nowhere is not None:
                problem = BadBot(f"{entry.bot.name}: {nowhere.why}")
                problem.quoted = nowhere.output
                raise problem
        return [replace(entry, bot=bot) for entry, (bot, _) in zip(entries, sent, strict=True)]

    def must_meet(self, pairs: Collection[tuple[str, str]]) -> None:
        """Every two of these need a station that plays both. Raises NoCluster."""
        fit = [each for each in self._cluster.stations.values() if not each.unfit]
        ready = [each for each in fit if each.is_ready]
        if len(ready) < len(fit) or any(each.plays_all for each in ready):
            return  # Whoever is not ready yet may play them.
        for pair in pairs:
            if not any(each.plays(pair) for each in ready):
                raise NoCluster(_why_apart(pair, ready))

    def jobs(self, spec: Spec) -> int:
        stations = self._cluster.stations.values()
        return max(1, sum(each.threads for each in stations if not each.unfit))

    def hire(self, wanted: int) -> Crew:
        return ClusterCrew(self._cluster, self._scripts, self._logs)

    def _packed(self, spec: Spec, bot: Bot, tell: Listener) -> tuple[Bot, Parcel]:
        def on_build(name: str) -> None:
            tell(Building(bot=name))

        def build(bot: Bot) -> Bot:
            confinement = confinement_of(spec)
            if confinement.level is not Level.NONE:
                confinement = replace(confinement, level=best_level())
                if confinement.level is Level.NONE and not is_sample(bot):
                    raise BadBot(
                        f"{bot.name}: a portable bot is built here, and no build can be confined "
                        "here; see `referee doctor`, or leave out portable in its bot.toml"
                    )
            limit_ms = read_duration_ms(spec.build_time)
            return built(bot, confinement, limit_ms=limit_ms, on_build=on_build)

        return parcel_of_bot(bot, build)

    def _send(
        self, spec: Spec, sent: Sequence[tuple[Bot, Parcel]], tell: Listener
    ) -> list[Station]:
        """Have every station made ready; all of them, with what they say."""
        parcels = {parcel.name: parcel for _, parcel in sent}
        for text in spec.variants:
            if is_path(text):
                parcel = parcel_of_script(Path(text))
                parcels[parcel.name] = parcel
                self._scripts[text] = f"{parcel.name}/{Path(text).name}"
        cargo = Cargo(
            bots=tuple(bot for bot, _ in sent),
            confinement=confinement_of(spec),
            limit_ms=read_duration_ms(spec.build_time),
            parcels=parcels,
        )
        for bot, _ in sent:
            if bot.build:
                tell(Building(bot=bot.name))
        self._cluster.load(cargo, Level(spec.sandbox or Level.NONE))
        builds = sum(bool(bot.build) for bot, _ in sent)
        limit_s = WORKERS_S + builds * cargo.limit_ms / 1000
        return self._cluster.wait_for(lambda each: each.troubles is not None, limit_s)

    def _surveyed(self) -> list[Station]:
        return self._cluster.wait_for(lambda each: each.survey is not None)

    def _fit(self, stations: Sequence[Station]) -> list[Station]:
        fit = [each for each in stations if not each.unfit]
        if not fit:
            told = "; ".join(f"{each.address}: {each.unfit}" for each in stations)
            raise NoCluster(f"no worker of {self._cluster.address} can play: {told}")
        return fit


def _why_nowhere(bot: str, stations: Sequence[Station]) -> Trouble | None:
    """Why no station can play a bot; None where one can."""
    reasons: dict[str, list[str]] = {}
    output = ""
    for each in stations:
        trouble = Trouble(each.unfit) if each.unfit else (each.troubles or {}).get(bot)
        if trouble is None:
            return None
        reasons.setdefault(trouble.why, []).append(each.address)
        output = output or trouble.output
    told = "; ".join(f"{why} ({', '.join(where)})" for why, where in reasons.items())
    return Trouble(f"no worker can play it: {told}", output)


def _why_apart(pair: tuple[str, str], stations: Sequence[Station]) -> str:
    """Of two bots each of which can be played somewhere."""
    told: list[str] = []
    for bot in pair:
        lacking = [each for each in stations if not each.plays([bot])]
        for each in lacking:
            trouble = (each.troubles or {}).get(bot)
            why = trouble.why if trouble is not None else "it is not there"
            told.append(f"{each.address} cannot play {bot}: {why}")
    return f"no worker can play {' against '.join(pair)}: {'; '.join(told)}"
