"""What Citus needs of the schema, so that it can be distributed by house without a change.

There is no Citus here: these tests hold the shape that a real cluster was found to need.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Database

DISTRIBUTE = (Path(__file__).parents[2] / "deploy" / "citus" / "distribute.sql").read_text()
REFERENCE = {"api_key", "api_key_use"}
LOCAL = {"alembic_version", "schema_floor"}

TABLES = """
    SELECT c.relname FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition"""
INDEXES = """
    SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text,
           (SELECT attname FROM pg_attribute a
             WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0]),
           i.indisprimary
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relnamespace = 'public'::regnamespace"""
FUNCTIONS = """
    SELECT p.proname, p.proargnames, p.proargtypes[0]::regtype::text, p.proretset,
           p.proargmodes IS NOT NULL, p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '')
      FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace"""


@pytest.fixture
def owner(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.owner_url) as owner:
        yield owner


def distributed() -> set[str]:
    """The tables that the script distributes by house."""
    return set(re.findall(r"create_distributed_table\('(\w+)', 'house'", DISTRIBUTE))


def test_the_script_has_a_place_for_every_table(owner: psycopg.Connection) -> None:
    tables = {name for (name,) in owner.execute(TABLES)}

    assert {*re.findall(r"create_reference_table\('(\w+)'\)", DISTRIBUTE)} == REFERENCE
    assert tables == distributed() | REFERENCE | LOCAL
    assert DISTRIBUTE.count("colocate_with => 'log_head')") == len(distributed())


def test_house_leads_every_key_and_every_index(owner: psycopg.Connection) -> None:
    found = owner.execute(INDEXES).fetchall()
    misled = {index for table, index, first, _ in found if first != "house" and table not in LOCAL}
    keyed = {table for table, _, _, primary in found if primary}

    assert misled == {"api_key_prefix"}, "which is of a reference table"
    assert distributed() <= keyed


def test_no_column_counts_by_itself(owner: psycopg.Connection) -> None:
    """A sequence or an identity counts for each node alone, and never without gaps."""
    counting = owner.execute(
        "SELECT FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace"
    )

    assert counting.rowcount == 0


def test_an_append_is_one_call_that_returns_one_value(owner: psycopg.Connection) -> None:
    (function,) = (row for row in owner.execute(FUNCTIONS) if row[0] == "append_batch")
    _, arguments, first_type, returns_set, has_modes, _ = function

    assert (arguments[0], first_type, returns_set, has_modes) == ("in_house", "text", False, False)
    assert "'in_house'" in DISTRIBUTE


def test_no_function_makes_a_table_or_catches_an_error(owner: psycopg.Connection) -> None:
    for name, *_, body in owner.execute(FUNCTIONS):
        code = re.sub(r"--.*", "", body)
        assert not re.search(r"\b(temp|temporary|execute|exception\s+when)\b", code, re.I), name


def test_triggers_only_refuse(owner: psycopg.Connection) -> None:
    """The switch in the script lets triggers run on every node: they must write nothing."""
    functions = owner.execute(
        "SELECT DISTINCT tgfoid::regproc::text FROM pg_trigger WHERE NOT tgisinternal"
    ).fetchall()

    assert functions == [("refuse_change",)]
    assert "SET citus.enable_unsafe_triggers = on" in DISTRIBUTE
