"""Draws how providers billed the calls: cached beginnings, paid tokens, thinking."""

from collections.abc import Sequence
from typing import Any

from afresh.app.inspect.measure_calls import CallPrice
from afresh.app.spending.read_spending import describe_paid
from afresh.context.cache_prefix import PrefixComparison
from afresh.core.prompt import CallAudit, render_thinking
from afresh.core.reply import Reply
from afresh.core.text import format_count
from afresh.views.page import Block, Heading, Page, Table


def provider_usage_to_json(audit: CallAudit, price: CallPrice, reply: Reply | None) -> dict[str, Any]:
    usage = reply.usage if reply else None
    return {
        "beginning": call_beginning_to_json(price.beginning),
        "sent": price.sent,
        "paid": price.paid,
        "paid_estimated": price.estimated,
        "thinking": {
            "budget": audit.thinking,
            "tokens": usage.thinking if usage else 0,
            "blocks": [
                {
                    "text": "" if thinking.redacted else thinking.text,
                    "signed": bool(thinking.signature),
                    "redacted": thinking.redacted,
                }
                for thinking in (reply.thinking if reply else ())
            ],
        },
        "cache": {"read": usage.cached if usage else 0, "written": usage.written if usage else 0},
    }


def call_beginning_to_json(comparison: PrefixComparison) -> dict[str, Any]:
    return {
        "step": comparison.step, "tokens": comparison.tokens, "same": comparison.same, "cacheable": comparison.cacheable,
        "share": round(comparison.share, 4),
        "changed": comparison.changed,
    }  # fmt: skip


def list_usage_blocks(audit: CallAudit, price: CallPrice, reply: Reply | None) -> list[Block]:
    start, paid = price.beginning, f"{price.sent:,} tokens sent, {describe_paid(price.paid, price.estimated)}"
    same = f" (same as the previous call up to `{start.changed}`)" if start.changed else ""
    cacheable = f"cacheable: {start.cacheable:,} of {start.tokens:,} tokens, {start.share:.0%}{same}"
    blocks: list[Block] = [[(cacheable, "dim")], [(paid, "dim")]]
    if reply and (reply.usage.cached or reply.usage.written):
        cached = f"from the provider's cache: {reply.usage.cached:,} read, {reply.usage.written:,} written"
        blocks.append([(cached, "dim")])
    if audit.thinking or (reply and reply.thinking):
        blocks += [Heading("Thinking"), *describe_thinking(audit, reply)]
    return blocks


def describe_thinking(audit: CallAudit, reply: Reply | None) -> list[str]:
    """Describe the thinking budget and its use, then the thinking blocks as the provider returns them."""
    if reply is None:
        return [f"budget {audit.thinking:,} tokens, no reply yet"]
    used = f"{reply.usage.thinking:,} used" if reply.usage.thinking else "usage not reported"
    budget = f"budget {audit.thinking:,} tokens" if audit.thinking else "no budget"
    return [f"{budget}, {used if reply.thinking else 'no thinking returned'}", *map(render_thinking, reply.thinking)]


def build_call_prices(calls: Sequence[CallPrice]) -> Page:
    rows = [
        [f"{call.step}", f"{call.sent:,}", f"{call.paid:,}", f"{start.same:,}", f"{start.cacheable:,}", f"{start.share:.0%}",
         start.changed]
        for call in calls for start in [call.beginning]
    ]  # fmt: skip
    estimated = sum(call.estimated for call in calls)
    total = f"{sum(call.sent for call in calls):,} tokens sent, {describe_paid(sum(call.paid for call in calls), estimated)}"
    if estimated:
        total += f": {format_count(estimated, 'call')} by what is unchanged, since no provider reported what it cached"
    data = [
        call_beginning_to_json(call.beginning) | {"sent": call.sent, "paid": call.paid, "paid_estimated": call.estimated}
        for call in calls
    ]
    table = Table(">step|>sent|>paid|>unchanged|>cacheable|>share|first difference", rows)
    return Page(data, [table, describe_cacheable_total([call.beginning for call in calls]), total])


def describe_cacheable_total(calls: Sequence[PrefixComparison]) -> str:
    tokens, cacheable = sum(call.tokens for call in calls[1:]), sum(call.cacheable for call in calls[1:])
    if not tokens:
        return "only one call so far, nothing to compare"
    return f"cacheable after the first call: {cacheable:,} of {tokens:,} tokens, {cacheable / tokens:.0%}"
