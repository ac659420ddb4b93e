"""Bots that reach for what is not theirs: files, the network, processes, privileges."""

from __future__ import annotations

from tests.hostile.cases.case import CALM_MS, Case, Expected, confined

EVERY_SPY = (
    "opponent",
    "opponent's program",
    "database",
    "logs",
    "neighbour",
    "own environment",
    "others' environment",
    "opponent's process",
    "own program, to write",
    "descriptors",
)
EVERY_CALL = (
    *("proc sys", "sysrq", "cgroup", "memory of process 1", "kernel memory"),
    *("user namespace", "user namespace by clone", "user namespace by clone3"),
    *("mount namespace", "network namespace", "mount", "chroot"),
    *("setuid", "setgid", "setgroups", "setuid to another"),
    *("capabilities", "new privileges by exec", "a device"),
    *("a higher limit", "a higher priority", "real time"),
    *("ptrace", "io_uring", "userfaultfd", "bpf", "perf events", "keyring", "add a key"),
    *("inotify", "fanotify"),
    *("set a namespace", "file handles", "kernel module", "kernel log", "open a mount", "quota"),
    *("vsock", "netlink", "packets"),
)

REACHING = (
    Case(
        numbers=(26,),
        name="spy",
        behaviour="reads the opponent's folder, the database, the referee's environment",
        program="spy.py",
        words=("{opponent}", "{database}", "{logs}", "{neighbour}", "{secret}"),
        move_ms=CALM_MS,
        levels=confined(
            Expected(outcome="none of it is there", refused=EVERY_SPY),
            none=Expected(
                outcome="reads what the referee's user may read",
                done=("opponent", "database", "neighbour", "own environment", "opponent's process"),
                refused=("descriptors",),
            ),
        ),
    ),
    Case(
        numbers=(27,),
        name="network",
        behaviour="talks over TCP, UDP, unix sockets and vsock",
        program="network.py",
        words=("{tcp}", "{udp}", "{abstract}", "{path}"),
        move_ms=CALM_MS,
        lost_ms=1_500,
        levels=confined(
            Expected(
                outcome="reaches nobody",
                refused=(
                    *("tcp", "udp", "abstract", "path"),
                    *("vsock", "vsock to the host", "interfaces"),
                ),
            ),
            none=Expected(
                outcome="reaches whomever it likes", done=("tcp", "udp", "abstract", "path")
            ),
        ),
    ),
    Case(
        numbers=(28,),
        name="reaches for processes",
        behaviour="traces, stops and kills other processes, all of them at once too",
        program="reach.c",
        words=("{victims}",),
        move_ms=CALM_MS,
        levels=confined(
            Expected(
                outcome="sees none but its own; the victims live",
                refused=(
                    *("see", "ask", "pidfd", "trace", "look into", "limit", "slow down", "end"),
                ),
            ),
            none=Expected(
                outcome="may do so to all processes of the referee's user",
                done=("see", "ask", "pidfd", "kill -1", "end"),
            ),
        ),
    ),
    Case(
        numbers=(29,),
        name="fills the disk",
        behaviour="fills /tmp, /dev/shm, /, /dev and its own folder; writes 20,000 small files",
        program="fill.py",
        words=("64", "20000", "tmp,shared-memory,root,devices,own-folder,var-tmp,system"),
        tame=("1", "50", "tmp,own-folder"),
        move_ms=CALM_MS,
        lost_ms=1_000,
        levels=confined(
            Expected(
                outcome="gets the limit in /tmp, 1 MB in /dev/shm and nothing elsewhere; all of it "
                "is gone with the bot",
                at_most={"tmp": 8 * 1024, "shared-memory": 1024, "small files": 8 * 256},
                at_least={"tmp": 7 * 1024, "small files": 1024},
                refused=("root", "devices", "own-folder", "var-tmp", "system"),
            ),
            none=Expected(
                outcome="fills whatever the referee's user may write to, and it stays",
                done=("tmp", "own-folder", "small files"),
                leaves_files=True,
            ),
        ),
    ),
    Case(
        numbers=(29,),
        name="empty files",
        behaviour="makes 200,000 empty files in /tmp and /dev/shm, which no limit on bytes counts",
        program="fill.py",
        words=("empty", "200000"),
        tame=("empty", "50"),
        move_ms=CALM_MS,
        lost_ms=1_000,
        levels=confined(
            Expected(
                outcome="is ended (crash) at the next look, twenty a second; all of it is gone "
                "with the bot",
                endings=("crash",),
                detail="more files than",
            ),
            none=Expected(
                outcome="makes as many as the referee's user may make, and they stay",
                done=("empty files",),
                leaves_files=True,
            ),
        ),
    ),
    Case(
        numbers=(30,),
        name="privileges",
        behaviour="writes /proc/sys, nests namespaces, changes its user, tries rare system calls; "
        "also under a referee that root started",
        program="privileges.c",
        move_ms=CALM_MS,
        levels=confined(
            Expected(outcome="every attempt fails", refused=EVERY_CALL),
            none=Expected(
                outcome="may do what the referee's user may do",
                done=("new privileges by exec", "netlink"),
            ),
        ),
    ),
)
