"""What a provider makes of a call: how much of it a cache may serve, and what was thought before the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_heading, make_table, render_text
from afresh.domain.action import Reply
from afresh.domain.prefix import PrefixComparison
from afresh.domain.turn import render_thinking
from afresh.domain.window import CallAudit

if TYPE_CHECKING:
    from rich.console import RenderableType


def provider_usage_to_json(audit: CallAudit, start: PrefixComparison, reply: Reply | None) -> dict[str, Any]:
    usage = reply.usage if reply else None
    return {
        "beginning": call_beginning_to_json(start),
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


def render_provider_usage(audit: CallAudit, start: PrefixComparison, reply: Reply | None) -> "RenderableType":
    from rich.console import Group

    parts: list[RenderableType] = [render_text(describe_cacheable(start), "dim")]
    if reply and (reply.usage.cached or reply.usage.written):
        parts.append(
            render_text(f"from the provider's cache: {reply.usage.cached:,} read, {reply.usage.written:,} written", "dim")
        )
    if audit.thinking or (reply and reply.thinking):
        parts += [render_heading("Thinking"), *map(render_text, describe_thinking(audit, reply))]
    return Group(*parts)


def describe_thinking(audit: CallAudit, reply: Reply | None) -> list[str]:
    """The budget and what was used of it, then the blocks as the provider tells them."""
    if reply is None:
        return [f"budget {audit.thinking:,} tokens, no reply yet"]
    used = f"{reply.usage.thinking:,} used" if reply.usage.thinking else "how many were used the provider does not say"
    budget = f"budget {audit.thinking:,} tokens" if audit.thinking else "no budget"
    return [f"{budget}, {used if reply.thinking else 'no thinking came'}", *map(render_thinking, reply.thinking)]


def describe_cacheable(one: PrefixComparison) -> str:
    told = f"cacheable: {one.cacheable:,} of {one.tokens:,} tokens, {one.share:.0%}"
    if not one.changed:
        return told
    return f"{told} (begins like the call before it, up to `{one.changed}`)"


def render_call_beginnings(calls: Sequence[PrefixComparison]) -> "RenderableType":
    from rich.console import Group

    table = make_table(">step", ">tokens", ">unchanged", ">cacheable", ">share", "first to differ")
    for one in calls:
        row = (str(one.step), f"{one.tokens:,}", f"{one.same:,}", f"{one.cacheable:,}", f"{one.share:.0%}", one.changed)
        table.add_row(*map(render_text, row))
    return Group(table, render_text(describe_cacheable_total(calls)))


def describe_cacheable_total(calls: Sequence[PrefixComparison]) -> str:
    later = calls[1:]
    tokens, held = sum(one.tokens for one in later), sum(one.cacheable for one in later)
    if not tokens:
        return "there is no second call yet that could begin like the first"
    return f"cacheable after the first call: {held:,} of {tokens:,} tokens, {held / tokens:.0%}"
