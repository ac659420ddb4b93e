"""The system calls that a confined bot is refused, as a program for the kernel.

What a bot has no use for and the kernel has had holes in; what reaches other processes; what leaves
a namespace or makes one; what the kernel counts for a whole user, so that one bot could have it
all; what one bot could leave on a file that both see for another to find; and, where no control
group counts for all processes together, whatever would make a second process or memory that no
limit of one process counts.

A refused call fails with an error, so that a runtime that only tries goes on. `clone3` is said not
to exist: its flags lie in memory that a filter cannot see, and every C library goes back to
`clone`.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Mapping, Sequence

Program = list[tuple[int, int, int, int]]
"""Instructions of the Berkeley packet filter: code, jump if true, jump if false, operand."""

LOAD, AND, RETURN = 0x20, 0x54, 0x06
IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x15, 0x35, 0x45
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
X32_CALLS = 0x40000000
"""Numbers of a second, seldom used set of calls, which would go round this filter."""

CLONE_THREAD = 0x00010000
NEW_NAMESPACES = 0x7E020000
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
MAP_GROWSDOWN, MAP_HUGETLB = 0x100, 0x40000
"""Memory that RLIMIT_DATA does not count."""
FAMILIES = (1,)
"""AF_UNIX, which ends at the walls. AF_VSOCK does not, and what waits in TCP is memory that nobody
counts."""
SIGNAL_SETTING = (10,)
"""F_SETSIG of fcntl, which with timers could wake a bot that was stopped."""
LOCKS = (6, 7, 37, 38)
"""F_SETLK and its kin: the kernel keeps each lock in memory that nobody counts."""
NOTICES = (1024, 1026)
"""F_SETLEASE and F_NOTIFY of fcntl: that somebody else opens a file or reads it."""
SOL_SOCKET, BUFFERS = 1, (7, 8, 32, 33)
"""The sizes of what waits in sockets."""

# name: (x86-64, arm64); None where the machine has no such call.
REFUSED: Mapping[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "sched_setaffinity": (203, 122),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "settimeofday": (170, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "timer_create": (222, 107),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
UNCOUNTED: Mapping[str, tuple[int | None, int | None]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
}
"""Memory that belongs to no process, or to a pipe."""
FLOCK = (73, 32)
FORKS: Mapping[str, tuple[int | None, int | None]] = {"fork": (57, None), "vfork": (58, None)}
CLONE, CLONE3, MMAP, SOCKET = (56, 220), (435, 435), (9, 222), (41, 198)
FCNTL, SETSOCKOPT = (72, 25), (54, 208)

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By what the system calls the machine: the column of the tables, and the kernel's own name."""


class UnknownMachine(Exception):
    """There is no filter for this kind of processor; the message names it."""


def seccomp_filter(*, one_process: bool, count_memory: bool, locks: bool = False) -> bytes:
    """The program for this machine. Raises UnknownMachine.

    `one_process` refuses whatever makes a second one; `count_memory` whatever makes memory that
    the limit of a process does not count. `locks` allows to lock files: a lock on a program of the
    system, which all bots see, is a word from one bot to another.
    """
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise UnknownMachine(machine)
    column, architecture = ARCHITECTURES[machine]
    program: Program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (IF_AT_LEAST, 0, 1, X32_CALLS),
        _refuse(errno.ENOSYS),
    ]
    program += _refuse_all(_numbers(REFUSED, column), errno.EPERM)
    program += _refuse_all([CLONE3[column]], errno.ENOSYS)
    if one_process:
        program += _refuse_all(_numbers(FORKS, column), errno.EPERM)
    if count_memory:
        program += _refuse_all(_numbers(UNCOUNTED, column), errno.ENOSYS)
        program += _if_call(MMAP[column], _no_uncounted_maps())
        program += _if_call(SETSOCKOPT[column], _no_larger_buffers())
    program += _if_call(CLONE[column], _clone_rules(one_process=one_process))
    program += _if_call(SOCKET[column], _known_families())
    unwanted = [*SIGNAL_SETTING, *NOTICES]
    if count_memory or not locks:
        unwanted += LOCKS
    if not locks:
        program += _refuse_all([FLOCK[column]], errno.EPERM)
    program += _if_call(FCNTL[column], [_argument(1), *_refuse_all(unwanted, errno.EPERM)])
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _refuse(error: int) -> tuple[int, int, int, int]:
    return (RETURN, 0, 0, REFUSE | error)


def _numbers(table: Mapping[str, tuple[int | None, int | None]], column: int) -> list[int]:
    return [number for row in table.values() if (number := row[column]) is not None]


def _refuse_all(numbers: Iterable[int], error: int) -> Program:
    program: Program = []
    for number in numbers:
        program += [(IF_EQUAL, 0, 1, number), _refuse(error)]
    return program


def _if_call(number: int, rules: Sequence[tuple[int, int, int, int]]) -> Program:
    """These rules for one call. They end in the call's number, loaded again."""
    rules = [*rules, (LOAD, 0, 0, NUMBER_AT)]
    return [(IF_EQUAL, 0, len(rules), number), *rules]


def _argument(place: int) -> tuple[int, int, int, int]:
    """Load the low half of an argument; both machines put it first."""
    return (LOAD, 0, 0, ARGUMENTS_AT + 8 * place)


def _clone_rules(*, one_process: bool) -> Program:
    rules = [_argument(0), (IF_ANY_BIT, 0, 1, NEW_NAMESPACES), _refuse(errno.EPERM)]
    if one_process:
        rules += [(IF_ANY_BIT, 1, 0, CLONE_THREAD), _refuse(errno.EPERM)]
    return rules


def _no_uncounted_maps() -> Program:
    shared = MAP_SHARED | MAP_ANONYMOUS
    return [
        _argument(3),
        (AND, 0, 0, shared),
        (IF_EQUAL, 0, 1, shared),
        _refuse(errno.EPERM),
        _argument(3),
        (IF_ANY_BIT, 0, 1, MAP_GROWSDOWN | MAP_HUGETLB),
        _refuse(errno.ENOMEM),
    ]


def _no_larger_buffers() -> Program:
    options: Program = [_argument(2), *_refuse_all(BUFFERS, errno.EPERM)]
    return [_argument(1), (IF_EQUAL, 0, len(options), SOL_SOCKET), *options]


def _known_families() -> Program:
    rules: Program = [_argument(0)]
    for place, family in enumerate(FAMILIES):
        # Past the other families and past the refusal.
        rules.append((IF_EQUAL, len(FAMILIES) - place, 0, family))
    return [*rules, _refuse(errno.EAFNOSUPPORT)]
