"""Giving bundles to the page, and reading off what it says of them."""

import json
from typing import NamedTuple

from playwright.sync_api import Page

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


def verdicts(page: Page) -> dict[str, str]:
    script = "(all) => all.map(({ dataset }) => [dataset.check, dataset.verdict])"
    return dict(page.eval_on_selector_all(".check", script))


def fails(found: dict[str, str]) -> set[str]:
    return {name for name, verdict in found.items() if verdict == "fails"}
