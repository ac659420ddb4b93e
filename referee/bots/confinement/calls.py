"""Numbers of the kernel: the system calls that the filter looks at, and the values of arguments.

A row is a name and the call's number on x86-64 and on arm64; None means that the machine has no
such call. A test compares every row with the kernel's own headers.
"""

from __future__ import annotations

from collections.abc import Mapping

Call = tuple[int | None, int | None]
Table = Mapping[str, Call]

REFUSED: Table = {
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
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "seccomp": (317, 277),
    "semget": (64, 190),
    "setns": (308, 268),
    "settimeofday": (164, 170),
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
"""No bot may make these calls: EPERM."""
ABSENT: Table = {
    "clone3": (435, 435),
    "get_mempolicy": (239, 236),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "mbind": (237, 235),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
}
"""The filter says that the kernel has no such call (ENOSYS), as kernels without Landlock or NUMA
do. Rules of Landlock, and a policy for each page of a file, are memory of the kernel without
end."""
ATTRIBUTES: Table = {
    "fsetxattr": (190, 7),
    "lsetxattr": (189, 6),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
}
"""The filter says that the file system has no extended attributes (EOPNOTSUPP): no limit on bytes
or files counts an access control list. Tools that copy files take this answer for a usual one."""
UNCOUNTED: Table = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}
"""Memory that belongs to no process: ENOSYS."""
PAGES: Table = {
    "sendfile": (40, 71),
    "splice": (275, 76),
    "tee": (276, 77),
    "vmsplice": (278, 75),
}
"""Calls that put pages into pipes and sockets without a copy: EINVAL, after which runtimes copy. A
byte of a page keeps the whole page in memory, also after its file was cut short."""
QUEUES: Table = {
    "listen": (50, 201),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
}
"""Calls that let sockets and files wait in a queue, where no limit on descriptors counts them:
EPERM. `sendmsg` passes descriptors; `send` and `write` do without."""
FOR_BUILDS: Table = {"flock": (73, 32), "setpgid": (109, 154)}
FORKS: Table = {"fork": (57, None), "vfork": (58, None)}
LOOKED_INTO: Mapping[str, tuple[int, int]] = {
    "clone": (56, 220),
    "close_range": (436, 436),
    "fcntl": (72, 25),
    "mmap": (9, 222),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "setsockopt": (54, 208),
    "socket": (41, 198),
    "socketpair": (53, 199),
}
"""Calls that every bot needs; the filter refuses some of their arguments."""
SIGNALS: Mapping[str, tuple[int, int]] = {
    "kill": (62, 129),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "tgkill": (234, 131),
    "tkill": (200, 130),
}
"""Calls that send a signal. It is the second argument, the third where a thread is named by two."""
SIGCONT = 18
TABLES = (
    *(REFUSED, ABSENT, ATTRIBUTES, UNCOUNTED, PAGES, QUEUES, FOR_BUILDS, FORKS),
    *(LOOKED_INTO, SIGNALS),
)

CLONE_FILES, CLONE_THREAD = 0x00000400, 0x00010000
NEW_NAMESPACES = 0x7E020000
EXIT_SIGNAL, EXIT_SIGNALS = 0xFF, (0, 17)
"""The bits of clone's flags that name the signal at a child's end, and what a bot may put there:
none, or SIGCHLD. SIGCONT would wake a parent that was stopped."""
CLOSE_RANGE_UNSHARE = 0x02
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
MAP_GROWSDOWN, MAP_HUGETLB = 0x100, 0x40000
"""Memory that RLIMIT_DATA does not count."""
AF_UNIX = 1
"""The family that ends at the walls. AF_VSOCK does not, and what waits in TCP is memory that nobody
counts."""
SOCKET_TYPE, SOCKET_TYPES = 0x0F, (1, 5)
"""SOCK_STREAM and SOCK_SEQPACKET. Datagrams wait at their receiver after the sender has closed its
socket."""
SIGNAL_SETTING = (10,)
"""F_SETSIG of fcntl: a pipe could send SIGCONT to a bot that was stopped."""
LOCKS = (6, 7, 37, 38)
"""F_SETLK and its kin: the kernel keeps each lock in memory that nobody counts."""
NOTICES = (1024, 1026, 1040)
"""F_SETLEASE, F_NOTIFY and F_SETDELEG of fcntl: that somebody else opens a file or reads it."""
PIPE_SIZES = (1031,)
"""F_SETPIPE_SZ of fcntl. The kernel counts the sizes of pipes for a whole user."""
SOL_SOCKET, BUFFERS = 1, (7, 8, 32, 33)
"""The sizes of what waits in sockets."""
SOCKET_FILTERS = (26, 50, 51, 52)
"""SO_ATTACH_FILTER and its kin: programs for which the kernel has one limit for all users, the
filters of other bots included."""
PROCESS_OPTIONS = (1, 22, 62)
"""Options of prctl: PR_SET_PDEATHSIG could wake a bot that was stopped, PR_SET_SECCOMP keeps
programs in the kernel, PR_SCHED_CORE keeps everybody else off a core."""
FIRST_UNKNOWN_OPTION, FIRST_NAMED_OPTION = 78, 0x10000
"""The filter knows no option of prctl from PR_FUTEX_HASH on, which allocates a gigabyte in a call:
EINVAL, as an older kernel says. Options whose number is a word in ASCII are older."""
