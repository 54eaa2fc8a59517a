"""Every fault that the loopback server can inject, and what comes of it: a reply, a word to the model, a later try, a person."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.errors import AfreshError, Broken, NeedsPerson, TryAgain
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.connection import ProviderConnection
from support.model_contract import make_sample_request
from support.model_server import ModelServer
from support.provider_faults import (
    CutConnection,
    CutStream,
    GarbageAnswer,
    HttpFault,
    ScriptStep,
    SlowStart,
    SlowStream,
    StreamError,
    call_unknown_tool,
    call_with_long_arguments,
    make_retry_headers,
    report_usage,
)
from support.wire_formats import ScriptedTurn

KEY = "sk-test-0123456789"
READ = Action("read", {"path": "a.py"})
PLAIN = Reply("look", (READ,), Usage(120, 30, 80))
CLAUDE = AnthropicModel


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a script: a reply or a fault, after so many requests and waits."""

    reply: Reply | None
    fault: AfreshError | None
    requests: int
    waits: list[float] = field(default_factory=list[float])
    heard: list[str] = field(default_factory=list[str])

    @property
    def told(self) -> str:
        """What the model will be told of its first call."""
        return str(self.reply.actions[0].args.get("_invalid", "")) if self.reply and self.reply.actions else ""


def came(*script: ScriptStep, **options: Any) -> Came:
    waits, heard = list[float](), list[str]()
    with ModelServer(script) as server:
        model = CLAUDE("claude-test", ProviderConnection(key=KEY, base_url=server.anthropic_url, sleep=waits.append, **options))
        try:
            return Came(model.propose(make_sample_request(), heard.append), None, len(server.received), waits, heard)
        except AfreshError as fault:
            return Came(None, fault, len(server.received), waits, heard)


def replied(came: Came) -> bool:
    return came.reply is not None and came.reply.actions == (READ,)


def model_told(came: Came) -> bool:
    return bool(came.told)


def cut(came: Came) -> bool:
    return came.reply is not None and came.reply.cramped and "cut off at its limit" in came.reply.thought


def later(came: Came) -> bool:
    return isinstance(came.fault, TryAgain) and came.fault.usage is None


def later_and_paid(came: Came) -> bool:
    return isinstance(came.fault, TryAgain) and isinstance(came.fault.usage, Usage) and came.requests == 1


def person(came: Came) -> bool:
    return isinstance(came.fault, NeedsPerson)


def ours(came: Came) -> bool:
    return isinstance(came.fault, Broken)


EVENTS = 11
"""Of a reply with a text and one call: all but the last, which says that it is whole."""
MATRIX: dict[str, tuple[Callable[[Came], bool], tuple[ScriptStep, ...]]] = {
    "429 in seconds": (replied, (HttpFault(429, headers=make_retry_headers(seconds=2)), PLAIN)),
    "429 in milliseconds": (replied, (HttpFault(429, headers=make_retry_headers(milliseconds=2)), PLAIN)),
    "429 until a date": (replied, (HttpFault(429, headers=make_retry_headers(date=5)), PLAIN)),
    "429 for an hour": (later, (HttpFault(429, headers=make_retry_headers(seconds=3_600)), PLAIN)),
    "429 that stays": (later, (HttpFault(429),) * 7),
    "500": (replied, (HttpFault(500), PLAIN)),
    "500 that stays": (later, (HttpFault(500, headers={}),) * 7),
    "529": (replied, (HttpFault(529), HttpFault(529), PLAIN)),
    "529 that stays": (later, (HttpFault(529, headers={}),) * 7),
    "several faults": (
        replied,
        (HttpFault(529), CutConnection(), HttpFault(500), GarbageAnswer("<html>busy</html>", "text/html"), PLAIN),
    ),
    "error event before the reply": (replied, (StreamError(0, PLAIN), PLAIN)),
    "error event in the reply": (later_and_paid, (StreamError(4, PLAIN), PLAIN)),
    "error event: no credit": (person, (StreamError(4, PLAIN, "billing_error"),)),
    "error event: too long": (ours, (StreamError(4, PLAIN, "request_too_large"),)),
    "cut before the reply": (replied, (CutStream(0, PLAIN), PLAIN)),
    "cut in the reply": (later_and_paid, (CutStream(5, PLAIN), PLAIN)),
    "cut before the last event": (later_and_paid, (CutStream(EVENTS, PLAIN), PLAIN)),
    "cut politely": (later_and_paid, (CutStream(5, PLAIN, politely=True), PLAIN)),
    "cut after the last event": (replied, (CutStream(99, PLAIN),)),
    "slow to begin": (replied, (SlowStart(0.1, PLAIN),)),
    "too slow to begin": (replied, (SlowStart(20.0, PLAIN), PLAIN)),
    "slow between pieces": (replied, (SlowStream(0.01, PLAIN),)),
    "too slow between pieces": (later_and_paid, (SlowStream(0.3, PLAIN), PLAIN)),
    "slow, then cut": (later_and_paid, (SlowStart(0.1, SlowStream(0.01, CutStream(5, PLAIN))), PLAIN)),
    "body that is no JSON": (later, (GarbageAnswer("not json {"),) * 7),
    "input that is no JSON": (model_told, (ScriptedTurn(PLAIN, arguments='{"path": "a.p'),)),
    "long arguments": (cut, (call_with_long_arguments(2_000_000),)),
    "zero usage": (replied, (report_usage(PLAIN, input_tokens=0, output_tokens=0),)),
    "negative usage": (replied, (report_usage(PLAIN, input_tokens=-5, output_tokens=-1),)),
    "huge usage": (replied, (report_usage(PLAIN, input_tokens=10**18, output_tokens=10**18),)),
    "usage in words": (replied, (report_usage(PLAIN, input_tokens="many", output_tokens=True),)),
    "missing usage": (replied, (report_usage(PLAIN),)),
    "wrong key": (person, (HttpFault(401),)),
    "no such model": (person, (HttpFault(404),)),
    "a redirect": (person, (HttpFault(307, headers={"location": "http://127.0.0.1:9/elsewhere"}), PLAIN)),
    "no credit": (person, (HttpFault(402),)),
    "too long": (ours, (HttpFault(413),)),
}


@pytest.mark.parametrize("name", MATRIX)
def test_every_fault_has_its_outcome(name: str) -> None:
    expected, script = MATRIX[name]
    found = came(*script, timeout={"too slow to begin": 5.0, "too slow between pieces": 1.5}.get(name, 600.0))
    assert expected(found), found


def test_waits_are_said_while_they_last() -> None:
    heard = came(*MATRIX["529"][1]).heard
    assert [piece for piece in heard if "529" in piece] == heard[:2] and "retry 2 of 6" in heard[1]


def test_what_a_cut_stream_has_cost_is_known() -> None:
    fault = came(CutStream(6, PLAIN), count=lambda text: 7).fault
    assert isinstance(fault, TryAgain) and fault.usage == Usage(120, 7, 80)
    assert "broke off during its reply" in str(fault)


def test_a_cut_after_the_last_count_costs_what_was_counted() -> None:
    fault = came(CutStream(7, Reply("look", usage=Usage(120, 30))), count=lambda text: 7).fault
    assert isinstance(fault, TryAgain) and fault.usage == Usage(120, 30)


def test_a_usage_that_makes_no_sense_is_not_taken_for_a_count() -> None:
    for name in ("zero usage", "negative usage", "huge usage", "usage in words", "missing usage"):
        reply = came(*MATRIX[name][1], count=lambda text: 77).reply
        assert reply and not reply.counted and reply.usage == Usage(77, 77), name


def test_nothing_long_reaches_the_journal() -> None:
    long = "x" * 2_000_000
    for script in (
        call_with_long_arguments(2_000_000),
        call_unknown_tool(long),
        Reply(long),
        Reply("short", thinking=(Thinking(long, "signed"),)),
    ):
        reply = came(script).reply
        assert reply and len(to_canonical_json(reply)) < 250_000
    thought = came(Reply(long)).reply
    assert thought and "characters; the rest was cut off.]\n[The reply was cut off at its limit of 800 tokens" in thought.thought


@pytest.mark.parametrize("events", range(1, EVENTS + 1))
def test_no_half_of_a_reply_is_ever_a_reply(events: int) -> None:
    for politely in (True, False):
        assert came(CutStream(events, PLAIN, politely), retries=0).reply is None
