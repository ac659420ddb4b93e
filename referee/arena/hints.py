"""What to look for where a bot is silent or gone, by the way in which it is reached."""

from __future__ import annotations

from msgspec import Struct

from referee.bots.manifest import ZMQ, Bot


class Hints(Struct, frozen=True, kw_only=True):
    """Ends of sentences for a bot's author."""

    half: str
    """Something came, but not all of it."""
    no_hello: str
    no_first_answer: str
    in_the_middle: str
    closed_input: str
    closed_output: str


PIPES = Hints(
    half="; something came, but not the end of its line",
    no_hello="; does it flush its output?",
    no_first_answer="; does it flush its output?",
    in_the_middle=" in the middle of a line",
    closed_input="closed its standard input",
    closed_output="closed its standard output",
)
ZEROMQ = Hints(
    half="; something came, but not the end of its message",
    no_hello="; it has connected, and over ZeroMQ the bot speaks first",
    no_first_answer="",
    in_the_middle=" in the middle of a message",
    closed_input="closed its connection",
    closed_output="closed its connection",
)


def hints_for(bot: Bot) -> Hints:
    return ZEROMQ if bot.transport == ZMQ else PIPES
