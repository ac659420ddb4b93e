"""The system calls that a confined bot is refused, as a program for the kernel.

What a bot has no use for and the kernel has had holes in; what reaches other processes; what leaves
a namespace or makes one; what the kernel counts for a whole user, so that one bot could have it
all; what one bot could leave on a file that both see for another to find; what lets the kernel
itself grow without a limit; what would wake a bot that was stopped; and, where no control group
counts for all processes together, whatever would make a second process or memory that no limit of
one process counts.

A refused call fails with an error, so that a runtime that only tries goes on. `clone3` is said not
to exist: its flags lie in memory that a filter cannot see, and every C library goes back to
`clone`. So are all calls that are newer than those in the table: nobody has looked at them.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Sequence

from referee.bots.confinement.calls import (
    ABSENT,
    AF_UNIX,
    ATTRIBUTES,
    BUFFERS,
    CLONE_FILES,
    CLONE_THREAD,
    CLOSE_RANGE_UNSHARE,
    EXIT_SIGNAL,
    EXIT_SIGNALS,
    FIRST_NAMED_OPTION,
    FIRST_UNKNOWN_OPTION,
    FOR_BUILDS,
    FORKS,
    LOCKS,
    LOOKED_INTO,
    MAP_ANONYMOUS,
    MAP_GROWSDOWN,
    MAP_HUGETLB,
    MAP_SHARED,
    NEW_NAMESPACES,
    NOTICES,
    PAGES,
    PIPE_SIZES,
    PROCESS_OPTIONS,
    QUEUES,
    REFUSED,
    SIGCONT,
    SIGNAL_SETTING,
    SIGNALS,
    SOCKET_FILTERS,
    SOCKET_TYPE,
    SOCKET_TYPES,
    SOL_SOCKET,
    TABLES,
    UNCOUNTED,
    Table,
)

Program = list[tuple[int, int, int, int]]
"""Instructions of the Berkeley packet filter: code, jump if true, jump if false, operand."""

LOAD, AND, RETURN = 0x20, 0x54, 0x06
IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x15, 0x35, 0x45
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By what the system calls the machine: the column of the tables, and the kernel's own name."""


class UnknownMachine(Exception):
    """There is no filter for this kind of processor; the message names it."""


def seccomp_filter(*, one_process: bool, count_memory: bool, build: bool = False) -> bytes:
    """The program for this machine. Raises UnknownMachine.

    `one_process` refuses whatever makes a second one; `count_memory` whatever makes memory that
    the limit of a process does not count. `build` allows tools to lock files and to have groups of
    processes. A bot has neither: a lock on a program of the system, which all bots see, is a word
    from one bot to another; and the kernel wakes a stopped group that loses its last parent.
    """
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise UnknownMachine(machine)
    column, architecture = ARCHITECTURES[machine]
    call = {name: row[column] for name, row in LOOKED_INTO.items()}
    program: Program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER_AT),
        # The calls of x32 as well: their numbers begin at 0x40000000.
        (IF_AT_LEAST, 0, 1, newest(column) + 1),
        _refuse(errno.ENOSYS),
    ]
    program += _refuse_all(_numbers(REFUSED, column), errno.EPERM)
    program += _refuse_all(_numbers(ABSENT, column), errno.ENOSYS)
    program += _refuse_all(_numbers(ATTRIBUTES, column), errno.EOPNOTSUPP)
    if one_process:
        program += _refuse_all(_numbers(FORKS, column), errno.EPERM)
    if count_memory:
        program += _refuse_all(_numbers(UNCOUNTED, column), errno.ENOSYS)
        program += _refuse_all(_numbers(PAGES, column), errno.EINVAL)
        program += _refuse_all(_numbers(QUEUES, column), errno.EPERM)
        program += _if_call(call["mmap"], _no_uncounted_maps())
    if not build:
        program += _refuse_all(_numbers(FOR_BUILDS, column), errno.EPERM)
        for name, row in SIGNALS.items():
            place = 2 if "tg" in name else 1
            waking = [_argument(place), *_refuse_all([SIGCONT], errno.EPERM)]
            program += _if_call(row[column], waking)
    program += _if_call(call["clone"], _clone_rules(one_process=one_process))
    program += _if_call(call["close_range"], _one_table_of_files())
    program += _if_call(call["prctl"], _process_options())
    program += _if_call(call["prlimit64"], _own_limits())
    program += _if_call(call["socket"], _known_sockets())
    program += _if_call(call["socketpair"], _known_sockets())
    program += _if_call(call["setsockopt"], _socket_options(count_memory=count_memory))
    file_commands = [*SIGNAL_SETTING, *NOTICES, *PIPE_SIZES]
    if count_memory or not build:
        file_commands += LOCKS
    program += _if_call(call["fcntl"], [_argument(1), *_refuse_all(file_commands, errno.EPERM)])
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def newest(column: int) -> int:
    """The highest number in the tables. The kernel numbers its calls by age."""
    return max(number for table in TABLES for number in _numbers(table, column))


def _refuse(error: int) -> tuple[int, int, int, int]:
    return (RETURN, 0, 0, REFUSE | error)


def _numbers(table: Table, column: int) -> list[int]:
    return [number for row in table.values() if (number := row[column]) is not None]


def _refuse_all(numbers: Iterable[int], error: int) -> Program:
    program: Program = []
    for number in numbers:
        program += [(IF_EQUAL, 0, 1, number), _refuse(error)]
    return program


def _refuse_others(numbers: Sequence[int], error: int) -> Program:
    """Go on with one of these alone."""
    program: Program = []
    for place, number in enumerate(numbers):
        # Past the other numbers and past the refusal.
        program.append((IF_EQUAL, len(numbers) - place, 0, number))
    return [*program, _refuse(error)]


def _if_call(number: int, rules: Sequence[tuple[int, int, int, int]]) -> Program:
    """These rules for one call. They end in the call's number, loaded again."""
    rules = [*rules, (LOAD, 0, 0, NUMBER_AT)]
    return [(IF_EQUAL, 0, len(rules), number), *rules]


def _argument(place: int) -> tuple[int, int, int, int]:
    """Load the low half of an argument; both machines put it first."""
    return (LOAD, 0, 0, ARGUMENTS_AT + 8 * place)


def _clone_rules(*, one_process: bool) -> Program:
    """A thread shares its process's table of open files, so that one limit counts them all."""
    other_process: Program = [_refuse(errno.EPERM)] if one_process else []
    return [
        _argument(0),
        (IF_ANY_BIT, 0, 1, NEW_NAMESPACES),
        _refuse(errno.EPERM),
        (AND, 0, 0, EXIT_SIGNAL),
        *_refuse_others(EXIT_SIGNALS, errno.EPERM),
        _argument(0),
        (IF_ANY_BIT, 0, 2, CLONE_THREAD),
        (IF_ANY_BIT, 1 + len(other_process), 0, CLONE_FILES),
        _refuse(errno.EPERM),
        *other_process,
    ]


def _one_table_of_files() -> Program:
    return [_argument(2), (IF_ANY_BIT, 0, 1, CLOSE_RANGE_UNSHARE), _refuse(errno.EPERM)]


def _process_options() -> Program:
    return [
        _argument(0),
        *_refuse_all(PROCESS_OPTIONS, errno.EPERM),
        (IF_AT_LEAST, 2, 0, FIRST_NAMED_OPTION),
        (IF_AT_LEAST, 0, 1, FIRST_UNKNOWN_OPTION),
        _refuse(errno.EINVAL),
    ]


def _own_limits() -> Program:
    """Where the referee is not root, the process that stops a bot has the bot's user."""
    return [_argument(0), *_refuse_others([0], errno.EPERM)]


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


def _socket_options(*, count_memory: bool) -> Program:
    unwanted = [*SOCKET_FILTERS, *(BUFFERS if count_memory else ())]
    options: Program = [_argument(2), *_refuse_all(unwanted, errno.EPERM)]
    return [_argument(1), (IF_EQUAL, 0, len(options), SOL_SOCKET), *options]


def _known_sockets() -> Program:
    return [
        _argument(0),
        *_refuse_others([AF_UNIX], errno.EAFNOSUPPORT),
        _argument(1),
        (AND, 0, 0, SOCKET_TYPE),
        *_refuse_others(SOCKET_TYPES, errno.EPERM),
    ]
