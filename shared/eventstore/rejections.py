"""Why an append is refused: nothing of the command was written."""

from typing import ClassVar

from shared.kernel.rejected import Rejected


class VersionConflict(Rejected):
    """The state moved on before your command arrived.

    Somebody else's command was recorded first, so yours was decided on a state that is no longer
    the newest. Read the state again, look whether the command still makes sense, and send it
    again. `actual` is the version that the stream has now.
    """

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(
            f"{stream} is at version {actual}, the command was meant for version {expected}.",
            actual=actual,
        )


class KeyReused(Rejected):
    """This idempotency key belongs to another command.

    A key names one command for ever: repeating that command with it is safe and gives the first
    answer again. For a different command choose a new key, for example a fresh UUID.
    """

    status: ClassVar[int] = 422

    def __init__(self, command_id: str) -> None:
        super().__init__(f"The key {command_id!r} was used before, with another body.")


class InsufficientChips(Rejected):
    """There are not enough chips on that account.

    Chips only move where they are: no vault, stack or stake falls below zero. `account` is the
    account that is short, `balance` what it holds, `needed` what the command takes from it.
    """

    def __init__(self, account: str, balance: int, needed: int) -> None:
        super().__init__(
            f"{account} holds {balance} chips, the command needs {needed}.",
            account=account,
            balance=balance,
            needed=needed,
        )


class Unbalanced(Rejected):
    """The postings of a command do not sum to zero.

    Chips would appear or vanish. No request can cause this: it is a mistake in the program, the
    ledger refused to record it, and no chip has moved. `off_by` is the sum.
    """

    status: ClassVar[int] = 500

    def __init__(self, command_id: str, off_by: int) -> None:
        super().__init__(
            f"The postings of command {command_id!r} sum to {off_by}, not to 0.", off_by=off_by
        )


class Archived(Rejected):
    """This part of the log was taken out of the database.

    It is kept elsewhere, whole and with its hash chain: `place` says where. What is asked for ends
    with position `last_position`, or with version `last_version` of its stream; ask for what comes
    after it, or read the export, whose manifest says how it continues here.
    """

    status: ClassVar[int] = 410

    def __init__(self, detail: str, place: str, chain: bytes = b"", **last: int) -> None:
        super().__init__(detail, place=place, **last)
        self.chain = chain


class UnknownPosition(Rejected):
    """The log has not come to this position.

    Positions are given as events are recorded, without a gap. `newest` is where the log ends now:
    ask for any from 0 to there, or without a position for the newest.
    """

    status: ClassVar[int] = 404

    def __init__(self, position: int, newest: int) -> None:
        super().__init__(
            f"There is no position {position} yet; the log ends at {newest}.", newest=newest
        )


class Overloaded(Rejected):
    """More commands are waiting than can be served soon.

    Nothing was recorded. Wait for `retry_after` seconds, then send the same command again with
    the same idempotency key.
    """

    status: ClassVar[int] = 503

    def __init__(self, detail: str, retry_after: int = 1) -> None:
        super().__init__(detail, retry_after=retry_after)


class WaitedTooLong(Rejected):
    """The command has waited too long.

    Nothing was recorded: others were before it until its time was over, and it was taken back
    before it was sent to the log. Wait for `retry_after` seconds, then send the same command again
    with the same idempotency key.
    """

    status: ClassVar[int] = 503

    def __init__(self, detail: str = "", retry_after: int = 1) -> None:
        super().__init__(detail, retry_after=retry_after)


class Unreachable(Rejected):
    """The log cannot be reached at the moment.

    Whether a command on its way was recorded is not known. Send the same again with the same
    idempotency key: it happens once at most. Wait for `retry_after` seconds before you do.
    """

    status: ClassVar[int] = 503

    def __init__(self, detail: str, retry_after: int = 1) -> None:
        super().__init__(detail, retry_after=retry_after)
