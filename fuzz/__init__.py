"""Fuzzing: bytes that strangers send or write, bent until something gives way.

A target (targets/) is a function that takes any bytes and raises where a promise is broken; seeds
(seeds.py) are real files and conversations; run.py bends them for a given time, guided by which
code they reach where atheris is installed.
"""
