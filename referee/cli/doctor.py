"""`referee doctor`: what this machine can do."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from referee.bots.confinement.levels import Level
from referee.bots.confinement.limits import Limits, shown_limits
from referee.bots.confinement.probe import Finding, best_level, findings, why_not
from referee.cli import console

COLOURS = {"pass": "green", "warn": "yellow", "fail": "red"}
PROMISES = {
    Level.FULL: "control groups: all processes of a bot are limited, counted and frozen together",
    Level.STANDARD: "bubblewrap, seccomp and resource limits: a bot is one process with threads",
    Level.NONE: "the referee's own strictness: limits on time and on what bots send",
}


def doctor_command(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Look at every worker of a dask cluster: tcp://HOST:PORT, a scheduler file, or "
            "local.",
        ),
    ] = None,
) -> None:
    """Show how bots can be confined on this machine, and what would mend what fails.

    Every level is tried: a real confined process attempts what it must not be able to do.

    **Examples**

        referee doctor

        referee doctor --json

        referee doctor --cluster tcp://head:8786

    Exit status: 0 if bots can be confined, 1 if only level none holds here; of a cluster, 1 if a
    worker cannot play or has a clock that is wrong.
    """
    if cluster is not None:
        from referee.cli.cluster import show_cluster

        show_cluster(cluster, as_json=json)
        return
    best = best_level()
    if json:
        console.print_json(_report(best))
    else:
        _show(best)
    if best is Level.NONE:
        raise typer.Exit(1)


def _report(best: Level) -> dict[str, Any]:
    return {
        "best": best.value,
        "levels": {level.value: why_not(level) is None for level in Level},
        "findings": [finding for level in Level for finding in findings(level)],
        "limits": shown_limits(Limits()),
    }


def _show(best: Level) -> None:
    for level in Level:
        offered = "offered" if why_not(level) is None else "not offered"
        console.out.print(Text.assemble((level.value, "bold"), f", {offered}: {PROMISES[level]}"))
        for finding in findings(level):
            _show_finding(finding)
    limits = ", ".join(f"{name} {value}" for name, value in shown_limits(Limits()).items())
    console.out.print(f"Limits unless others are given: {limits}")
    console.out.print(f"Bots run at level {best} here, unless --sandbox says otherwise.")


def _show_finding(finding: Finding) -> None:
    status = (f"{finding.status:4}", COLOURS[finding.status])
    console.out.print(Text.assemble("  ", status, f"  {finding.check}: {finding.reason}"))
    if finding.remedy and finding.status != "pass":
        console.out.print(Text(f"        to mend it: {finding.remedy}"))
