"""`croupier schemas`: what every event looks like, as files for programs that read a log."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from services.audit.application.schemas import SCHEMAS


def schemas(
    directory: Annotated[Path, Argument(help="Where to; made if it is not there.")],
) -> None:
    """Write the JSON Schemas of the envelope and of every version of every event.

    Each is a file of its own, `<type>.<version>.json`, the same that `/v1/schemas` has.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for schema in SCHEMAS.values():
        (directory / f"{schema.type}.{schema.version}.json").write_bytes(schema.text)
    print(f"{len(SCHEMAS)} schemas are in {directory}.")
