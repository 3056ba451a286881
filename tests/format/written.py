"""All that follows from the code and is kept beside it, for others to read."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import json

from shared.eventstore.envelope import canonical
from tests.format.logs import envelopes, the_log
from tests.format.page import PAGE, page
from tests.format.schemas import file_of, schemas, shape
from tests.format.vectors import DIRECTORY, vectors

RELEASED = Path(__file__).with_name("released.json")
"""Type and version of every schema → SHA-256 of what it demands, words aside."""

Files = dict[Path, bytes]


class Changed(Exception):
    """A schema that was released would demand something else. The message says what to do."""


def written() -> Files:
    """Every file as it has to be. Raises Changed."""
    schemas_and_shapes = dict(_schemas())
    kept = {DIRECTORY / name: text for name, text in vectors()}
    return schemas_and_shapes | kept | {PAGE: page(PAGE.read_text()).encode()}


def _schemas() -> Iterator[tuple[Path, bytes]]:
    released = json.decode(RELEASED.read_bytes()) if RELEASED.exists() else {}
    for name, version, schema in schemas(envelopes(the_log())):
        yield file_of(name, version), text_of(schema)
        key, demanded = f"{name}/{version}", hash_of(schema)
        if released.setdefault(key, demanded) != demanded:
            raise Changed(
                f"The schema of {name}, version {version}, would demand something else than it "
                f"did when it was released. What is in the log stays there: raise the version in "
                f"the registry to {version + 1}, write an upcaster, and do this again; the file "
                "of the old version stays as it is."
            )
    yield RELEASED, text_of(dict(sorted(released.items())))


def hash_of(schema: Any) -> str:
    """Of what a schema demands: its words may be improved."""
    return sha256(canonical(shape(schema))).hexdigest()


def text_of(value: Any) -> bytes:
    """As a file that people read too."""
    return json.format(json.encode(value), indent=1) + b"\n"
