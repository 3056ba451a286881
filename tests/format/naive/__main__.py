"""A verifier of exports in JSON Lines, written from FORMAT.md alone.

    python -m tests.format.naive EXPORT [SEAL PUBLIC_KEYS]

Slow, and easy to compare with the page. Nothing of the service is in it: it needs these three
files, Python, and `cryptography` for Ed25519.
"""

import sys
from pathlib import Path

from tests.format.naive.play import verify

export, *kept = map(Path, sys.argv[1:])
seal = (kept[0].read_bytes(), kept[1].read_text().split()) if kept else ()
sys.exit("\n".join(map(str, verify(export, *seal))) or 0)
