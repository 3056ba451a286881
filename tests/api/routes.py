"""Every route that needs a key, with the scope that it asks for and a request that succeeds.

The requests are for a house with `oak`, a table of `european` where ada and bob play; ada hosts,
the first round is over and the second is not. The house has registered `high-rollers`.
"""

from dataclasses import dataclass

from services.blackjack.api.examples import OWN_RULESET
from services.blackjack.api.odds_examples import TABLE
from shared.http.keys import Scope
from tests.api.croupier import House, Json

PLACES = {
    "table": "oak",
    "round": "oak.1",
    "player": "ada",
    "name": "high-rollers",
    "cards": "T42",
    "upcard": "6",
    "size": "1",
}


def begun(house: House) -> House:
    """The house that the requests are for. `european` has no clock: it stays as it is."""
    house.seat("oak", "ada", "bob", ruleset="european")
    house.deal("oak", 20, 20)
    house.finish("oak")
    house.deal("oak", 20, 20)
    house.register(OWN_RULESET)
    return house


@dataclass(frozen=True)
class Route:
    """`path` is as the API's description has it; `address` is filled in for the request."""

    method: str
    path: str
    scope: Scope
    query: str = ""
    body: Json = None
    endless: bool = False

    @property
    def address(self) -> str:
        return self.at()

    def at(self, **places: str) -> str:
        """The address, with some places filled in otherwise."""
        filled = self.path
        for name, value in (PLACES | places).items():
            filled = filled.replace(f"{{{name}}}", value)
        return filled + self.query

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


ROUTES = [
    Route("PUT", "/v1/rulesets/{name}", "ops", body=OWN_RULESET),
    Route("GET", "/v1/tables", "read"),
    Route("PUT", "/v1/tables/{table}", "play", body={"ruleset": "european", "host": "ada"}),
    Route("GET", "/v1/tables/{table}", "read"),
    Route("POST", "/v1/tables/{table}/commands", "play", body={"type": "leave", "seat": 1}),
    Route(
        "POST",
        "/v1/commands",
        "play",
        body={"commands": [{"table": "oak", "command": {"type": "leave", "seat": 1}}]},
    ),
    Route(
        "POST",
        "/v1/tables/{table}/computers",
        "play",
        body={"seat": 3, "level": "easy", "buy_in": 100},
    ),
    Route("GET", "/v1/tables/{table}/events", "read"),
    Route("GET", "/v1/tables/{table}/rounds", "read"),
    Route("GET", "/v1/tables/{table}/events/stream", "read", endless=True),
    Route("GET", "/v1/rounds/{round}", "read"),
    Route("GET", "/v1/rounds/{round}/recall", "read"),
    Route("GET", "/v1/rounds/{round}/proof", "audit"),
    Route("GET", "/v1/rounds/{round}/bundle", "audit"),
    Route("GET", "/v1/rulesets/{name}/odds", "read"),
    Route("GET", "/v1/rulesets/{name}/odds/{cards}/{upcard}", "read"),
    Route("GET", "/v1/rulesets/{name}/strategy", "read"),
    Route("POST", "/v1/rulesets/{name}/strategy", "read", body=TABLE),
    Route("GET", "/v1/rulesets/{name}/strategy.svg", "read"),
    Route("POST", "/v1/players/{player}/grants", "ledger", body={"amount": 1000}),
    Route("GET", "/v1/players/{player}/vault", "ledger"),
    Route("GET", "/v1/players/{player}/entries", "ledger"),
    Route("GET", "/v1/players/{player}/hands", "read"),
    Route("GET", "/v1/players/{player}/runs", "read"),
    Route("GET", "/v1/ledger/returns", "ledger"),
    Route("GET", "/v1/rulesets/{name}/returns", "ledger"),
    Route("GET", "/v1/rulesets/{name}/returns.svg", "ledger"),
    Route("GET", "/v1/tables/{table}/returns", "ledger"),
    Route("GET", "/v1/tables/{table}/returns.svg", "ledger"),
    Route("GET", "/v1/ledger/accounts", "ledger"),
    Route("GET", "/v1/ledger/entries", "ledger", query="?account=player/ada/vault"),
    Route("GET", "/v1/ledger/trial-balance", "ledger"),
    Route("GET", "/v1/players/{player}/statement", "ledger"),
    Route("GET", "/v1/players/{player}/statement.csv", "ledger"),
    Route("GET", "/v1/players/{player}/statement.html", "ledger"),
    Route("GET", "/v1/tables/{table}/statement", "ledger"),
    Route("GET", "/v1/tables/{table}/statement.csv", "ledger"),
    Route("GET", "/v1/tables/{table}/statement.html", "ledger"),
    Route("GET", "/v1/audit/seals", "audit"),
    Route("GET", "/v1/audit/seals/latest", "audit"),
    Route("GET", "/v1/audit/seals/{size}", "audit"),
    Route("POST", "/v1/audit/seals/{size}/cosignatures", "audit", body={"cosignature": "…"}),
    Route("GET", "/v1/audit/proofs/inclusion", "audit", query="?position=1"),
    Route("GET", "/v1/audit/proofs/consistency", "audit", query="?from=1"),
    Route("GET", "/v1/audit/keys", "audit"),
    Route("GET", "/v1/audit/status", "audit"),
    Route("GET", "/v1/audit/events", "audit"),
    Route("GET", "/v1/audit/wins", "audit", query="?from=2001-01-01&to=2001-12-31"),
    Route("GET", "/v1/events", "audit"),
    Route("GET", "/v1/events.jsonl", "audit"),
    Route("GET", "/v1/events/stream", "audit", endless=True),
]
