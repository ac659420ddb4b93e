"""`referee variants` and `referee check-variant`: the games."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from referee.cli import console
from referee.rules.numbers import amount
from referee.rules.options import Option
from referee.rules.registry import all_variants, build_variant, find_variant
from referee.rules.variant import Variant
from referee.testing.conformance import check_variant


def variants_command(
    name: Annotated[
        str | None, typer.Argument(help="A variant, or the path of a script.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the variants, or show one: rules, rulings, options, best play.

    **Examples**

        referee variants

        referee variants underdog
    """
    if name is None:
        variants = list(all_variants().values())
        if json:
            console.print_json([_facts(variant) for variant in variants])
            return
        width = max(len(variant.name) for variant in variants)
        for variant in variants:
            console.out.print(f"{variant.name:{width}}  {variant.summary}")
        console.out.print("\nreferee variants NAME shows the rules and the options of one.")
        return
    variant = find_variant(name)
    if json:
        console.print_json(_facts(variant) | {"book": variant.book()})
        return
    console.out.prose(variant.book())
    console.out.print(f"\nMoves\nA move is {variant.move_help}.")
    if variant.options:
        console.out.print("\nOptions (--option NAME=VALUE)")
    for option in variant.options:
        console.out.print(f"- {option.name}: {option.help}; {_values(option)}")
    console.out.print(f"\nEndings (scores are {variant.scores_mean})")
    for reason, meaning in variant.reasons.items():
        console.out.print(f"- {reason}: {meaning}")


def _values(option: Option) -> str:
    default = "derived from the others" if option.default is None else option.default
    return f"{option.allowed()}, default {default}"


def _facts(variant: type[Variant[Any, Any]]) -> dict[str, object]:
    return {
        "name": variant.name,
        "rules": variant.rules,
        "summary": variant.summary,
        "options": variant.options,
        "moves": variant.move_help,
        "scores": variant.scores_mean,
        "reasons": dict(variant.reasons),
        "hidden_chance": variant.hidden_chance,
    }


def check_variant_command(
    variant: Annotated[str, typer.Argument(help="Path of a script, or a name.")],
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the variant, name=value. Can be repeated."),
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Random games.")] = 200,
    seed: Annotated[str, typer.Option(help="Any text; the same seed, the same games.")] = "check",
    json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON.")] = False,
) -> None:
    """Run the conformance kit on a variant: does the script keep the contract?

    Exit status 1 where a step fails.

    **Example**

        referee check-variant ./my_game.py
    """
    report = check_variant(build_variant(variant, console.read_options(option or [])), games, seed)
    if json:
        console.print_json(report)
    else:
        for step in report.steps:
            reached = not step.detail.startswith("not reached")
            mark = "pass" if step.passed else "FAIL" if reached else "----"
            console.out.print(f"{mark}  {step.name}: {step.detail}")
        failed = sum(not step.passed for step in report.steps)
        verdict = "all steps passed" if not failed else f"{amount(failed, 'step')} not passed"
        console.out.print(f"{report.variant}: {report.games} games, {verdict}")
    if not all(step.passed for step in report.steps):
        raise typer.Exit(console.DOES_NOT_HOLD)
