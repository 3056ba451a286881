"""Seeds under seal: opened for their round alone, and mixed with the client seeds of the bets."""

from random import Random

import pytest

from services.blackjack.application.shoes import SeedUnreadable, Shoes
from services.blackjack.domain.commands import Bet, Close, Open, Sit
from services.blackjack.domain.decide import decide, open_table
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.rejections import TableClosed
from services.blackjack.domain.shoe import Shoe, commitment
from services.blackjack.domain.table import Betting, Round, Table

KEYS = {"old": bytes(32), "new": bytes(range(32))}
HOUSE = "local"


@pytest.fixture
def shoes() -> Shoes:
    return some_shoes()


def some_shoes(current: str = "new", **keys: bytes) -> Shoes:
    """With the same chance in every run."""
    return Shoes(keys or KEYS, current, Random(1).randbytes)


def a_table(shoes: Shoes) -> Table:
    """Where ada sits, and nobody else may: her bet deals."""
    table = evolve(None, open_table("t", Open("european", seats=1), shoes.fresh(HOUSE, "t", 1)))
    return decide(table, Sit(1, "ada", 100), shoes.of(HOUSE, table)).table


def dealt(shoes: Shoes, table: Table, client_seed: str) -> Table:
    """The table after the bet that deals, decided as the application does it."""
    seed = shoes.of(HOUSE, table)
    table = decide(table, Bet(1, 10, client_seed), seed).table
    assert isinstance(table.stage, Round), "the cards of this test end the round at once"
    shoes.keep(seed, running=True)
    return table


def test_the_seed_of_the_round_is_the_one_that_was_announced(shoes: Shoes) -> None:
    table = a_table(shoes)
    assert isinstance(table.stage, Betting)
    seed = shoes.of(HOUSE, table)

    assert commitment(seed.secret) == table.stage.next.commitment
    assert shoes.of(HOUSE, dealt(shoes, table, "lucky")).secret == seed.secret


def test_a_deal_that_another_one_was_faster_than_leaves_no_shoe_behind(shoes: Shoes) -> None:
    """Both deals are of one seed; the cards are those of the deal that was recorded."""
    table = a_table(shoes)
    secret = shoes.of(HOUSE, table).secret
    dealt(shoes, table, "too-late")
    recorded = dealt(some_shoes(), table, "recorded")

    cards = shoes.of(HOUSE, recorded).shoe(6, "t.1", ("recorded",))

    assert list(cards) == list(Shoe(secret, 6, "t.1", ("recorded",)))


def test_a_seed_opens_for_its_own_round_alone(shoes: Shoes) -> None:
    sealed = shoes.fresh("local", "t", 1)

    assert commitment(shoes.unseal(b"local/t.1", sealed)) == sealed.commitment
    for elsewhere in (b"other/t.1", b"local/u.1", b"local/t.2"):
        with pytest.raises(SeedUnreadable, match="was not sealed for it"):
            shoes.unseal(elsewhere, sealed)


def test_a_seed_opens_under_the_key_it_was_sealed_with(shoes: Shoes) -> None:
    table = a_table(some_shoes("old"))

    assert shoes.of(HOUSE, table).secret
    with pytest.raises(SeedUnreadable, match="'old' is not on the ring"):
        _ = some_shoes(new=KEYS["new"]).of(HOUSE, table).secret


def test_a_closed_table_has_no_seed(shoes: Shoes) -> None:
    table = a_table(shoes)
    closed = decide(table, Close(), shoes.of(HOUSE, table)).table

    with pytest.raises(TableClosed):
        shoes.of(HOUSE, closed)
