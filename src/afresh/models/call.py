"""The only way to call a model: the worst-case cost is booked before the call and settled after it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from afresh.core.codec import make_encodable
from afresh.core.progress_event import CallBegan, CallDelayed, CallEnded, ProgressListener, ReplyStreamed, ignore_progress
from afresh.core.prompt import Prompt, Request
from afresh.core.rate_limit import CallTurn
from afresh.core.redaction import redact_value
from afresh.core.reply import Reply, ReplyNotice, ToolCallPiece
from afresh.core.spending import CallBooking, CallPurpose
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.template import Template
from afresh.core.tokens import EstimatingCounter
from afresh.errors import AfreshError, OverCeiling, TryAgain, blame_model
from afresh.ports.model import Ledger, Model, ReplyListener

MAX_REPLY_RETRIES = 2
MAX_SLEEP_SECONDS = 3.0
"""Between two looks at whether the worker must stop."""


@dataclass(frozen=True, slots=True)
class ModelGate:
    """The model, the ledger, and the listener for the progress of a call."""

    model: Model
    ledger: Ledger
    tell: ProgressListener = ignore_progress
    retries: int = MAX_REPLY_RETRIES
    """For a reply that broke off: each attempt is booked as a separate call, since the provider may charge for it."""
    check_cancelled: Callable[[], None] = lambda: None
    """Raises if the worker must stop: then nothing is bought."""
    sleep: Callable[[float], None] = time.sleep


def call_model(request: Request, booking: CallBooking, gate: ModelGate) -> Reply:
    """OverLimit before anything is sent, if a limit of the user's does not allow the worst that the call may cost."""
    if booking.tokens + request.reserve > booking.ceiling:
        need = booking.tokens + request.reserve
        raise OverCeiling(f"a call of kind {booking.kind} needs {need:,} tokens, {booking.ceiling:,} is its limit")
    request = redact_request(request)
    for again in range(gate.retries):
        try:
            return _call_once(request, booking, gate)
        except TryAgain as fault:
            if fault.usage is None:
                raise
            wait = 2.0**again if fault.wait is None else fault.wait
            gate.tell(CallDelayed(f"{fault}; asking again in {wait:.0f} s"))
            sleep_unless_cancelled(wait, gate)
    return _call_once(request, booking, gate)


def redact_request(request: Request) -> Request:
    """The request with secrets redacted. Gathered context was redacted before."""
    shown = redact_value(request)
    return shown if shown is request else replace(shown, breaks=())


def _call_once(request: Request, booking: CallBooking, gate: ModelGate) -> Reply:
    gate.check_cancelled()
    turn = wait_for_turn(booking, gate)
    booked = book_call(booking, turn, gate)
    gate.tell(CallBegan(gate.model.name, booking.kind))
    try:
        with blame_model():
            reply = make_encodable(gate.model.propose(request, stream_reply(gate.tell, gate.model.name)))
    except AfreshError as fault:
        gate.ledger.cancel(booked, fault)
        gate.tell(CallEnded(gate.model.name, ok=False))
        raise
    gate.tell(CallEnded(gate.model.name, ok=True))
    if not reply.counted:  # then what was sent is counted in one way everywhere: as the limit counts it
        reply = replace(reply, usage=replace(reply.usage, input=booking.tokens))
    gate.ledger.end_turn(turn, reply.usage.tokens or booking.tokens)
    return replace(reply, cost=gate.ledger.settle(booked, reply))


def wait_for_turn(booking: CallBooking, gate: ModelGate) -> CallTurn:
    """Wait until the user's rate limits let the call begin. A worker that is stopped meanwhile gives its turn back."""
    turn = gate.ledger.take_turn(booking)
    if turn.wait > 0:
        gate.tell(CallDelayed(f"waiting {turn.wait:.0f} s for its turn: your limit is {turn.limit}"))
        try:
            sleep_unless_cancelled(turn.wait, gate)
        except BaseException:
            gate.ledger.end_turn(turn, 0)
            raise
    return turn


def book_call(booking: CallBooking, turn: CallTurn, gate: ModelGate) -> str:
    """Book the call. If no limit allows it, give the turn back."""
    try:
        return gate.ledger.book(booking)
    except BaseException:
        gate.ledger.end_turn(turn, 0)
        raise


def sleep_unless_cancelled(seconds: float, gate: ModelGate) -> None:
    """Sleep in parts. The worker may be stopped between them."""
    while seconds > 0:
        part = min(seconds, MAX_SLEEP_SECONDS)
        gate.sleep(part)
        seconds -= part
        gate.check_cancelled()


def make_step_booking(window: Prompt, state: State, model: str) -> CallBooking:
    """The next step of a task."""
    return CallBooking(
        task=state.task.id,
        project=state.task.project,
        kind=CallPurpose.DELEGATE if state.task.parent else CallPurpose.WORK,
        model=model,
        step=state.work.step + 1,
        parent=state.task.parent,
        ceiling=window.budget,
        tokens=window.tokens,
        reserve=window.request.reserve,
        sections=tuple((section.name, section.tokens) for section in window.sections),
    )


def stream_reply(tell: ProgressListener, model: str) -> ReplyListener:
    """Report the pieces of a reply as they come in; a notice says why the reply takes long."""
    characters = 0

    def hear(piece: str) -> None:
        nonlocal characters
        if isinstance(piece, ReplyNotice):
            characters = 0
            return tell(CallDelayed(piece))
        characters += len(piece)
        tell(ReplyStreamed(model, piece, characters, not isinstance(piece, ToolCallPiece)))

    return hear


@dataclass(frozen=True, slots=True)
class SideCall:
    """A call that is not the work itself, in whose name it is made, and its own ceiling."""

    gate: ModelGate
    template: Template
    counter: EstimatingCounter
    kind: CallPurpose
    task: Task
    step: int = 0
    """After which it is made."""


def make_side_call(request: Request, ask: SideCall) -> Reply:
    tokens = ask.counter.whole(request)
    booking = CallBooking(
        task=ask.task.id, project=ask.task.project, kind=ask.kind, model=ask.gate.model.name, step=ask.step,
        ceiling=ask.template.ceiling, tokens=tokens, reserve=request.reserve, sections=((ask.template.type, tokens),),
        parent=ask.task.parent,
    )  # fmt: skip
    return call_model(request, booking, ask.gate)
