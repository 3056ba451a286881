"""The blocks and tables of FORMAT.md that a program writes, so that what they show is so."""

import re
from collections.abc import Iterator, Sequence
from hmac import digest
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import json

from services.blackjack.domain.shoe import ALGORITHM, Shoe, commitment
from shared.eventstore.chain import GENESIS
from shared.eventstore.envelope import canonical_json
from shared.seals import merkle
from shared.seals.notes import public_of
from tests.format.logs import envelopes, the_log, the_small_log
from tests.format.schemas import described, schemas
from tests.format.vectors import DIRECTORY, NEW, ORIGIN, sealed, tree_of

PAGE = Path(__file__).parents[2] / "FORMAT.md"
_WRITTEN = re.compile(r"(<!-- written: ([a-z-]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_SEED, _ROUND, _SEEDS = bytes(range(32)), "table-3.5", ("lucky",)
_FORM = '{ "b": "\\u00e9\\/\\u000A\\u001F", "a": [1, -0, null] }'


def page(text: str) -> str:
    """The page with every block as it has to be."""
    blocks = {name: "\n".join(lines) for name, lines in _blocks()}
    return _WRITTEN.sub(lambda found: f"{found[1]}{blocks[found[2]]}\n{found[3]}", text)


def names(text: str) -> list[str]:
    """Of the blocks that a page has."""
    return [name for _, name, _ in _WRITTEN.findall(text)]


def _blocks() -> Iterator[tuple[str, Sequence[str]]]:
    shown = list(schemas(envelopes(the_log())))
    yield "manifest", _code("json", (DIRECTORY / "small" / "manifest.json").read_text().strip())
    first = next((DIRECTORY / "small").glob("*.jsonl"))
    yield "line", _code("json", first.read_text().splitlines()[0])
    yield "canonical", _code("text", _FORM, canonical_json(_FORM.encode()).decode())
    yield "envelope", [*_envelope(shown[0][2])]
    yield "chain", _code("text", *_chain())
    yield "tree", _code("text", *_tree())
    note = sealed(the_small_log(), len(the_small_log())).decode().rstrip("\n")
    yield "seal", [*_code("text", str(public_of(NEW, ORIGIN))), "", *_code("text", note)]
    yield from _shoe()
    yield "postings", _code("text", *_postings())
    yield "events", [*_events(shown[1:])]


def _code(language: str, *lines: str) -> list[str]:
    return [f"```{language}", *lines, "```"]


def _envelope(schema: Any) -> Iterator[str]:
    yield "| Member | Type | Meaning |"
    yield "| --- | --- | --- |"
    for name, field in schema["properties"].items():
        yield f"| `{name}` | {_kind(field)} | {field['description']} |"


def _chain() -> Iterator[str]:
    yield f"chain     0  {GENESIS.hex()}"
    for record in the_small_log()[:2]:
        yield f"envelope  {record.position}  {record.envelope.decode()}"
        yield f"leaf      {record.position}  {record.leaf.hex()}"
        yield f"chain     {record.position}  {record.chain.hex()}"


def _tree() -> Iterator[str]:
    records = the_small_log()[:7]
    tree = tree_of(records)
    for index, record in enumerate(records):
        yield f"leaf {index}  {record.leaf.hex()}"
    for size in (1, 3, 7):
        yield f"root of {size}  {tree_of(records[:size]).root().hex()}"
    for what, proof in (
        ("inclusion of leaf 2 in 7", merkle.inclusion(2, 7)),
        ("consistency of 3 and 7", merkle.consistency(3, 7)),
    ):
        yield what
        for each in proof:
            yield f"  {merkle.root_of(each, tree.grown).hex()}"


def _shoe() -> Iterator[tuple[str, Sequence[str]]]:
    seed, published = _SEED.hex(), commitment(_SEED)
    message = "\\n".join([ALGORITHM, _ROUND, *_SEEDS])
    block = digest(_SEED, "\n".join([ALGORITHM, _ROUND, *_SEEDS, "\0\0\0\0"]).encode(), "sha256")
    yield "shoe-seed", _code("text", f"seed        {seed}", f"commitment  {published}")
    yield (
        "shoe-block",
        _code(
            "console",
            "$ printf $seed | xxd -r -p | sha256sum",
            published,
            f"$ printf '{message}\\n\\0\\0\\0\\0' \\",
            "    | openssl dgst -sha256 -mac HMAC -macopt hexkey:$seed",
            block.hex(),
        ),
    )
    yield "shoe-steps", [*_steps(block)]
    cards = list(Shoe(_SEED, 1, _ROUND, _SEEDS))
    yield "shoe-order", _code("text", *(" ".join(cards[at : at + 13]) for at in range(0, 52, 13)))


def _steps(block: bytes) -> Iterator[str]:
    yield "| Place | Cards left | Word | AND 63 | | Swapped with | Card |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    shoe, place = Shoe(_SEED, 1, _ROUND, _SEEDS), 0
    for word in islice((block[at : at + 2] for at in range(0, 32, 2)), 6):
        index, left = int.from_bytes(word) & 63, 52 - place
        if index >= left:
            yield f"| {place} | {left} | {word.hex()} | {index} | not below {left}: dropped | | |"
            continue
        yield f"| {place} | {left} | {word.hex()} | {index} | | {place + index} | {shoe[place]} |"
        place += 1


def _postings() -> Iterator[str]:
    balances: dict[str, int] = {}
    for record in the_small_log():
        envelope = json.decode(record.envelope)
        for account, amount in envelope["postings"]:
            balances[account] = balances.get(account, 0) + amount
            yield f"{record.position:>2}  {record.type:<34} {account:<26} {amount:>+6}"
        if record.type == "blackjack.seed_revealed":
            break
    yield ""
    for account, balance in sorted(balances.items()):
        yield f"    {'balance':<34} {account:<26} {balance:>6}"
    yield f"    {'sum':<34} {'':<26} {sum(balances.values()):>6}"


def _events(shown: Sequence[tuple[str, int, Any]]) -> Iterator[str]:
    yield "| Type | Version | What happened | `data` |"
    yield "| --- | --- | --- | --- |"
    for name, version, schema in shown:
        fields = "<br>".join(
            f"`{field}` {_kind(told)}: {described(told, schema)}"
            for field, told in schema["properties"].items()
        )
        what = schema["description"].replace("\n\n", " ")
        yield f"| `{name}` | {version} | {what} | {fields or '–'} |"


def _kind(field: Any) -> str:
    match field:
        case {"anyOf": [*several]} if "discriminator" not in field:
            return " or ".join(_kind(each) for each in several)
        case {"enum": words}:
            return ", ".join(f"`{word}`" for word in words)
        case {"const": word}:
            return f"`{word}`"
        case {"type": "string"}:
            return "text"
        case {"type": kind}:
            return {"integer": "number", "array": "list", "boolean": "true or false"}.get(
                kind, kind
            )
    return "object"
