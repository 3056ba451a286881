"""Use cases of the ledger: grants, and the vault's leg of what happens elsewhere."""

from collections.abc import Callable
from datetime import datetime

from services.ledger.domain.events import REGISTRY
from services.ledger.domain.vault import Grant, Leg, grant, moved, vault_stream
from shared.eventstore.batcher import Batcher
from shared.eventstore.cause import Cause
from shared.eventstore.codec import Codec
from shared.eventstore.envelope import canonical
from shared.eventstore.store import Append, Appended

__all__ = ["REGISTRY", "Grant", "Ledger", "Leg", "moved", "vault_stream"]


class Ledger:
    """Writes to vaults. `clock` gives the time of recording, in UTC."""

    def __init__(self, batcher: Batcher, codec: Codec, clock: Callable[[], datetime]) -> None:
        self._batcher = batcher
        self._codec = codec
        self._clock = clock

    async def grant(self, cause: Cause, player: str, command: Grant) -> Appended:
        """Give new chips to a player, once for each cause. Raises KeyReused, Overloaded."""
        stream, body = vault_stream(player), canonical(command)
        events = self._codec.seal(
            [grant(player, command.amount)],
            house=cause.house,
            command_id=cause.id,
            command=body,
            actor=cause.actor,
            time=self._clock(),
            traceparent=cause.traceparent,
        )
        append = Append(cause.id, cause.fingerprint(stream, body), stream, None, events)
        return await self._batcher.append(cause.house, append)
