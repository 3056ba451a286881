"""What must hold after any crash, judged from the outside: from the answers and from the log."""

from collections import Counter

import msgspec
import psycopg

from services.audit.application.database import check
from services.audit.application.feed import from_feed
from services.audit.domain.verify import Report, verify
from shared.eventstore.jsonlines import FeedLine
from tests.api.croupier import House, Json
from tests.crash.load import Load


def verified(house: House) -> Report:
    """The whole log of a house: chain, ledger, rules, and each round's cards from its seed; and in
    the database whatever is kept beside it."""
    lines = house.ask("GET", "/v1/events.jsonl").content.splitlines()
    decoder = msgspec.json.Decoder(FeedLine)
    report = verify((from_feed(decoder.decode(line)) for line in lines), house.name)
    assert report.faults == ()
    assert report.position == house.head()
    with psycopg.connect(house.croupier.database.app_url, autocommit=True) as reader:
        assert check(reader, house.name).faults == ()
    return report


def nothing_is_lost_and_nothing_is_doubled(load: Load) -> Report:
    """Every command that was answered is in the log once, as it was answered, and no other is."""
    house = load.house
    log = list(house.walk("/v1/events", limit=1000))
    ids = Counter(entry["event"]["id"] for entry in log)
    caused = [entry["event"]["id"].rpartition(".")[0] for entry in log]
    opened = {name for name in load.answers if name.endswith(".open")}
    assert set(ids.values()) == {1}
    assert set(load.answers) - opened <= set(caused) <= set(load.answers)
    for name, answer in load.answers.items():
        for event in answer.json().get("events", ()):
            assert caused[event["position"] - 1] == name
    _looks_the_same_again(load)
    report = verified(house)
    accounts = {a["account"]: a["balance"] for a in house.walk("/v1/ledger/accounts", limit=1000)}
    assert accounts == report.balances
    assert sum(accounts.values()) == 0
    return report


def _looks_the_same_again(load: Load) -> None:
    """Every table that was ever answered is seen again at its version."""
    for name, answer in load.answers.items():
        if ".grant" not in name:
            told: Json = answer.json()["table"]
            seen = load.house.get(f"/v1/tables/{told['id']}", version=told["version"])
            assert seen == told
