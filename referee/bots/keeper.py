"""The keeper of one bot: a small process between the referee and the bot's process tree.

    python -I -S keeper.py SOCKET

The script forks a keeper for each request that comes by the socket (keeping/fork_server.py,
keeping/orders.py). The bot inherits the keeper's standard input and output, which the keeper then
lets go, so that the game itself passes through no third hand. What a keeper does:

- starts the bot in a session of its own, behind the walls that it is told of, and tells the
  referee its process id, or why it failed;
- looks all the time at how many files it has made and, where no control group counts its memory,
  at that, and ends what has too much;
- reads the bot's stderr all the time, so that no bot blocks on it, and keeps its head and tail;
- tells how the bot ended;
- leaves nothing behind. When the referee closes the control socket, or dies however suddenly, the
  socket ends, and every process that descends from the bot is killed. On Linux the keeper is a
  child subreaper, so that a daemon that forked twice is still found; elsewhere the process group
  has to do.

It runs as a script of its own, with the standard library alone, because it must not share a fate
with the referee. Control lines, keeper to referee: `keeper PID` (its own), `started PID STOPPER`
(the bot's; 0 for no stopper), `failed REASON`, `unforked REASON` (the machine has nothing left for
another process), `walls REASON` (the bot could not be confined, and was not started), `exit
STATUS`, `signal NUMBER`, and before the last two, where that is why: `memory`, `files`, `cpu` (it
had more than its limit of those), `stopper` (it ended the process that stops it). Referee to
keeper: see keeping/orders.py. `aside` is answered when the log is closed: by `kept`, or by `used`
where the bot has used too much of its limits to be taken up again.
"""

from __future__ import annotations

import sys

# Beside this file, and by no longer way: what the package itself imports would cost 10 ms.
sys.path.append(__file__.rpartition("/")[0])

from keeping.fork_server import serve  # type: ignore[import-not-found]  # beside this file

serve(int(sys.argv[1]))
