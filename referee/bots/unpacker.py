"""A process that unpacks one archive of a stranger, and has no more rights than the stranger's bot.

    python -I -S unpacker.py folder=FD bytes=N names=N levels=N memory=N [user=N] < ARCHIVE

It hands itself to the bots' user where root starts it, so that nothing of the machine is open to
whatever an archive makes of its reader: the folder, which is open already, is all that it can write
to. It runs as a script of its own, with the standard library alone, as the keeper (keeper.py) does.
The one line that it says is `done`, `bad REASON` or `error NUMBER NAME`.
"""

from __future__ import annotations

import ctypes  # noqa: F401  # for prctl, before it is another user's process, who may not read it
import os
import resource
import signal
import sys

# Beside this file, and by no longer way, as in keeper.py.
sys.path.append(__file__.rpartition("/")[0])

from keeping.starting import (  # type: ignore[import-not-found]  # beside this file
    PR_SET_PDEATHSIG,
    become,
    limit,
    prctl,
)
from unpacking.open_folder import OpenFolder  # type: ignore[import-not-found]
from unpacking.tar import Judged, Most  # type: ignore[import-not-found]
from unpacking.tree import BadArchive  # type: ignore[import-not-found]


def main() -> str:
    orders = {name: int(value) for name, value in (word.split("=") for word in sys.argv[1:])}
    asker = os.getppid()
    os.umask(0o022)
    limits = {"AS": orders["memory"], "FSIZE": orders["bytes"], "NPROC": 0, "CORE": 0}
    limit({name: within_own(name, value) for name, value in limits.items()})
    if "user" in orders:
        become(orders["user"])
    # Last: another user is another life, which would not end with the asker's.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != asker:
        return ""
    try:
        with open(0, "rb", closefd=False) as archive:
            archive.seek(0)
            judged = Judged(archive, Most(orders["bytes"], orders["names"], orders["levels"]))
        folder = OpenFolder(orders["folder"])
        judged.make(0, folder)
        folder.close()
    except BadArchive as bad:
        return f"bad {bad}"
    except MemoryError:
        return f"bad to unpack it takes more than {orders['memory']} bytes of memory"
    except OSError as error:
        return f"error {error.errno or 0} {error.filename or ''}"
    return "done"


def within_own(name: str, value: int) -> int:
    """A limit, or the one that holds already where that is less."""
    most = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
    return value if most == resource.RLIM_INFINITY else min(value, most)


os.write(1, main().encode(errors="backslashreplace"))
