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
    disable_created_metrics,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

REGISTRY: Final = CollectorRegistry()
"""What every process counts."""

WORK: Final = CollectorRegistry()
"""What only a worker has to tell."""

_FAST: Final = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.5, 1, 2, 5)
_REQUEST: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.075,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
)
"""Those of OpenTelemetry's conventions, and two below."""
_SLOW: Final = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 30, 120)

_REQUESTS: Final = Histogram(
    "http_server_request_duration_seconds",
    "From a request's first line to the end of its answer; of a stream, to the end of that.",
    ["http_request_method", "http_route", "http_response_status_code"],
    buckets=_REQUEST,
    registry=REGISTRY,
)
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
    registry=WORK,
)
_PAGE_EVENTS: Final = Histogram(
    "croupier_view_page_events",
    "Events that views were given at a time.",
    buckets=(1, 3, 10, 30, 100, 300, 1000),
    registry=WORK,
)
_VIEW_FAILURES: Final = Counter(
    "croupier_view_failures", "Pages that a view could not write.", ["view"], registry=WORK
)
_SEALED_EVENTS: Final = Counter(
    "croupier_sealed_events", "Events that were sealed, by this process.", registry=WORK
)
_SEAL_FAILURES: Final = Counter(
    "croupier_seal_failures", "Logs found not to be what was sealed before.", registry=WORK
)
_IMBALANCE: Final = Gauge(
    "croupier_ledger_imbalance_chips",
    "By how many chips the accounts of a house do not come to 0, all houses added up: always 0.",
    registry=WORK,
)
_RETURN: Final = Gauge(
    "croupier_return_ratio",
    "What came back for each chip bet: realised, exact by the best play, and the band's two edges.",
    ["ruleset", "figure"],
    registry=WORK,
)
_RETURN_ALARMS: Final = Gauge(
    "croupier_return_alarms",
    "Games and tables, of all houses, whose return is outside of its band.",
    registry=WORK,
)
_RATE_REFUSALS: Final = Counter(
    "croupier_rate_refusals", "Requests beyond the limit of a key or a house.", registry=REGISTRY
)
_RATE_LEASES_ALONE: Final = Counter(
    "croupier_rate_leases_alone",
    "Times that a limit was held by this process alone, because Redis did not answer.",
    registry=REGISTRY,
)
_GIVEN_UP: Final = Counter(
    "croupier_requests_given_up",
    "Requests that did not come whole: too slow, or without end. They are no requests above.",
    ["problem"],
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)
disable_created_metrics()  # type: ignore[no-untyped-call]  # Prometheus sees when a series began


_requests: Final[dict[tuple[str, str, int], Histogram]] = {}


def observe_request(method: str, route: str, status: int, seconds: float) -> None:
    """A request was answered: one of a known method, by the template of its address."""
    kind = method, route, status
    if (known := _requests.get(kind)) is None:
        known = _requests[kind] = _REQUESTS.labels(*map(str, kind))
    known.observe(seconds)


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


def expect_views(views: Iterable[str]) -> None:
    """These views have not failed yet: told, so that a first failure is seen as one more."""
    for view in views:
        _VIEW_FAILURES.labels(view)


def count_view_failure(view: str) -> None:
    """A view could not write a page."""
    _VIEW_FAILURES.labels(view).inc()


def count_seal(events: int) -> None:
    """A seal was made over so many more events."""
    _SEALED_EVENTS.inc(events)


def count_seal_failure() -> None:
    """A log is not what was sealed before."""
    _SEAL_FAILURES.inc()


def show_played(ruleset: str, rounds: int, stake: int, payout: int) -> None:
    """What all houses have played of a game since their logs began."""
    _PLAYED.totals[ruleset] = rounds, stake, payout


def show_imbalance(chips: int) -> None:
    """By how many chips the ledgers of all houses are off: 0."""
    _IMBALANCE.set(chips)


def show_return(ruleset: str, realised: float, exact: float, low: float, high: float) -> None:
    """What a published game returned over all houses, beside what was to be expected."""
    figures = {"realised": realised, "exact": exact, "low": low, "high": high}
    for figure, value in figures.items():
        _RETURN.labels(ruleset, figure).set(value)


def show_return_alarms(alarms: int) -> None:
    """So many returns are outside of their bands."""
    _RETURN_ALARMS.set(alarms)


class _Played(Collector):
    """Totals that the views keep: they go on where they were, also in another process."""

    def __init__(self) -> None:
        self.totals: dict[str, tuple[int, int, int]] = {}

    def collect(self) -> Iterable[Metric]:
        for place, (name, help) in enumerate(_PLAYED_FIGURES):
            family = CounterMetricFamily(name, help, labels=["ruleset"])
            for ruleset, figures in self.totals.items():
                family.add_metric([ruleset], figures[place])
            yield family


_PLAYED_FIGURES: Final = (
    ("croupier_rounds", "Rounds that were settled, by game."),
    ("croupier_stake_chips", "Chips at stake in settled rounds, by game."),
    ("croupier_payout_chips", "Chips that came back for them, by game."),
)
_PLAYED: Final = _Played()
WORK.register(_PLAYED)


def count_rate_refusal() -> None:
    """A request was beyond the limit of its key or its house."""
    _RATE_REFUSALS.inc()


def count_lone_lease() -> None:
    """A limit was held without Redis, and so without the other processes."""
    _RATE_LEASES_ALONE.inc()


def count_given_up(problem: str) -> None:
    """A connection was closed whose request did not come whole, for such a kind of problem."""
    _GIVEN_UP.labels(problem).inc()


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


def lagging(lags: Mapping[str, tuple[int, float]]) -> Iterator[Metric]:
    """How far each view is behind the logs: in events, and in seconds."""
    events = GaugeMetricFamily(
        "croupier_view_lag_events",
        "Events that a view does not have yet, in the house where it is furthest behind.",
        labels=["view"],
    )
    seconds = GaugeMetricFamily(
        "croupier_view_lag_seconds",
        "The age of the oldest event that a view does not have.",
        labels=["view"],
    )
    for view, lag in lags.items():
        events.add_metric([view], lag[0])
        seconds.add_metric([view], lag[1])
    yield events
    yield seconds


def sealed(standing: tuple[int, int | None, int | None, float]) -> Iterator[Metric]:
    """How far all logs are sealed: `Seals.standing`. Nothing of seals where nothing was sealed."""
    events, verified, behind, age = standing
    yield GaugeMetricFamily("croupier_log_events", "Events in the logs of all houses.", events)
    if verified is None or behind is None:
        return
    yield GaugeMetricFamily(
        "croupier_verified_events",
        "Those that were checked and sealed: the verified positions of all houses added up.",
        verified,
    )
    yield GaugeMetricFamily(
        "croupier_seal_lag_events",
        "Events behind the newest seal, in the house that has the most.",
        behind,
    )
    yield GaugeMetricFamily(
        "croupier_seal_age_seconds",
        "The age of the newest seal of a log that went on since, the oldest of these.",
        age,
    )


def as_text(metrics: Iterable[Metric]) -> bytes:
    """Figures in the text format of Prometheus."""
    return generate_latest(_Given(metrics))


def exposition(watching: Watching, process: str = "") -> bytes:
    """All figures of this process as text, each labelled with the number of the process."""
    found = [*REGISTRY.collect(), *watching.collect()]
    if process:
        for metric in found:
            metric.samples = [
                each._replace(labels={**each.labels, "process": process}) for each in metric.samples
            ]
    return as_text(found)


def merged(texts: Iterable[bytes]) -> bytes:
    """The figures of several processes as one text: what is of one name has to stand together."""
    families: dict[bytes, list[bytes]] = {}
    for text in texts:
        for family in text.split(b"# HELP ")[1:]:
            help, kind, samples = family.split(b"\n", 2)
            families.setdefault(b"# HELP %b\n%b\n" % (help, kind), []).append(samples)
    return b"".join(head + b"".join(samples) for head, samples in families.items())


class _Given(Collector):
    """Figures that are there already, where something that collects them is asked for."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


@contextmanager
def shown_on(host: str, port: int) -> Iterator[None]:
    """The figures of a worker, on a port of their own."""
    both = CollectorRegistry()
    both.register(REGISTRY)
    both.register(WORK)
    server, thread = start_http_server(port, host, both)
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
