"""The four games as published, field by field, and what no table may change."""

from functools import reduce

import pytest
from msgspec.structs import fields, replace

from services.blackjack.domain.cards import DECK, POINTS
from services.blackjack.domain.commands import Open
from services.blackjack.domain.decide import open_table
from services.blackjack.domain.items import Item, Modify, Redraw
from services.blackjack.domain.modifiers import BustLimit, FixedAce, RankValue, ReverseBust
from services.blackjack.domain.rejections import RulesetNonsense, UnknownRuleset
from services.blackjack.domain.rules import BetLimits, Ruleset, fingerprint, most_cards, validate
from services.blackjack.domain.rulesets import PUBLISHED, ruleset
from tests.domain.story import PreparedSeed, rows

TABLE = """
    field                 a2g             coinlounge    classic       european
    version               1.0.0           1.0.0         1.0.0         1.0.0
    seats                 7               5             1             7
    decks                 6               6             1             6
    bet.min               2               1             5             2
    bet.step              2               1             1             2
    bet.max               500             500           –             500
    bet.half_of_stack     no              no            yes           no
    clock.betting_seconds     25          25            –             –
    clock.insurance_seconds   –           25            –             –
    clock.action_seconds      20          25            –             –
    bankroll              vault           vault         vault         session
    deals                 server          host          server        server
    peek                  never           ace_or_ten    always        never
    insurance             on_turn         before_play   none          none
    naturals_settle       at_resolution   before_play   before_play   at_resolution
    natural_rounds_down   no              yes           yes           no
    double_after_split    yes             no            no            yes
    split                 same_rank       same_rank     none          same_value
    hands_per_seat        4               2             1             4
    surrender             no              no            yes           no
    hit_on_21             no              no            no            yes
    run.min_stake         –               –             40            –
    run.max_stake         –               –             100           –
    run.goal_multiple     –               –             4             –
    run.granted_stake     –               –             100           –
    run.granted_goal      –               –             300           –
    modifiers             no              no            yes           no
    environment           –               –             –             –
    items                 –               –             redraw shield limit-22   –
    computers             all             all           –             all
"""


@rows(TABLE)
def test_the_published_rulesets(field, a2g, coinlounge, classic, european):
    values = [_value_of(rules, field) for rules in PUBLISHED.values()]
    assert list(PUBLISHED) == ["a2g", "coinlounge", "classic", "european"]
    assert values == [a2g, coinlounge, classic, european]


@rows("""
    name         title                       house_edge
    a2g          A2G Blackjack               about 0.5 %
    coinlounge   CoinLounge Blackjack        about 0.6 %
    classic      Poker Head, Classic Table   not published
    european     Evropský                    not published
""")
def test_what_the_published_rulesets_say_of_themselves(name, title, house_edge):
    rules = PUBLISHED[name]
    assert (rules.name, rules.title, rules.house_edge) == (name, title, house_edge)


def test_the_tables_above_leave_no_field_out():
    told = {line.split()[0].split(".")[0] for line in TABLE.split("\n")[2:-1]}
    assert told | {"name", "title", "house_edge"} == {field.name for field in fields(Ruleset)}


def _value_of(rules: Ruleset, field: str) -> str | int:
    value = reduce(lambda of, name: getattr(of, name, None), field.split("."), rules)
    if value in (None, ()):
        return ""
    if value == ("easy", "normal", "hard"):
        return "all"
    if isinstance(value, tuple):
        return " ".join(item.name for item in value)
    return ("no", "yes")[value] if isinstance(value, bool) else value


@rows("""
    name         sha256
    a2g          0f1ad9ebade255ea7261ede464d7ed45c63c1f0da1e5fff459fbfa60f9d8e1a9
    coinlounge   6302ac3e05ffbad45bfc475fc2c03be33b108f594d8063a4818a6dc7c6be0af0
    classic      171907c002ffd50c60862639c81e8bded643dcdb4413a58d778d7d2753dd6aa8
    european     f1f3a5765184c8e2468c9d7286ce4fdcdb91a62487d5b4200f70a88100d6e9bc
""")
def test_the_fingerprint_of_a_published_ruleset_is_stable(name, sha256):
    """It is in the first event of every table. Other rules are another version."""
    assert fingerprint(PUBLISHED[name]) == sha256


def test_any_change_of_a_ruleset_changes_its_fingerprint():
    changed = [ruleset("a2g", seats=6), ruleset("a2g", bet=BetLimits(min=4, step=2))]
    assert len({fingerprint(rules) for rules in (*PUBLISHED.values(), *changed)}) == 6


@rows("""
    name         cards   in_the_shoe
    a2g          188     312
    coinlounge   104     312
    classic      28      52
    european     188     312
""")
def test_the_longest_round_fits_into_the_shoe(name, cards, in_the_shoe):
    rules = PUBLISHED[name]
    assert most_cards(rules) == cards <= in_the_shoe == 52 * rules.decks


def test_the_longest_round_is_counted_in_the_smallest_cards():
    """A hand and the dealer, 42 points: four each of aces, twos, threes, fours, and a card each."""
    smallest = sorted(POINTS[card] for card in DECK)[:16]
    assert sum(smallest) == 40
    assert most_cards(_plain("classic")) == 16 + 2


@rows("""
    change                     cards
    –                          18
    a limit of 31              20
    sevens that count 1        21
    all fours count 11         18
    a shop with a redraw       23
    modifiers of the platform  23
""")
def test_the_longest_round_is_counted_under_the_worst_of_all_modifiers(change, cards):
    """The platform may lift the limit to 31 or let one rank count 1, a seat may redraw 5 times."""
    changes = {
        "": {},
        "a limit of 31": {"environment": (BustLimit(31),)},
        "sevens that count 1": {"items": (Item("sevens", 1, Modify(RankValue("7", 1))),)},
        "all fours count 11": {"environment": (RankValue("4", 11),)},
        "a shop with a redraw": {"items": (Item("again", 1, Redraw()),)},
        "modifiers of the platform": {"modifiers": True},
    }
    assert most_cards(replace(_plain("classic"), **changes[change])) == cards


def test_an_environment_in_which_the_shoe_may_run_out_is_refused():
    """Seven seats of four hands, and every card counts one."""
    ones = (FixedAce(1), *(RankValue(rank, 1) for rank in "23456789TJQK"))
    with pytest.raises(RulesetNonsense, match="cards, the shoe has 312"):
        validate(replace(PUBLISHED["a2g"], environment=ones))
    with pytest.raises(RulesetNonsense, match="59 cards, the shoe has 52"):
        validate(replace(PUBLISHED["classic"], environment=ones))
    assert validate(replace(_plain("classic"), environment=(*ones, BustLimit(25))))


@rows("""
    name         why
    a2g          is played without modifiers
    coinlounge   is played without modifiers
    european     is played without modifiers
""")
def test_only_some_games_have_environments(name, why):
    with pytest.raises(RulesetNonsense, match=why):
        ruleset(name, environment=(ReverseBust(),))


def test_only_games_with_a_shop_have_a_catalogue():
    again = Item("again", 1, Redraw())
    with pytest.raises(RulesetNonsense, match="no shop"):
        ruleset("a2g", items=(again,))
    assert ruleset("classic", items=(again,)).items == (again,)
    assert ruleset("classic", items=()).items == ()
    with pytest.raises(RulesetNonsense, match="same name"):
        ruleset("classic", items=(again, again))


def _plain(name: str) -> Ruleset:
    return replace(PUBLISHED[name], modifiers=False, items=())


@rows("""
    name         min   step   max   seats   why
    a2g          3     2      –     7       An exact 3:2
    a2g          2     1      –     7       An exact 3:2
    european     2     5      –     7       An exact 3:2
    a2g          20    2      10    7       is less than the least bet
    coinlounge   2     1      1     5       is less than the least bet
    a2g          2     2      500   8       has at most 7 seats
    coinlounge   1     1      500   6       has at most 5 seats
    classic      5     1      –     2       has at most 1 seats
""")
def test_limits_that_make_no_game_are_refused(name, min, step, max, seats, why):
    with pytest.raises(RulesetNonsense, match=why):
        ruleset(name, bet=BetLimits(min=min, step=step, max=max or None), seats=seats)


def test_a_round_that_may_run_out_of_cards_is_refused():
    a2g = PUBLISHED["a2g"]
    assert validate(replace(a2g, decks=4))
    with pytest.raises(RulesetNonsense, match="cards, the shoe has 104"):
        validate(replace(a2g, decks=2))


@pytest.mark.parametrize(
    "changes",
    [
        {"naturals_settle": "before_play", "insurance": "none"},
        {"insurance": "before_play"},
    ],
)
def test_what_happens_before_play_needs_a_dealer_who_peeks(changes):
    with pytest.raises(RulesetNonsense, match="peeks"):
        validate(replace(PUBLISHED["a2g"], **changes))
    assert validate(replace(PUBLISHED["a2g"], **changes, peek="ace_or_ten"))


def test_insurance_that_could_only_lose_is_refused():
    """On one's turn comes after the peek: a dealer's natural has ended the round."""
    with pytest.raises(RulesetNonsense, match="could only lose"):
        validate(replace(PUBLISHED["a2g"], peek="ace_or_ten"))


def test_an_unknown_ruleset_is_refused_with_the_names_there_are():
    with pytest.raises(UnknownRuleset, match="a2g, coinlounge, classic, european"):
        ruleset("pontoon")


def test_a_table_records_its_whole_ruleset_and_the_fingerprint_of_it():
    limits = BetLimits(min=10, step=10, max=100)
    command = Open("coinlounge", host="ada", bet=limits, seats=3)
    opened = open_table("t", command, PreparedSeed("").sealed)
    assert (opened.ruleset.bet, opened.ruleset.seats, opened.host) == (limits, 3, "ada")
    assert opened.ruleset_sha256 == fingerprint(opened.ruleset)
    assert opened.ruleset_sha256 != fingerprint(PUBLISHED["coinlounge"])


@rows("""
    name         stack   max    count
    a2g          1000    500    250
    a2g          7       6      3
    a2g          1       –      0
    coinlounge   7       7      7
    classic      100     50     46
    classic      11      5      1
    classic      9       –      0
    european     501     500    250
""")
def test_the_bets_that_a_stack_allows(name, stack, max, count):
    bets = PUBLISHED[name].bets(stack)
    assert len(bets) == count
    assert (bets[-1] if bets else "") == max


@rows("""
    name         ace   ten   six
    a2g          no    no    no
    coinlounge   yes   yes   no
    classic      yes   yes   yes
    european     no    no    no
""")
def test_when_the_dealer_peeks(name, ace, ten, six):
    peeks = [PUBLISHED[name].peeks_at(upcard) for upcard in ("Ac", "Tc", "6c")]
    assert peeks == [word == "yes" for word in (ace, ten, six)]


@rows("""
    name         same_rank   same_value   unequal
    a2g          yes         no           no
    coinlounge   yes         no           no
    classic      no          no           no
    european     yes         yes          no
""")
def test_what_a_pair_is(name, same_rank, same_value, unequal):
    hands = (("Kc", "Ks"), ("Kc", "Ts"), ("9c", "8c"))
    pairs = [PUBLISHED[name].is_pair(*hand) for hand in hands]
    assert pairs == [word == "yes" for word in (same_rank, same_value, unequal)]
