"""`python -m services.healthy [URL]`: whether a process of ours answers, for a container's engine.

Without a URL the serving process of these settings is asked whether it is ready. It exits with 0 or
1, and imports next to nothing, since it runs every few seconds beside what serves.
"""

import os
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

_PATIENCE_SECONDS = 2.5


def healthy(url: str) -> bool:
    """Whether `http://host:port/path` is answered with 200 in time."""
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET", where.path)
        return connection.getresponse().status == 200
    except OSError:
        return False


if __name__ == "__main__":
    ours = f"http://127.0.0.1:{os.environ.get('CROUPIER_PORT', '8000')}/readyz"
    sys.exit(not healthy((sys.argv[1:] or [ours])[0]))
