"""A real browser, in which the page on which rounds are checked is opened.

Without one the tests are skipped, and fail where CROUPIER_NEEDS lists it. It is Chromium as the
system has it: `apt-get install chromium` is enough.
"""

import os
import shutil
from collections.abc import Iterator
from random import Random

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.api.conftest import croupier, house, http
from tests.api.croupier import Croupier, House
from tests.audit.test_bundle import wander
from tests.conftest import not_here
from tests.page.judging import Given

__all__ = ["croupier", "house", "http"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOLDS_WITHIN_MS = 30_000
"""How long a test waits for the page before it fails: long enough for a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a module only: while it is open an event loop runs, and no other test may start one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        not_here("chromium", "Chromium")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # there is none for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def said() -> list[str]:
    """What the page says to its console."""
    return []


@pytest.fixture
def page(browser: Browser, said: list[str]) -> Iterator[Page]:
    """A page that says nothing to its console: neither a mistake nor a breach of its policy."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(HOLDS_WITHIN_MS)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        assert said == []


@pytest.fixture(scope="module")
def given(croupier: Croupier, http: httpx.Client) -> Given:
    house = House(croupier, http)
    house.seat("oak", "ada", "bob", ruleset="a2g")
    for _ in range(2):
        for number in (1, 2):
            house.do("oak", "bet", seat=number, amount=20, client_seed=f"luck-{number}")
        wander(house, "oak", Random(4))
    house.sealed()
    key = house.get("/v1/audit/keys")["data"][0]["public_key"]
    return Given(house.get("/v1/rounds/oak.2/bundle"), key)


@pytest.fixture
def open_page(page: Page, croupier: Croupier) -> Page:
    page.goto(f"{croupier.address}/verify")
    return page
