"""Spans as a collector gets them: requests, batches and the worker's duties, each in its trace."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from signal import SIGTERM
from threading import Thread
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from shared import spans
from shared.local.process import until
from shared.tracing import is_trace
from tests.api.croupier import PATIENCE_SECONDS, Croupier, House
from tests.conftest import Database


class Collector:
    """A collector of spans by OTLP over HTTP."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        """Each with the name of its service."""
        collected = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    service = attributes(resource.resource)["service.name"]
                    for scope in resource.scope_spans:
                        collected.extend((service, each) for each in scope.spans)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def named(self, name: str) -> list[Any]:
        return [each for _, each in self.spans if each.name == name]

    def trace(self, trace_id: str) -> list[Any]:
        return [each for _, each in self.spans if each.trace_id.hex() == trace_id]


def attributes(of: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in of.attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    thread = Thread(target=collector.server.serve_forever)
    thread.start()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()
    thread.join()


@pytest.fixture
def traced(database: Database, collector: Collector) -> Iterator[Croupier]:
    croupier = Croupier(database)
    croupier.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "NO_PROXY": "127.0.0.1",
    }
    with croupier:
        yield croupier


COMMANDS = "POST /v1/tables/{table}/commands"


def test_a_request_is_a_span_and_the_batch_that_recorded_it_links_to_it(
    traced: Croupier, collector: Collector, http: httpx.Client
) -> None:
    house = House(traced, http)
    house.seat("oak", "ada")
    caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    answer = house.play("oak", "bet", headers={"traceparent": caller}, seat=1, amount=20)
    refused = house.play("oak", "bet", seat=1, amount=10**6)
    head = house.head()
    traced.end(SIGTERM)

    (ours,) = collector.trace("4bf92f3577b34da6a3ce929d0e0e4736")
    assert ours.name == COMMANDS
    assert ours.parent_span_id.hex() == "00f067aa0ba902b7"
    assert ours.kind == ours.SPAN_KIND_SERVER
    assert attributes(ours) == {
        "http.request.method": "POST",
        "http.route": "/v1/tables/{table}/commands",
        "http.response.status_code": 200,
    }
    told = f"00-{ours.trace_id.hex()}-{ours.span_id.hex()}-01"
    assert answer.headers["traceparent"] == told
    linked = [each for each in collector.named("append_batch") if ours.span_id in spans_of(each)]
    assert [attributes(each)["db.operation.batch.size"] for each in linked] == [1]
    (turned_down,) = collector.trace(refused.headers["traceparent"].split("-")[1])
    assert attributes(turned_down)["http.response.status_code"] == refused.status_code
    assert not turned_down.parent_span_id
    assert head > 0


def spans_of(batch: Any) -> set[bytes]:
    return {link.span_id for link in batch.links}


def test_duties_of_the_worker_are_spans_of_a_service_of_its_own(
    traced: Croupier, collector: Collector, http: httpx.Client
) -> None:
    house = House(traced, http)
    house.leave_alone("oak")
    duties = {"write views", "seal a log", "look at returns", "add up ledgers"}
    duties |= {"computer plays", "time out", "append_batch"}

    def seen() -> set[str]:
        house.unasked("oak")
        return {each.name for service, each in collector.spans if service == "croupier-worker"}

    assert until(lambda: duties <= seen(), PATIENCE_SECONDS), seen()
    unasked = house.unasked("oak")
    assert until(lambda: all(collector.trace(trace[3:35]) for trace in unasked))


def test_who_switched_opentelemetry_off_gets_traces_that_are_some(
    database: Database, collector: Collector, http: httpx.Client
) -> None:
    croupier = Croupier(database)
    croupier.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_SDK_DISABLED": " True",
    }
    with croupier:
        answer = House(croupier, http).open("oak")
        croupier.end(SIGTERM)

    assert is_trace(answer.headers["traceparent"].encode())
    assert collector.spans == []


def test_what_is_not_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    with pytest.raises(spans.NoTelemetry, match=r"Install croupier\[otel\]"), spans.sent("x"):
        pass
