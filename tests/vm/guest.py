"""Process 1 inside the virtual machine: runs one command in a delegated cgroup, then powers off.

The cgroup looks as one that systemd made with Delegate=yes: its user owns the folder and the
files that move processes and hand controllers on, and the attribute user.delegate says so.
"""

from __future__ import annotations

import json
import os
import sys
import termios
import threading
import time
import traceback
import tty
from pathlib import Path
from typing import Any

CGROUPS = Path("/sys/fs/cgroup")
GROUP = CGROUPS / "referee"
CONTROLLERS = "+cpu +memory +pids"
DELEGATED = ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads")


def open_port(path: str) -> int:
    """A line to the host that carries bytes as they are."""
    port = os.open(path, os.O_WRONLY | os.O_NOCTTY)
    tty.setraw(port)
    return port


def delegate(user: int) -> None:
    (CGROUPS / "cgroup.subtree_control").write_text(CONTROLLERS)
    GROUP.mkdir()
    os.setxattr(GROUP, "user.delegate", b"1")
    for path in (GROUP, *(GROUP / name for name in DELEGATED)):
        os.chown(path, user, user)


def open_the_way(path: Path) -> None:
    """Let every user pass to a path. Only the machine's own layer changes, not the host."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & 0o001:
            folder.chmod(mode | 0o011)


def become(job: dict[str, Any], output: int) -> None:
    """In the forked child: join the cgroup, take the user's identity and run the command."""
    (GROUP / "cgroup.procs").write_text("0")
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    user = job["user"]
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.chdir(job["folder"])
    command = job["command"]
    os.execvpe(command[0], command, job["environment"])


def start(job: dict[str, Any], output: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        become(job, output)
    except OSError as error:
        os.write(output, f"{job['command'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def reap(child: int) -> int:
    """The child's exit status, as a shell tells it; orphans are collected meanwhile."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def copy(pipe: int, port: int) -> None:
    while data := os.read(pipe, 65536):
        while data:
            data = data[os.write(port, data) :]
    termios.tcdrain(port)


def run(job: dict[str, Any]) -> int:
    delegate(job["user"])
    if job["user"]:
        open_the_way(Path(job["folder"]) / "any")
        open_the_way(Path(sys.executable).resolve())
    port = open_port(job["output"])
    reader, writer = os.pipe()
    child = start(job, writer)
    os.close(writer)
    relay = threading.Thread(target=copy, args=(reader, port))
    relay.start()
    status = reap(child)
    # What the command left behind would hold the pipe open.
    (GROUP / "cgroup.kill").write_text("1")
    relay.join()
    return status


def tell(path: str, status: int) -> None:
    port = open_port(path)
    os.write(port, f"{status}\n".encode())
    termios.tcdrain(port)


def main() -> None:
    try:
        job = json.loads(sys.argv[1])
        tell(job["status"], run(job))
    except Exception:
        traceback.print_exc()
    Path("/proc/sysrq-trigger").write_text("o")
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
