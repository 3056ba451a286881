"""The tree of RFC 6962, against published roots and a reference that is only recursion."""

from hashlib import sha256

import pytest

from shared.eventstore.chain import leaf_of
from shared.seals.merkle import (
    EMPTY,
    DoesNotProve,
    Place,
    Span,
    Tree,
    check_consistency,
    consistency,
    edge_of,
    inclusion,
    places_of,
    root_from,
    root_of,
)

ENTRIES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
ENTRIES.append("606162636465666768696a6b6c6d6e6f")
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""The entries and roots that implementations of Certificate Transparency (RFC 6962) share."""

LEAVES = [sha256(b"\x00%d" % number).digest() for number in range(70_000)]


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"").digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + naive_root(leaves[:k]) + naive_root(leaves[k:])).digest()


def naive_path(m: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962, 2.1.1."""
    if len(leaves) == 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return [*naive_path(m, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(m - k, leaves[k:]), naive_root(leaves[:k])]


def naive_subproof(m: int, leaves: list[bytes], b: bool = True) -> list[bytes]:
    """RFC 6962, 2.1.2."""
    if m == len(leaves):
        return [] if b else [naive_root(leaves)]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m <= k:
        return [*naive_subproof(m, leaves[:k], b), naive_root(leaves[k:])]
    return [*naive_subproof(m - k, leaves[k:], False), naive_root(leaves[:k])]


class Kept:
    """A tree that keeps all of its tiles, as the database does."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.tiles: dict[Place, list[bytes]] = {}

    def grow(self, to: int) -> "Kept":
        """In a new tree each time, as a worker that has just started would."""
        edge = [self.tiles.get(place, []) for place in edge_of(self.tree.size)]
        self.tree = Tree(self.tree.size, [hashes if len(hashes) < 256 else [] for hashes in edge])
        for leaf in LEAVES[self.tree.size : to]:
            self.tree.append(leaf)
        self.tiles |= self.tree.grown
        return self


@pytest.fixture(scope="module")
def kept() -> Kept:
    return Kept().grow(len(LEAVES))


def test_the_published_roots() -> None:
    tree = Tree()
    roots = [tree.root().hex()]
    for entry in ENTRIES:
        tree.append(leaf_of(bytes.fromhex(entry)))
        roots.append(tree.root().hex())

    assert roots == ROOTS
    assert EMPTY.hex() == ROOTS[0]


@pytest.mark.parametrize("step", [1, 3, 100, 255, 256, 257])
def test_a_tree_that_is_continued_is_the_tree(step: int) -> None:
    kept = Kept()
    for size in range(step, 600, step):
        assert kept.grow(size).tree.root() == naive_root(LEAVES[:size])


@pytest.mark.parametrize("step", [1, 3, 7, 100, 256])
def test_spans_side_by_side_are_the_tree(step: int) -> None:
    whole = Span()
    assert whole.root() == EMPTY
    for start in range(0, 600, step):
        span = Span(start)
        for leaf in LEAVES[start : start + step]:
            span.append(leaf)
        whole.extend(span)
        assert whole.root() == naive_root(LEAVES[: start + step])


def test_every_inclusion_in_small_trees() -> None:
    kept = Kept().grow(40)
    for size in range(1, 41):
        root = root_of((0, size), kept.tiles)
        assert root == naive_root(LEAVES[:size])
        for leaf in range(size):
            proof = [root_of(each, kept.tiles) for each in inclusion(leaf, size)]
            assert proof == naive_path(leaf, LEAVES[:size])
            assert root_from(leaf, size, LEAVES[leaf], proof) == root


def test_every_consistency_of_small_trees() -> None:
    kept = Kept().grow(40)
    for new in range(1, 41):
        for old in range(1, new + 1):
            proof = [root_of(each, kept.tiles) for each in consistency(old, new)]
            assert proof == naive_subproof(old, LEAVES[:new])
            roots = naive_root(LEAVES[:old]), naive_root(LEAVES[:new])
            check_consistency(old, new, *roots, proof)


@pytest.mark.parametrize("size", [255, 256, 257, 65_535, 65_536, 65_537, 70_000])
def test_older_sizes_of_a_tree_of_many_tiles(kept: Kept, size: int) -> None:
    root = naive_root(LEAVES[:size])
    for leaf in (0, 1, 254, size // 2, size - 1):
        asked = inclusion(leaf, size)
        assert len(places_of(asked)) <= 6
        proof = [root_of(each, kept.tiles) for each in asked]
        assert root_from(leaf, size, LEAVES[leaf], proof) == root
    for old in (1, 200, size - 1, size):
        proof = [root_of(each, kept.tiles) for each in consistency(old, size)]
        check_consistency(old, size, naive_root(LEAVES[:old]), root, proof)


def test_a_wrong_proof_proves_nothing() -> None:
    kept = Kept().grow(21)
    old_root, root = naive_root(LEAVES[:13]), naive_root(LEAVES[:21])
    proof = [root_of(each, kept.tiles) for each in consistency(13, 21)]
    for at in range(len(proof)):
        wrong = [bytes(32) if at == number else each for number, each in enumerate(proof)]
        with pytest.raises(DoesNotProve):
            check_consistency(13, 21, old_root, root, wrong)
    for lame in (proof[:-1], [*proof, bytes(32)]):
        with pytest.raises(DoesNotProve):
            check_consistency(13, 21, old_root, root, lame)
    with pytest.raises(DoesNotProve):
        check_consistency(13, 21, bytes(32), root, proof)
    with pytest.raises(DoesNotProve):
        root_from(3, 21, LEAVES[3], [])
    path = [root_of(each, kept.tiles) for each in inclusion(3, 21)]
    assert root_from(3, 21, LEAVES[4], path) != root


@pytest.mark.parametrize(("leaf", "size"), [(0, 0), (3, 3), (-1, 2)])
def test_no_proof_of_a_leaf_that_is_not_there(leaf: int, size: int) -> None:
    with pytest.raises(ValueError, match="leaf"):
        inclusion(leaf, size)


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 3), (4, 3)])
def test_no_proof_of_a_tree_that_did_not_grow(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="continue"):
        consistency(old, new)
