"""One target under atheris, in a process of its own: libFuzzer ends the process when time is up.

python -m fuzz.guided TARGET [libFuzzer's options and folders of inputs]
"""

from __future__ import annotations

import sys
from importlib import import_module

from fuzz.finds import SAID, Watch


def main() -> None:
    atheris = import_module("atheris")
    target = sys.argv[1]
    with atheris.instrument_imports(include=["referee", "tomllib"]):
        # Loaded here, so that what the rules of every variant do is seen.
        import_module("referee.rules.registry").all_variants()
        load = import_module("fuzz.targets").load
        watch = Watch(target, load(target))

    def one_input(data: bytes) -> None:
        find = watch(data)
        if find is not None:
            print(f"{SAID}{find.input} {find.what}", flush=True)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
