"""Measures recorded calls: what they were paid, what a kept history would have been paid, and what replies drew on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from afresh.app.inspect.inspect_calls import RecordedCall, load_sections
from afresh.app.project import Project
from afresh.app.spending.read_spending import find_cache_rates
from afresh.context.cache_prefix import PrefixComparison, compare_prefix
from afresh.context.measure_yield import AnsweredCall, CallYield, measure_yields, render_reply_words
from afresh.core.cache_rates import CacheRates
from afresh.core.codec import to_canonical_json
from afresh.core.event import ActionsExecuted, CallRequested, JournalEntry, ReplyReceived
from afresh.core.prompt import CallAudit, Section
from afresh.core.reply import Reply
from afresh.core.tokens import EstimatingCounter
from afresh.views.model_calls import HistoryComparison

MAX_KEPT_OUTPUT_TOKENS = 10_000
"""Most tokens of one output: agents that keep their history cut longer ones, too."""


@dataclass(frozen=True, slots=True)
class CallPrice:
    """One call in tokens, as the provider counted them, else by our own count. `paid` weighs them by what the provider charges
    for cached and uncached input."""

    step: int
    sent: int
    paid: int
    estimated: bool
    """The provider did not report what it cached: taken from what the call shares with the one before."""
    beginning: PrefixComparison


def price_recorded_call(call: RecordedCall) -> CallPrice:
    return weigh_recorded_call(call.audit, call.beginning, call.reply, find_cache_rates(call.audit.model))


def list_call_prices(project: Project, task: str, entries: Iterable[JournalEntry] | None = None) -> list[CallPrice]:
    """Price the calls of a task, or of these entries of its journal."""
    find_rates, before, calls = cache(find_cache_rates), tuple[Section, ...](), list[CallPrice]()
    for step, audit, reply in _iterate_calls(project.store.journal(task) if entries is None else entries):
        sections = load_sections(project, audit)
        beginning = compare_prefix(step, before, sections)
        calls.append(weigh_recorded_call(audit, beginning, reply, find_rates(audit.model)))
        before = sections
    return calls


def weigh_recorded_call(audit: CallAudit, beginning: PrefixComparison, reply: Reply | None, rates: CacheRates) -> CallPrice:
    """Weigh one call, by the provider's report if there is one."""
    usage, reported = rates.estimate_usage(audit.tokens, beginning.same), False
    if reply and reply.counted and reply.usage.input:
        usage, reported = reply.usage, True
    return CallPrice(beginning.step, usage.input, round(rates.count_paid_tokens(usage)), not reported, beginning)


def compare_with_history(project: Project, task: str) -> HistoryComparison:
    """Compare with an agent with a full history over the same steps: the first prompt, and in each later call all earlier
    replies and raw outputs, each cut at 10,000 tokens, of which all but the last are cached. Files that were read are not
    counted, so its figures are lower bounds. They are our own count, scaled to the provider's."""
    prices, find_rates, before, paid, sent = list_call_prices(project, task), cache(find_cache_rates), 0, 0, 0
    own = sum(audit.tokens for _, audit, _ in _iterate_calls(project.store.journal(task)))
    whole = sum(price.sent for price in prices)
    scale = whole / own if own else 1.0
    for size, model in measure_growing_history(project, project.store.journal(task)):
        rates = find_rates(model)
        paid += rates.count_paid_tokens(rates.estimate_usage(size, before))
        sent += size
        before = size
    return HistoryComparison(
        calls=len(prices),
        sent=whole,
        paid=sum(price.paid for price in prices),
        estimated=sum(price.estimated for price in prices),
        accumulating=round(scale * sent),
        accumulating_paid=round(scale * paid),
    )


def measure_growing_history(project: Project, entries: Iterable[JournalEntry]) -> Iterator[tuple[int, str]]:
    """Yield the tokens of each call of an agent that keeps everything, and the model that was called."""
    counter, size = EstimatingCounter(), 0
    for entry in entries:
        match entry.event:
            case CallRequested(audit=audit):
                size = size or audit.tokens
                yield size, audit.model
            case ReplyReceived(reply=reply):
                size += counter(reply.thought + to_canonical_json(reply.actions))
            case ActionsExecuted(observations=observations):
                outputs = (project.store.read(seen.block) for seen in observations if seen.block)
                size += sum(min(counter(output), MAX_KEPT_OUTPUT_TOKENS) for output in outputs)
            case _:
                pass


def _iterate_calls(entries: Iterable[JournalEntry]) -> Iterator[tuple[int, CallAudit, Reply | None]]:
    """Yield each call with its reply, if it has one."""
    open_call: CallRequested | None = None
    for entry in entries:
        match entry.event:
            case CallRequested() as call:
                if open_call:
                    yield open_call.step, open_call.audit, None
                open_call = call
            case ReplyReceived(reply=reply) if open_call:
                yield open_call.step, open_call.audit, reply
                open_call = None
            case _:
                pass
    if open_call:
        yield open_call.step, open_call.audit, None


def measure_task_yield(project: Project, task: str, entries: Iterable[JournalEntry] | None = None) -> list[CallYield]:
    """Measure what replies drew on, for each call that was answered; of the task, or of these entries of its journal."""
    return measure_yields(
        AnsweredCall(step, load_sections(project, audit), render_reply_words(reply.actions))
        for step, audit, reply in _iterate_calls(project.store.journal(task) if entries is None else entries)
        if reply
    )
