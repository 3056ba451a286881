"""An export judged by every core, from its files alone.

Each process tries the commands of its own share of the streams, and checks the hashes of its own
share of the parts; nobody waits for anybody. So the check of a share is a function of the files.
"""

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from services.audit.domain.faults import Fault, most_serious_first
from services.audit.domain.lines import Line
from services.audit.domain.verify import MOST_FAULTS, Court, Faults, Report, Spine
from shared.eventstore import jsonlines
from shared.eventstore.exports import (
    CannotRead,
    Manifest,
    Part,
    Rows,
    Unread,
    digest_of,
    read_manifest,
    shard_of,
)

_EVENTS_A_SIGN: Final = 5_000
Progress = Callable[[int], None]


class Share(Struct, frozen=True):
    """What one of several processes has to judge: streams and parts, numbered from 0."""

    number: int
    of: int

    def owns(self, stream: str) -> bool:
        return self.of == 1 or shard_of(stream, self.of) == self.number


class Judged(Struct, frozen=True):
    """What came of a share."""

    events: int
    commands: int
    streams: int
    rounds: int
    cards: int
    postings: int
    balances: dict[str, int]
    faults: list[Fault]
    fault_count: int


def verify_export(
    directory: Path,
    *,
    processes: int = 1,
    hashes_alone: bool = False,
    progress: Progress = lambda events: None,
) -> Report:
    """Judges an export; `progress` is told how many more events one process has read.

    `hashes_alone` leaves the rules of the game aside. Raises CannotRead.
    """
    manifest = read_manifest(directory)
    shares = [Share(number, processes) for number in range(processes)]
    if processes == 1:
        found = [judge(directory, manifest, shares[0], hashes_alone, progress)]
    else:
        found = _side_by_side(directory, manifest, shares, hashes_alone, progress)
    joints = list(_joints(manifest))
    balances: Counter[str] = Counter()
    for share in found:
        for account, balance in share.balances.items():
            balances[account] += balance
    faults = most_serious_first([*joints, *(fault for share in found for fault in share.faults)])
    last = manifest.parts[-1] if manifest.parts else None
    return Report(
        position=last.last_position if last else 0,
        chain=last.chain if last else bytes(32).hex(),
        events=sum(share.events for share in found),
        commands=sum(share.commands for share in found),
        streams=sum(share.streams for share in found),
        rounds=sum(share.rounds for share in found),
        cards=sum(share.cards for share in found),
        postings=sum(share.postings for share in found),
        balances=dict(balances),
        faults=tuple(faults[:MOST_FAULTS]),
        fault_count=len(joints) + sum(share.fault_count for share in found),
    )


def judge(
    directory: Path,
    manifest: Manifest,
    share: Share,
    hashes_alone: bool = False,
    progress: Progress = lambda events: None,
) -> Judged:
    """Judges a share of an export, reading it once from end to end."""
    court = Court(share.owns, manifest.scope.complete, manifest.house)
    found, events, told = Faults(), 0, 0
    command: list[Line] = []
    for number, part in enumerate(manifest.parts):
        ours = number % share.of == share.number
        if hashes_alone and not ours:
            continue
        check = _Part(directory, manifest, number) if ours else None
        for row in rows(directory, manifest, part):
            if check is not None:
                found.add(check.faults(row))
                events += 1
            told += 1
            if told % _EVENTS_A_SIGN == 0:
                progress(_EVENTS_A_SIGN)
            if hashes_alone or isinstance(row, Unread):
                continue
            if command and row.command_id != command[0].command_id:
                found.add(court.read(command))
                command = []
            command.append(row)
        if check is not None:
            found.add(check.end())
    if command:
        found.add(court.read(command))
    found.add(court.close())
    progress(told % _EVENTS_A_SIGN)
    return Judged(
        *(events, court.commands, court.streams, court.rounds, court.cards),
        *(court.books.postings, court.books.balances, found.named, found.count),
    )


def rows(directory: Path, manifest: Manifest, part: Part) -> Rows:
    """The rows of a part, in whichever form they are. Raises CannotRead without pyarrow."""
    if manifest.form != "parquet":
        return jsonlines.read(directory, part)
    try:
        from shared.eventstore import parquet
    except ImportError:
        raise CannotRead("To read Parquet, install pyarrow: croupier[parquet].") from None
    return parquet.read(directory, part)


class _Part:
    """The hashes of a part: of its events, of their chain, and of its files."""

    def __init__(self, directory: Path, manifest: Manifest, number: int) -> None:
        self._directory, self._part = directory, manifest.parts[number]
        gaps = manifest.scope.gaps
        before = manifest.parts[number - 1].last_position if number else 0
        position = before if gaps else self._part.first_position - 1
        chain = bytes.fromhex(self._part.chain_before)
        self._spine = Spine(position, chain, gaps=gaps)
        self._events = 0

    def faults(self, row: Line | Unread) -> list[Fault]:
        if isinstance(row, Unread):
            return [self._spine.unreadable(row.position, row.why)]
        self._events += 1
        return self._spine.faults(row)

    def end(self) -> Iterator[Fault]:
        """Whether the part holds what the manifest says, and its files are those it names."""
        part, spine = self._part, self._spine
        for file in part.files:
            if (digest := digest_of(self._directory / file.path)) != file.sha256:
                what = f"{file.path} has another SHA-256 than the manifest says."
                if digest is None:
                    what = f"{file.path} is not there."
                yield Fault(part.first_position, what, "export", field=file.path)
        found = spine.position, spine.chain.hex(), self._events
        if found != (part.last_position, part.chain, part.events):
            what = (
                f"The part from {part.first_position} to {part.last_position} has "
                f"{self._events} events up to {spine.position}; the manifest says {part.events}, "
                f"and the chain {part.chain}."
            )
            yield Fault(spine.position, what, "export", field="parts")


def _joints(manifest: Manifest) -> Iterator[Fault]:
    """Whether the parts continue each other, from the beginning on."""
    scope = manifest.scope
    if not scope.gaps and scope.first_position == 1 and manifest.parts:
        first = manifest.parts[0]
        if (first.first_position, first.chain_before) != (1, bytes(32).hex()):
            yield Fault(1, "The export does not begin with the log.", "export", field="parts")
    for one, two in pairwise(manifest.parts):
        follows = two.first_position == one.last_position + 1 or scope.gaps
        if not follows or one.chain != two.chain_before or two.first_position <= one.last_position:
            what = f"After the part up to {one.last_position} comes one from {two.first_position}."
            yield Fault(two.first_position, what, "export", field="parts")
    last = manifest.parts[-1].last_position if manifest.parts else 0
    if manifest.finished and not scope.gaps and last < manifest.end:
        what = f"The log went on to position {manifest.end}; the export ends at {last}."
        yield Fault(last, what, "export", field="parts")


def _side_by_side(
    directory: Path,
    manifest: Manifest,
    shares: list[Share],
    hashes_alone: bool,
    progress: Progress,
) -> list[Judged]:
    """A process for each share; they say how far they are, and at last what they found."""
    context = multiprocessing.get_context("spawn")
    running: dict[Connection, BaseProcess] = {}
    for share in shares:
        ours, theirs = context.Pipe(duplex=False)
        words = (theirs, directory, manifest, share, hashes_alone)
        process: BaseProcess = context.Process(target=_in_process, args=words, daemon=True)
        process.start()
        theirs.close()
        running[ours] = process
    found = list[Judged]()
    try:
        while running:
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                said = _heard(ready)
                if isinstance(said, int):
                    progress(said)
                    continue
                found.append(said)
                running.pop(ready).join()
    finally:
        for process in running.values():
            process.terminate()
    return found


def _heard(connection: Connection) -> int | Judged:
    try:
        said = connection.recv_bytes()
    except EOFError:
        raise CannotRead("A process that judged the export died; see what it said.") from None
    found: int | Judged = msgspec.msgpack.decode(said, type=int | Judged)
    return found


def _in_process(
    connection: Connection, directory: Path, manifest: Manifest, share: Share, hashes_alone: bool
) -> None:
    def say(words: int | Judged) -> None:
        connection.send_bytes(msgspec.msgpack.encode(words))

    say(judge(directory, manifest, share, hashes_alone, say))
