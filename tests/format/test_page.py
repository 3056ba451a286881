"""FORMAT.md is true: what it shows is written by a program, and its tables name what there is."""

import re
from collections.abc import Iterator

import pytest
from msgspec import Struct

from services.audit.domain.lines import CODEC
from services.blackjack.domain.settlement import _BROUGHT, _LINES
from services.ledger.domain.events import REGISTRY as LEDGER
from shared.eventstore.exports import File, Form, Manifest, Part
from shared.eventstore.jsonlines import FeedLine
from shared.eventstore.parquet import SCHEMA, SHARDS
from tests.format.page import PAGE, names, page
from tests.format.vectors import DIRECTORY

ROOT = PAGE.parent
TEXT = PAGE.read_text()


def named_below(head: str) -> Iterator[str]:
    """What stands in code in the first column of the first table below some words."""
    table = TEXT[TEXT.index(head) :].partition("\n| ---")[2].partition("\n\n")[0]
    for row in table.splitlines()[1:]:
        yield from re.findall(r"`([^`]+)`", row.split("|")[1])


def fields(*structs: type[Struct]) -> set[str]:
    return {name for struct in structs for name in struct.__struct_fields__}


def test_the_page_shows_what_a_program_writes() -> None:
    assert page(TEXT) == TEXT, "make format-files"
    assert len(set(names(TEXT))) == len(names(TEXT)) == 13
    typed = re.sub(r"<!-- written: .*?<!-- end -->", "", TEXT, flags=re.DOTALL)
    assert "```" not in typed, "every example is written"


def test_its_tables_name_what_an_export_has() -> None:
    assert set(named_below("## 1. The export")) == fields(Manifest)
    assert list(named_below("**JSON Lines.**")) == list(FeedLine.__struct_fields__)
    assert set(named_below("**Parquet.**")) == set(SCHEMA.names)
    assert f"`shard={SHARDS - 1}`" in TEXT
    for form in Form.__args__:
        assert f"`{form}`" in TEXT
    for name in fields(Part, File) - {"events"}:
        assert f'"{name}": ' in TEXT


def test_its_table_of_postings_names_every_event_that_moves_chips() -> None:
    names_of = {cls: name.removeprefix("blackjack.") for name, (_, cls) in CODEC.registry.items()}
    moving = {names_of[cls] for cls in (*_LINES, *_BROUGHT)} | set(LEDGER)

    assert set(named_below("Every event has exactly the postings")) == moving


def test_its_table_of_vectors_names_what_there_is() -> None:
    listed = {name.rstrip("/") for name in named_below("## 11. Vectors")}

    assert listed - {"public.keys"} == {path.name for path in DIRECTORY.iterdir()}


def test_every_link_leads_somewhere() -> None:
    heads = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in TEXT.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert target[1:] in heads if target[0] == "#" else (ROOT / target).exists(), target


@pytest.mark.parametrize("document", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_it_is_found(document: str) -> None:
    assert "(FORMAT.md)" in (ROOT / document).read_text()
