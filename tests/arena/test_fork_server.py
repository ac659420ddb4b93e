"""The process that forks keepers may end at any moment: no bot is blamed for it."""

from __future__ import annotations

import os
import signal
import socket
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import structs

from referee.bots import fork_server, keeper_process
from referee.bots.confinement import UNCONFINED
from referee.bots.fork_server import ForkServer
from referee.bots.keeper_process import NoKeeper
from referee.bots.keeping.kin import is_alive
from referee.bots.starting import start_bot
from referee.match import play_match
from referee.record import Record
from referee.verdict import Ending
from tests.arena.playing import MARK, PROC, all_by_rules, honest, keepers, left_of, play, servers
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.skipif(not PROC, reason="processes are found through /proc, as on Linux")


def kill_the_server() -> None:
    fork_server.SERVER.start()
    (server,) = servers()
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: server not in servers(), "its end")


def test_one_that_was_killed_is_replaced() -> None:
    all_by_rules(play(honest(), honest(name="other"), games=2))
    kill_the_server()
    all_by_rules(play(honest(), honest(name="other"), games=2))


def test_one_that_stands_still_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of threads that wait for it."""
    fork_server.SERVER.start()
    (server,) = servers()
    replaced: list[int] = []

    def start(self: ForkServer) -> socket.socket:
        replaced.append(server)
        monkeypatch.undo()  # The next one has time enough.
        return self._start()

    monkeypatch.setattr(keeper_process, "FORK_S", 0.5)
    monkeypatch.setattr(ForkServer, "_start", start)
    os.kill(server, signal.SIGSTOP)
    with ThreadPoolExecutor(3) as threads:
        bots = [threads.submit(start_bot, honest(), UNCONFINED) for _ in range(3)]
        for bot in bots:
            process = bot.result()
            process.await_start(PATIENCE_S)
            process.close()
    assert replaced == [server]
    assert not is_alive(server)


def test_no_bot_is_blamed_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever is to fork keepers ends at once, again and again."""
    (tmp_path / "ends.py").write_text("")
    monkeypatch.setattr(fork_server, "SCRIPT", tmp_path / "ends.py")
    records: list[Record] = []
    fork_server.SERVER.close()
    with pytest.raises(NoKeeper):
        play_match(honest(), honest(name="other"), games=2, on_record=records.append)
    assert records == []


def test_bots_play_on_without_it_and_leave_nothing() -> None:
    mark = uuid.uuid4().hex
    both = (honest(), honest(name="other"))
    bots = [structs.replace(each, env={**each.env, MARK: mark}) for each in both]
    records: list[Record] = []
    seen: list[int] = []

    def kept(record: Record) -> None:
        if not records:
            seen.extend(keepers())
            kill_the_server()
        records.append(record)

    play_match(*bots, games=4, on_record=kept, seed="tests")
    assert [record.ending for record in records] == [Ending.RULES] * 4
    assert left_of(mark) == []
    assert len(seen) == 2
    assert not any(map(is_alive, seen))


def test_a_fork_of_this_process_has_its_own() -> None:
    fork_server.SERVER.start()
    before = servers()
    child = os.fork()
    if child == 0:
        try:
            assert servers() == []
            all_by_rules(play(honest(), honest(name="other"), games=2))
            assert len(servers()) == 1
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert servers() == before
    all_by_rules(play(honest(), honest(name="other"), games=2))
