"""Watching: each query can be read, names what there really is, and finds it; each alert is
explained."""

import json
import re
import shutil
import socket
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from shared.local.process import until
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.conftest import Cluster, not_here

ROOT = Path(__file__).parents[2]
OBSERVE = ROOT / "deploy" / "observe"
ALERTS = [
    rule
    for group in yaml.safe_load((OBSERVE / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((OBSERVE / "dashboard.json").read_text())
PANELS = [
    target["expr"].replace("$__rate_interval", "1m")
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]
QUERIES = [rule["expr"] for rule in ALERTS] + PANELS
OF_PROMETHEUS = {"job", "instance"}
"""The labels that a scrape adds; `up` is what it says of itself."""


def played(house: House) -> None:
    """Everything that leaves a figure: a round, a refusal, a computer player and a clock."""
    house.seat("oak", "ada", ruleset="european")
    house.deal("oak", 20)
    house.finish("oak")
    house.play("oak", "buy_in", seat=1, amount=10**6)
    house.leave_alone("elm")
    assert until(lambda: "clock" in house.unasked("elm").values(), PATIENCE_SECONDS)
    house.sealed()
    curves = f"/v1/rulesets/european/returns?wait_for={house.head()}"
    assert until(lambda: house.ask("GET", curves).status_code == 200, PATIENCE_SECONDS)


class Watched:
    """A service with its worker, and where both show their figures."""

    def __init__(self, croupier: Croupier, worker: str) -> None:
        self.croupier = croupier
        self.targets = {
            "croupier-api": croupier.address.removeprefix("http://"),
            "croupier-worker": worker,
        }

    def labels(self) -> dict[str, set[str]]:
        """Every sample there is by its name, with the labels it has."""
        found: dict[str, set[str]] = defaultdict(set, up=set())
        for target in self.targets.values():
            text = httpx.get(f"http://{target}/metrics", trust_env=False).text
            for family in text_string_to_metric_families(text):
                for sample in family.samples:
                    found[sample.name] |= sample.labels.keys()
        return found


@pytest.fixture(scope="module")
def watched(cluster: Cluster) -> Iterator[Watched]:
    """One that has played; its worker has looked at what was played."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        worker = f"127.0.0.1:{free.getsockname()[1]}"
    database = cluster.create()
    croupier = Croupier(database)
    croupier.environment["CROUPIER_METRICS_PORT"] = worker.rpartition(":")[2]
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as http:
        with croupier:
            played(House(croupier, http))
        with croupier:  # Returns are looked at once a minute, and at the start.
            played(House(croupier, http))
            watched = Watched(croupier, worker)
            late = {"croupier_clock_lateness_seconds_bucket", "croupier_return_ratio"}
            assert until(lambda: late <= watched.labels().keys(), PATIENCE_SECONDS)
            yield watched
    cluster.drop(database)


def selectors(node: Any) -> Iterator[promql.VectorSelector]:
    """Every selector in a query, wherever it stands."""
    match node:
        case promql.VectorSelector():
            yield node
        case promql.MatrixSelector():
            yield node.vector_selector
        case promql.BinaryExpr():
            yield from selectors(node.lhs)
            yield from selectors(node.rhs)
        case promql.Call():
            for argument in node.args:
                yield from selectors(argument)
        case promql.AggregateExpr() | promql.ParenExpr() | promql.SubqueryExpr():
            yield from selectors(node.expr)


def test_every_query_names_what_there_is(watched: Watched) -> None:
    there = watched.labels()
    for query in QUERIES:
        named = list(selectors(promql.parse(query)))

        assert named, query
        grouped = {
            name.strip() for by in re.findall(r"by \(([^)]*)\)", query) for name in by.split(",")
        }
        known: set[str] = set(OF_PROMETHEUS)
        for selector in named:
            assert selector.name in there, query
            known |= there[selector.name]
            matched = {matcher.name for matcher in selector.matchers.matchers}
            assert matched <= there[selector.name] | OF_PROMETHEUS, query
        assert grouped <= known, query


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_what_it_means_and_where_to_read_on(rule: Any) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"]["summary"].endswith(".")
    anchor = rule["alert"].lower()
    assert rule["annotations"]["runbook_url"] == f"deploy/RUNBOOK.md#{anchor}"


def test_the_runbook_has_a_section_for_each_alert_and_no_other() -> None:
    runbook = (ROOT / "deploy" / "RUNBOOK.md").read_text()
    sections = dict(
        re.findall(r"^## (\w+)\n\n(.*?)(?=\n## |\Z)", runbook, re.DOTALL | re.MULTILINE)
    )

    assert sections.keys() == {rule["alert"] for rule in ALERTS}
    assert all(re.search("^1. ", section, re.MULTILINE) for section in sections.values())
    titles = {panel["title"] for panel in DASHBOARD["panels"]}
    for title in re.findall(r"\*([A-Z][^*]+)\*", runbook):
        assert title in titles, title


def test_compose_brings_every_file_to_where_it_is_looked_for() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    mounted = {
        volume.split(":")[0]
        for name in ("prometheus", "grafana")
        for volume in services[name]["volumes"]
    }

    files = {f"./observe/{file.name}" for file in OBSERVE.iterdir() if "test" not in file.name}
    assert files <= mounted
    assert yaml.safe_load((OBSERVE / "prometheus.yml").read_text())["rule_files"] == ["alerts.yml"]
    source = yaml.safe_load((OBSERVE / "grafana.yml").read_text())["datasources"][0]["uid"]
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {source}


def program(name: str) -> str:
    found = shutil.which(name)
    if not found:
        not_here("prometheus", f"{name}, which Debian has in the package prometheus,")
    return found


@pytest.mark.parametrize(
    "words", [("check", "config", "prometheus.yml"), ("test", "rules", "alerts.test.yml")]
)
def test_prometheus_itself_finds_nothing_wrong(words: tuple[str, ...]) -> None:
    judged = subprocess.run(
        [program("promtool"), *words], cwd=OBSERVE, capture_output=True, text=True
    )

    assert judged.returncode == 0, judged.stdout + judged.stderr


@contextmanager
def prometheus(targets: dict[str, str], home: Path) -> Iterator[str]:
    """The address of a Prometheus that scrapes these every second, with our rules."""
    shutil.copy(OBSERVE / "alerts.yml", home)
    jobs = [
        {"job_name": name, "static_configs": [{"targets": [target]}]}
        for name, target in targets.items()
    ]
    config = {
        "global": {"scrape_interval": "1s"},
        "rule_files": ["alerts.yml"],
        "scrape_configs": jobs,
    }
    (home / "prometheus.yml").write_text(yaml.safe_dump(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [program("prometheus"), f"--config.file={home}/prometheus.yml"]
    command += [f"--storage.tsdb.path={home}/data", f"--web.listen-address={address}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://{address}"
        finally:
            process.kill()


def test_every_query_finds_something_in_a_live_service(watched: Watched, tmp_path: Path) -> None:
    with prometheus(watched.targets, tmp_path) as address, httpx.Client(trust_env=False) as http:

        def found(query: str) -> list[Any]:
            answer = http.get(f"{address}/api/v1/query", params={"query": query}).json()
            assert answer["status"] == "success", (query, answer)
            result: list[Any] = answer["data"]["result"]
            return result

        def scraped() -> bool:
            try:
                ready = http.get(f"{address}/-/ready").status_code == 200
                return ready and len(found("count_over_time(up[1m]) > 3")) == len(watched.targets)
            except httpx.TransportError:
                return False

        assert until(scraped, PATIENCE_SECONDS)
        missing = [query for query in PANELS if not until(lambda query=query: bool(found(query)))]
        firing = {each["metric"]["alertname"] for each in found('ALERTS{alertstate="firing"}')}
        for rule in ALERTS:
            found(rule["expr"])

    assert missing == []
    assert firing == set()
