"""What the command line of a keeper says."""

from __future__ import annotations

import os


class Orders:
    """What the command line says."""

    def __init__(self, words: list[str]) -> None:
        end = words.index("--")
        given = dict(word.split("=", 1) for word in words[:end])
        self.command = words[end + 1 :]
        self.control = int(given["control"])
        self.log = given.get("log", os.devnull)
        self.log_bytes = int(given.get("log_bytes", "65536"))
        self.cores = [int(core) for core in given.get("cores", "").split(",") if core]
        self.stdout_is_log = "stdout" in given
        """Whether what the bot writes to its standard output goes where its stderr goes."""
        self.scratch = given.get("scratch", "")
        """A folder that is to be gone when the keeper is, whoever was to remove it."""
        self.filter = int(given.get("filter", "-1"))
        """Where bubblewrap's filter can be read. Without one there are no walls."""
        self.walled = self.filter >= 0
        self.user = int(given["user"]) if "user" in given else None
        self.limits = pairs(given.get("limits", ""))
        """Of the process, by the name of the resource."""
        self.memory = int(given.get("memory", "0"))
        """What all processes of the bot may fill together; 0 where that is not to be watched."""
        self.places = [place for place in given.get("places", "").split(",") if place]
        """Where the bot can write, as it calls it."""
        self.alone = "alone" in given
        """Whether the bot cannot have a second process."""
        self.stopper = int(given.get("stopper", "-1"))
        """Where a stopper of the bot's processes gets its orders; without one there is none."""
        self.group = given.get("group", "")
        """The control group to make, with what to write into its files."""
        self.group_limits = pairs(given.get("group_limits", ""))


def pairs(text: str) -> dict[str, int]:
    """`DATA:1000,CPU:5`"""
    split = (each.split(":") for each in text.split(",") if each)
    return {name: int(value) for name, value in split}
