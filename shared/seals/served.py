"""What is told of seals: the seals themselves, and what proves a part of the log by them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, LiteralString, NamedTuple

from msgspec import Struct

from shared.eventstore.postgres import PostgresStore
from shared.seals import tiles
from shared.seals.merkle import Leaves, Tiles, consistency, inclusion, places_of, root_of
from shared.seals.notes import COSIGNS, BadNote, Note, PublicKey, Signature, time_of
from shared.seals.rejections import NotSealedYet, UnknownSeal, UnknownWitness, WrongCosignature

MOST_AHEAD: Final = timedelta(minutes=5)
"""How far the clock of a witness may be before ours."""


class Seal(Struct, frozen=True):
    """A signed hash of the log up to position `size`. `root` is in hex, `note` the seal itself.

    `witnesses` are those whose signatures the note has besides ours.
    """

    size: int
    root: str
    note: str
    witnesses: tuple[str, ...]
    sealed_at: datetime


class SealPage(Struct, frozen=True):
    """A part of the seals, newest first. `next` continues it; null at the end."""

    data: list[Seal]
    next: int | None


class InclusionProof(Struct, frozen=True):
    """That the event at a position is in the log of a size: the hashes from its leaf to the root,
    the lowest first (RFC 6962, 2.1.1). All in hex; the event is leaf `position` − 1."""

    position: int
    size: int
    leaf: str
    hashes: tuple[str, ...]
    root: str


class ConsistencyProof(Struct, frozen=True):
    """That the log of one size begins with all of that of another (RFC 6962, 2.1.2). In hex."""

    old_size: int
    new_size: int
    old_root: str
    hashes: tuple[str, ...]
    new_root: str


class SealKey(Struct, frozen=True):
    """A key that signs seals from that of `first_size` on, as `<name>+<id>+<key>`."""

    public_key: str
    first_size: int


class SealKeys(Struct, frozen=True):
    """Every key that has ever sealed the log, the oldest first, and the witnesses that count."""

    data: list[SealKey]
    witnesses: list[str]


class SealStatus(Struct, frozen=True):
    """How far the log goes, and how far it was checked and sealed.

    `faults` counts what was ever found wrong with it; `/v1/audit/events` names each.
    """

    position: int
    verified_position: int
    sealed_at: datetime | None
    seal_age_seconds: float | None
    faults: int


class SealFault(Struct, frozen=True):
    """Something that was found wrong when a log was to be sealed, and where; it was not sealed."""

    position: int
    what: str
    found_at: datetime


class Standing(NamedTuple):
    """How all houses' logs stand: their events; of these, those that are checked and sealed; the
    most that are behind a seal; and the age in seconds of the oldest seal of a log that went on.
    None where nothing was ever sealed."""

    events: int
    sealed: int | None
    behind: int | None
    seconds: float


class Seals:
    """Reads seals and proofs, and takes the cosignatures of witnesses that are known."""

    def __init__(self, store: PostgresStore, witnesses: Sequence[PublicKey] = ()) -> None:
        self._store = store
        self._witnesses = [witness for witness in witnesses if witness.kind == COSIGNS]

    async def page(self, house: str, before: int, limit: int) -> SealPage:
        """The newest seals of less than a size."""
        data = await self._seals(house, await self._store.rows(_PAGE, (house, before, limit)))
        return SealPage(data, data[-1].size if len(data) == limit else None)

    async def latest(self, house: str) -> Seal:
        """Raises UnknownSeal."""
        found = await self._seals(house, await self._store.rows(_PAGE, (house, _ANY, 1)))
        if not found:
            raise UnknownSeal("There is no seal yet.")
        return found[0]

    async def at(self, house: str, size: int) -> Seal:
        """The seal of exactly that size. Raises UnknownSeal."""
        found = await self._seals(house, await self._store.rows(_AT, (house, size)))
        if not found:
            raise UnknownSeal(f"There is no seal at {size}.")
        return found[0]

    async def keys(self, house: str) -> SealKeys:
        """Every key that has sealed the log, and the witnesses."""
        rows = await self._store.rows(_KEYS, (house,))
        return SealKeys([SealKey(*row) for row in rows], list(map(str, self._witnesses)))

    async def status(self, house: str) -> SealStatus:
        """How far the log goes, and how far it is sealed."""
        for position, size, sealed_at, age in await self._store.rows(_STATUS, (house,)):
            ((faults,),) = await self._store.rows(_FAULTS, (house,))
            return SealStatus(position, size, sealed_at, age, faults)
        return SealStatus(0, 0, None, None, 0)

    async def faults(
        self,
        house: str,
        first: int,
        before: int,
        since: datetime,
        until: datetime,
        limit: int,
    ) -> list[SealFault]:
        """What was found wrong from a position on, before another, and in a time; by position, the
        highest first. All of a position come together, so there may be some more."""
        span = house, first, before, since, until, limit
        return [SealFault(*row) for row in await self._store.rows(_FOUND, span)]

    async def inclusion(
        self, house: str, positions: Sequence[int], size: int | None = None
    ) -> list[InclusionProof]:
        """That these events are in the log of a size, by default that of the newest seal.

        Raises NotSealedYet.
        """
        size = await self._sealed(house, max(positions), size)
        paths = [inclusion(position - 1, size) for position in positions]
        wanted = [(position - 1, position) for position in positions]
        whole = (0, size)
        kept = await self._tiles(house, [whole, *wanted, *(each for p in paths for each in p)])
        root = root_of(whole, kept).hex()
        return [
            InclusionProof(
                *(position, size, root_of(leaf, kept).hex()),
                *(tuple(root_of(each, kept).hex() for each in path), root),
            )
            for position, leaf, path in zip(positions, wanted, paths, strict=True)
        ]

    async def consistency(self, house: str, old: int, new: int | None = None) -> ConsistencyProof:
        """That the log only grew from one size to another, by default that of the newest seal.

        Raises NotSealedYet.
        """
        new = await self._sealed(house, old, new)
        path = consistency(old, new)
        kept = await self._tiles(house, [(0, old), (0, new), *path])
        return ConsistencyProof(
            *(old, new, root_of((0, old), kept).hex()),
            *(tuple(root_of(each, kept).hex() for each in path), root_of((0, new), kept).hex()),
        )

    async def cosign(self, house: str, size: int, line: str) -> Seal:
        """Takes what a witness has signed; the first time counts.

        Raises UnknownSeal, UnknownWitness, WrongCosignature.
        """
        sealed = await self.at(house, size)
        try:
            signature = Signature.read(line.strip())
        except BadNote as bad:
            raise WrongCosignature(f"It cannot be read: {bad}.") from None
        key = next((key for key in self._witnesses if _is_by(signature, key)), None)
        if key is None:
            raise UnknownWitness(f"The witness {signature.name} is not known by that key.")
        text = Note.read(sealed.note.encode()).checkpoint.text
        latest = (datetime.now(UTC) + MOST_AHEAD).timestamp()
        seen = time_of(signature.signature)
        if seen > latest or not key.holds(text, signature.signature):
            raise WrongCosignature(f"It is not one of {key.name} over the seal at {size}.")
        seen_at = datetime.fromtimestamp(seen, UTC)
        await self._store.rows(_COSIGN, (house, size, key.name, str(signature), seen_at))
        return await self.at(house, size)

    async def standing(self) -> Standing:
        """How far all logs are sealed."""
        (row,) = await self._store.rows(_STANDING, ())
        return Standing(*row)

    async def _sealed(self, house: str, position: int, size: int | None) -> int:
        """The size to be proven by, which has to be sealed, and to hold a position."""
        sealed = (await self.status(house)).verified_position
        size = sealed if size is None else size
        if position > size and size < sealed:
            raise NotSealedYet(f"A log of {size} events has no position {position}.", sealed=sealed)
        if max(position, size) > sealed:
            raise NotSealedYet(f"The log is sealed up to {sealed}.", sealed=sealed)
        return size

    async def _tiles(self, house: str, many: Iterable[Leaves]) -> Tiles:
        asked = tiles.asked_for(house, places_of(many))
        return tiles.tiles_in(await self._store.rows(tiles.TILES, asked))

    async def _seals(self, house: str, rows: Sequence[tuple[int, str, datetime]]) -> list[Seal]:
        cosigned = defaultdict[int, list[Signature]](list)
        if rows:
            sizes = [size for size, *_ in rows]
            for size, line in await self._store.rows(_COSIGNED, (house, sizes)):
                cosigned[size].append(Signature.read(line))
        return [_seal(*row, cosigned[row[0]]) for row in rows]


def _seal(size: int, note: str, sealed_at: datetime, cosigned: Sequence[Signature]) -> Seal:
    ours = Note.read(note.encode())
    whole = Note(ours.checkpoint, (*ours.signatures, *cosigned))
    witnesses = tuple(signature.name for signature in cosigned)
    return Seal(size, ours.checkpoint.root.hex(), str(whole), witnesses, sealed_at)


def _is_by(signature: Signature, key: PublicKey) -> bool:
    return (signature.name, signature.key_id) == (key.name, key.id)


_ANY: Final = 2**63 - 1

_PAGE: Final[LiteralString] = """
    SELECT size, note, sealed_at FROM seal
     WHERE house = %b AND size < %b ORDER BY size DESC LIMIT %b"""

_AT: Final[LiteralString] = """
    SELECT size, note, sealed_at FROM seal WHERE house = %b AND size = %b"""

_COSIGNED: Final[LiteralString] = """
    SELECT size, signature FROM seal_cosignature
     WHERE house = %b AND size = ANY(%b::bigint[]) ORDER BY size, witness"""

_KEYS: Final[LiteralString] = """
    SELECT public_key, first_size FROM seal_key
     WHERE house = %b ORDER BY first_size, public_key"""

_STATUS: Final[LiteralString] = """
    SELECT h.position, coalesce(s.size, 0), CASE WHEN s.size > 0 THEN s.sealed_at END,
           CASE WHEN s.size > 0 THEN extract(epoch FROM now() - s.sealed_at)::float8 END
      FROM log_head h LEFT JOIN seal_head s ON s.house = h.house WHERE h.house = %b"""

_FAULTS: Final[LiteralString] = "SELECT count(*) FROM seal_fault WHERE house = %b"

_FOUND: Final[LiteralString] = """
    SELECT position, what, found_at FROM seal_fault
     WHERE house = %b AND position >= %b AND position < %b AND found_at >= %b AND found_at < %b
     ORDER BY position DESC FETCH FIRST %b ROWS WITH TIES"""

_COSIGN: Final[LiteralString] = """
    INSERT INTO seal_cosignature (house, size, witness, signature, seen_at)
    VALUES (%b, %b, %b, %b, %b) ON CONFLICT DO NOTHING"""

_STANDING: Final[LiteralString] = """
    SELECT coalesce(sum(h.position)::bigint, 0), sum(s.size)::bigint, max(h.position - s.size),
           coalesce(max(extract(epoch FROM now() - s.sealed_at)::float8)
                    FILTER (WHERE h.position > s.size), 0)
      FROM log_head h LEFT JOIN seal_head s ON s.house = h.house AND s.size > 0"""
