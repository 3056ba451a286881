"""`croupier check`: what it finds beside a log that was really played, and what it says."""

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from services.audit.application import derived
from services.audit.application.database import check_now
from services.audit.application.derived import Kept, Row, Rows
from services.audit.domain.faults import Fault
from services.cli import app
from shared.eventstore import archive
from tests.audit.log import rehashed
from tests.audit.played import HOUSE, Owner, a_copy, unstopped, write
from tests.conftest import Cluster, Database


def test_an_entry_that_no_event_posts_beside_one_that_it_does(owner: Owner) -> None:
    """For another account, at the very position and line of a true one, before it and behind."""
    position, line = owner.execute("SELECT position, line FROM posting LIMIT 1").fetchone() or ()
    for account in ("aaa", "zzz"):
        with owner.transaction(force_rollback=True):
            owner.execute(
                "INSERT INTO posting (house, position, line, account, amount, balance_after) "
                "VALUES (%s, %s, %s, %s, 7, 7)",
                (HOUSE, position, line, account),
            )
            (fault,) = check_now(owner, HOUSE).faults

        assert (fault.position, fault.kind, fault.field) == (position, "chips", "posting")
        assert fault.what == f"The posting of {position} {line} {account} follows from no event."


@pytest.mark.parametrize("kept", ["> 200", "< 3", "NOT BETWEEN 3 AND 200"])
def test_rows_whose_events_are_gone_are_read_in_pages(
    owner: Owner, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    read, parted = list[int](), derived.Kept.parted

    def watched(self: Kept, due: Rows, found: Rows, at: Callable[[Row], int]) -> Iterator[Fault]:
        if self.name in ("posting", "command_outcome", "snapshot"):
            read.append(len(found))
        return parted(self, due, found, at)

    monkeypatch.setattr(derived, "_ROWS_A_READ", 50)
    monkeypatch.setattr(derived.Kept, "parted", watched)
    with owner.transaction(force_rollback=True):
        owner.execute(f"DELETE FROM event_log WHERE NOT position {kept}".encode())
        found = check_now(owner, HOUSE).faults

    assert max(read) <= 50
    assert {"posting", "command_outcome"} <= {fault.field for fault in found}


def test_the_log_of_another_house(owner: Owner) -> None:
    """Put in the place of this one, with all hashes made to fit."""
    ours, theirs = f"/houses/{HOUSE}".encode(), b"/houses/other"
    records = list(archive.present(owner, HOUSE, 0))
    changed = [replace(r, envelope=r.envelope.replace(ours, theirs)) for r in records]
    with owner.transaction(force_rollback=True):
        write(owner, rehashed(changed))
        found = check_now(owner, HOUSE).faults

    of_others = {fault.position for fault in found if fault.field == "source"}
    assert of_others == {record.position for record in records if b'.0","pos' in record.envelope}


def test_croupier_check_says_what_differs(cluster: Cluster, template: Database) -> None:
    with a_copy(cluster, template) as (database, _):
        environment = {"DATABASE_URL": database.app_url, "CROUPIER_HOUSE": HOUSE}
        holds = CliRunner().invoke(app, ["check"], env=environment)
        with unstopped(database) as owner:
            owner.execute("UPDATE account SET balance = balance + 4 WHERE account = 'issuance'")
        differs = CliRunner().invoke(app, ["check"], env=environment)
        nobody = CliRunner().invoke(app, ["check", "--house", "nobody"], env=environment)

    assert (holds.exit_code, differs.exit_code, nobody.exit_code) == (0, 1, 2)
    assert holds.stdout.endswith("All of it holds.\n")
    assert "The account of issuance has the balance -" in differs.stdout
    assert "The house nobody is not open." in nobody.output
