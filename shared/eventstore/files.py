"""Files that appear whole or not at all, and are there to stay; and how manifests name them."""

import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in hex."""

FilePath = Annotated[str, Meta(pattern=r"^\w[\w=.-]*(/\w[\w=.-]*)*$")]
"""A path below the directory of its manifest: somebody else may have written it."""


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
