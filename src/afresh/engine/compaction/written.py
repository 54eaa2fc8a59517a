"""The summary by the model: the last resort, under a ceiling of its own, and used only if it holds all that it must."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Reply
from afresh.domain.passage import Passage
from afresh.domain.spend import Kind, Purchase
from afresh.domain.summary import Summary, told_line
from afresh.domain.task import Task
from afresh.domain.template import Template
from afresh.domain.text import one_line, visible
from afresh.domain.trace import Trace
from afresh.domain.window import Request
from afresh.engine.buy import Till, buy
from afresh.engine.compaction.rules import bounded, told
from afresh.engine.tokens import Counter
from afresh.errors import NeedsPerson, TryAgain

MUST = 15
LONGEST = 280
"""Names that the summary must hold, and tokens that it may have."""


@dataclass(frozen=True, slots=True)
class Written:
    summary: Summary
    reply: Reply | None = None
    note: str = ""


def written(by_rules: Summary, former: Summary, gone: frozenset[Passage], trace: Trace, ask: "Ask") -> Written:
    """The model's words in place of the lines, or the summary by rules and why it stands."""
    must = tuple(seen.name for seen in by_rules.names[:MUST])
    request = order(must, former, [told_line(line) for line in told(gone, trace)], ask)
    if request is None:
        return Written(by_rules, note="no summary by the model: its template has no room for the text")
    try:
        reply = asked(request, ask)
    except (TryAgain, NeedsPerson) as fault:
        return Written(by_rules, note=f"no summary by the model: {one_line(str(fault), 200)}")
    prose = one_line(visible(reply.thought))
    if why := unfit(prose, must, ask.counter):
        return Written(by_rules, reply, f"the model's summary is not used: {why}")
    others = tuple(seen for seen in by_rules.names if seen.name not in prose)
    return Written(bounded(replace(by_rules, prose=prose, lines=(), names=others), ask.counter), reply)


@dataclass(frozen=True, slots=True)
class Ask:
    """A call that is not the work itself, in whose name it is made, and its own ceiling."""

    till: Till
    template: Template
    counter: Counter
    kind: Kind
    task: Task
    step: int = 0
    """After which it is made."""


def asked(request: Request, ask: Ask) -> Reply:
    tokens = ask.counter.whole(request)
    purchase = Purchase(
        task=ask.task.id, project=ask.task.project, kind=ask.kind, model=ask.till.model.name, step=ask.step,
        ceiling=ask.template.ceiling, tokens=tokens, reserve=request.reserve, sections=((ask.template.type, tokens),),
        parent=ask.task.parent,
    )  # fmt: skip
    return buy(request, purchase, ask.till)


def order(must: Sequence[str], former: Summary, lines: Sequence[str], ask: Ask) -> Request | None:
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


def unfit(prose: str, must: Sequence[str], counter: Counter) -> str:
    if not prose:
        return "it is empty"
    if (tokens := counter(prose)) > LONGEST:
        return f"it has {tokens:,} tokens, {LONGEST:,} are allowed"
    missing = [name for name in must if name not in prose]
    return f"it lacks {one_line(', '.join(missing), 200)}" if missing else ""
