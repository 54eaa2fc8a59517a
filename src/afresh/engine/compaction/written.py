"""The summary by the model: the last resort, under a ceiling of its own, and used only if it holds all that it must."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Reply
from afresh.domain.passage import Passage
from afresh.domain.spend import CallPurpose, CallBooking
from afresh.domain.summary import Summary, render_summary_line
from afresh.domain.task import Task
from afresh.domain.template import Template
from afresh.domain.text import to_one_line, escape_hidden
from afresh.domain.trace import Trace
from afresh.domain.window import Request
from afresh.engine.buy import ModelGate, call_model
from afresh.engine.compaction.rules import fit_summary, summarise_steps
from afresh.engine.tokens import EstimatingCounter
from afresh.errors import NeedsPerson, TryAgain

MAX_REQUIRED_SUMMARY_NAMES = 15
MAX_MODEL_SUMMARY_TOKENS = 280
"""Names that the summary must hold, and tokens that it may have."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    summary: Summary
    reply: Reply | None = None
    note: str = ""


def summarise_by_model(
    by_rules: Summary, former: Summary, gone: frozenset[Passage], trace: Trace, ask: "SideCall"
) -> WrittenSummary:
    """The model's words in place of the lines, or the summary by rules and why it stands."""
    must = tuple(seen.name for seen in by_rules.names[:MAX_REQUIRED_SUMMARY_NAMES])
    request = _build_summary_request(must, former, [render_summary_line(line) for line in summarise_steps(gone, trace)], ask)
    if request is None:
        return WrittenSummary(by_rules, note="no summary by the model: its template has no room for the text")
    try:
        reply = make_side_call(request, ask)
    except (TryAgain, NeedsPerson) as fault:
        return WrittenSummary(by_rules, note=f"no summary by the model: {to_one_line(str(fault), 200)}")
    prose = to_one_line(escape_hidden(reply.thought))
    if why := _find_summary_fault(prose, must, ask.counter):
        return WrittenSummary(by_rules, reply, f"the model's summary is not used: {why}")
    others = tuple(seen for seen in by_rules.names if seen.name not in prose)
    return WrittenSummary(fit_summary(replace(by_rules, prose=prose, lines=(), names=others), ask.counter), reply)


@dataclass(frozen=True, slots=True)
class SideCall:
    """A call that is not the work itself, in whose name it is made, and its own ceiling."""

    till: ModelGate
    template: Template
    counter: EstimatingCounter
    kind: CallPurpose
    task: Task
    step: int = 0
    """After which it is made."""


def make_side_call(request: Request, ask: SideCall) -> Reply:
    tokens = ask.counter.whole(request)
    purchase = CallBooking(
        task=ask.task.id, project=ask.task.project, kind=ask.kind, model=ask.till.model.name, step=ask.step,
        ceiling=ask.template.ceiling, tokens=tokens, reserve=request.reserve, sections=((ask.template.type, tokens),),
        parent=ask.task.parent,
    )  # fmt: skip
    return call_model(request, purchase, ask.till)


def _build_summary_request(must: Sequence[str], former: Summary, lines: Sequence[str], ask: SideCall) -> Request | None:
    """The newest lines that fit. Nothing when there is no room for any."""
    layout = ask.template.at("")
    reserve = int(ask.template.ceiling * layout.reserve)
    for first in range(len(lines)):
        parts = [
            ("Identifiers that must stand in the summary", " ".join(must) or "none"),
            ("Summary so far", former.text or "none"),
            ("What was done since", "\n".join(lines[first:])),
        ]
        message = "\n\n".join(f"## {title}\n{body}" for title, body in parts)
        request = Request(layout.system, message, (), reserve)
        if ask.counter.whole(request) + reserve <= ask.template.ceiling:
            return request
    return None


def _find_summary_fault(prose: str, must: Sequence[str], counter: EstimatingCounter) -> str:
    if not prose:
        return "it is empty"
    if (tokens := counter(prose)) > MAX_MODEL_SUMMARY_TOKENS:
        return f"it has {tokens:,} tokens, {MAX_MODEL_SUMMARY_TOKENS:,} are allowed"
    missing = [name for name in must if name not in prose]
    return f"it lacks {to_one_line(', '.join(missing), 200)}" if missing else ""
