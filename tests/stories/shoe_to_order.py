"""The cards that a story needs, from a service that shuffles as it always does.

The seed of a round is committed to before anybody bets, and the order of the shoe follows from it
and from the client seeds. Nobody can choose the cards but whoever can open the seed before the
bet: the operator. So a story, which has the operator's key, tries client seeds until one fits.
"""

from collections.abc import Sequence

from msgspec import convert

from services.blackjack.application.shoes import Shoes
from services.blackjack.domain.cards import RANKS
from services.blackjack.domain.shoe import SealedSeed, Shoe
from services.settings import parse_seed_keys
from tests.api.croupier import House, Json, kinds

_MOST_TRIES = 2_000_000
"""A hundred times what four ranks take."""
_RANKS = {"x": "TJQK", "s": "23456789", ".": RANKS}


def deal(house: House, table: str, cards: str, *bets: int) -> Json:
    """Each seat bets, from the first on, and a round with these cards is dealt.

    `cards` are ranks in the order of the shoe: one for each seat, the upcard, a second for each,
    the hole card, then those to be drawn; what comes after them is left to chance. `x` is any
    ten-value card, `s` any from 2 to 9, `.` any card.
    """
    seeds = {1: client_seed(house, table, cards)}
    for seat, amount in enumerate(bets, 1):
        answer = house.do(table, "bet", seat=seat, amount=amount, client_seed=seeds.get(seat))
    if "hands_dealt" in kinds(answer["events"]):
        return answer
    return house.do(table, "deal", player=answer["table"]["host"])


def client_seed(house: House, table: str, cards: str) -> str:
    """The client seed under which the next round of the table has these cards."""
    told = [each["event"] for each in house.walk(f"/v1/tables/{table}/events", limit=1000)]
    sealed = [event["data"]["next"] for event in told if "next" in event["data"]][-1]
    round_id = f"{table}.{len(_of_type(told, 'round_opened')) + 1}"
    decks = told[0]["data"]["ruleset"]["decks"]
    ring = parse_seed_keys(house.croupier.environment["CROUPIER_SEED_KEYS"])
    shoes = Shoes(dict(ring), "test", bytes)
    secret = shoes.unseal(f"{house.name}/{round_id}".encode(), convert(sealed, SealedSeed))
    return fitting(secret, decks, round_id, cards)


def fitting(secret: bytes, decks: int, round_id: str, cards: str) -> str:
    """The first number that, as the only client seed of a round, brings these cards."""
    wanted = cards.split()
    for seed in map(str, range(_MOST_TRIES)):
        if _begins_with(Shoe(secret, decks, round_id, (seed,)), wanted):
            return seed
    raise LookupError(f"No shoe begins with {cards}: ask for less.")


def _begins_with(shoe: Sequence[str], wanted: list[str]) -> bool:
    return all(shoe[place][0] in _RANKS.get(rank, rank) for place, rank in enumerate(wanted))


def _of_type(events: list[Json], name: str) -> list[Json]:
    return [event for event in events if event["type"] == f"blackjack.{name}"]
