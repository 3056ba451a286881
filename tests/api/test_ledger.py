"""Where the chips are: vaults, entries, accounts, and the sum of everything."""

from itertools import pairwise

import pytest

from tests.api.croupier import House


def test_a_vault_that_nobody_filled_is_empty(house: House) -> None:
    assert house.get("/v1/players/ada/vault") == {"player": "ada", "balance": 0}
    assert house.get("/v1/players/ada/entries") == {"data": [], "next": None}
    assert house.get("/v1/ledger/entries", account="no/such/account")["data"] == []
    assert house.get("/v1/ledger/trial-balance") == {
        "position": 0,
        "accounts": [],
        "total": 0,
        "balanced": True,
    }


def test_chips_come_from_the_issuance_and_go_where_the_player_goes(house: House) -> None:
    house.grant("ada", 1000)
    house.open("oak")
    house.do("oak", "sit", seat=1, player="ada", buy_in=400)
    house.do("oak", "cash_out", seat=1, amount=100)
    house.do("oak", "buy_in", seat=1, amount=50)
    house.do("oak", "leave", seat=1)

    entries = house.get("/v1/players/ada/entries")["data"]

    assert [(entry["type"], entry["amount"], entry["balance_after"]) for entry in entries] == [
        ("ledger.chips_granted", 1000, 1000),
        ("ledger.chips_taken_to_table", -400, 600),
        ("ledger.chips_brought_from_table", 100, 700),
        ("ledger.chips_taken_to_table", -50, 650),
        ("ledger.chips_brought_from_table", 350, 1000),
    ]
    assert {entry["account"] for entry in entries} == {"player/ada/vault"}
    assert house.balance("issuance") == -1000


def test_a_vault_pays_no_more_than_it_holds(house: House) -> None:
    house.grant("ada", 100)
    house.open("oak")

    refused = house.play("oak", "sit", seat=1, player="ada", buy_in=101)

    assert refused.status_code == 409
    assert refused.json()["type"] == "/problems/insufficient-chips"
    assert refused.json()["account"] == "player/ada/vault"
    assert (refused.json()["balance"], refused.json()["needed"]) == (100, 101)
    assert house.do("oak", "sit", seat=1, player="ada", buy_in=100)


def test_the_sum_of_all_accounts_is_zero_at_the_position_it_names(house: House) -> None:
    house.seat("oak", "ada", "bob")
    house.deal("oak", 20, 40)

    found = house.get("/v1/ledger/trial-balance")

    kinds = {kind["kind"]: (kind["accounts"], kind["balance"]) for kind in found["accounts"]}
    assert kinds["issuance"] == (1, -2000)
    assert kinds["vault"] == (2, 1200)
    assert sum(balance for _, balance in kinds.values()) == found["total"] == 0
    assert found["balanced"] is True
    assert found["position"] == house.get("/v1/tables/oak")["position"]


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_entries_are_told_once_each_in_order_page_by_page(limit: int, house: House) -> None:
    for amount in range(1, 8):
        house.grant("ada", amount)

    for path, query in (
        ("/v1/players/ada/entries", {}),
        ("/v1/ledger/entries", {"account": "player/ada/vault"}),
    ):
        entries = list(house.walk(path, limit=limit, **query))
        assert [entry["amount"] for entry in entries] == [1, 2, 3, 4, 5, 6, 7]
        assert [entry["balance_after"] for entry in entries] == [1, 3, 6, 10, 15, 21, 28]
        assert all(one["position"] < next["position"] for one, next in pairwise(entries))


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_accounts_are_told_once_each_by_name_page_by_page(limit: int, house: House) -> None:
    players = ("ada", "ada.b", "bob", "z-9", "z_1")
    for player in players:
        house.grant(player, 10)

    accounts = list(house.walk("/v1/ledger/accounts", limit=limit))
    vaults = list(house.walk("/v1/ledger/accounts", limit=limit, prefix="player/"))

    names = [account["account"] for account in accounts]
    assert names == sorted(names)
    assert {account["account"]: account["balance"] for account in accounts} == {
        "issuance": -50,
        **{f"player/{player}/vault": 10 for player in players},
    }
    assert [vault for vault in accounts if vault["account"] != "issuance"] == vaults
