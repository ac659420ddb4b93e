"""A cluster on the command line: the site of a tournament, and what its workers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import typer

from referee.cli import console
from referee.rules.numbers import amount
from referee.tournament.ground import HERE, Ground
from referee.tournament.spec import BadSpec


class Site(NamedTuple):
    """Where a tournament is played."""

    ground: Ground
    told: Callable[[int], str]
    """Who plays there at this moment, if so many chunks are played at a time."""


@contextmanager
def site_at(cluster: str | None, jobs: int | None, folder: Path) -> Iterator[Site]:
    """Here, unless a cluster is named. Raises BadSpec, NoCluster."""
    if cluster is None:
        yield Site(HERE, lambda jobs: amount(jobs, "worker"))
        return
    _must_have_dask()
    from referee.cluster.address import LOCAL
    from referee.cluster.cluster import cluster_at
    from referee.cluster.ground import ClusterGround

    if jobs is not None and cluster != LOCAL:
        raise BadSpec(
            f"--jobs is for workers of this machine, and {cluster} has its own: leave it out, or "
            "say --cluster local"
        )
    with cluster_at(cluster, jobs, _note) as there:

        def told(jobs: int) -> str:
            workers = sum(each.is_ready for each in there.stations.values())
            return f"on {amount(workers, 'worker')} with {amount(jobs, 'thread')}"

        yield Site(ClusterGround(there, folder.resolve() / "logs"), told)


def show_cluster(address: str, *, as_json: bool) -> None:
    """`referee doctor --cluster`."""
    _must_have_dask()
    from referee.cluster.cluster import cluster_at
    from referee.cluster.health import examined

    with cluster_at(address, None, _note) as there:
        found = examined(there)
    if as_json:
        console.print_json({"cluster": address, "workers": found})
    else:
        for each in found:
            console.out.print(f"{each.address}: {each.told}")
            for finding in each.findings:
                console.out.print(f"  {finding.status:4}  {finding.check}: {finding.reason}")
    if any(finding.status == "fail" for each in found for finding in each.findings):
        raise typer.Exit(console.DOES_NOT_HOLD)


def _note(sentence: str) -> None:
    console.err.print(console.printable(sentence))


def _must_have_dask() -> None:
    try:
        import distributed  # noqa: F401 - to see whether it is there
    except ModuleNotFoundError:
        raise BadSpec("--cluster needs dask: pip install 'referee[cluster]'") from None
