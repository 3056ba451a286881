"""The published schemas: of the envelope, and of every version that an event ever had.

They are files, which `python -m tests.format` writes; what was released stays as it is.
"""

from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from shared.kernel.rejected import Rejected

_FILES: Final = Path(__file__).parents[1] / "schemas"


class UnknownSchema(Rejected):
    """There is no schema of that name and version.

    `/v1/schemas` lists all that there are: one for the envelope, and one for each version of each
    type of event.
    """

    status = 404


class Schema(Struct, frozen=True):
    """A JSON Schema, whole. `sha256` is that of `text`, in hex."""

    type: str
    version: int
    text: bytes
    sha256: str

    @property
    def path(self) -> str:
        """Where the API has it."""
        return f"/v1/schemas/{self.type}/{self.version}"


def published(files: Path = _FILES) -> dict[tuple[str, int], Schema]:
    """Every schema, by type and version, in this order."""
    found = list[Schema]()
    for file in files.glob("*.json"):
        name, _, version = file.stem.rpartition(".")
        text = file.read_bytes()
        found.append(Schema(name, int(version), text, sha256(text).hexdigest()))
    found.sort(key=lambda schema: (schema.type, schema.version))
    return {(schema.type, schema.version): schema for schema in found}


SCHEMAS: Final = published()


def schema_of(type: str, version: int) -> Schema:
    """Raises UnknownSchema."""
    if (schema := SCHEMAS.get((type, version))) is not None:
        return schema
    versions = [str(number) for name, number in SCHEMAS if name == type]
    if versions:
        raise UnknownSchema(f"{type} has no version {version}; there are {', '.join(versions)}.")
    raise UnknownSchema(f"There is no event {type!r}; /v1/schemas lists all that there are.")
