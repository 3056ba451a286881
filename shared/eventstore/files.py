"""Files that appear whole or not at all, and are there to stay."""

import os
from pathlib import Path


def settle(unfinished: Path, file: Path) -> Path:
    """What was written takes its place, `file`, on the same disk, once all of it is on disk.

    After this returns not even a power cut undoes it.
    """
    _on_disk(unfinished)
    unfinished.replace(file)
    _on_disk(file.parent)
    return file


def _on_disk(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
