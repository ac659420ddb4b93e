"""Bots that take memory, in every way that Linux has."""

from __future__ import annotations

from tests.hostile.cases.case import CALM_MS, Case, Expected, Levels, confined

ALL_OF_IT = "takes 96 MB, where the program itself stops"
UP_TO_THE_LIMIT = "gets as much as the limit and no more"
NOTHING = "gets none of it"
TREE_KILLED = "all its processes together get as much as the limit"
GROWN_BY_QUEUES = (
    *("waiting connections", "descriptors in flight"),
    *("pages by splice", "pages by sendfile", "pages by tee", "pages by vmsplice"),
)
"""What waits in queues is memory that a control group counts."""
GROWN = (
    *("access lists", "attributes", "attributes of an open file", "attributes of a link"),
    *("attributes in a folder", "rules of Landlock", "waiting datagrams", "datagrams of a pair"),
    *("files of a thread", "files of its own", "policies of pages", "a policy"),
    *("slots of futexes", "filters", "filters by prctl", "filters of sockets", "larger pipes"),
    "newer calls",
)
SEEN = "is ended (crash) at the next look, twenty a second"


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


def around(how: str) -> Levels:
    """A way round the limit of a process: no call of it is refused, so it is seen and ended."""
    return Levels(
        full=Expected(outcome="loses by crash at the limit", endings=("crash",), detail="memory"),
        standard=Expected(outcome=SEEN, endings=("crash",), detail="memory"),
        none=Expected(outcome=ALL_OF_IT, at_least={how: 96}),
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
        "closed",
        "fills memory and closes it to writing, which no limit of a process counts",
        around("closed"),
    ),
    memory(
        3,
        "headless",
        "does the same in a second thread, after its first one has ended",
        around("headless"),
    ),
    memory(
        3,
        "through",
        "fills memory that is closed to writing by way of /proc/self/mem",
        around("through"),
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
                outcome="all its processes together get as much as the limit; " + SEEN,
                endings=("crash",),
                detail="memory",
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
    Case(
        numbers=(6,),
        name="memory, kernel",
        behaviour="lets the kernel grow: access lists, rules of Landlock, sockets and datagrams in "
        "queues, pages in pipes, open files of single threads, policies of pages, slots of "
        "futexes, filters",
        program="kernel.c",
        move_ms=CALM_MS,
        levels=Levels(
            full=Expected(
                outcome="what no control group counts is refused; has 64 open files",
                refused=GROWN,
                at_most={"open files": 64},
            ),
            standard=Expected(
                outcome="every attempt fails; has 64 open files",
                refused=(*GROWN, *GROWN_BY_QUEUES),
                at_most={"open files": 64},
            ),
            none=Expected(
                outcome="may do what the referee's user may do",
                done=(*GROWN_BY_QUEUES, "waiting datagrams", "files of a thread"),
            ),
        ),
    ),
)
