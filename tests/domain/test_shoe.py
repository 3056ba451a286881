"""`croupier.shoe.v1`: the published order, by two programs and a page, and no card favoured."""

import ast
import inspect
import json
from collections import Counter
from hashlib import sha256
from itertools import islice, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.blackjack.domain import shoe as service
from services.blackjack.domain.cards import DECK
from services.blackjack.domain.shoe import ALGORITHM, Shoe, commitment
from tests.domain.story import rows
from tests.format.naive import proofs as naive

PAGE = (Path(__file__).parents[2] / "FORMAT.md").read_text()
GOLDEN = json.loads((Path(__file__).parents[1] / "format/vectors/shoes.json").read_text())
SECRET = bytes(range(32))


@pytest.fixture(params=GOLDEN["shoes"], ids=lambda shoe: shoe["round"])
def golden(request):
    return request.param


def test_a_fixed_seed_gives_the_published_order(golden):
    published = " ".join(golden["order"]).split()
    seed, decks = bytes.fromhex(golden["seed"]), golden["decks"]
    assert GOLDEN["algorithm"] == ALGORITHM
    assert commitment(seed) == golden["commitment"]
    assert list(Shoe(seed, decks, golden["round"], golden["client_seeds"])) == published


def test_a_program_written_from_the_page_gives_the_published_order(golden):
    published = " ".join(golden["order"]).split()
    seed = bytes.fromhex(golden["seed"])
    assert sha256(seed).hexdigest() == golden["commitment"]
    found = naive.shoe(seed, golden["round"], golden["client_seeds"], golden["decks"])
    assert found == published


def test_the_page_shows_a_golden_shoe():
    shown = GOLDEN["shoes"][0]
    first = islice(naive.words(SECRET, b"croupier.shoe.v1\ntable-3.5\nlucky"), 5)
    words = [f"| {word:04x} |" for word in first]
    for line in (shown["seed"], shown["commitment"], *shown["order"], *words, ALGORITHM):
        assert line in PAGE


@settings(max_examples=50, deadline=None)
@given(
    secret=st.binary(min_size=32, max_size=32),
    round=st.from_regex("[a-z0-9][a-z0-9._-]{0,63}[.][1-9][0-9]{0,6}", fullmatch=True),
    client_seeds=st.lists(st.from_regex("[A-Za-z0-9_-]{1,64}", fullmatch=True), max_size=7),
    decks=st.integers(1, 8),
)
def test_two_programs_agree_and_every_physical_card_appears_once(
    secret, round, client_seeds, decks
):
    shoe = Shoe(secret, decks, round, client_seeds)
    assert list(shoe) == naive.shoe(secret, round, client_seeds, decks)
    assert len(shoe) == 52 * decks
    assert Counter(shoe) == dict.fromkeys(DECK, decks)


def test_every_ingredient_changes_the_order():
    ingredients = [
        (SECRET, 6, "t.1", ()),
        (bytes(32), 6, "t.1", ()),
        (SECRET, 6, "t.2", ()),
        (SECRET, 6, "u.1", ()),
        (SECRET, 6, "t.1", ("a",)),
        (SECRET, 6, "t.1", ("a", "b")),
        (SECRET, 6, "t.1", ("b", "a")),
        (SECRET, 6, "t.1", ("ab",)),
    ]
    orders = {tuple(Shoe(*each)) for each in ingredients}
    assert len(orders) == len(ingredients)


def test_a_shoe_is_the_same_however_it_is_read_and_has_an_end():
    whole = list(Shoe(SECRET, 1, "t.1", ()))
    shoe = Shoe(SECRET, 1, "t.1", ())
    assert [shoe[place] for place in (51, 0, 20)] == [whole[place] for place in (51, 0, 20)]
    for place in (52, -1):
        with pytest.raises(IndexError):
            shoe[place]


@rows("""
    size   each
    2      32768
    3      16384
    4      16384
    5      8192
    49     1024
    52     1024
    64     1024
    312    128
    416    128
""")
def test_each_number_below_a_size_comes_from_equally_many_words(size, each):
    """All 65,536 words, once each: no number is favoured, not by one word."""
    every_word = iter(range(2**16))
    drawn = Counter(_until_the_words_end(size, every_word))
    assert drawn == dict.fromkeys(range(size), each)


def _until_the_words_end(size, words):
    while True:
        try:
            yield service._below(size, words)
        except StopIteration:
            return


def test_the_last_card_takes_no_word():
    assert service._below(1, iter(())) == 0


def test_three_cards_lie_in_all_six_orders_equally_often(monkeypatch):
    monkeypatch.setattr(service, "DECK", ("As", "2s", "3s"))
    shoes, orders = 30_000, list(permutations(("As", "2s", "3s")))
    seen = Counter(tuple(Shoe(_secret(n), 1, "t.1", ())) for n in range(shoes))
    assert set(seen) == set(orders)
    assert _chi_squared(seen.values(), shoes / 6) < 25.7, "5 degrees of freedom, p = 0.0001"


def test_every_card_comes_to_every_place_equally_often():
    """Place × card over 200,000 shuffles: 51 × 51 degrees of freedom, within 5 deviations."""
    shuffles, places = 200_000, range(52)
    seen: list[Counter] = [Counter() for _ in places]
    shoes = (Shoe(_secret(n), 1, "t.1", ()) for n in range(shuffles))
    while some := [[shoe[place] for place in places] for shoe in islice(shoes, 5_000)]:
        for counter, cards in zip(seen, zip(*some, strict=True), strict=True):
            counter.update(cards)
    cells = [counter[card] for counter in seen for card in DECK]
    statistic = _chi_squared(cells, shuffles / 52) * 51 / 52
    assert abs(statistic - 51 * 51) < 5 * (2 * 51 * 51) ** 0.5


def test_the_shuffle_divides_nothing_and_knows_no_fractions():
    for node in ast.walk(ast.parse(inspect.getsource(service))):
        if isinstance(node, ast.BinOp):
            text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str | bytes)
            assert text or not isinstance(node.op, ast.Mod | ast.Div | ast.FloorDiv)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Name) and node.id in ("float", "divmod", "random"))


def _secret(number: int) -> bytes:
    return number.to_bytes(32, "big")


def _chi_squared(counts, expected: float) -> float:
    return sum((count - expected) ** 2 for count in counts) / expected
