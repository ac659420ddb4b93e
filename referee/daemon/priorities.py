"""Who goes first where processes of the daemon share a core: nice values, the first ones first.

A process of a higher value gets less of a core that others want too, and nobody but root leaves its
value for a lower one. There is nothing lower than `UNRATED` but SCHED_IDLE: beside one busy process
a check would then hardly get on, and its bot would be rejected for the time that it took.

A bot that burns a core with a hundred processes gets much of it at any value. So relays, uploads
and what is not rated are also bound to the cores on which no worker plays (`spare_cores`). Each
relay is bound to one of them.
"""

HALL = 0
"""And the coordinator: the clocks of all bots that connected run in the hall."""
PAGES = 5
RATED = 10
"""Workers, and relays, which bring submitted bots to the hall."""
UPLOADS = 10
"""What reads an upload."""
UNRATED = 19
"""Builds, checks, and bots that people play against."""
