"""The OpenAPI document: true to the routes, to docs/api.md, and to the real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from referee.testing.api import written
from referee.web.endpoint import PREFIX
from referee.web.refusal import MEANINGS
from referee.web.table import DOCUMENT, ENDPOINTS
from tests.arena.playing import ROOT
from tests.web.contest import Contest
from tests.web.serving import Web, serving

PAGE = ROOT / "docs/api.md"
FUZZ_S = 10
"""A budget for the fuzzer, which it uses up: some hundred requests of every kind there is."""


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text("utf-8")
    assert page == written(page), "run python -m referee.testing.api docs/api.md"


def test_every_endpoint_is_told_once() -> None:
    told = [(path, method.upper()) for path, each in DOCUMENT["paths"].items() for method in each]
    assert sorted(told) == sorted((PREFIX + each.path, each.method) for each in ENDPOINTS)
    assert len({each.name for each in ENDPOINTS}) == len(ENDPOINTS)
    for endpoint in ENDPOINTS:
        assert set(endpoint.refusals) <= set(MEANINGS)
        fields = endpoint.asks.__struct_fields__
        assert set(endpoint.in_path) <= set(fields)
        assert endpoint.summary.endswith(".")


def test_it_is_served(shared: tuple[Web, Contest]) -> None:
    web, _ = shared
    assert web.read("/openapi.json") == DOCUMENT


@pytest.mark.slow
def test_a_fuzzer_finds_nothing(own: Contest, tmp_path: Path) -> None:
    """With the token that may do most. That any bytes are an archive, and any object a spec, is all
    that the document claims too much."""
    free = {"writes_per_s": 1e6, "writes_burst": 1_000_000, "reads_per_s": 1e6}
    # A stream is over soon, so that whoever reads it to its end is not there for ever.
    brief = {"follow_s": 0.02}
    with serving(own.data, limits={**free, **brief}) as web:
        done = subprocess.run(
            [
                str(Path(sys.executable).parent / "schemathesis"),
                *("run", f"{web.url}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {own.organiser}"),
                *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
                *("--phases", "coverage,fuzzing", "--max-time", str(FUZZ_S)),
                # One: in Python 3.11 two threads that parse at once can end in a SystemError.
                *("--workers", "1", "--max-examples", "100", "--seed", "1"),
                *("--no-color", "--warnings", "off"),
            ],
            cwd=tmp_path,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()
        assert web.read("/status")["season"] == "1"
