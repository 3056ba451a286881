"""`croupier demo`: see every game played, read it in plain words, and watch it being checked."""

from pathlib import Path
from random import Random
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from typer import Exit, Option

from services.audit.domain.proof import Proof
from services.audit.domain.recall import Recall
from services.cli.refused import Refused
from services.cli.serving import address
from services.ledger.projections import TrialBalance
from services.settings import Settings

if TYPE_CHECKING:
    from services.demo import Api, Audit

_GREEN, _RED = "[green]✓[/green]", "[red]✗[/red]"


def demo(
    url: Annotated[str, Option(help="The server to play on.")] = "",
    key: Annotated[str, Option(help="An API key; else the one that `croupier up` keeps.")] = "",
    rounds: Annotated[int, Option(min=1, max=1000, help="Rounds of each game.")] = 3,
) -> None:
    """Play some rounds of each game on a running server, then check the whole log.

    The tables and the players are new; nothing else on the server is touched. Ends with 0 when
    every check holds, with 1 when one does not.
    """
    from services.demo import Api, Audit, CannotDemonstrate  # A client, which is slow to import.

    settings = Settings.from_environment()
    console = Console(highlight=False, soft_wrap=True)
    where, token = url or address(settings), key or _kept_key(settings.home)
    try:
        api = Api(where, token)
        api.knock()
        unfair = _play(console, api, rounds)
        wrong = unfair + _check(console, Audit(api))
    except CannotDemonstrate as error:
        raise Refused(str(error)) from None
    for fault in wrong:
        console.print(f"{_RED} {escape(fault)}")
    raise Exit(1 if wrong else 0)


def _kept_key(home: Path) -> str:
    try:
        return (home / "dev.key").read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        raise Refused(
            f"There is no API key in {home / 'dev.key'}. Start `croupier up` here, or give one "
            "with --key."
        ) from None


def _play(console: Console, api: "Api", rounds: int) -> list[str]:
    """Every game, round by round in plain words. Returns the faults of their proofs."""
    from services.demo import Game, Rulesets

    tag, wrong = token_hex(2), list[str]()
    console.print(f"The players' names end with -{tag}, which is left out here.")
    for ruleset in api.get("/v1/rulesets", Rulesets).data:
        console.print()
        console.rule(f"[bold]{ruleset.title}[/bold]", align="left")
        for round_id in Game(api, ruleset, tag, Random()).rounds(rounds):
            console.print(f"\n[bold]{round_id}[/bold]")
            for step in api.get(f"/v1/rounds/{round_id}/recall", Recall).steps:
                console.print(f"  {step.text.replace(f'-{tag}', '')}", markup=False)
            proof = api.get(f"/v1/rounds/{round_id}/proof", Proof)
            wrong += [f"Round {round_id}: {fault}" for fault in proof.faults]
            mark = _RED if proof.faults else _GREEN
            console.print(f"  {mark} proof: {len(proof.cards)} cards from the committed seed")
    return wrong


def _check(console: Console, audit: "Audit") -> list[str]:
    """The whole log, page by page. Returns what is wrong with it."""
    console.print()
    console.rule("[bold]The whole log, checked[/bold]", align="left")
    columns = TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TextColumn("events")
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=audit.trial_balance.position)
        for position in audit.read():
            progress.update(task, completed=position)
    report, wrong = audit.report()
    console.print(
        f"  {report.events:,} events of {report.commands:,} commands, chained to "
        f"{report.chain[:16]}…\n"
        f"  {report.rounds:,} finished rounds, whose {report.cards:,} cards were derived again\n"
        f"  {report.postings:,} postings in {len(report.balances):,} accounts, added up again\n"
    )
    console.print(_as_table(audit.trial_balance))
    if not wrong:
        console.print(
            f"\n{_GREEN} All of it holds: no event is missing or changed, every card came from its "
            "committed seed,\n  and every chip is where the ledger says."
        )
    return wrong


def _as_table(books: TrialBalance) -> Table:
    table = Table(show_footer=True)
    table.add_column("Trial balance", "all together")
    table.add_column("Accounts", justify="right")
    table.add_column("Chips", f"{books.total:,}", justify="right")
    for kind in books.accounts:
        table.add_row(kind.kind, f"{kind.accounts:,}", f"{kind.balance:,}")
    return table
