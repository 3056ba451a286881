"""What an operator watches: the figures of this process, as Prometheus reads them.

Names begin with `croupier_` and end with their unit. Figures that another object keeps are not
copied here: they are read from it when somebody asks.
"""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, Literal, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

REGISTRY: Final = CollectorRegistry()

_FAST: Final = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.5, 1, 2, 5)
_SLOW: Final = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 30, 120)

_COMMANDS: Final = Counter(
    "croupier_commands",
    "Commands that reached the log, by what became of them there.",
    ["outcome"],
    registry=REGISTRY,
)
_BATCH_COMMANDS: Final = Histogram(
    "croupier_append_batch_commands",
    "Commands in a transaction.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128),
    registry=REGISTRY,
)
_BATCH_SECONDS: Final = Histogram(
    "croupier_append_batch_seconds",
    "From a batch's being sent to its being recorded, repetitions included.",
    buckets=_FAST,
    registry=REGISTRY,
)
_CLOCK_LATENESS: Final = Histogram(
    "croupier_clock_lateness_seconds",
    "From a deadline to the time-out's being recorded.",
    buckets=_SLOW,
    registry=REGISTRY,
)
_PAGE_EVENTS: Final = Histogram(
    "croupier_view_page_events",
    "Events that views were given at a time.",
    buckets=(1, 3, 10, 30, 100, 300, 1000),
    registry=REGISTRY,
)
_VIEW_FAILURES: Final = Counter(
    "croupier_view_failures", "Pages that a view could not write.", ["view"], registry=REGISTRY
)
_VIEW_LAG_EVENTS: Final = Gauge(
    "croupier_view_lag_events",
    "Events that a view does not have yet, in the house where it is furthest behind.",
    ["view"],
    registry=REGISTRY,
)
_VIEW_LAG_SECONDS: Final = Gauge(
    "croupier_view_lag_seconds",
    "The age of the oldest event that a view does not have.",
    ["view"],
    registry=REGISTRY,
)
_SEALED_EVENTS: Final = Counter(
    "croupier_sealed_events", "Events that were sealed, by this process.", registry=REGISTRY
)
_SEAL_FAILURES: Final = Counter(
    "croupier_seal_failures", "Logs found not to be what was sealed before.", registry=REGISTRY
)
_SEAL_LAG_EVENTS: Final = Gauge(
    "croupier_seal_lag_events",
    "Events behind the newest seal, in the house that has the most.",
    registry=REGISTRY,
)
_SEAL_AGE_SECONDS: Final = Gauge(
    "croupier_seal_age_seconds",
    "The age of the newest seal of a log that went on since, the oldest of these.",
    registry=REGISTRY,
)
_RETURN: Final = Gauge(
    "croupier_return_ratio",
    "What came back for each chip bet: realised, exact by the best play, and the band's two edges.",
    ["ruleset", "figure"],
    registry=REGISTRY,
)
_RETURN_ALARMS: Final = Gauge(
    "croupier_return_alarms",
    "Games and tables, of all houses, whose return is outside of its band.",
    registry=REGISTRY,
)
_RATE_REFUSALS: Final = Counter(
    "croupier_rate_refusals", "Requests beyond the limit of a key or a house.", registry=REGISTRY
)
_RATE_LEASES_ALONE: Final = Counter(
    "croupier_rate_leases_alone",
    "Times that a limit was held by this process alone, because Redis did not answer.",
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)


def observe_batch(seconds: float, outcomes: Iterable[str]) -> None:
    """A batch of commands was answered by the log, each with an outcome."""
    tally = Tally(outcomes)
    _BATCH_COMMANDS.observe(tally.total())
    _BATCH_SECONDS.observe(seconds)
    for outcome, count in tally.items():
        _COMMANDS.labels(outcome).inc(count)


def observe_lateness(lateness: timedelta) -> None:
    """A clock was fired so long after its deadline."""
    _CLOCK_LATENESS.observe(lateness.total_seconds())


def observe_page(events: int) -> None:
    """Views were given so many events at a time."""
    _PAGE_EVENTS.observe(events)


def count_view_failure(view: str) -> None:
    """A view could not write a page."""
    _VIEW_FAILURES.labels(view).inc()


def show_lag(lags: Mapping[str, tuple[int, float]]) -> None:
    """How far each view is behind: in events, and in seconds."""
    for view, (events, seconds) in lags.items():
        _VIEW_LAG_EVENTS.labels(view).set(events)
        _VIEW_LAG_SECONDS.labels(view).set(seconds)


def count_seal(events: int) -> None:
    """A seal was made over so many more events."""
    _SEALED_EVENTS.inc(events)


def count_seal_failure() -> None:
    """A log is not what was sealed before."""
    _SEAL_FAILURES.inc()


def show_seal_lag(events: int, seconds: float) -> None:
    """How far seals are behind the logs."""
    _SEAL_LAG_EVENTS.set(events)
    _SEAL_AGE_SECONDS.set(seconds)


def show_return(ruleset: str, realised: float, exact: float, low: float, high: float) -> None:
    """What a published game returned over all houses, beside what was to be expected."""
    figures = {"realised": realised, "exact": exact, "low": low, "high": high}
    for figure, value in figures.items():
        _RETURN.labels(ruleset, figure).set(value)


def show_return_alarms(alarms: int) -> None:
    """So many returns are outside of their bands."""
    _RETURN_ALARMS.set(alarms)


def count_rate_refusal() -> None:
    """A request was beyond the limit of its key or its house."""
    _RATE_REFUSALS.inc()


def count_lone_lease() -> None:
    """A limit was held without Redis, and so without the other processes."""
    _RATE_LEASES_ALONE.inc()


class Watched(NamedTuple):
    """A figure that is read when somebody asks."""

    kind: Literal["gauge", "counter"]
    name: str
    help: str
    read: Callable[[], float]


class Watching(Collector):
    """The figures that others keep."""

    def __init__(self, *watched: Watched) -> None:
        self._watched = watched

    def collect(self) -> Iterable[Metric]:
        for kind, name, help, read in self._watched:
            family = GaugeMetricFamily if kind == "gauge" else CounterMetricFamily
            yield family(name, help, value=read())


def exposition(watching: Watching) -> bytes:
    """All figures of this process in the text format of Prometheus."""
    others = CollectorRegistry()
    others.register(watching)
    return generate_latest(REGISTRY) + generate_latest(others)


@contextmanager
def shown_on(host: str, port: int) -> Iterator[None]:
    """The figures of a process that serves nothing else, on a port of their own."""
    server, thread = start_http_server(port, host, REGISTRY)
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
