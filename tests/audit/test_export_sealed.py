"""`croupier verify --seal`: what nothing inside of an export can tell, a seal from outside does."""

from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner, Result

from services.blackjack.domain import commands as c
from services.cli import app
from shared.eventstore.exports import Scope
from shared.eventstore.store import Recorded
from shared.seals.merkle import Tree
from shared.seals.notes import Checkpoint, public_of, sign
from tests.audit.exported import take
from tests.audit.log import Log, a_log, rehashed

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ORIGIN = "croupier.example/local"
Form: TypeAlias = Literal["jsonl", "parquet"]
LOG = rehashed(a_log(("a2g", "european")).records)
"""As it was sealed."""


def seal(records: list[Recorded], home: Path, origin: str = ORIGIN) -> Path:
    """A seal over all of some records, kept in a file."""
    tree = Tree()
    for record in records:
        tree.append(record.leaf)
    file = home / f"{tree.size}.seal"
    file.write_text(str(sign(Checkpoint(origin, tree.size, tree.root()), [KEY])))
    return file


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "public.key"
    file.write_text(f"{public_of(KEY, ORIGIN)}\n")
    return file


def verify(directory: Path, key: Path, *seals: Path, processes: int = 1) -> Result:
    words = ["verify", directory, "--processes", processes, "--public-key", key]
    for each in seals:
        words += ["--seal", each]
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("processes", [1, 2])
def test_the_log_that_was_sealed_holds(
    form: Form, processes: int, key: Path, tmp_path: Path
) -> None:
    take(LOG, tmp_path / "export", form)
    older, newer = seal(LOG[:9], tmp_path), seal(LOG, tmp_path)

    judged = verify(tmp_path / "export", key, older, newer, processes=processes)

    assert judged.exit_code == 0, judged.output
    assert f"the log that was sealed at 9 and {len(LOG):,}" in judged.stdout


def test_a_tail_that_was_cut(key: Path, tmp_path: Path) -> None:
    end = next(n for n in range(len(LOG) - 9, 0, -1) if b'.0","pos' in LOG[n].envelope)
    take(LOG[:end], tmp_path / "export")

    judged = verify(tmp_path / "export", key, seal(LOG, tmp_path))

    assert judged.exit_code == 1
    told = f"At position {end + 1}: The log ends at {end}, but was sealed up to {len(LOG)}."
    assert told in judged.stdout


def test_a_tail_that_was_honestly_played_anew(key: Path, tmp_path: Path) -> None:
    logs = []
    for stand in (True, False):
        log = Log()
        log.open("t", c.Open("european"))
        log.play("t", c.Sit(1, "ada", 1000))
        log.play("t", c.Bet(1, 20))
        log.play("t", c.Stand(1) if stand else c.Hit(1))
        logs.append(log.records)
    sealed, other = logs
    take(other, tmp_path / "export")

    assert verify(tmp_path / "export", key).exit_code == 0
    shared = seal(sealed[:4], tmp_path)
    assert verify(tmp_path / "export", key, shared).exit_code == 0
    judged = verify(tmp_path / "export", key, shared, seal(sealed, tmp_path))
    assert judged.exit_code == 1
    assert "sealed" in judged.stdout


def test_a_seal_that_cannot_be_believed(key: Path, tmp_path: Path) -> None:
    take(LOG, tmp_path / "export")
    good, strange = seal(LOG, tmp_path), seal(LOG[:5], tmp_path, "croupier.example/else")
    broken = tmp_path / "broken.seal"
    broken.write_text(good.read_text().replace(f"\n{len(LOG)}\n", "\n3\n"))
    unknown = tmp_path / "unknown.key"
    unknown.write_text(f"{public_of(Ed25519PrivateKey.generate(), ORIGIN)}\n")

    for seals, known in (
        ((strange,), key),
        ((broken,), key),
        ((key,), key),
        ((tmp_path / "nowhere",), key),
        ((good,), unknown),
        ((good,), good),
    ):
        judged = verify(tmp_path / "export", known, *seals)
        assert judged.exit_code == 2, judged.output


def test_newlines_behind_a_seal_are_none_of_it(key: Path, tmp_path: Path) -> None:
    """As `jq -r` leaves them in the file."""
    take(LOG, tmp_path / "export")
    kept = seal(LOG, tmp_path)

    for end in b"", b"\n\n":
        kept.write_bytes(kept.read_bytes().rstrip(b"\n") + end)
        judged = verify(tmp_path / "export", key, kept)
        assert judged.exit_code == 0, judged.output


@pytest.mark.parametrize("content", ["", "null\n", '{"title": "Not yet"}', "\n\n", "a\n\nb\n"])
def test_a_file_that_is_no_seal_is_not_taken_for_one_that_lies(
    content: str, key: Path, tmp_path: Path
) -> None:
    take(LOG, tmp_path / "export")
    file = tmp_path / "today.seal"
    file.write_text(content)

    judged = verify(tmp_path / "export", key, file)

    assert judged.exit_code == 2
    assert f"{file} is no seal: " in judged.stderr
    assert "hold" not in judged.output


def test_a_seal_needs_a_key_and_a_whole_log(key: Path, tmp_path: Path) -> None:
    take(LOG, tmp_path / "export")
    take(LOG, tmp_path / "part", scope=Scope(first_position=6))
    take(LOG, tmp_path / "front", scope=Scope(last_position=6))
    good = seal(LOG, tmp_path)

    without = CliRunner().invoke(app, ["verify", str(tmp_path / "export"), "--seal", str(good)])
    assert without.exit_code == 2
    for part in ("part", "front"):
        judged = verify(tmp_path / part, key, good)
        assert judged.exit_code == 2
        assert "seal is over" in judged.output
