"""What causes events: a command with its sender, as the log remembers it."""

from hashlib import sha256

from msgspec import Struct

from shared.kernel.rejected import Rejected


class StaleVersion(Rejected):
    """The state is not the one you decided on.

    `If-Match` named another version than the newest. Read the state again and decide anew.
    """

    status = 412


class Cause(Struct, frozen=True):
    """One command on its way. `id` makes it happen once, however often it is sent."""

    house: str
    actor: str
    """Who sent it: the name of the API key."""
    id: str
    if_version: int | None = None
    """The version the sender decided on, when it insists on that."""
    traceparent: str | None = None

    def fingerprint(self, stream: str, command: bytes) -> bytes:
        """What has to be the same when an id comes again: the stream and the command."""
        return sha256(b"%b\n%b" % (stream.encode(), command)).digest()
