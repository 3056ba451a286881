"""`croupier` on a machine whose clock is wrong by SKEW_SECONDS: python -m tests.simulation.skewed

Its children import this file too, so theirs is wrong by as much.
"""

import os
from datetime import UTC, datetime, timedelta

import services.app
import services.worker
from services.cli import main

_SKEW = timedelta(seconds=float(os.environ["SKEW_SECONDS"]))


def _wrong_time() -> datetime:
    return datetime.now(UTC) + _SKEW


services.app._now = services.worker._now = _wrong_time

if __name__ == "__main__":
    main()
