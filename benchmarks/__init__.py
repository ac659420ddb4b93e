"""Benchmarks: what the referee costs, mostly as ratios to a bare floor measured in the same run.

The Makefile has a target for each, `make bench` or `make bench-NAME`; scale has none.

bench              the arena (`make bench`), and the C programs that other benchmarks use as well
tournament         a tournament beside its games; live_tournament is the process that it measures
store              a store of many games
rate, ratings      `referee rate`, and the rating of thousands of bots
confinement        levels of the sandbox; `make bench-full` runs it in a virtual machine
hall               bots that connect
cluster            a cluster; coordinating is the process that it measures
viewers            people who watch a server
archive            the archive of a long season
scale              a tournament that nobody can try out, simulated from what the others measured
sizes              the options of all of them: a usual size and a small one

`--small`, or `make bench-NAME SMALL=1`, runs everything that the usual size runs in a few seconds.
The tests run each target like that; the figures of such a run mean nothing.
"""
