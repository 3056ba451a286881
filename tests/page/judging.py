"""Giving bundles to the page, and reading off what it says of them."""

import json
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Page

from shared.eventstore.chain import leaf_of
from shared.eventstore.envelope import canonical
from shared.seals.merkle import parent
from shared.seals.notes import Checkpoint, public_of, sign
from tests.api.croupier import Json


class Given(NamedTuple):
    """A bundle of a round, and the public key of its seal."""

    bundle: Json
    key: str


def drop(page: Page, *files: tuple[str, str]) -> None:
    """Drops files with these names and contents onto the page."""
    page.evaluate(
        """(files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, text] of files) dataTransfer.items.add(new File([text], name));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
        }""",
        files,
    )


def judged(page: Page, bundle: Json, key: str = "") -> dict[str, str]:
    """What the page says of a bundle: its verdict on each check."""
    page.fill("#keys", key)
    drop(page, ("round.json", json.dumps(bundle)))
    page.wait_for_selector(".judged .check")
    return verdicts(page)


def resealed(bundle: Json) -> Given:
    """A bundle whose events were changed, by a house that had sealed just these: every place,
    fingerprint, proof and signature fits again."""
    events = bundle["events"]
    for at, each in enumerate(events):
        each["position"] = events[0]["position"] + at
    for command, together in groupby(events, lambda each: each["event"]["id"].rpartition(".")[0]):
        for at, each in enumerate(together):
            each["event"]["id"] = f"{command}.{at}"
    log = [sha256(bytes([at % 256])).digest() for at in range(events[-1]["position"])]
    sealed = [*bundle["foundation"], *events]
    for each in sealed:
        log[each["position"] - 1] = leaf_of(canonical(each["event"]))
        each["leaf"] = log[each["position"] - 1].hex()
    for each in sealed:
        each["hashes"] = [hashed.hex() for hashed in naive_path(each["position"] - 1, log)]
    key = Ed25519PrivateKey.generate()
    origin = f"croupier.test/{bundle['house']}"
    bundle["seal"] = str(sign(Checkpoint(origin, len(log), naive_root(log)), [key]))
    return Given(bundle, str(public_of(key, origin)))


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while 2 * split < len(leaves):
        split *= 2
    return parent(naive_root(leaves[:split]), naive_root(leaves[split:]))


def naive_path(number: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962, 2.1.1, word for word."""
    if len(leaves) == 1:
        return []
    split = 1
    while 2 * split < len(leaves):
        split *= 2
    if number < split:
        return [*naive_path(number, leaves[:split]), naive_root(leaves[split:])]
    return [*naive_path(number - split, leaves[split:]), naive_root(leaves[:split])]


def verdicts(page: Page) -> dict[str, str]:
    script = "(all) => all.map(({ dataset }) => [dataset.check, dataset.verdict])"
    return dict(page.eval_on_selector_all(".check", script))


def fails(found: dict[str, str]) -> set[str]:
    return {name for name, verdict in found.items() if verdict == "fails"}
