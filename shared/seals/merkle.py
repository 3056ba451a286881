"""The Merkle tree over a log, as RFC 6962 has it: its root, and what proves a part of it.

The leaves are those of `chain`, numbered from 0: the event at position 1 is leaf 0. Of the tree
only tiles are kept, as wide as 256 hashes: those of the leaves, those of the subtrees over 256
leaves, and so on. A tile only grows, so it serves for every size that the tree ever had.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

EMPTY: Final = sha256(b"").digest()
"""The root of a tree without leaves."""

DEPTH: Final = 8
WIDTH: Final = 1 << DEPTH


class Place(NamedTuple):
    """Of a tile: `level` 0 has the hashes of leaves, 1 those of 256 leaves, 2 those of 65,536."""

    level: int
    number: int


Tiles: TypeAlias = Mapping[Place, Sequence[bytes]]
Leaves: TypeAlias = tuple[int, int]
"""Consecutive leaves: from the first number up to before the second."""


class DoesNotProve(Exception):
    """A proof does not show what it was given for."""


def parent(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 ‖ left ‖ right): the hash over two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows by leaves at its right edge, each at the cost of one hash or two.

    It knows `size`, and the hashes of the last tile of each level that is not full: `edge`, from
    the lowest level on. `grown` are the tiles that changed.
    """

    def __init__(self, size: int = 0, edge: Iterable[Sequence[bytes]] = ()) -> None:
        self.size = size
        self.grown: dict[Place, list[bytes]] = {}
        self._edge = [list(hashes) for hashes in edge]

    def append(self, leaf: bytes) -> None:
        """One more leaf."""
        level, number, fresh = 0, self.size, leaf
        while True:
            if level == len(self._edge):
                self._edge.append([])
            tile = self._edge[level]
            tile.append(fresh)
            self.grown[Place(level, number >> DEPTH)] = tile
            if len(tile) < WIDTH:
                break
            self._edge[level] = []
            fresh = _top(tile)
            level, number = level + 1, number >> DEPTH
        self.size += 1

    def root(self) -> bytes:
        """The hash of the whole tree."""
        if not self.size:
            return EMPTY
        tiles = {
            place: hashes
            for place, hashes in zip(edge_of(self.size), self._edge, strict=False)
            if hashes
        }
        return root_of((0, self.size), tiles)


class Span:
    """The leaves of a tree from one on, numbered from 0, whatever is before them: the hashes of the
    complete subtrees side by side, at most two of each size. What follows it can be added."""

    def __init__(self, start: int = 0) -> None:
        self.start = self.end = start
        self._subtrees: list[tuple[int, bytes]] = []

    def append(self, leaf: bytes) -> None:
        """One more leaf."""
        self._add(0, leaf)

    def extend(self, after: "Span") -> None:
        """The leaves of a span that starts where this one ends."""
        assert after.start == self.end, "spans are side by side"
        for power, subtree in after._subtrees:
            self._add(power, subtree)

    def root(self) -> bytes:
        """The hash of the tree that starts with the span and ends with it."""
        assert self.start == 0, "a tree has all of its leaves"
        hashes = [subtree for _, subtree in reversed(self._subtrees)]
        return reduce(lambda right, left: parent(left, right), hashes) if hashes else EMPTY

    def _add(self, power: int, subtree: bytes) -> None:
        """A complete subtree over so many leaves as 2 to that power has."""
        number = self.end >> power
        self.end += 1 << power
        while number & 1 and self._subtrees and self._subtrees[-1][0] == power:
            subtree = parent(self._subtrees.pop()[1], subtree)
            power, number = power + 1, number >> 1
        self._subtrees.append((power, subtree))


def edge_of(size: int) -> list[Place]:
    """Where the last tile of each level is or, when that is full, the next one will be."""
    levels = (size.bit_length() + DEPTH - 1) // DEPTH
    return [Place(level, size >> (DEPTH * (level + 1))) for level in range(levels)]


def inclusion(leaf: int, size: int) -> list[Leaves]:
    """The subtrees whose hashes prove that a leaf is in a tree of that size, the lowest first.

    Raises ValueError when it is not.
    """
    if not 0 <= leaf < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {leaf}")
    path, start, end = list[Leaves](), 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if leaf < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    return path[::-1]


def consistency(old: int, new: int) -> list[Leaves]:
    """The subtrees whose hashes prove that a tree only grew, the lowest first.

    Raises ValueError for sizes of which it cannot be said.
    """
    if not 0 < old <= new:
        raise ValueError(f"a tree of {new} leaves does not continue one of {old}")
    path, start, end = list[Leaves](), 0, new
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    if start:
        path.append((start, end))
    return path[::-1]


def root_from(leaf: int, size: int, hashed: bytes, proof: Sequence[bytes]) -> bytes:
    """The root that follows from a leaf's hash and its inclusion proof. Raises DoesNotProve."""
    path = inclusion(leaf, size)
    if len(path) != len(proof):
        raise DoesNotProve(f"{len(path)} hashes lead from leaf {leaf} to the root of {size}")
    for (start, _), beside in zip(path, proof, strict=True):
        hashed = parent(beside, hashed) if start < leaf else parent(hashed, beside)
    return hashed


def check_consistency(
    old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Whether the tree of the new root begins with all of the old one. Raises DoesNotProve."""
    path = consistency(old, new)
    if len(path) != len(proof):
        raise DoesNotProve(f"{len(path)} hashes lead from a tree of {old} to one of {new}")
    steps = list(zip(path, proof, strict=True))
    before = old_root
    if steps and steps[0][0][1] == old:
        before = steps.pop(0)[1]
    after = before
    for (start, _), beside in steps:
        if start < old:
            before = parent(beside, before)
        after = parent(beside, after) if start < old else parent(after, beside)
    if (before, after) != (old_root, new_root):
        raise DoesNotProve(f"the tree of {new} leaves does not begin with that of {old}")


def root_of(leaves: Leaves, tiles: Tiles) -> bytes:
    """The hash over consecutive leaves that a proof asks for, or over all of a tree."""
    complete = [_subtree(level, number, tiles) for level, number in _complete(leaves)]
    return reduce(lambda right, left: parent(left, right), reversed(complete))


def places_of(many: Iterable[Leaves]) -> set[Place]:
    """The tiles that `root_of` needs for these."""
    return {_tile(level, number) for leaves in many for level, number in _complete(leaves)}


def _split(size: int) -> int:
    """The largest power of two below a size: where a tree has its left part."""
    return 1 << ((size - 1).bit_length() - 1)


def _complete(leaves: Leaves) -> Iterable[tuple[int, int]]:
    """The complete subtrees side by side, as (the power of two that is its size, its number)."""
    start, end = leaves
    while start < end:
        level = (end - start).bit_length() - 1
        yield level, start >> level
        start += 1 << level


def _tile(level: int, number: int) -> Place:
    return Place(level // DEPTH, number >> (DEPTH - level % DEPTH))


def _subtree(level: int, number: int, tiles: Tiles) -> bytes:
    count = 1 << (level % DEPTH)
    first = number * count % WIDTH
    return _top(tiles[_tile(level, number)][first : first + count])


def _top(hashes: Sequence[bytes]) -> bytes:
    """The hash over a power of two of hashes."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [parent(left, right) for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]
