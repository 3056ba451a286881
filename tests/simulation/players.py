"""Players of all kinds. They know what any caller knows: the answers of the documented API."""

from asyncio import TaskGroup
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from tests.simulation import mischief
from tests.simulation.desk import Desk, Surprise
from tests.simulation.plan import Plan, PlannedPlayer, PlannedTable, modifier
from tests.simulation.world import Answer, Json

Moves = Mapping[str, Json]

GRANT, BUY_IN = 2000, 200
_DECISIONS: Final = (
    "hit", "stand", "double_down", "split", "surrender", "insure", "decline_insurance",
    "apply_modifier", "use_item",
)  # fmt: skip
_ARRIVALS: Final = ("sit", "start_run")
_BOUNDS: Final = ("min", "max", "step", "cost")
_RACES: Final = ("version-conflict", "insufficient-chips")
"""Why a listed move may be refused at the very version that listed it."""


def _careful(chance: Random, moves: Moves, total: int) -> str:
    return "hit" if total < 12 else "stand"


def _reckless(chance: Random, moves: Moves, total: int) -> str:
    return chance.choice(("double_down", "split", "hit", "hit", "surrender"))


def _splitter(chance: Random, moves: Moves, total: int) -> str:
    return "split" if "split" in moves else chance.choice(("double_down", "hit", "stand"))


def _insurer(chance: Random, moves: Moves, total: int) -> str:
    return "insure" if "insure" in moves else _careful(chance, moves, total - 4)


def _any(chance: Random, moves: Moves, total: int) -> str:
    return chance.choice(sorted(moves))


MINDS: Final[dict[str, Callable[[Random, Moves, int], str]]] = {
    "careful": _careful,
    "reckless": _reckless,
    "splitter": _splitter,
    "insurer": _insurer,
}
"""What each kind does on its turn, if it may. The other kinds do anything."""


async def play(plan: Plan, player: PlannedPlayer, desk: Desk) -> None:
    """From the first chips until the player is home again from every table."""
    chance = Random(f"{player.name}/{plan.seed}")
    path = f"/v1/players/{player.name}/grants"
    await desk.command(chance, f"{player.name}.grant", "POST", path, {"amount": GRANT})
    async with TaskGroup() as tables:
        for table in player.tables:
            tables.create_task(Guest(plan.seed, player, table, desk).play())


class Guest:
    """A player at one table, or at the next one like it when that is closed."""

    def __init__(self, seed: int, player: PlannedPlayer, table: PlannedTable, desk: Desk) -> None:
        self.player, self.kind = player.name, player.kind
        self._planned, self._desk = table, desk
        self._chance = Random(f"{player.name}/{table.name}/{seed}")
        self._tables = self._commands = self._idle = 0
        self._keys: list[str] = []

    async def play(self) -> None:
        await self._open()
        seen = await self._desk.look(self._chance, self._table)
        while not self._is_home(seen):
            if seen["phase"] == "closed":
                self._tables += 1
                await self._open()
            elif command := await self._next(seen):
                seen = await self._do(seen, command) or seen
                continue
            else:
                await self._desk.news(self._chance, self._table, seen["version"])
            seen = await self._desk.look(self._chance, self._table)

    @property
    def _table(self) -> str:
        return f"{self._planned.name}-{self._tables}"

    def _is_home(self, seen: Json) -> bool:
        return self._desk.going_home and (seen["phase"] == "closed" or not self._seat(seen))

    def _seat(self, seen: Json) -> Json | None:
        return next((seat for seat in seen["seats"] if seat["player"] == self.player), None)

    def _luck(self, probability: float) -> bool:
        return self._chance.random() < probability

    async def _open(self) -> None:
        path, opening = f"/v1/tables/{self._table}", self._planned.opening
        await self._desk.command(self._chance, self._key(), "PUT", path, opening)

    async def _next(self, seen: Json) -> Json | None:
        """What this player wants to happen now; None to wait."""
        seat = self._seat(seen)
        moves = {m["type"]: m for m in seen["legal_moves"] if seat and self._is_mine(m, seat)}
        if self._desk.going_home:
            return moves.get("leave")
        if self._luck(0.25 if self.kind in ("vandal", "hasty", "stale") else 0.02):
            await self._mischief(seen)
        if seat is None:
            return self._sit(seen)
        command = self._at_the_seat(seat, moves)
        self._idle = 0 if command else self._idle + 1
        return command or (moves.get("leave") if self._is_bored(seen) else None)

    def _is_mine(self, move: Json, seat: Json) -> bool:
        return move["type"] in ("deal", "apply_modifier") or bool(move.get("seat") == seat["seat"])

    def _is_bored(self, seen: Json) -> bool:
        """Nobody waits for ever, save for a clock that runs: it ends every wait."""
        return self._idle > 40 and not seen["clock"]

    def _sit(self, seen: Json) -> Json | None:
        free = [m for m in seen["legal_moves"] if m["type"] in _ARRIVALS and "player" not in m]
        if not free or self._luck(0.3):
            return None
        move = self._chance.choice(free)
        command = {**_command(move), "player": self.player}
        if move["type"] == "sit":
            command["buy_in"] = self._chance.randint(1, BUY_IN)
        elif "min" in move:
            command["stake"] = self._chance.randint(move["min"], move["max"])
        return command

    def _at_the_seat(self, seat: Json, moves: Moves) -> Json | None:
        decisions = {name: move for name, move in moves.items() if name in _DECISIONS}
        if self.kind == "silent" and (decisions or self._luck(0.7)):
            return None
        if "leave" in moves and self._luck(0.15 if self.kind == "quitter" else 0.01):
            return moves["leave"]
        if decisions:
            return _command(self._decision(seat, decisions))
        if "sit_out" in moves or "bet" in moves:
            return self._before_the_bet(moves)
        return self._after_the_bet(moves)

    def _decision(self, seat: Json, moves: Moves) -> Json:
        playing = [hand for hand in seat["hands"] if hand["status"] == "playing"]
        total = playing[0]["total"] if playing else 0
        wish = MINDS.get(self.kind, _any)(self._chance, moves, total)
        if self._luck(0.3):
            wish = "split" if "split" in moves else "insure"  # rare, and worth a look
        if self._luck(0.3):
            wish = "use_item" if "use_item" in moves else "apply_modifier"
        if wish == "apply_modifier" in moves:
            return {**moves[wish], "modifier": modifier(self._chance)}
        return moves.get(wish) or moves.get("decline_insurance") or moves["stand"]

    def _after_the_bet(self, moves: Moves) -> Json | None:
        """Whoever is in a hurry asks the host to deal."""
        if "deal" in moves and self._luck(0.3):
            return moves["deal"]
        return moves["withdraw_bet"] if "withdraw_bet" in moves and self._luck(0.03) else None

    def _before_the_bet(self, moves: Moves) -> Json | None:
        if "buy_item" in moves and self._luck(0.3):
            return moves["buy_item"]
        if "bet" in moves and self._luck(0.85):
            return self._bet(moves["bet"])
        if "sit_out" in moves and self._luck(0.3):
            return moves["sit_out"]
        if "cash_out" in moves and self._luck(0.2):
            most = moves["cash_out"]["max"]
            return {**_command(moves["cash_out"]), "amount": self._chance.randint(1, most)}
        if "start_run" in moves and self._luck(0.5):
            return moves["start_run"]
        if "buy_in" in moves and ("bet" not in moves or self._luck(0.2)):
            return {**_command(moves["buy_in"]), "amount": self._chance.randint(1, BUY_IN)}
        return None

    def _bet(self, move: Json) -> Json:
        bets = range(move["min"], move["max"] + 1, move["step"])
        if self.kind == "careful":
            amount = bets[0]
        elif self.kind == "reckless":
            amount = bets[-1]
        else:
            amount = self._chance.choice(bets[:30])
        luck = {"client_seed": f"luck-{self._commands}"} if self._luck(0.5) else {}
        return {**_command(move), "amount": amount, **luck}

    async def _do(self, seen: Json, command: Json) -> Json | None:
        """The table after a command; None when it was refused and has to be looked at again."""
        path = f"/v1/tables/{self._table}/commands"
        key, body = self._key(), _command(command)
        if self._luck(0.5 if self.kind == "hasty" else 0.03):
            answer = await self._desk.twice(self._chance, key, path, body)
        else:
            match = {"If_Match": f'"{seen["version"]}"'} if self._luck(0.5) else {}
            answer = await self._desk.command(self._chance, key, "POST", path, body, **match)
            self._listed_is_legal(answer, seen, body, bool(match))
        if answer.accepted:
            return answer.json["table"]
        if answer.problem == "insufficient-chips":
            await self._beg()
        return await self._desk.look(self._chance, self._table)

    def _listed_is_legal(self, answer: Answer, seen: Json, body: Json, matched: bool) -> None:
        """What is listed at a version is accepted at that version."""
        if matched and answer.status == 409 and answer.problem not in _RACES:
            raise Surprise(f"{body} was listed in {seen}, and refused: {answer.json}")

    async def _beg(self) -> None:
        path = f"/v1/players/{self.player}/grants"
        await self._desk.command(self._chance, self._key(), "POST", path, {"amount": GRANT})

    async def _mischief(self, seen: Json) -> None:
        """Something that a decent platform would not send."""
        path = f"/v1/tables/{self._table}/commands"
        match self.kind:
            case "vandal":
                if self._luck(0.5):
                    await self._desk.nonsense(
                        self._chance, *mischief.nonsense(self._chance, self._table)
                    )
                    return
                command: Any = mischief.random_command(self._chance, self.player)
                if self._luck(0.02):
                    command = {"type": "close"}
                await self._desk.command(self._chance, self._key(), "POST", path, command)
            case "stale":
                await self._too_late(seen, path)
            case _ if self._luck(0.5):
                some = self._chance.sample(self._keys, min(len(self._keys), 5))
                await self._desk.all_again(self._chance, some)
            case _:
                sent = self._desk.sent[self._chance.choice(self._keys)]
                await self._desk.send(self._chance, sent)

    async def _too_late(self, seen: Json, path: str) -> None:
        """A command for a version that is long gone, or a key that belongs to another command."""
        key = self._chance.choice(self._keys)
        if self._luck(0.3) and self._desk.sent[key].accepted:
            await self._desk.reuse(self._chance, key, path, {"type": "close"})
        elif seen["version"] > 1 and seen["legal_moves"]:
            move = _command(self._chance.choice(seen["legal_moves"]))
            body = {"amount": 2, "buy_in": 2, "player": self.player} | move
            if move["type"] == "apply_modifier":
                body["modifier"] = modifier(self._chance)
            names = ("type", "seat", "hand", "item", "modifier", *_FIELDS.get(move["type"], ()))
            body = {n: v for n, v in body.items() if n in names}
            await self._desk.stale(self._chance, self._key(), path, body, seen["version"] - 1)

    def _key(self) -> str:
        self._commands += 1
        self._keys.append(f"{self.player}.{self._planned.name}.{self._commands}")
        return self._keys[-1]


_FIELDS: Final = {
    "bet": ("amount",),
    "buy_in": ("amount",),
    "cash_out": ("amount",),
    "sit": ("player", "buy_in"),
    "start_run": ("player",),
    "deal": ("player",),
}


def _command(move: Json) -> Json:
    """A legal move as the command that it is."""
    return {name: value for name, value in move.items() if name not in _BOUNDS}
