"""The schemas of events: strict, in plain words, true of all that is recorded, for ever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec import json
from typer.testing import CliRunner

from services.audit.application import schemas as published
from services.audit.application.schemas import SCHEMAS, Schema
from services.audit.domain.lines import CODEC
from services.cli import app
from shared.kernel.rejected import Rejected
from tests.format.logs import envelopes, the_log
from tests.format.play import an_evening
from tests.format.schemas import described
from tests.format.written import RELEASED, Changed, hash_of, written

Json = Any
WHOLE = {key: json.decode(schema.text) for key, schema in SCHEMAS.items()}
VALID = {key: jsonschema_rs.Draft202012Validator(schema) for key, schema in WHOLE.items()}
ENVELOPE = VALID["envelope", 1]
EVENTS = [key for key in SCHEMAS if key[0] != "envelope"]
ADVICE = "Run `make format-files`, and look at what it changes."


def name_of(key: Any) -> str:
    return "/".join(map(str, key))


def test_they_are_what_follows_from_the_code() -> None:
    for file, content in written().items():
        assert file.exists(), f"{file} is missing. {ADVICE}"
        assert file.read_bytes() == content, f"{file} is not what it should be. {ADVICE}"


def test_there_is_one_for_every_version_of_every_event_and_no_other() -> None:
    versions = {
        (name, version)
        for name, (newest, _) in CODEC.registry.items()
        for version in range(1, newest + 1)
    }

    assert set(EVENTS) == versions
    assert set(SCHEMAS) == versions | {("envelope", 1)}


def test_what_was_released_demands_for_ever_what_it_did() -> None:
    released = json.decode(RELEASED.read_bytes())

    assert {name_of(key): hash_of(schema) for key, schema in WHOLE.items()} == released, (
        "The schema of a released version was changed, or went away. Put it back, and give the "
        "event a further version."
    )


def test_nothing_is_written_over_what_was_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = tmp_path / "released.json"
    released.write_bytes(json.encode({"blackjack.bet_placed/1": "another"}))
    monkeypatch.setattr("tests.format.written.RELEASED", released)

    with pytest.raises(Changed, match="raise the version in the registry to 2"):
        written()


def test_words_are_not_what_a_schema_demands() -> None:
    schema = WHOLE["blackjack.bet_placed", 1]
    seat = schema["properties"]["seat"]

    def with_seat(**changed: Json) -> str:
        return hash_of(schema | {"properties": schema["properties"] | {"seat": seat | changed}})

    assert with_seat(description="Better.") == hash_of(schema | {"examples": []}) == with_seat()
    assert with_seat(maximum=8) != with_seat()


@pytest.mark.parametrize("key", SCHEMAS, ids=name_of)
def test_it_is_a_schema_whose_example_fits(key: tuple[str, int]) -> None:
    schema = WHOLE[key]

    jsonschema_rs.meta.validate(schema)
    assert schema["$id"] == SCHEMAS[key].path
    for example in schema["examples"]:
        VALID[key].validate(example)


@pytest.mark.parametrize("key", SCHEMAS, ids=name_of)
def test_every_object_and_every_field_is_described_and_nothing_else_fits(
    key: tuple[str, int],
) -> None:
    for each in _objects(WHOLE[key]):
        assert each["description"], each
        assert each["additionalProperties"] is False
        for name, field in each["properties"].items():
            is_tag = name == "type" and len(field.get("enum", ())) == 1
            assert described(field, WHOLE[key]) or is_tag, name


def test_every_event_of_play_at_random_fits() -> None:
    """Every event of whole logs, of all games and of everything that can be done in them."""
    seen = set[str]()
    for seed in range(12):
        for envelope in envelopes(an_evening(seed).records):
            ENVELOPE.validate(envelope)
            VALID[envelope["type"], envelope["schemaversion"]].validate(envelope["data"])
            seen.add(envelope["type"])

    assert seen == set(CODEC.registry), "the play has to be bolder"


def test_the_log_of_the_vectors_has_every_type_of_event() -> None:
    missing = set(CODEC.registry) - {record.type for record in the_log()}

    assert not missing, "tests/format/logs.py has to name another seed"


@pytest.mark.parametrize("key", EVENTS, ids=name_of)
def test_one_member_more_or_one_less_does_not_fit(key: tuple[str, int]) -> None:
    [data] = WHOLE[key]["examples"]
    assert not VALID[key].is_valid(data | {"more": 1})
    for name in data:
        assert not VALID[key].is_valid({n: value for n, value in data.items() if n != name})


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"more": 1}, False),
        ({"specversion": "1.1"}, False),
        ({"time": "2025-01-31T12:00:00Z"}, False),
        ({"subject": "other-1"}, False),
        ({"id": "5f0c6a1e"}, False),
        ({"id": "5f0c6a1e.01"}, False),
        ({"postings": [["issuance", 0]]}, False),
        ({"postings": [["issuance", 1, 2]]}, False),
        ({"postings": [["player/ada/purse", 1]]}, False),
        ({"traceparent": None}, False),
    ],
    ids=str,
)
def test_an_envelope_is_strict(change: Json, fits: bool) -> None:
    [envelope] = WHOLE["envelope", 1]["examples"]

    assert ENVELOPE.is_valid(envelope | change) is fits


def test_what_there_is_not_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Schema("blackjack.bet_placed", 1, b"{}", "")
    monkeypatch.setattr(published, "SCHEMAS", {("blackjack.bet_placed", 1): one})

    for key, told in ((("blackjack.bet_placed", 2), "there are 1."), (("no", 1), "no event 'no'")):
        with pytest.raises(Rejected) as refused:
            published.schema_of(*key)
        assert told in refused.value.detail


def test_they_are_written_into_a_directory(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["schemas", str(tmp_path / "new")])

    assert done.exit_code == 0
    found = {file.name: file.read_bytes() for file in (tmp_path / "new").iterdir()}
    assert found == {f"{type}.{n}.json": schema.text for (type, n), schema in SCHEMAS.items()}


def _objects(schema: Json) -> Iterator[Json]:
    match schema:
        case dict():
            if "properties" in schema:
                yield schema
            for key, value in schema.items():
                if key != "examples":
                    yield from _objects(value)
        case list():
            for each in schema:
                yield from _objects(each)
