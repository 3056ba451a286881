"""Lists as Postgres arrays in the binary format, packed whole.

psycopg adapts a list element by element in Python; a batch has thousands of them, and packing
them here costs a fraction of it.
"""

from collections.abc import Sequence
from struct import pack

from psycopg import adapt, pq
from psycopg.abc import AdaptContext

_INT4, _INT8, _TEXT, _BYTEA = 23, 20, 25, 17
_INT4_ARRAY, _INT8_ARRAY, _TEXT_ARRAY, _BYTEA_ARRAY = 1007, 1016, 1009, 1001


class Int4s(bytes):
    """A packed `integer[]`."""


class Int8s(bytes):
    """A packed `bigint[]`."""


class Texts(bytes):
    """A packed `text[]`."""


class Byteas(bytes):
    """A packed `bytea[]`."""


def int4s(numbers: Sequence[int]) -> Int4s:
    """Numbers of at most 32 bits."""
    count = len(numbers)
    cells = [4] * (2 * count)
    cells[1::2] = numbers
    return Int4s(_head(_INT4, count) + pack(f">{2 * count}i", *cells))


def int8s(numbers: Sequence[int]) -> Int8s:
    """Numbers of at most 64 bits."""
    count = len(numbers)
    cells = [8] * (2 * count)
    cells[1::2] = numbers
    return Int8s(_head(_INT8, count) + pack(">" + "iq" * count, *cells))


def texts(strings: Sequence[str]) -> Texts:
    """Strings without NUL."""
    return Texts(_sized(_TEXT, [string.encode() for string in strings]))


def byteas(strings: Sequence[bytes]) -> Byteas:
    """Strings of any bytes."""
    return Byteas(_sized(_BYTEA, strings))


def register(context: AdaptContext) -> None:
    """Lets a connection bind the packed arrays above as binary parameters (`%b`)."""
    for cls, oid in (
        (Int4s, _INT4_ARRAY),
        (Int8s, _INT8_ARRAY),
        (Texts, _TEXT_ARRAY),
        (Byteas, _BYTEA_ARRAY),
    ):
        context.adapters.register_dumper(cls, type("Packed", (_Packed,), {"oid": oid}))


class _Packed(adapt.Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def _head(element: int, count: int) -> bytes:
    return pack(">5i", 1, 0, element, count, 1) if count else pack(">3i", 0, 0, element)


def _sized(element: int, strings: Sequence[bytes]) -> bytes:
    cells = [_head(element, len(strings))] * (2 * len(strings) + 1)
    cells[1::2] = [len(string).to_bytes(4, "big") for string in strings]
    cells[2::2] = strings
    return b"".join(cells)
