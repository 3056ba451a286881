"""The tiles of a house's tree, in the database."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, LiteralString

from psycopg import AsyncConnection

from shared.seals.merkle import (
    DEPTH,
    WIDTH,
    DoesNotProve,
    Leaves,
    Place,
    Tiles,
    Tree,
    edge_of,
    places_of,
)

_HASH_BYTES: Final = 32

TILES: Final[LiteralString] = """
    SELECT level, number, hashes FROM seal_tile
     WHERE house = %s AND (level, number) IN (SELECT * FROM unnest(%s::int[], %s::bigint[]))"""

_GROW: Final[LiteralString] = """
    INSERT INTO seal_tile (house, level, number, hashes) VALUES (%s, %s, %s, %s)
    ON CONFLICT (house, level, number) DO UPDATE SET hashes = excluded.hashes"""


def asked_for(house: str, places: Iterable[Place]) -> tuple[str, list[int], list[int]]:
    """The parameters of `TILES`."""
    levels, numbers = [], []
    for place in places:
        levels.append(place.level)
        numbers.append(place.number)
    return house, levels, numbers


def tiles_in(rows: Iterable[tuple[int, int, bytes]]) -> dict[Place, list[bytes]]:
    """What `TILES` gives."""
    return {Place(level, number): _apart(hashes) for level, number, hashes in rows}


async def tiles_for(connection: AsyncConnection[Any], house: str, many: Iterable[Leaves]) -> Tiles:
    """Every tile that the hashes over these leaves are made of."""
    return await _read(connection, house, places_of(many))


async def load(connection: AsyncConnection[Any], house: str, size: int) -> Tree:
    """The tree as it was at a size, to be continued. Raises DoesNotProve when it is not there."""
    places = edge_of(size)
    tiles = await _read(connection, house, places)
    edge = []
    for place in places:
        filled = (size >> (DEPTH * place.level)) % WIDTH
        edge.append(tiles.get(place, [])[:filled])
        if len(edge[-1]) < filled:
            raise DoesNotProve(f"the tree of {size} leaves is not there")
    return Tree(size, edge)


async def grow(
    connection: AsyncConnection[Any], house: str, grown: Mapping[Place, list[bytes]]
) -> None:
    """Writes the tiles that have grown."""
    rows = [(house, *place, b"".join(hashes)) for place, hashes in grown.items()]
    async with connection.cursor() as cursor:
        await cursor.executemany(_GROW, rows)


async def _read(
    connection: AsyncConnection[Any], house: str, places: Iterable[Place]
) -> dict[Place, list[bytes]]:
    rows = await connection.execute(TILES, asked_for(house, places))
    return tiles_in(await rows.fetchall())


def _apart(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + _HASH_BYTES] for at in range(0, len(hashes), _HASH_BYTES)]
