"""Spans for whoever collects them, by OpenTelemetry: none, and at no cost, unless its own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT` and the like) say where they go, and not that it is switched off
(`OTEL_SDK_DISABLED`). Wants the extra `otel`.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final, Literal, TypeAlias

Kind: TypeAlias = Literal["INTERNAL", "SERVER", "CLIENT"]

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_NOTHING: Final[AbstractContextManager[Any]] = nullcontext()
_tracer: Any = None


class NoTelemetry(Exception):
    """Spans are asked for, and what sends them is not installed."""


@contextmanager
def sent(service: str) -> Iterator[None]:
    """Sends the spans of this process, as one of the service, if there is somewhere to send them
    to. Begin it in the process itself, not before a fork. Raises NoTelemetry."""
    global _tracer
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if off or not any(map(os.environ.get, _ENDPOINTS)):
        yield
        return
    provider = _provider(service)
    _tracer = provider.get_tracer("croupier")
    try:
        yield
    finally:
        _tracer = None
        provider.shutdown()


def _provider(service: str) -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise NoTelemetry(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, which takes OpenTelemetry. Install "
            "croupier[otel], or unset it."
        ) from None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": service}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def are_sent() -> bool:
    """Whether anybody collects spans."""
    return _tracer is not None


def span(
    name: str,
    *,
    kind: Kind = "INTERNAL",
    parent: str | None = None,
    links: Iterable[Any] = (),
    **attributes: str | int,
) -> AbstractContextManager[Any]:
    """A span around a block, which is the current one there; an exception marks it.

    It begins a trace, or goes on with that of `parent`, a `traceparent`. `links` are what `current`
    gave elsewhere, None among them. A dot in the name of an attribute is written `__`.
    """
    if _tracer is None:
        return _NOTHING
    from opentelemetry import trace

    block: AbstractContextManager[Any] = _tracer.start_as_current_span(
        name,
        context=_context(parent),
        kind=trace.SpanKind[kind],
        links=[trace.Link(each) for each in links if each],
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )
    return block


def current() -> Any:
    """What a later span may link to; None when nobody collects spans, or none has begun."""
    if _tracer is None:
        return None
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return context if context.is_valid else None


def traceparent(span: Any) -> bytes:
    """The trace and the place of a span in it."""
    context = span.get_span_context()
    return b"00-%032x-%016x-%02x" % (context.trace_id, context.span_id, context.trace_flags)


def answered(span: Any, method: str, route: str, status: int) -> None:
    """Says of the span of a request what became of it."""
    span.update_name(f"{method} {route}".rstrip())
    span.set_attributes(
        {
            "http.request.method": method,
            "http.response.status_code": status,
            **({"http.route": route} if route else {}),
            **({"error.type": str(status)} if status >= 500 else {}),
        }
    )
    if status >= 500:
        from opentelemetry.trace import StatusCode

        span.set_status(StatusCode.ERROR)


def _context(parent: str | None) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {"traceparent": parent} if parent else {}
    return TraceContextTextMapPropagator().extract(carrier, Context())
