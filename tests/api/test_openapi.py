"""The API's description: complete enough to play from it, and to generate a client."""

import re
from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import urljoin, urlsplit

import jsonschema_rs
import msgspec
import pytest

from services.blackjack.domain.commands import Command
from tests.api.croupier import House, Json
from tests.api.test_described import DESCRIPTION

OPERATIONS: dict[str, Json] = {
    f"{method.upper()} {path}": operation
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
}
NO_PROBLEMS = {"GET /problems", "GET /livez", "GET /readyz", "GET /metrics"}
ALWAYS_THERE = ("{player}", "events", "{table}/rounds", "PUT /v1/rulesets/")
"""Lists of what nobody has heard of are empty, and a ruleset is put where there was none."""
PLAY = OPERATIONS["POST /v1/tables/{table}/commands"]


def examples(content: Json) -> Iterator[Any]:
    """The examples of a body, by whichever of the two names."""
    if "example" in content:
        yield content["example"]
    for named in content.get("examples", {}).values():
        yield named["value"]


def fits(value: Any, schema: Json) -> None:
    whole = {**schema, "components": DESCRIPTION["components"]}
    jsonschema_rs.validator_for(whole).validate(value)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_explained_with_examples_that_fit(name: str) -> None:
    operation = OPERATIONS[name]

    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    assert re.fullmatch("[a-z_]+", operation["operationId"])
    for parameter in operation.get("parameters", ()):
        assert parameter["description"], parameter["name"]
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    answers = [body for status, body in operation["responses"].items() if status < "300"]
    assert answers
    for body in (*bodies, *answers):
        for kind, content in body["content"].items():
            shown = list(examples(content))
            assert shown, (name, kind)
            for value in shown if kind == "application/json" else ():
                fits(value, content.get("schema", {}))


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - NO_PROBLEMS))
def test_every_refusal_of_an_operation_is_a_problem_document_with_examples(name: str) -> None:
    operation = OPERATIONS[name]
    refusals = {s: body for s, body in operation["responses"].items() if s >= "400"}
    expected = set()
    if "security" in operation:
        expected |= {"401", "403", "503"}
    if "requestBody" in operation:
        expected |= {"413", "422"}
    if any("{" in part for part in name.split("/")):
        expected |= {"422"} if any(part in name for part in ALWAYS_THERE) else {"404", "422"}

    assert set(refusals) >= expected
    for status, body in refusals.items():
        content = body["content"]["application/problem+json"]
        for problem in examples(content):
            fits(problem, content["schema"])
            assert problem["status"] == int(status)
        assert list(examples(content))


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", get_args(Command), ids=lambda kind: kind.__name__)
def test_every_command_is_described_and_its_example_decodes_to_it(kind: type[Any]) -> None:
    tag = kind.__struct_config__.tag
    shown = PLAY["requestBody"]["content"]["application/json"]["examples"][tag]["value"]

    assert type(msgspec.json.decode(msgspec.json.encode(shown), type=Command)) is kind
    described = DESCRIPTION["components"]["schemas"][kind.__name__]
    assert described["description"]
    assert described["additionalProperties"] is False
    assert set(described["required"]) >= {"type"}
    assert described["properties"].keys() >= {"cost", "min", "max", "step"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_filled_in_to_try_it_out_is_what_it_needs(name: str) -> None:
    """`/docs` sends what it shows: an example of a version would never match."""
    for parameter in OPERATIONS[name].get("parameters", ()):
        is_needed = parameter.get("required", False)
        assert ("example" in parameter) is is_needed, parameter["name"]
        assert parameter["schema"].get("default") != 2**53, parameter["name"]


ONCE_EACH = {
    "POST /v1/tables/{table}/commands",
    "POST /v1/tables/{table}/computers",
    "PUT /v1/tables/{table}",
    "PUT /v1/rulesets/{name}",
    "POST /v1/players/{player}/grants",
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_happens_once_for_a_key_says_so(name: str) -> None:
    operation = OPERATIONS[name]
    told = msgspec.json.encode(operation).decode()
    parameters = {each["name"] for each in operation.get("parameters", ())}

    is_once = name in ONCE_EACH
    assert ("Idempotency-Key" in parameters) is is_once
    for refusal in ("key-reused", "waited-too-long"):
        assert (f"/problems/{refusal}" in told) is is_once


def test_every_schema_is_used_and_has_a_name_of_ours() -> None:
    schemas = DESCRIPTION["components"]["schemas"]
    used = set(re.findall(r"#/components/schemas/(\w+)", msgspec.json.encode(DESCRIPTION).decode()))

    assert used == set(schemas)
    assert not used & {"HTTPValidationError", "ValidationError", "Struct"}


def test_the_description_that_is_served_is_this_one(house: House) -> None:
    assert house.ask("GET", "/openapi.json", key="").json() == DESCRIPTION


def test_the_documentation_needs_no_other_origin(house: House) -> None:
    """Pages, styles and scripts: whatever they load comes from here or is in them."""
    page = house.ask("GET", "/docs", key="")
    assert page.status_code == 200
    assert "/openapi.json" in page.text
    loaded = re.findall(r"""(?:src|href)=["']([^"']+)["']""", page.text)
    assert loaded
    for address in loaded:
        assert not urlsplit(address).netloc, address
        part = house.ask("GET", urljoin("/docs", address), key="")
        assert part.status_code == 200, address
        if address.endswith(".css"):
            assert not re.search(r"(@import|url\(\s*[\"']?(https?:)?//)", part.text), address
