"""A verifier of exports, written from FORMAT.md alone.

    python -m tests.format.naive EXPORT [SEAL PUBLIC_KEYS]

Slow, and easy to compare with the page. Nothing of the service is in it: it needs these files, the
schemas, Python, `cryptography` for Ed25519, and `pyarrow` and `zstd` for exports in those forms.
"""

import sys
from pathlib import Path

from tests.format.naive import verify

export, *kept = map(Path, sys.argv[1:])
seal = (kept[0].read_bytes(), kept[1].read_text().split()) if kept else ()
sys.exit("\n".join(map(str, verify(export, *seal))) or 0)
