"""Uploads that would stop others, sent to a real daemon: pages are answered meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from referee.store.house import House
from tests.daemon.serving import WEB, Daemon, processes_of, serving
from tests.web import hostile_uploads
from tests.web.pages.scene import page_url
from tests.web.serving import Web, cpu_s
from tests.web.test_writes import submit

HOSTILE = (
    hostile_uploads.dotted_key,
    hostile_uploads.digits_in_a_header,
    hostile_uploads.nested_manifest,
    hostile_uploads.zip_bomb,
    hostile_uploads.many_members,
    hostile_uploads.folders_in_names,
)


def test_uploads_that_would_stop_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with House.open(data) as house:
        reds = house.teams.add("Reds", by="a test").token
    assert reds is not None
    with serving(data, *WEB, "--bots", "none", "--variant", "underdog") as daemon:
        web = Web(daemon.process, page_url(daemon))
        pages = _pages(daemon)
        before = cpu_s(pages)
        with ThreadPoolExecutor(2) as senders:  # as many as a team may send at a time
            under_way = [senders.submit(submit, web, make(), reds) for make in HOSTILE]
            while not all(each.done() for each in under_way):
                for path in ("/healthz", "/", "/api/v1/bots"):
                    assert web.get(path).status == 200
        replies = [each.result() for each in under_way]
        assert [reply.status for reply in replies] == [400] * len(HOSTILE), replies
        # A few seconds for a hundred pages; the second of these uploads alone took a hundred.
        assert cpu_s(pages) - before < 30.0
        with daemon.house() as house:
            assert house.submissions.waiting() == []
        assert daemon.stop() == 0, daemon.said


def _pages(daemon: Daemon) -> int:
    """The process that answers."""
    (found,) = processes_of(daemon.process.pid, b"referee.web.main")
    return found
