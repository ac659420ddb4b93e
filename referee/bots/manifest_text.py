"""The text of a `bot.toml`, read as TOML: how long and how deep it may be.

The TOML reader of Python takes a time that grows with the square of the parts of a key. So a
manifest is short, and its keys have few parts, before the reader sees it. Nothing but the standard
library is imported: the process that reads uploads starts with this module.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MANIFEST = "bot.toml"
LARGEST = 16 * 1024
"""Bytes of a manifest."""
MOST_PARTS = 16
"""Of a key: `a.b.c` has three."""
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(
    rf"^[ \t]*+\[?+\[?+[ \t]*+(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}", re.MULTILINE
)
"""At the start of a line, as in `a.b = 1` and `[a.b]`. Keys in braces cost no more than they are
long."""


class BadManifest(Exception):
    """A manifest that cannot be read; the message says why, and not where the file is."""


def parse_manifest(data: bytes) -> dict[str, Any]:
    """The keys and values. Raises BadManifest."""
    if len(data) > LARGEST:
        raise BadManifest(f"larger than {LARGEST:,} bytes, so no manifest")
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
        if _DEEP_KEY.search(text):
            raise BadManifest(f"a key has more than {MOST_PARTS} parts")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise BadManifest("not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise BadManifest(str(error)) from None
    except RecursionError:
        raise BadManifest("lists within lists, too deep to read") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise BadManifest(str(error).split(";")[0]) from None
