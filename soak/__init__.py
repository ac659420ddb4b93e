"""A long tournament of honest, broken and hostile bots, ended and resumed again and again.

run        the time that is given, cut into runs; the report
field      who plays: honest, broken and hostile bots, each in a folder of its own
playing    one run of the real command: its events, its end by a signal
watching   the processes as /proc shows them: descriptors, threads, memory, who is left
books      what the database holds, and whether it still does after the next run
checks     what must hold at the end
"""
