"""A load that survives: everybody sends every command again, with its key, until it is answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any

import httpx

from tests.api.croupier import House, Json, command, key

GAMES = ("a2g", "coinlounge", "european", "classic")
DECISIONS = {
    "hit",
    "stand",
    "double_down",
    "split",
    "surrender",
    "insure",
    "decline_insurance",
    "deal",
}


@dataclass
class Load:
    """What a house is asked by many players at once, and what it answered.

    `answers` has the answer to every command by its idempotency key, once it came.
    """

    house: House
    players: int = 12
    addresses: list[str] = field(default_factory=list)
    """Where else the service is: every request goes to the next of them."""
    answers: dict[str, httpx.Response] = field(default_factory=dict)
    thought_seconds: float = 0.0
    """How long everybody thinks before each request: with none, all processors are busy."""
    idle_seconds: float = 5.0
    """How long everybody keeps a connection that is idle."""
    troubles: list[str] = field(default_factory=list)
    """Every answer that was none: broken connections, and what the service said of itself."""

    def __post_init__(self) -> None:
        self._serving = asyncio.Event()
        self._serving.set()
        self._answered = asyncio.Condition()
        self._going_home = False
        self._next_address = cycle([self.house.croupier.address, *self.addresses])
        self._unsent = set[asyncio.Event]()
        """Requests of which is decided where they go, and which are not there yet."""

    async def go_to(self, *addresses: str) -> None:
        """From now on the service is there, as whoever balances the load would know.

        Returns when what shall go elsewhere has been sent, whether it has been answered or not: on
        a busy machine we may take longer for that than a process needs to stop."""
        self._next_address = cycle(addresses)
        await asyncio.gather(*(each.wait() for each in self._unsent))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everybody plays inside; then they end their rounds and take their chips home."""
        async with (
            self.house.crowd(self.idle_seconds) as self._http,
            asyncio.TaskGroup() as playing,
        ):
            for number in range(self.players):
                playing.create_task(self._play(number))
            for seat in (1, 2, 3):
                playing.create_task(self._share(seat))
            yield
            self._going_home = True

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """While the service is away its callers wait for it instead of knocking at the door."""
        self._serving.clear()
        yield
        self._serving.set()

    async def until_answered(self, commands: int) -> None:
        """Returns when so many commands more have been answered."""
        enough = len(self.answers) + commands
        async with self._answered:
            await self._answered.wait_for(lambda: len(self.answers) >= enough)

    async def _play(self, number: int) -> None:
        """A table alone: every command is legal when it is decided on, so none may be refused."""
        chance, table, player = Random(number), f"table-{number}", f"player-{number}"
        game = GAMES[number % len(GAMES)]
        # Without clocks: on a busy machine one would play for whoever waits for an answer.
        calm = {"ruleset": game, "host": player, "clock": {}}
        await self._send("PUT", f"/v1/tables/{table}", f"{table}.open", **calm)
        path = f"/v1/players/{player}/grants"
        await self._send("POST", path, f"{player}.grant", amount=5000)
        path, commands = f"/v1/tables/{table}/commands", 0
        arrival = {"type": "sit", "seat": 1, "player": player, "buy_in": 1000}
        if game == "classic":
            arrival = {"type": "start_run", "seat": 1, "player": player, "stake": 100}
        move: dict[str, Any] | None = arrival
        while move:
            commands += 1
            answer = await self._send("POST", path, f"{table}.{commands}", **move)
            move = self._next(answer.json()["table"], chance)

    def _next(self, seen: Json, chance: Random) -> dict[str, Any] | None:
        """A bet, any legal decision, and at the end the way home."""
        moves = {move["type"]: command(move) for move in seen["legal_moves"]}
        if decisions := sorted(moves.keys() & DECISIONS):
            return moves[chance.choice(decisions)]
        if not seen["seats"]:
            return None
        if "start_run" in moves and not self._going_home:
            return moves["start_run"]
        if self._going_home or "bet" not in moves:
            return moves["leave"]
        most = next(move["max"] for move in seen["legal_moves"] if move["type"] == "bet")
        return {**moves["bet"], "amount": min(20, most), "client_seed": f"luck-{seen['version']}"}

    async def _share(self, seat: int) -> None:
        """One table for three, who all bring one chip after the other."""
        player = f"sharer-{seat}"
        await self._send("PUT", "/v1/tables/shared", f"{player}.open", ruleset="a2g")
        await self._send("POST", f"/v1/players/{player}/grants", f"{player}.grant", amount=1000)
        path = "/v1/tables/shared/commands"
        sit = {"type": "sit", "seat": seat, "player": player, "buy_in": 1}
        await self._send("POST", path, f"{player}.sit", **sit)
        commands = 0
        while not self._going_home:
            commands += 1
            buy_in = {"type": "buy_in", "seat": seat, "amount": 1}
            await self._send("POST", path, f"{player}.{commands}", **buy_in)

    async def _send(self, method: str, path: str, name: str, **body: Json) -> httpx.Response:
        while True:
            await asyncio.sleep(self.thought_seconds)
            await self._serving.wait()
            try:
                answer = await self._ask(method, path, name, body)
            except httpx.TransportError as error:
                self.troubles.append(repr(error))
                continue
            if answer.status_code == 503 or self._lost_a_race(answer):
                self.troubles.append(answer.text)
                continue
            assert answer.status_code in (200, 201), (name, answer.text)
            self.answers[name] = answer
            async with self._answered:
                self._answered.notify_all()
            return answer

    async def _ask(self, method: str, path: str, name: str, body: Json) -> httpx.Response:
        """One request to the next address, once. Raises `httpx.TransportError`."""
        sent = asyncio.Event()

        async def follow(event: str, _: Json) -> None:
            if event == "http11.send_request_body.complete":
                sent.set()

        self._unsent.add(sent)
        address = next(self._next_address)
        try:
            return await self._http.request(
                method, address + path, json=body, headers=key(name), extensions={"trace": follow}
            )
        finally:
            sent.set()
            self._unsent.remove(sent)

    def _lost_a_race(self, answer: httpx.Response) -> bool:
        """Whether other processes were faster every time. It cannot be, where there is one."""
        return answer.status_code == 409 and answer.json()["type"] == "/problems/version-conflict"
