"""Why a seal, a proof or a cosignature is refused."""

from typing import ClassVar

from shared.kernel.rejected import Rejected


class UnknownSeal(Rejected):
    """There is no such seal.

    The log is sealed every so many events or seconds, so that not every position has a seal of
    its own; `/v1/audit/seals` lists those there are. None at all means that nothing was recorded
    yet, or that no worker has a key to seal with.
    """

    status: ClassVar[int] = 404


class NotSealedYet(Rejected):
    """The log is not sealed that far yet.

    Proofs are of what is sealed. `sealed` is how far that is now; the worker seals what follows
    within a minute, unless the operator has it otherwise. Ask again then.
    """

    status: ClassVar[int] = 404


class UnknownWitness(Rejected):
    """Nobody knows this witness.

    A cosignature counts when its name and key id are those of a witness whose public key the
    operator has set in `CROUPIER_WITNESSES`; `/v1/audit/keys` lists them.
    """

    status: ClassVar[int] = 403


class WrongCosignature(Rejected):
    """The cosignature does not hold.

    It is a line `— <name> <base64>` of a signed note, as c2sp.org/tlog-cosignature has it:
    an Ed25519 signature over `cosignature/v1`, the time, and the checkpoint of this very seal.
    """

    status: ClassVar[int] = 422
