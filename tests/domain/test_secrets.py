"""What nobody sees before its time, and what a restart brings back."""

from msgspec import json

from services.blackjack.domain.commands import Bet, Hit, Insure, Split, Stand
from services.blackjack.domain.decide import decide
from services.blackjack.domain.events import HoleCardRevealed, RoundOpened, SeedRevealed
from services.blackjack.domain.evolve import evolve
from services.blackjack.domain.moves import legal_moves
from services.blackjack.domain.shoe import commitment
from services.blackjack.domain.table import Table
from tests.domain.books import stored
from tests.domain.story import (
    PreparedSeed,
    a_round,
    a_table,
    given,
    rows,
    when,
    when_all_stand,
)


@rows("""
    game         upcard
    a2g          Ac
    a2g          Tc
    coinlounge   Tc
    coinlounge   6c
    classic      Tc
    classic      6c
    european     Ac
""")
def test_the_hole_card_is_in_no_event_before_its_reveal(game, upcard):
    story = given(a_round(game, "Ts 6d", upcard=upcard, hole="9h", next_cards="2s Kd 3d"))
    when(Hit(1))
    assert "9h" not in _as_json(story.log)
    when(Stand(1))
    reveal = story.log.index(HoleCardRevealed("9h"))
    assert "9h" not in _as_json(story.log[:reveal])


@rows("""
    game
    a2g
    coinlounge
    classic
    european
""")
def test_state_and_legal_moves_do_not_depend_on_the_hole_card(game):
    def listed(hole: str) -> str:
        story = given(a_round(game, "Ts 6d", upcard="6c", hole=hole, next_cards="2s Kd"))
        when(Hit(1))
        return _as_json(legal_moves(story.table)) + _as_json([story.table])

    assert listed("9h") == listed("As")


def test_the_seed_is_opened_at_the_end_of_the_round_and_fits_its_commitment():
    story = given(a_round("a2g", "Ts 6d", upcard="Tc", hole="9h"))
    secret = story.seed.secret.hex()
    opened = next(event for event in story.log if isinstance(event, RoundOpened))
    assert secret not in _as_json(story.log)
    when(Stand(1))
    assert story.log[-1] == SeedRevealed(1, secret, drawn=4, next=story.seed.successor())
    assert opened.commitment == commitment(bytes.fromhex(secret))
    assert secret not in _as_json(story.log[:-1])


def test_client_seeds_reach_the_shoe_in_seat_order():
    asked = []

    class Listening(PreparedSeed):
        def shoe(self, decks: int, round_id: str, client_seeds: tuple[str, ...]):
            asked.append((decks, round_id, client_seeds))
            return super().shoe(decks, round_id, client_seeds)

    story = a_table("a2g", 100, 100, 100)
    story.seed = Listening("Ts Ts Ts 6c 8d 8d 8d 9d")
    given(story)
    when(Bet(3, 20, "third"), Bet(1, 20, "first"), Bet(2, 20))
    assert set(asked) == {(6, "t.1", ("first", "third"))}
    opened = next(event for event in story.log if isinstance(event, RoundOpened))
    assert opened.client_seeds == ("first", "third")


@rows("""
    game         moves
    a2g          insure split hit
    coinlounge   insure split hit
    european     split hit
    classic      hit
""")
def test_a_restart_in_mid_round_brings_back_the_same_table(game, moves):
    """The fold of the stored events: same state, same legal moves, same hole card, same end."""
    upcard = "Ac" if "insure" in moves else "6c"
    story = given(a_round(game, "8s 8d", upcard=upcard, hole="9h", next_cards="2s 3d 4h Kd Kc"))
    commands = {"insure": Insure(1), "split": Split(1), "hit": Hit(1)}
    for move in moves.split():
        when(commands[move])
        restarted = _folded(story.log)
        assert restarted == story.table
        assert legal_moves(restarted) == legal_moves(story.table)
    end_of_both = [decide(table, Stand(1), story.seed) for table in (restarted, story.table)]
    assert end_of_both[0] == end_of_both[1]
    when_all_stand()
    assert HoleCardRevealed("9h") in story.log


def test_a_snapshot_is_the_table_itself():
    story = given(a_round("coinlounge", "8s 8d", "As Kd", upcard="Ac", hole="9h"))
    assert json.decode(json.encode(story.table), type=Table) == story.table
    when_all_stand()
    assert json.decode(json.encode(story.table), type=Table) == story.table


def _folded(log) -> Table:
    table = None
    for event in log:
        table = evolve(table, stored(event))
    assert table is not None
    return table


def _as_json(things) -> str:
    return json.encode(things).decode()
