"""The platform's side: sends every command until it is answered, and remembers all it was told.

Answers may get lost and requests may be doubled or come late; a command with a key happens once.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from tests.simulation.world import Answer, Gone, Json, Request, World

BACKOFF_SECONDS = 0.05
"""At most, before the same request is tried again after a connection broke, wherever it may."""

COMMAND = {200, 201, 404, 409, 412, 422}
"""How a well-formed command may be answered, once it is."""


class Surprise(AssertionError):
    """An answer that contradicts what the service promises."""


@dataclass
class Sent:
    """A command by its key, and its answer once it was accepted."""

    key: str
    request: Request
    accepted: Answer | None = None
    refusals: set[str] = field(default_factory=set)
    """Every kind of refusal that it met."""


@dataclass
class Desk:
    """Everybody's requests go through here."""

    world: World
    sent: dict[str, Sent] = field(default_factory=dict)
    looks: dict[tuple[str, int], Json] = field(default_factory=dict)
    """Every table as somebody saw it, by its version."""
    newest: Counter[str] = field(default_factory=Counter)
    """The newest version that anybody knows of, by table."""
    tally: Counter[str] = field(default_factory=Counter)
    """What was counted, by name: answers, refusals by kind, retries, …"""
    answered: int = 0
    """How many commands were answered."""
    going_home: bool = False
    """Whether everybody should end the rounds that run, and leave."""
    closed: bool = False

    def __post_init__(self) -> None:
        self._grown = asyncio.Condition()

    async def until_answered(self, count: int) -> None:
        """Returns when so many commands have been answered, or no more will be."""
        async with self._grown:
            await self._grown.wait_for(lambda: self.answered >= count or self.closed)

    async def close(self) -> None:
        """Everybody is at home: no more will be answered."""
        self.closed = True
        async with self._grown:
            self._grown.notify_all()

    async def look(self, chance: Random, table: str) -> Json:
        """A table as it is now. It has been opened."""
        least = self.newest[table]
        answer = await self._until_answered(chance, Request("GET", f"/v1/tables/{table}"))
        _expect(answer.status == 200, "a look", answer)
        seen = answer.json
        _expect(seen["version"] >= least, f"somebody has seen version {least} before", answer)
        self._saw(seen)
        same = self.looks.setdefault((table, seen["version"]), seen)
        _expect(seen == same, f"at this version was seen {same}", answer)
        return seen

    async def news(self, chance: Random, table: str, version: int) -> None:
        """Returns when a table may have gone on."""
        try:
            await self.world.news(chance.randrange(self.world.processes), table, version)
        except Gone:
            await self._again(chance, BACKOFF_SECONDS)

    async def command(
        self, chance: Random, key: str, method: str, path: str, body: Json, **headers: str
    ) -> Answer:
        """One command with its key. Sent until it is answered, by whichever process answers."""
        request = Request(
            method,
            path,
            json.dumps(body).encode(),
            {"Idempotency-Key": key, **{n.replace("_", "-"): v for n, v in headers.items()}},
        )
        return await self.send(chance, self.sent.setdefault(key, Sent(key, request)))

    async def send(self, chance: Random, sent: Sent) -> Answer:
        """A command, for the first time or again: late, doubled, out of order."""
        known = sent.accepted is not None
        answer = await self._until_answered(chance, sent.request)
        await self._note(sent, answer, known)
        return answer

    async def all_again(self, chance: Random, keys: Iterable[str]) -> None:
        """Commands that were sent before, for whatever tables, once more in one request."""
        old = [self.sent[key] for key in keys]
        together = [sent for sent in old if sent.request.path.endswith("/commands")]
        known = [sent.accepted is not None for sent in together]
        body = json.dumps({"commands": [_one_of_many(sent) for sent in together]}).encode()
        if not together:
            return
        self.tally["requests with many commands"] += 1
        answer = await self._until_answered(chance, Request("POST", "/v1/commands", body))
        _expect(answer.status == 200, "many commands", answer)
        for sent, outcome, was in zip(together, answer.json["outcomes"], known, strict=True):
            if outcome["status"] != 503:
                await self._note(sent, _alone(outcome), was)

    async def _note(self, sent: Sent, answer: Answer, known: bool) -> None:
        """`known`: whether it had been accepted before it was sent this time."""
        _expect(answer.status in COMMAND, f"the command {sent.key}", answer)
        if known:
            self.tally["sent again after its answer"] += 1
            _expect(answer.accepted, f"accepted before, now refused: {sent.key}", answer)
        if answer.accepted:
            self._same(sent, answer)
        else:
            sent.refusals.add(answer.problem)
            self.tally[f"refused: {answer.problem}"] += 1
        await self._count(answer)

    async def twice(self, chance: Random, key: str, path: str, body: Json) -> Answer:
        """A command that is sent two times at once, wherever they may arrive."""
        self.tally["sent twice at once"] += 1
        first, _ = await asyncio.gather(
            self.command(chance, key, "POST", path, body),
            self.command(chance, key, "POST", path, body),
        )
        return first

    async def stale(self, chance: Random, key: str, path: str, body: Json, version: int) -> None:
        """A command that was decided on at a version that is no longer the newest."""
        match = {"If_Match": f'"{version}"'}
        answer = await self.command(chance, key, "POST", path, body, **match)
        _expect(answer.status == 412, f"{body} for version {version}", answer)

    async def reuse(self, chance: Random, key: str, path: str, body: Json) -> None:
        """Another command under a key that was accepted for a first one."""
        request = Request("POST", path, json.dumps(body).encode(), {"Idempotency-Key": key})
        await self.nonsense(chance, request, {422})

    async def nonsense(self, chance: Random, request: Request, statuses: set[int]) -> None:
        """Something that no service should accept."""
        answer = await self._until_answered(chance, request)
        _expect(answer.status in statuses, f"nonsense {request}", answer)
        self.tally[f"refused: {answer.problem}"] += 1
        await self._count(answer)

    def _same(self, sent: Sent, answer: Answer) -> None:
        """The first answer to be heard may be a replay: the true first one can have been lost."""
        if sent.request.method == "PUT" and not answer.json["events"]:
            return  # somebody else had opened the table: this is how it looks now
        if "table" in answer.json:
            self._saw(answer.json["table"])
        if sent.accepted is None:
            sent.accepted = answer
            return
        _expect(answer.json == sent.accepted.json, f"{sent.key} is answered anew", answer)
        replays = [a for a in (answer, sent.accepted) if "idempotent-replayed" in a.headers]
        _expect(bool(replays), f"{sent.key} happened twice", answer)

    def _saw(self, table: Json) -> None:
        self.newest[table["id"]] = max(self.newest[table["id"]], table["version"])

    async def _until_answered(self, chance: Random, request: Request) -> Answer:
        while True:
            try:
                answer = await self.world.ask(chance.randrange(self.world.processes), request)
            except Gone:
                self.tally["connections lost"] += 1
                await self._again(chance, BACKOFF_SECONDS)
                continue
            if answer.status != 503:
                return answer
            _expect("retry-after" in answer.headers, "503 without a hint when to retry", answer)
            self.tally["told to come again (503)"] += 1
            await self._again(chance, float(answer.headers["retry-after"]))

    async def _again(self, chance: Random, seconds: float) -> None:
        self.tally["retries"] += 1
        await asyncio.sleep(seconds * chance.random())

    async def _count(self, answer: Answer) -> None:
        self.answered += 1
        self.tally["accepted" if answer.accepted else "refused"] += 1
        async with self._grown:
            self._grown.notify_all()


def _one_of_many(sent: Sent) -> Json:
    """A command as it travels with others."""
    table = sent.request.path.removeprefix("/v1/tables/").removesuffix("/commands")
    one = {"table": table, "key": sent.key, "command": json.loads(sent.request.body or b"")}
    if match := sent.request.headers.get("If-Match"):
        one["if_version"] = int(match.strip('"'))
    return one


def _alone(outcome: Json) -> Answer:
    """One outcome of many, as if its command had come alone."""
    if outcome["status"] != 200:
        return Answer(outcome["status"], {}, json.dumps(outcome).encode())
    headers = {"etag": f'"{outcome["table"]["version"]}"'}
    if outcome["replayed"]:
        headers["idempotent-replayed"] = "true"
    body = {name: outcome[name] for name in ("table", "events")}
    return Answer(200, headers, json.dumps(body).encode())


def _expect(holds: bool, what: str, answer: Answer) -> None:
    if not holds:
        raise Surprise(f"{what}: {answer.status} {answer.body[:500]!r}")
