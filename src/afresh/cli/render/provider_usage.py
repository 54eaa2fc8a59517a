"""What providers make of calls: cached beginnings, paid tokens, thinking."""

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
                {"text": "" if one.redacted else one.text, "signed": bool(one.signature), "redacted": one.redacted}
                for one in (reply.thinking if reply else ())
            ],
        },
        "cache": {"read": usage.cached if usage else 0, "written": usage.written if usage else 0},
    }


def call_beginning_to_json(one: PrefixComparison) -> dict[str, Any]:
    return {
        "step": one.step, "tokens": one.tokens, "same": one.same, "cacheable": one.cacheable, "share": round(one.share, 4),
        "changed": one.changed,
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
        [f"{one.step}", f"{one.sent:,}", f"{one.paid:,}", f"{start.same:,}", f"{start.cacheable:,}", f"{start.share:.0%}",
         start.changed]
        for one in calls for start in [one.beginning]
    ]  # fmt: skip
    estimated = sum(one.estimated for one in calls)
    total = f"{sum(one.sent for one in calls):,} tokens sent, {describe_paid(sum(one.paid for one in calls), estimated)}"
    if estimated:
        total += f": {format_count(estimated, 'call')} by what is unchanged, since no provider reported what it cached"
    data = [
        call_beginning_to_json(one.beginning) | {"sent": one.sent, "paid": one.paid, "paid_estimated": one.estimated}
        for one in calls
    ]
    table = Table(">step|>sent|>paid|>unchanged|>cacheable|>share|first difference", rows)
    return Page(data, [table, describe_cacheable_total([one.beginning for one in calls]), total])


def describe_cacheable_total(calls: Sequence[PrefixComparison]) -> str:
    tokens, cacheable = sum(one.tokens for one in calls[1:]), sum(one.cacheable for one in calls[1:])
    if not tokens:
        return "only one call so far, nothing to compare"
    return f"cacheable after the first call: {cacheable:,} of {tokens:,} tokens, {cacheable / tokens:.0%}"
