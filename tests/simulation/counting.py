"""What hands come to, with and without modifiers, counted as a person does: every way there is."""

from tests.simulation.world import Json

PLAIN: list[Json] = []


def points(card: str, changes: list[Json] = PLAIN) -> tuple[int, ...]:
    """What a card may count. Of two changes of one thing, the later holds."""
    for change in reversed(changes):
        if change["type"] == "rank_value" and change["rank"] == card[0]:
            return (change["value"],)
        if change["type"] == "fixed_ace" and card[0] == "A":
            return (change["value"],)
    if card[0] == "A":
        return 1, 11
    return (10,) if card[0] in "TJQK" else (int(card[0]),)


def limit(changes: list[Json]) -> int:
    """The most that is no bust."""
    return [21, *(change["limit"] for change in changes if change["type"] == "bust_limit")][-1]


def totals(cards: list[str], changes: list[Json] = PLAIN) -> set[int]:
    """Every sum that the cards may have."""
    sums = {0}
    for card in cards:
        sums = {before + each for before in sums for each in points(card, changes)}
    return sums


def best(cards: list[str], changes: list[Json] = PLAIN) -> int:
    """The highest sum that is no bust; the lowest bust if there is none."""
    sums = totals(cards, changes)
    return max((sum for sum in sums if sum <= limit(changes)), default=min(sums))


def soft(cards: list[str], changes: list[Json] = PLAIN) -> bool:
    return best(cards, changes) != min(totals(cards, changes))


def natural(cards: list[str]) -> bool:
    """By printed ranks, whatever has changed."""
    return len(cards) == 2 and best(cards) == 21


def falls(hand: Json, changes: list[Json]) -> bool:
    """Whether a hand is bust: over the limit, or from the start by an instant bust."""
    if natural(hand["cards"]) and not hand["split"]:
        return False
    if best(hand["cards"], changes) > limit(changes):
        return True
    if len(hand["cards"]) != 2 or hand["split"] or hand["doubled"]:
        return False
    conditions = [c["condition"] for c in changes if c["type"] == "instant_bust"]
    return any(_meets(hand["cards"], condition, changes) for condition in conditions)


def _meets(cards: list[str], condition: Json, changes: list[Json]) -> bool:
    ranks = [card[0] for card in cards]
    match condition["type"]:
        case "total":
            return bool(condition["least"] <= best(cards, changes) <= condition["most"])
        case "holds":
            return condition["rank"] in ranks
    return ranks[0] == ranks[1]
