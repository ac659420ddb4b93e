"""Archives that tests make, unpacked from a file of the disk, as all archives are."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from referee.bots import archive


def unpack(packed: io.BytesIO, folder: Path, most_bytes: int) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(packed.getvalue())
        archive.unpack(file, folder, most_bytes)
