"""Live events that come without a pause, quicker than they can be told."""

from __future__ import annotations

import subprocess
import sys

from referee.web.hearing import endpoint_of
from tests.web.contest import Contest
from tests.web.serving import serving

FLOOD = """
import signal, sys, zmq
signal.alarm(600)
socket = zmq.Context().socket(zmq.PUB)
socket.bind(sys.argv[1])
print("bound", flush=True)
while True:
    socket.send_multipart([b"live", b'{"type":"noise"}'])
"""


def test_events_without_a_pause_keep_no_page_waiting(own: Contest) -> None:
    command = [sys.executable, "-c", FLOOD, endpoint_of(own.data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as flood:
        try:
            assert flood.stdout is not None
            assert flood.stdout.readline() == b"bound\n"
            with serving(own.data) as web:
                for _ in range(3):
                    assert web.get("/").status == 200
        finally:
            flood.kill()
