"""The cases: what a hostile bot does, and what comes of it at each level.

One table, which the tests play and docs/security.md shows. The numbers are those of the list of
cases that confinement is measured by; 31 (a bot that a short-lived thread started) and 32 (honest
bots in runtimes that need room) are no programs of their own and have tests of their own.
"""

from __future__ import annotations

from msgspec import Struct

LEVELS = ("full", "standard", "none")
"""The strongest first."""
LIMITS = {"memory": "64M", "processes": "16", "disk": "8M"}
"""What the bots of these tournaments may use, unless a case says otherwise."""
MOVE_MS, GRACE_MS = 300, 50
BYE_MS = 1_000
"""What a bot has to leave after `bye`."""
LAST_WORDS_MS = 250
"""What the referee waits to hear how a bot ended that let go of its pipes."""
THINK_US = 40_000
"""What honest bots use of the processor for a move where somebody may use it in their stead."""
CALM_MS = 5_000
"""For a move in games that are to be played to their end, however busy the machine is."""


class Expected(Struct, frozen=True, kw_only=True):
    """What happens at one level."""

    outcome: str
    """In a few words, for people."""
    endings: tuple[str, ...] = ("rules",)
    """How the games of the hostile bot may end; all but `rules` are its fault."""
    detail: str = ""
    """Words that the detail of each of its faults has."""
    refused: tuple[str, ...] = ()
    """Attempts that were made, and failed each time."""
    done: tuple[str, ...] = ()
    """Attempts that succeeded: proof that the program tries, and that the test can tell."""
    at_most: dict[str, int] = {}
    """Of an attempt that is told with a number."""
    at_least: dict[str, int] = {}
    leaves_files: bool = False
    """Whether the files that it wrote stay, because nothing is promised about them."""


class Levels(Struct, frozen=True, kw_only=True):
    """What happens at each level."""

    full: Expected
    standard: Expected
    none: Expected


class Case(Struct, frozen=True, kw_only=True):
    """One hostile bot."""

    numbers: tuple[int, ...]
    name: str
    behaviour: str
    """What it does, in a few words, for people."""
    program: str
    words: tuple[str, ...] = ()
    """Of its command line; a {word} in braces is filled in by the scene of the test."""
    tame: tuple[str, ...] | None = None
    """The same at level none, where it must do less lest it does harm."""
    levels: Levels
    limits: dict[str, str] = {}
    processes: int | None = None
    """What its manifest asks for."""
    freeze: bool = False
    think_us: int = 0
    """What the honest bots use of the processor for a move."""
    games: int = 2
    at_once: int = 1
    """How many of them end by one fault."""
    options: dict[str, int | str] = {}
    move_ms: int = MOVE_MS
    lost_ms: int = 0
    """The most that it may cost of time in each game, or in as many as end at once."""
    leaving_ms: int = 0
    """And each time that it is told to leave."""
    flat: bool = False
    """Whether the referee's memory is looked at."""

    def at(self, level: str) -> Expected:
        return {
            "full": self.levels.full,
            "standard": self.levels.standard,
            "none": self.levels.none,
        }[level]


def everywhere(expected: Expected) -> Levels:
    """The referee's own strictness: the same at every level."""
    return Levels(full=expected, standard=expected, none=expected)


def confined(expected: Expected, none: Expected) -> Levels:
    return Levels(full=expected, standard=expected, none=none)


def memory(
    number: int, how: str, behaviour: str, levels: Levels, processes: int | None = None
) -> Case:
    """A case of memory.c, which takes up to 96 MB, three times its limit."""
    return Case(
        numbers=(number,),
        name=f"memory, {how}" + (" with leave to fork" if processes else ""),
        behaviour=behaviour,
        program="memory.c",
        words=(how,),
        move_ms=CALM_MS,
        limits={"memory": "32M"},
        processes=processes,
        levels=levels,
    )


ALL_OF_IT = "takes 96 MB, where the program itself stops"
UP_TO_THE_LIMIT = "gets as much as the limit and no more"
NOTHING = "gets none of it"
TREE_KILLED = "all its processes together get as much as the limit"

PROCESSES = (
    Case(
        numbers=(1,),
        name="fork bomb",
        behaviour="forks without end",
        program="multiply.c",
        words=("processes",),
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="as many as the limit, plays on", at_most={"fork": 16}),
            standard=Expected(outcome="the first fork is refused, plays on", refused=("fork",)),
            none=Expected(
                outcome="200, where the program itself stops; all are ended with it",
                at_least={"fork": 200},
            ),
        ),
    ),
    Case(
        numbers=(1,),
        name="fork bomb with leave to fork",
        behaviour="forks without end, and asked for eight processes in its manifest",
        program="multiply.c",
        words=("processes",),
        processes=8,
        move_ms=CALM_MS,
        levels=confined(
            Expected(
                outcome="as many as it asked for, plays on",
                at_most={"fork": 8},
                at_least={"fork": 1},
            ),
            none=Expected(
                outcome="200, where the program itself stops; all are ended with it",
                at_least={"fork": 200},
            ),
        ),
    ),
    Case(
        numbers=(2,),
        name="thread bomb",
        behaviour="starts threads without end",
        program="multiply.c",
        words=("threads",),
        move_ms=CALM_MS,
        levels=confined(
            Expected(
                outcome="as many as the limit, plays on",
                at_most={"threads": 16},
                at_least={"threads": 2},
            ),
            none=Expected(outcome="200, where the program itself stops", at_least={"threads": 200}),
        ),
    ),
)

MEMORY = (
    memory(
        3,
        "heap",
        "takes memory without end, and looks whether it gets it",
        Levels(
            full=Expected(
                outcome="gets as much as the limit; plays on, or is ended (crash)",
                endings=("rules", "crash"),
                detail="memory",
                at_most={"heap": 32},
            ),
            standard=Expected(outcome=UP_TO_THE_LIMIT, at_most={"heap": 32}, at_least={"heap": 16}),
            none=Expected(outcome=ALL_OF_IT, at_least={"heap": 96}),
        ),
    ),
    memory(
        3,
        "careless",
        "takes memory without end, and uses what it did not get",
        confined(
            Expected(outcome="loses by crash at the limit", endings=("crash",), detail="killed"),
            none=Expected(outcome=ALL_OF_IT, at_least={"careless": 96}),
        ),
    ),
    memory(
        3,
        "stack",
        "lets its stack grow without end, after it has raised that limit as far as it may",
        confined(
            Expected(
                outcome="loses by crash at 8 MB of stack", endings=("crash",), detail="killed"
            ),
            none=Expected(outcome=ALL_OF_IT, at_least={"stack": 96}),
        ),
    ),
    memory(
        3,
        "tables",
        "makes the kernel keep page tables for it",
        Levels(
            full=Expected(
                outcome="gets as much as the limit; plays on, or is ended (crash)",
                endings=("rules", "crash"),
                detail="memory",
                at_most={"tables": 32},
            ),
            standard=Expected(outcome=UP_TO_THE_LIMIT, at_most={"tables": 32}),
            none=Expected(outcome=ALL_OF_IT, at_least={"tables": 94}),
        ),
    ),
    memory(
        4,
        "tree",
        "takes memory in three children",
        Levels(
            full=Expected(
                outcome=TREE_KILLED,
                endings=("rules", "crash"),
                detail="memory",
                at_most={"tree": 32},
            ),
            standard=Expected(outcome="has no children, plays on", refused=("tree",)),
            none=Expected(outcome=ALL_OF_IT, at_least={"tree": 96}),
        ),
    ),
    memory(
        4,
        "tree",
        "the same, and asked for eight processes in its manifest",
        Levels(
            full=Expected(
                outcome=TREE_KILLED,
                endings=("rules", "crash"),
                detail="memory",
                at_most={"tree": 32},
            ),
            standard=Expected(
                outcome="each of its processes gets as much as the limit",
                at_most={"tree": 96},
                at_least={"tree": 48},
            ),
            none=Expected(outcome=ALL_OF_IT, at_least={"tree": 96}),
        ),
        processes=8,
    ),
    memory(
        5,
        "memfd",
        "takes memory in files that are nowhere but there",
        Levels(
            full=Expected(
                outcome=UP_TO_THE_LIMIT,
                endings=("rules", "crash"),
                detail="memory",
                at_most={"memfd": 32},
            ),
            standard=Expected(outcome=NOTHING, refused=("memfd",)),
            none=Expected(outcome=ALL_OF_IT, at_least={"memfd": 96}),
        ),
    ),
    memory(
        5,
        "sysv",
        "takes memory in segments of System V",
        confined(
            Expected(outcome=NOTHING, refused=("sysv",)),
            none=Expected(outcome=ALL_OF_IT, at_least={"sysv": 96}),
        ),
    ),
    memory(
        6,
        "shared",
        "takes memory in shared maps",
        Levels(
            full=Expected(
                outcome=UP_TO_THE_LIMIT,
                endings=("rules", "crash"),
                detail="memory",
                at_most={"shared": 32},
            ),
            standard=Expected(outcome=NOTHING, refused=("shared",)),
            none=Expected(outcome=ALL_OF_IT, at_least={"shared": 96}),
        ),
    ),
    memory(
        6,
        "zero",
        "takes memory in shared maps of /dev/zero",
        confined(
            Expected(outcome="there is no such device", refused=("zero",)),
            none=Expected(outcome=ALL_OF_IT, at_least={"zero": 96}),
        ),
    ),
)

STREAMS = (
    Case(
        numbers=(7,),
        name="flood of newlines",
        behaviour="writes blank lines without end",
        program="flood.c",
        words=("newlines",),
        move_ms=CALM_MS,
        flat=True,
        levels=everywhere(
            Expected(outcome="loses by flood", endings=("flood",), detail="more than 1048576 bytes")
        ),
    ),
    Case(
        numbers=(8,),
        name="flood of one line",
        behaviour="writes one line without end",
        program="flood.c",
        words=("line",),
        move_ms=CALM_MS,
        flat=True,
        limits={"turn": "256K"},
        levels=everywhere(
            Expected(outcome="loses by flood", endings=("flood",), detail="more than 262144 bytes")
        ),
    ),
    Case(
        numbers=(9,),
        name="slow drip",
        behaviour="sends its answer byte by byte, too slowly",
        program="pipes.py",
        words=("drip",),
        lost_ms=MOVE_MS + GRACE_MS,
        levels=everywhere(
            Expected(
                outcome="loses by timeout at the deadline",
                endings=("timeout",),
                detail="something came, but not the end of its line",
            )
        ),
    ),
    Case(
        numbers=(10, 11, 12),
        name="garbled lines",
        behaviour="sends bad UTF-8, 60,000 brackets, NaN, 1e999, a key twice, a lone surrogate, "
        "5,000 digits, true as a number",
        program="garbled.py",
        games=6,
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="loses by garbled", endings=("garbled",))),
    ),
    Case(
        numbers=(13,),
        name="flood of the log",
        behaviour="writes to stderr without end, and no answer",
        program="flood.c",
        words=("log",),
        flat=True,
        lost_ms=MOVE_MS + GRACE_MS,
        levels=everywhere(
            Expected(
                outcome="loses by timeout; of its log, 64 KiB are kept",
                endings=("timeout",),
                detail="no answer within",
            )
        ),
    ),
    Case(
        numbers=(14,),
        name="flood of the log, and answers",
        behaviour="writes megabytes to stderr before each good move",
        program="flood.c",
        words=("log-and-answers",),
        move_ms=CALM_MS,
        flat=True,
        lost_ms=500,
        levels=everywhere(Expected(outcome="plays on; of its log, 64 KiB are kept")),
    ),
    Case(
        numbers=(15,),
        name="never reads",
        behaviour="reads nothing after the hello, with more sent to it than a pipe holds",
        program="pipes.py",
        words=("deaf",),
        games=64,
        options={"size": 100},
        at_once=64,
        lost_ms=MOVE_MS + GRACE_MS,
        leaving_ms=BYE_MS,
        levels=everywhere(
            Expected(outcome="loses by timeout", endings=("timeout",), detail="no answer within")
        ),
    ),
    Case(
        numbers=(16,),
        name="closes stdout",
        behaviour="closes its standard output and stays alive",
        program="pipes.py",
        words=("closes stdout",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash at once",
                endings=("crash",),
                detail="closed its standard output",
            )
        ),
    ),
    Case(
        numbers=(17,),
        name="closes stdin",
        behaviour="closes its standard input and stays alive",
        program="pipes.py",
        words=("closes stdin",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash at once",
                endings=("crash",),
                detail="closed its standard input",
            )
        ),
    ),
    Case(
        numbers=(18,),
        name="two halves of a line",
        behaviour="sends half a line, and the rest a moment later",
        program="pipes.py",
        words=("two halves",),
        move_ms=CALM_MS,
        lost_ms=600,
        levels=everywhere(Expected(outcome="plays on")),
    ),
    Case(
        numbers=(19,),
        name="half a line",
        behaviour="sends half a line and exits",
        program="pipes.py",
        words=("half",),
        move_ms=CALM_MS,
        lost_ms=LAST_WORDS_MS,
        levels=everywhere(
            Expected(
                outcome="loses by crash",
                endings=("crash",),
                detail="exited with status 7 in the middle of a line",
            )
        ),
    ),
    Case(
        numbers=(20,),
        name="answers twice",
        behaviour="answers every turn twice",
        program="answers.py",
        words=("twice",),
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="plays on; the second answer is dropped and counted")),
    ),
    Case(
        numbers=(21,),
        name="answers an old turn",
        behaviour="answers the turn before once more",
        program="answers.py",
        words=("old",),
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="plays on; the old answer is dropped and counted")),
    ),
    Case(
        numbers=(21,),
        name="answers an old turn 300 times",
        behaviour="answers an old turn hundreds of times",
        program="answers.py",
        words=("many",),
        move_ms=CALM_MS,
        levels=everywhere(
            Expected(
                outcome="loses by flood", endings=("flood",), detail="lines in a row that nobody"
            )
        ),
    ),
)

STAYING = (
    Case(
        numbers=(22,),
        name="ignores signals",
        behaviour="ignores SIGTERM, bye and the end of its input",
        program="stays.c",
        words=("deaf",),
        move_ms=CALM_MS,
        leaving_ms=BYE_MS,
        levels=everywhere(Expected(outcome="is ended a second after bye, nothing is left")),
    ),
    Case(
        numbers=(23,),
        name="daemon",
        behaviour="leaves a double-forked daemon behind",
        program="stays.c",
        words=("daemon",),
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="the daemon is ended with the bot", done=("daemon",)),
            standard=Expected(outcome="cannot fork", refused=("daemon",)),
            none=Expected(outcome="the daemon is ended with the bot", done=("daemon",)),
        ),
    ),
    Case(
        numbers=(23,),
        name="daemon with leave to fork",
        behaviour="the same, and asked for four processes in its manifest",
        program="stays.c",
        words=("daemon",),
        processes=4,
        move_ms=CALM_MS,
        levels=everywhere(Expected(outcome="the daemon is ended with the bot", done=("daemon",))),
    ),
    Case(
        numbers=(24,),
        name="hops from fork to fork",
        behaviour="hops from fork to fork and burns the processor while the other one is to move",
        program="idle.c",
        words=("hops",),
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="stands still with --freeze", at_most={"hops": 3}),
            standard=Expected(outcome="cannot fork", refused=("hop off", "hops")),
            none=Expected(outcome="burns it", done=("hop off",), at_least={"hops": 4}),
        ),
    ),
    Case(
        numbers=(24,),
        name="hops from fork to fork with leave",
        behaviour="the same, and asked for four processes in its manifest",
        program="idle.c",
        words=("hops",),
        processes=4,
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(outcome="stands still with --freeze", at_most={"hops": 3}),
            standard=Expected(
                outcome="burns it: who asks for processes cannot be held",
                done=("hop off",),
                at_least={"hops": 4},
            ),
            none=Expected(outcome="burns it", done=("hop off",), at_least={"hops": 4}),
        ),
    ),
    Case(
        numbers=(25,),
        name="spins while idle",
        behaviour="burns the processor in a thread while the other one is to move",
        program="idle.c",
        words=("spins",),
        freeze=True,
        think_us=THINK_US,
        move_ms=CALM_MS,
        levels=confined(
            Expected(outcome="stands still with --freeze", at_most={"spins": THINK_US // 2}),
            none=Expected(outcome="burns it", at_least={"spins": THINK_US * 5 // 8}),
        ),
    ),
)

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

CASES = (*PROCESSES, *MEMORY, *STREAMS, *STAYING, *REACHING)


def outcome_rows() -> list[tuple[str, ...]]:
    """The table for people: numbers, behaviour, and what happens at each level."""
    return [
        (
            ", ".join(map(str, case.numbers)),
            case.behaviour,
            *(case.at(level).outcome for level in LEVELS),
        )
        for case in CASES
    ]
