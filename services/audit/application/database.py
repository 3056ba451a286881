"""A house judged where it lives: its log, by deciding every command again, and all that is kept
beside the log, at one moment, while everybody plays on."""

from collections.abc import Callable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Final, LiteralString

from services.audit.application.derived import Derived
from services.audit.domain.verify import Report, Verifier
from shared.eventstore import archive
from shared.eventstore.exports import CannotRead
from shared.eventstore.partitions import Owner
from shared.eventstore.store import Recorded

_EVENTS_A_SIGN: Final = 1_000

_END: Final[LiteralString] = """
    SELECT EXISTS (SELECT FROM log_head WHERE house = %(house)s)
           OR EXISTS (SELECT FROM event_log WHERE house = %(house)s),
           (SELECT coalesce(max(position), 0) FROM event_log WHERE house = %(house)s)"""


def check(
    owner: Owner,
    house: str,
    archived: Path | None = None,
    progress: Callable[[int, int], None] = lambda position, end: None,
) -> Report:
    """Judges a house; `progress` is told the position that was read, and where the log ends.

    `archived` has the exports of the partitions that left the database. Raises CannotRead.
    """
    with owner.transaction():
        owner.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return check_now(owner, house, archived, progress)


def check_now(
    owner: Owner,
    house: str,
    archived: Path | None = None,
    progress: Callable[[int, int], None] = lambda position, end: None,
) -> Report:
    """The same, in a transaction that has begun and sees one moment."""
    opened, end = owner.execute(_END, {"house": house}).fetchone() or (False, 0)
    if not opened:
        raise CannotRead(f"The house {house} is not open.")
    verifier, derived = Verifier(house), Derived(owner, house)
    for _, command in groupby(_records(owner, house, archived), lambda row: row.command_id):
        events = list(command)
        for event in events:
            verifier.read(event)
        verifier.found.add(derived.read(events))
        if events[-1].position // _EVENTS_A_SIGN > (events[0].position - 1) // _EVENTS_A_SIGN:
            progress(events[-1].position, end)
    verifier.found.add(derived.close())
    progress(end, end)
    return verifier.report()


def _records(owner: Owner, house: str, archived: Path | None) -> Iterator[Recorded]:
    """The whole log: what was archived, then what is there."""
    last = owner.execute(
        "SELECT coalesce(max(last_position), 0) FROM archive WHERE house = %s", (house,)
    ).fetchone()
    gone = last[0] if last else 0
    files = _archived(house, gone, archived) if gone else []
    return chain(
        chain.from_iterable(map(archive.records, files)), archive.present(owner, house, gone)
    )


def _archived(house: str, gone: int, directory: Path | None) -> list[Path]:
    """The manifests of all that left the database, in order. Raises CannotRead."""
    if directory is None:
        raise CannotRead(
            f"The log is archived up to position {gone:,}. Name the directory of those files with "
            "--archived."
        )
    due, files = 1, list[Path]()
    for file, of in archive.manifests(directory):
        if of.house == house and of.first_position == due and of.last_position <= gone:
            files.append(file)
            due = of.last_position + 1
    if due <= gone:
        raise CannotRead(
            f"The log is archived up to position {gone:,}, and {directory} has no manifest of "
            f"{house} that begins at {due:,}."
        )
    return files
