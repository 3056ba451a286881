"""The page on which anybody checks a round, in a real browser, with rounds that were played."""

import json
import re
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Page

from services.audit.api.page import MODULES, PARTS, assembled
from tests.api.croupier import Croupier, House, Json
from tests.audit.test_bundle import wander
from tests.page.judging import Given, drop, fails, judged, verdicts

MOST_PAGE_BYTES = 100_000
EVERY_CHECK = 13


def test_a_round_that_was_played_holds(open_page: Page, given: Given) -> None:
    found = judged(open_page, given.bundle, given.key)

    assert set(found.values()) == {"holds"}
    assert len(found) == EVERY_CHECK
    assert open_page.text_content("#verdict-line") == "oak.2 holds."
    words = open_page.locator("#words li").all_text_contents()
    assert words == [step["text"] for step in given.bundle["recall"]["steps"]]
    drawn = open_page.locator(".felt .card").count()
    assert drawn == given.bundle["proof"]["drawn"] == len(given.bundle["proof"]["cards"])


@pytest.mark.parametrize("game", ["a2g", "coinlounge", "classic", "european"])
def test_rounds_of_every_game_hold(game: str, open_page: Page, house: House) -> None:
    """Also where players come and go, and buy items, while it is played."""
    seed = Random().getrandbits(32)
    chance = Random(seed)
    players = ["ada"] if game == "classic" else ["ada", "bob"]
    house.seat("elm", *players, ruleset=game)
    for number in (1, 2, 3):
        dealt = house.deal("elm", *([10] if game == "classic" else [20, 20]))
        if number == 3 and game != "classic" and dealt["table"]["phase"] != "betting":
            house.grant("eve", 1000)
            house.do("elm", "sit", seat=3, player="eve", buy_in=300)
        if number == 3:
            house.do("elm", "leave", seat=1)
        wander(house, "elm", chance)
    house.sealed()
    key = house.get("/v1/audit/keys")["data"][0]["public_key"]

    for number in (1, 2, 3):
        found = judged(open_page, house.get(f"/v1/rounds/elm.{number}/bundle"), key)
        assert set(found.values()) == {"holds"}, f"elm.{number}, seed {seed}"


def test_a_card_is_read_out_as_what_it_is(open_page: Page, given: Given) -> None:
    judged(open_page, given.bundle, given.key)

    spoken = open_page.locator(".felt .card").evaluate_all(
        "(all) => all.map((card) => card.getAttribute('aria-label'))"
    )
    told = " ".join(step["text"] for step in given.bundle["recall"]["steps"])
    assert spoken
    assert all(card in told for card in spoken), (spoken, told)


def test_nothing_is_asked_of_anybody(open_page: Page, given: Given, said: list[str]) -> None:
    asked = list[str]()
    open_page.on("request", lambda request: asked.append(request.url))

    judged(open_page, given.bundle, given.key)

    assert asked == said == []
    assert tries_to_fetch(open_page, "/livez", said) == "refused"


def tries_to_fetch(page: Page, address: str, said: list[str]) -> str:
    """What becomes of a request that the policy of the page should forbid."""
    script = "(address) => fetch(address).then(() => 'answered', () => 'refused')"
    became: str = page.evaluate(script, address)
    assert any("Content Security Policy" in line for line in said), said
    said.clear()
    return became


def test_without_a_key_it_is_left_open(open_page: Page, given: Given) -> None:
    found = judged(open_page, given.bundle)

    assert {name for name, verdict in found.items() if verdict != "holds"} == {"signature"}
    assert "nobody vouches for it yet" in (open_page.text_content("#verdict-line") or "")
    open_page.fill("#keys", given.key)
    open_page.wait_for_selector('.verdict[data-verdict="holds"]')
    assert set(verdicts(open_page).values()) == {"holds"}


def test_a_key_that_is_none_is_said_to_be(open_page: Page, given: Given) -> None:
    judged(open_page, given.bundle)

    open_page.fill("#keys", given.key.replace("+AV", "+AW").replace("+A", "+B", 1))

    open_page.wait_for_selector("#keys[aria-invalid]")
    assert "This is no public key" in (open_page.text_content("#keys-wrong") or "")
    assert verdicts(open_page)["signature"] == "open"
    open_page.wait_for_function(
        """() => document.getElementById("verdict-more").textContent
            .startsWith("The public key that you have given cannot be read, so anybody")"""
    )
    open_page.fill("#keys", "")
    open_page.wait_for_function(
        """() => document.getElementById("verdict-more").textContent
            .startsWith("You have given no public key, so anybody")"""
    )


def test_the_example_asks_the_server_that_the_page_is_from(
    open_page: Page, croupier: Croupier
) -> None:
    assert f"{croupier.address}/v1/rounds/" in (open_page.text_content(".empty pre") or "")


def test_the_key_may_be_dropped_with_the_bundle(open_page: Page, given: Given) -> None:
    drop(open_page, ("round.json", json.dumps(given.bundle)), ("seal.pub", f"{given.key}\n"))

    open_page.wait_for_selector('.verdict[data-verdict="holds"]')
    assert open_page.input_value("#keys") == given.key


def test_a_bundle_may_be_picked_or_pasted(open_page: Page, given: Given, tmp_path: Path) -> None:
    file = tmp_path / "round.json"
    file.write_text(json.dumps(given.bundle))
    open_page.fill("#keys", given.key)

    open_page.set_input_files("#file", str(file))
    open_page.wait_for_selector('.verdict[data-verdict="holds"]')
    open_page.click("#again")
    assert open_page.locator(".check").first.is_hidden()
    open_page.click("text=Paste a bundle instead")
    open_page.fill("#pasted", file.read_text())
    open_page.click("#paste")

    open_page.wait_for_selector('.verdict[data-verdict="holds"]')


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "There is nothing in round.json."),
        ("{", "There is no JSON in round.json"),
        ("[]", "There is JSON in round.json, but no bundle"),
        ("null", "There is JSON in round.json, but no bundle"),
        ('{"format": "croupier.bundle.v2"}', "There is JSON in round.json, but no bundle"),
        ('{"format": "croupier.bundle.v1"}', "The bundle in round.json is not whole"),
        (
            '{"type": "/problems/not-sealed-yet", "title": "Not yet", "detail": "Up to 7."}',
            "The service gave no bundle, but said why: Not yet. Up to 7.",
        ),
        ("x" * (10 * 1024 * 1024 + 1), "round.json has 10.0 MB."),
    ],
)
def test_what_is_no_bundle_is_said_to_be_none(
    content: str, sentence: str, open_page: Page, given: Given
) -> None:
    judged(open_page, given.bundle, given.key)  # what was there before is gone

    drop(open_page, ("round.json", content))

    open_page.wait_for_selector('.verdict[data-verdict="refused"]')
    assert (open_page.text_content("#verdict-more") or "").startswith(sentence)
    assert open_page.locator(".check").first.is_hidden()


@pytest.mark.parametrize("position", ["99", 7.5, -1, None, [7], 2**53])
@pytest.mark.parametrize("part", ["foundation", "events"])
def test_a_position_is_a_number(part: str, position: Json, open_page: Page, given: Given) -> None:
    """As texts 10 comes before 9, so that a promise after the bets would come before them."""
    bundle = deepcopy(given.bundle)
    bundle[part][0]["position"] = position

    assert "is not whole: parts of it are missing" in refusal(open_page, bundle)


@pytest.mark.parametrize(
    "seat", [{"player": ["ada"], "stack": 400}, {"player": "ada", "stack": "400"}, {}, 7]
)
def test_who_sat_there_is_told_by_name_and_number(
    seat: Json, open_page: Page, given: Given
) -> None:
    bundle = deepcopy(given.bundle)
    bundle["before"]["seats"][0] = seat

    assert "does not say who sat there" in refusal(open_page, bundle)


def refusal(page: Page, bundle: Json) -> str:
    drop(page, ("round.json", json.dumps(bundle)))
    page.wait_for_selector('.verdict[data-verdict="refused"]')
    return page.text_content("#verdict-more") or ""


def test_a_bundle_of_nonsense_breaks_nothing(open_page: Page, given: Given) -> None:
    bundle = deepcopy(given.bundle)
    for part in (bundle["proof"], bundle["foundation"][0]["event"]["data"], bundle["before"]):
        for name in part:
            part[name] = [] if name == "seats" else {"x": None}
    for each in bundle["events"]:
        each["event"] = {"type": 5, "data": None}

    found = judged(open_page, bundle, given.key)

    assert len(found) == EVERY_CHECK
    assert {"leaf", "inclusion", "order", "cards", "payouts", "told"} <= fails(found)


def test_text_in_a_bundle_stays_text(open_page: Page, given: Given) -> None:
    bundle = deepcopy(given.bundle)
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    bundle["before"]["seats"][0]["player"] = bundle["recall"]["steps"][0]["text"] = evil
    bundle["recall"]["ruleset"] = bundle["recall"]["results"][0]["player"] = evil

    judged(open_page, bundle, given.key)

    assert open_page.locator("main img").count() == 0
    assert open_page.text_content("#words li >> nth=0") == evil


def test_a_saved_page_works_offline(
    page: Page, given: Given, said: list[str], tmp_path: Path
) -> None:
    saved = tmp_path / "verify.html"
    saved.write_bytes(assembled().body)
    page.context.set_offline(True)
    page.goto(saved.as_uri())

    assert "https://croupier.example/v1/" in (page.text_content(".empty pre") or "")
    assert set(judged(page, given.bundle, given.key).values()) == {"holds"}
    assert tries_to_fetch(page, "https://example.com", said) == "refused"


def test_a_browser_without_ed25519_says_so(page: Page, croupier: Croupier, given: Given) -> None:
    page.add_init_script(
        """const known = SubtleCrypto.prototype.importKey;
        SubtleCrypto.prototype.importKey = function (format, key, algorithm, ...more) {
            const none = new DOMException("", "NotSupportedError");
            if (algorithm === "Ed25519") return Promise.reject(none);
            return known.call(this, format, key, algorithm, ...more);
        };"""
    )
    page.goto(f"{croupier.address}/verify")

    found = judged(page, given.bundle, given.key)

    assert {name for name, verdict in found.items() if verdict != "holds"} == {"signature"}
    assert found["signature"] == "open"
    said = page.text_content('[data-check="signature"]') or ""
    assert "this browser cannot check Ed25519 signatures" in said


def test_a_browser_that_may_not_hash_says_what_to_do(page: Page, croupier: Croupier) -> None:
    page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")

    page.goto(f"{croupier.address}/verify")

    said = page.text_content("#verdict") or ""
    assert "does not let this page compute hashes" in said
    assert "Save this page and open the file." in said


def test_it_can_be_used_from_the_keyboard(open_page: Page) -> None:
    reached = []
    for _ in range(3):
        open_page.keyboard.press("Tab")
        script = "() => document.activeElement.id || document.activeElement.tagName"
        reached.append(open_page.evaluate(script))
        outline = "() => getComputedStyle(document.activeElement).outlineStyle"
        assert reached[-1] == "file" or open_page.evaluate(outline) != "none"

    assert reached == ["file", "keys", "SUMMARY"]
    names = open_page.locator("input, textarea").evaluate_all(
        "(all) => all.map((each) => each.labels.length)"
    )
    assert all(names)
    assert open_page.get_attribute("#verdict", "aria-live") == "polite"
    assert open_page.get_attribute("html", "lang") == "en"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_hangs_over_the_edge(width: int, open_page: Page, given: Given) -> None:
    open_page.set_viewport_size({"width": width, "height": 800})

    judged(open_page, given.bundle, given.key)
    for each in open_page.locator(".check summary").all():
        each.click()

    assert open_page.evaluate("() => document.documentElement.scrollWidth") <= width


def schemes() -> list[dict[str, str]]:
    """The colours by light and by dark."""
    style = (PARTS / "verify.css").read_text()
    return [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in style.split(":root")[1:3]]


def contrast(one: str, other: str) -> float:
    """By WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_told_from_its_ground(scheme: int) -> None:
    colours = schemes()[0] | schemes()[scheme]
    on = [(text, ground) for text in ("ink", "soft", "green") for ground in ("paper", "sheet")]
    on += [(text, f"{text}-tint") for text in ("holds", "fails", "open")]
    on += [("ink", f"{text}-tint") for text in ("holds", "fails", "open")] + [("fails", "sheet")]

    faint = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in on}

    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}


def test_it_is_served_with_a_policy_that_allows_its_own_bytes_alone(house: House) -> None:
    answer = house.ask("GET", "/verify", key="")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert len(answer.content) < MOST_PAGE_BYTES
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    again = house.ask("GET", "/verify", key="", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_every_event_of_a_round_is_known() -> None:
    """A kind of event, or a version, that is new has to be taken up by the page too."""
    module = (PARTS / "round.js").read_text()
    files = {file.stem for file in (PARTS.parent / "schemas").glob("*.*.*.json")}
    between = {"table_opened", "table_closed", "ruleset_registered"}

    names = {file.split(".")[1] for file in files} - between
    assert {name for name in names if not re.search(rf"\b{name}\b", module)} == set()
    assert {file.split(".")[2] for file in files} == {"1"}


def test_every_part_is_in_it_and_nothing_else_is_loaded() -> None:
    body = assembled().body.decode()

    assert {file.stem for file in PARTS.glob("*.js")} == set(MODULES)
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", body)
    assert "import " not in re.sub(r"//.*", "", body.partition("<script")[2])
