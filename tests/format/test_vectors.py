"""The vectors of FORMAT.md, by the service and by a verifier that was written from the page."""

import ast
import subprocess
import sys
from json import dumps
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json

from services.audit.application.offline import verify_export
from services.audit.domain.faults import Fault
from services.audit.domain.lines import CODEC
from shared.eventstore.chain import GENESIS, leaf_of, link
from shared.eventstore.envelope import canonical, canonical_json
from shared.eventstore.exports import Form, Scope
from shared.seals import merkle
from shared.seals.holding import checkpoints, public_keys
from shared.seals.merkle import DoesNotProve
from shared.seals.notes import BadNote, Note, PublicKey
from tests.audit.exported import rewritten, take
from tests.audit.test_tampering import flipped
from tests.format import naive
from tests.format.play import an_evening
from tests.format.vectors import DIRECTORY
from tests.format.written import written

ROOT = Path(__file__).parents[2]
NAIVE = Path(naive.__file__).parent
KEYS = DIRECTORY / "log.seals" / "public.keys"
TAMPERED = json.decode((DIRECTORY / "tampered.json").read_bytes())


def told(name: str) -> Any:
    return json.decode((DIRECTORY / name).read_bytes())


def by_us(directory: Path, *seals: Path) -> tuple[Fault, ...]:
    notes = [seal.read_bytes() for seal in seals]
    known = checkpoints(notes, public_keys(KEYS.read_bytes())) if notes else ()
    return verify_export(directory, seals=known).faults


def by_the_page(directory: Path, *seals: Path) -> list[naive.Fault]:
    """The faults of the first level that has any."""
    keys = KEYS.read_text().split()
    if not seals:
        return naive.verify(directory)
    return [fault for s in seals for fault in naive.verify(directory, s.read_bytes(), keys)]


def test_what_is_kept_is_what_the_code_makes() -> None:
    made = written()
    for file, content in made.items():
        assert file.exists(), f"{file} is missing: make format-files"
        assert file.read_bytes() == content, f"{file} is not what the code makes: make format-files"
    assert {file for file in DIRECTORY.rglob("*") if file.is_file()} <= made.keys()


def test_the_second_verifier_has_nothing_of_the_first() -> None:
    known = {*sys.stdlib_module_names, "cryptography", "pyarrow", "backports", "compression"}
    for file in NAIVE.glob("*.py"):
        for each in ast.walk(ast.parse(file.read_text())):
            modules = [alias.name for alias in each.names] if isinstance(each, ast.Import) else []
            if isinstance(each, ast.ImportFrom):
                modules = [each.module or ""]
            for module in modules:
                ours = module.startswith("tests.format.naive")
                assert ours or module.partition(".")[0] in known, f"{file.name} imports {module}"


def test_a_form_has_one_canonical_form() -> None:
    for each in told("canonical.json")["forms"]:
        assert canonical_json(each["json"].encode()).decode() == each["canonical"]
        assert naive.canonical(each["json"]).decode() == each["canonical"]


@pytest.mark.parametrize("refused", told("canonical.json")["refused"])
def test_what_has_none_is_refused(refused: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        canonical_json(refused.encode())
    with pytest.raises(ValueError):  # noqa: PT011
        naive.canonical(refused)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.from_regex("[A-Za-z_]+", fullmatch=True), inner)
    ),
)


@settings(deadline=None)
@given(VALUES)
def test_two_programs_write_the_same_bytes(value: Any) -> None:
    assert naive.canonical(dumps(value)) == canonical(value)
    assert naive.canonical(canonical(value)) == canonical_json(canonical(value))


def test_leaves_and_chains() -> None:
    chain = GENESIS
    for each in told("hashes.json"):
        envelope = each["envelope"].encode()
        before, leaf, chain = chain, leaf_of(envelope), link(chain, leaf_of(envelope))
        assert (leaf.hex(), chain.hex()) == (each["leaf"], each["chain"])
        assert naive.leaf(envelope) == leaf
        assert naive.chain(before, leaf) == chain


def test_trees_and_proofs() -> None:
    tree = told("tree.json")
    leaves = [bytes.fromhex(leaf) for leaf in tree["leaves"]]
    roots = [bytes.fromhex(root) for root in tree["roots"]]
    assert [naive.root(leaves[:size]) for size in range(len(roots))] == roots
    for right in (*tree["inclusion"], *tree["consistency"]):
        assert proves_by_us(right, leaves, roots), right
        assert proves_by_the_page(right, leaves, roots), right
    for wrong in tree["wrong"]:
        assert not proves_by_us(wrong, leaves, roots), wrong
        assert not proves_by_the_page(wrong, leaves, roots), wrong


def proves_by_us(proof: Any, leaves: list[bytes], roots: list[bytes]) -> bool:
    hashes = [bytes.fromhex(each) for each in proof["hashes"]]
    try:
        if "index" in proof:
            index, size = proof["index"], proof["size"]
            return merkle.root_from(index, size, leaves[index], hashes) == roots[size]
        old, new = proof["old"], proof["new"]
        merkle.check_consistency(old, new, roots[old], roots[new], hashes)
    except DoesNotProve:
        return False
    return True


def proves_by_the_page(proof: Any, leaves: list[bytes], roots: list[bytes]) -> bool:
    hashes = [bytes.fromhex(each) for each in proof["hashes"]]
    try:
        if "index" in proof:
            index, size = proof["index"], proof["size"]
            return naive.root_by_inclusion(leaves[index], index, size, hashes) == roots[size]
        old, new = proof["old"], proof["new"]
        found = naive.roots_by_consistency(old, new, hashes, roots[old])
        return found == (roots[old], roots[new])
    except ValueError:
        return False


@pytest.mark.parametrize("case", told("notes.json"), ids=lambda case: case["what"])
def test_a_note_is_believed_or_not(case: Any) -> None:
    note, says = case["note"].encode(), case["says"]
    if says is None:
        with pytest.raises(BadNote):
            Note.read(note).check(map(PublicKey.read, case["keys"]))
        with pytest.raises(ValueError):  # noqa: PT011
            naive.read_note(note, case["keys"])
        return
    checkpoint = Note.read(note).check(map(PublicKey.read, case["keys"]))
    due = says["origin"], says["size"], bytes.fromhex(says["root"])
    assert (checkpoint.origin, checkpoint.size, checkpoint.root) == due
    assert naive.read_note(note, case["keys"]) == due


def test_the_log_holds_and_so_do_its_seals() -> None:
    seals = sorted((DIRECTORY / "log.seals").glob("*.seal"))

    assert len(seals) == 3
    assert by_us(DIRECTORY / "log", *seals) == ()
    assert by_the_page(DIRECTORY / "log", *seals) == []
    small = DIRECTORY / "small", DIRECTORY / "small.seal"
    assert by_us(*small) == ()
    assert by_the_page(*small) == []


def test_the_log_has_every_game_and_every_type_of_event() -> None:
    files = sorted((DIRECTORY / "log").glob("*.jsonl"))
    lines = [json.decode(line)["event"] for f in files for line in f.read_bytes().splitlines()]
    opened = [each["data"] for each in lines if each["type"] == "blackjack.table_opened"]

    assert {each["type"] for each in lines} == set(CODEC.registry)
    games = {each["ruleset"]["name"] for each in opened}
    assert games == {"a2g", "coinlounge", "classic", "european", "high-rollers"}
    assert len(files) > 2


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_tampered_with_is_found_where_it_is(name: str) -> None:
    variant = TAMPERED[name]
    level, position = variant["level"], variant["position"]
    seals = [DIRECTORY / "small.seal"] if variant["sealed"] else []
    found = by_the_page(DIRECTORY / "tampered" / name, *seals)

    assert (found[0].level, found[0].position) == (level, position)
    assert position in {fault.position for fault in by_us(DIRECTORY / "tampered" / name, *seals)}
    if seals:
        assert by_the_page(DIRECTORY / "tampered" / name) == [], "only the seal tells"


def test_every_level_has_variants() -> None:
    assert {variant["level"] for variant in TAMPERED.values()} == {1, 2, 3, 4}


FORMS: tuple[Form, ...] = ("jsonl", "jsonl", "jsonl.zst", "parquet")


@pytest.mark.parametrize("seed", range(100, 120))
def test_two_verifiers_agree_on_random_play(seed: int, tmp_path: Path) -> None:
    take(an_evening(seed, happenings=40).records, tmp_path, FORMS[seed % len(FORMS)])

    assert by_us(tmp_path) == ()
    assert by_the_page(tmp_path) == []


@pytest.mark.parametrize(("seed", "form"), [(200, "jsonl"), (201, "parquet")])
def test_two_verifiers_agree_on_parts_of_a_log(seed: int, form: Form, tmp_path: Path) -> None:
    log = an_evening(seed, happenings=40).records
    third = len(log) // 3
    tables = sorted({record.stream for record in log if record.stream.startswith("table-")})
    scopes = [Scope(last_position=third), Scope(third), Scope(third, 2 * third)]
    scopes += [Scope(table=name[6:], streams=(name,)) for name in tables]
    scopes += [Scope(player="ada", streams=("vault-ada", *tables))]
    for number, scope in enumerate(scopes):
        take(log, tmp_path / f"{number}", form, scope)

        assert by_us(tmp_path / f"{number}") == ()
        assert by_the_page(tmp_path / f"{number}") == [], scope


@settings(max_examples=30, deadline=None)
@given(at=st.integers(0, 42), bit=st.integers(0, 10**5))
def test_two_verifiers_agree_that_any_bit_matters(at: int, bit: int) -> None:
    """Somebody flips it, and makes the manifest fit."""
    with TemporaryDirectory() as directory:
        export = Path(directory) / "export"
        copytree(DIRECTORY / "small", export)
        rewritten(export, lambda lines: [*lines[:at], flipped(lines[at], bit), *lines[at + 1 :]])

        assert by_us(export)
        assert by_the_page(export)


def test_it_is_a_program_of_its_own() -> None:
    def run(*words: Path) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "tests.format.naive", *map(str, words))
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    holds = run(DIRECTORY / "small", DIRECTORY / "small.seal", KEYS)
    assert (holds.returncode, holds.stderr) == (0, "")
    cut = run(DIRECTORY / "tampered" / "cut", DIRECTORY / "small.seal", KEYS)
    assert cut.returncode == 1
    assert "43 events were sealed" in cut.stderr
