"""Renders what providers make of calls: cached beginnings, paid tokens, thinking."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType

from afresh.app.inspect.measure_calls import CallPrice
from afresh.app.spending.read_spending import describe_paid
from afresh.cli.render.parts import make_table, render_heading, render_text
from afresh.context.cache_prefix import PrefixComparison
from afresh.core.prompt import CallAudit, render_thinking
from afresh.core.reply import Reply
from afresh.core.text import format_count


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


def call_price_to_json(one: CallPrice) -> dict[str, Any]:
    return call_beginning_to_json(one.beginning) | {"sent": one.sent, "paid": one.paid, "paid_estimated": one.estimated}


def render_provider_usage(audit: CallAudit, price: CallPrice, reply: Reply | None) -> RenderableType:
    paid = f"{price.sent:,} tokens sent, {describe_paid(price.paid, price.estimated)}"
    parts: list[RenderableType] = [render_text(describe_cacheable(price.beginning), "dim"), render_text(paid, "dim")]
    if reply and (reply.usage.cached or reply.usage.written):
        parts.append(
            render_text(f"from the provider's cache: {reply.usage.cached:,} read, {reply.usage.written:,} written", "dim")
        )
    if audit.thinking or (reply and reply.thinking):
        parts += [render_heading("Thinking"), *map(render_text, describe_thinking(audit, reply))]
    return Group(*parts)


def describe_thinking(audit: CallAudit, reply: Reply | None) -> list[str]:
    """Describe the thinking budget and its use, then the thinking blocks as the provider returns them."""
    if reply is None:
        return [f"budget {audit.thinking:,} tokens, no reply yet"]
    used = f"{reply.usage.thinking:,} used" if reply.usage.thinking else "usage not reported"
    budget = f"budget {audit.thinking:,} tokens" if audit.thinking else "no budget"
    return [f"{budget}, {used if reply.thinking else 'no thinking returned'}", *map(render_thinking, reply.thinking)]


def describe_cacheable(one: PrefixComparison) -> str:
    told = f"cacheable: {one.cacheable:,} of {one.tokens:,} tokens, {one.share:.0%}"
    if not one.changed:
        return told
    return f"{told} (same as the previous call up to `{one.changed}`)"


def render_call_prices(calls: Sequence[CallPrice]) -> RenderableType:
    table = make_table(">step|>sent|>paid|>unchanged|>cacheable|>share|first difference")
    for one in calls:
        start = one.beginning
        row = (
            str(one.step), f"{one.sent:,}", f"{one.paid:,}", f"{start.same:,}", f"{start.cacheable:,}", f"{start.share:.0%}",
            start.changed,
        )  # fmt: skip
        table.add_row(*map(render_text, row))
    estimated = sum(one.estimated for one in calls)
    total = f"{sum(one.sent for one in calls):,} tokens sent, {describe_paid(sum(one.paid for one in calls), estimated)}"
    if estimated:
        total += f": {format_count(estimated, 'call')} by what is unchanged, since no provider reported what it cached"
    return Group(table, render_text(describe_cacheable_total([one.beginning for one in calls])), render_text(total))


def describe_cacheable_total(calls: Sequence[PrefixComparison]) -> str:
    later = calls[1:]
    tokens, held = sum(one.tokens for one in later), sum(one.cacheable for one in later)
    if not tokens:
        return "only one call so far, nothing to compare"
    return f"cacheable after the first call: {held:,} of {tokens:,} tokens, {held / tokens:.0%}"
