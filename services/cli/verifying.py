"""`croupier verify`: an export judged without a database, a network, or any trust in us."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, BadParameter, Exit, Option

from services.audit.application.engines import Started, local
from services.audit.application.offline import events_to_read, verify_export
from services.audit.domain.bundle import Bundle, judge
from services.audit.domain.verify import Report
from services.cli.verdict import Judged, for_machines, told
from shared.eventstore.exports import CannotRead, read_manifest
from shared.kernel.rejected import problem_in
from shared.seals.holding import checkpoints, public_keys
from shared.seals.notes import BadNote, Checkpoint, Note, PublicKey

HOLDS, TAMPERED, CANNOT_READ = 0, 1, 2
"""How `croupier verify` ends."""

SealFiles = Annotated[
    list[Path] | None,
    Option(help="A seal that you have kept; may be given again.", dir_okay=False),
]
KeyFile = Annotated[
    Path | None, Option(help="Public keys that you believe, one a line.", dir_okay=False)
]
Scheduler = Annotated[
    str, Option(metavar="tcp://HOST:PORT", help="Check on the workers of this Dask scheduler.")
]


def verify(
    export: Annotated[Path, Argument(help="The directory of an export, or the file of a bundle.")],
    hashes: Annotated[
        bool, Option("--hashes", help="Check the hashes alone, not the play and the chips.")
    ] = False,
    processes: Annotated[int, Option(min=0, max=256, help="0: as many as there are cores.")] = 0,
    dask: Scheduler = "",
    seal: SealFiles = None,
    public_key: KeyFile = None,
    json: Annotated[bool, Option("--json", help="Report as JSON, for machines.")] = False,
) -> None:
    """Check an export from its files alone: every hash, every card, every decision, every chip.

    Each recorded command is decided again, with the shoe of the seed that its round revealed, and
    has to cause the very bytes that were recorded. Ends with 0 when all of it holds, with 1 when
    it was tampered with (every fault is listed, the most serious first), with 2 when it cannot be
    read or was never finished. With a seal also a log is found that was cut or written anew.
    """
    try:
        if export.is_file():
            raise Exit(_bundle(export, public_key))
        manifest = read_manifest(export)
        how = Judged(manifest, _seals(seal or [], public_key, manifest.house), hashes)
        report = _report(export, how, _cluster(dask) if dask else local(processes or _cores()))
    except CannotRead as why:
        Console(stderr=True, soft_wrap=True, highlight=False).print(str(why), markup=False)
        raise Exit(CANNOT_READ) from None
    print(for_machines(report, how) if json else told(report, how))
    if report.holds:
        raise Exit(HOLDS if manifest.finished else CANNOT_READ)
    raise Exit(TAMPERED)


def _report(export: Path, how: Judged, engine: Started) -> Report:
    """Judges an export, and shows how far it is. Raises CannotRead."""
    columns = TextColumn("verify"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=events_to_read(how.manifest, how.hashes_alone))
        return verify_export(
            export,
            engine=engine,
            hashes_alone=how.hashes_alone,
            seals=how.seals,
            progress=lambda events: bar.advance(task, events),
        )


def _bundle(file: Path, public_key: Path | None) -> int:
    """Judges one round by its bundle alone, and says how to end. Raises CannotRead."""
    keys = _keys(public_key)
    try:
        content = file.read_bytes()
        bundle = msgspec.json.decode(content, type=Bundle)
    except OSError as error:
        raise CannotRead(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        refusal = problem_in(content)
        why = f"the service refused it. {refusal}" if refusal else error
        raise CannotRead(f"{file} is no bundle: {why}") from None
    faults = list(judge(bundle, keys))
    holds = (
        f"The round {bundle.round} holds: every card, every decision and every chip of it, and "
        f"its place in the sealed log."
    )
    print("\n".join(faults) or holds)
    return TAMPERED if faults else HOLDS


def _keys(file: Path | None) -> list[PublicKey]:
    if file is None:
        raise BadParameter(
            "A seal is checked by the key that signed it.", param_hint="--public-key"
        )
    try:
        return public_keys(file.read_bytes())
    except OSError as error:
        raise CannotRead(f"{file} cannot be read: {error.strerror}.") from None
    except BadNote as bad:
        raise CannotRead(f"{file} has no public keys: {bad}.") from None


def _seals(files: list[Path], public_key: Path | None, house: str) -> list[Checkpoint]:
    """What the seals say, by the keys that are believed. Raises CannotRead."""
    if not files:
        return []
    keys = _keys(public_key)
    try:
        return checkpoints([_note(file) for file in files], keys, house)
    except BadNote as bad:
        raise CannotRead(f"The seal does not hold: {bad}.") from None


def _note(file: Path) -> bytes:
    """The text of a seal, which ends with one newline, however many were put behind it on its way
    into the file. Raises CannotRead."""
    try:
        note = file.read_bytes().rstrip(b"\n") + b"\n"
        Note.read(note)
    except OSError as error:
        raise CannotRead(f"{file} cannot be read: {error.strerror}.") from None
    except BadNote as bad:
        raise CannotRead(f"{file} is no seal: {bad}.") from None
    return note


def _cluster(address: str) -> Started:
    try:
        from services.audit.application.on_dask import cluster
    except ImportError:
        raise CannotRead("To check on Dask, install it: croupier[parquet,dask].") from None
    return partial(cluster, address)


def _cores() -> int:
    """How many processes may run at once, for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
