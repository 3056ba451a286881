"""The trace that goes from a caller through the service into every event, and back."""

from services.blackjack.api.examples import OWN_RULESET
from shared.local.process import until
from shared.tracing import is_trace
from tests.api.croupier import PATIENCE_SECONDS, House


def test_a_trace_is_written_down_and_told(house: House) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    house.seat("oak", "ada")
    head = house.head()
    answer = house.play("oak", "leave", headers={"traceparent": trace}, seat=1)

    events = [entry["event"] for entry in house.walk("/v1/events", after=head)]
    assert events
    assert {event["traceparent"] for event in events} == {trace}
    assert answer.headers["traceparent"] == trace


def test_a_request_without_a_trace_gets_one_of_its_own(house: House) -> None:
    house.seat("oak", "ada", "bob")
    head = house.head()
    answers = [house.play("oak", "leave", seat=seat) for seat in (1, 2)]
    answers += [house.grant("cleo", 5), house.open("elm"), house.register(OWN_RULESET)]

    events = [entry["event"] for entry in house.walk("/v1/events", after=head)]
    told = [answer.headers["traceparent"] for answer in answers]
    assert all(is_trace(trace.encode()) for trace in told)
    assert len(set(told)) == len(told)
    assert {event["traceparent"] for event in events} == set(told)


def test_what_nobody_asked_for_has_a_trace_too(house: House) -> None:
    """Time-outs and the moves of computer players."""
    house.leave_alone("oak")

    assert until(
        lambda: {"clock", "computer/easy"} <= {*house.unasked("oak").values()}, PATIENCE_SECONDS
    )
    assert all(is_trace(trace.encode()) for trace in house.unasked("oak"))
