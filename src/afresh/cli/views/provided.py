"""What a provider makes of a call: how much of it a cache may serve, and what was thought before the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import heading, listing, said
from afresh.domain.action import Reply
from afresh.domain.prefix import Beginning
from afresh.domain.turn import thinking_line
from afresh.domain.window import Audit

if TYPE_CHECKING:
    from rich.console import RenderableType


def provided_json(audit: Audit, start: Beginning, reply: Reply | None) -> dict[str, Any]:
    usage = reply.usage if reply else None
    return {
        "beginning": beginning_json(start),
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


def beginning_json(one: Beginning) -> dict[str, Any]:
    return {
        "step": one.step, "tokens": one.tokens, "same": one.same, "cacheable": one.cacheable, "share": round(one.share, 4),
        "changed": one.changed,
    }  # fmt: skip


def provided(audit: Audit, start: Beginning, reply: Reply | None) -> "RenderableType":
    from rich.console import Group

    parts: list[RenderableType] = [said(cacheable(start), "dim")]
    if reply and (reply.usage.cached or reply.usage.written):
        parts.append(said(f"from the provider's cache: {reply.usage.cached:,} read, {reply.usage.written:,} written", "dim"))
    if audit.thinking or (reply and reply.thinking):
        parts += [heading("Thinking"), *map(said, thought(audit, reply))]
    return Group(*parts)


def thought(audit: Audit, reply: Reply | None) -> list[str]:
    """The budget and what was used of it, then the blocks as the provider tells them."""
    if reply is None:
        return [f"budget {audit.thinking:,} tokens, no reply yet"]
    used = f"{reply.usage.thinking:,} used" if reply.usage.thinking else "how many were used the provider does not say"
    budget = f"budget {audit.thinking:,} tokens" if audit.thinking else "no budget"
    return [f"{budget}, {used if reply.thinking else 'no thinking came'}", *map(thinking_line, reply.thinking)]


def cacheable(one: Beginning) -> str:
    told = f"cacheable: {one.cacheable:,} of {one.tokens:,} tokens, {one.share:.0%}"
    if not one.changed:
        return told
    return f"{told} (begins like the call before it, up to `{one.changed}`)"


def beginnings_view(calls: Sequence[Beginning]) -> "RenderableType":
    from rich.console import Group

    table = listing(">step", ">tokens", ">unchanged", ">cacheable", ">share", "first to differ")
    for one in calls:
        row = (str(one.step), f"{one.tokens:,}", f"{one.same:,}", f"{one.cacheable:,}", f"{one.share:.0%}", one.changed)
        table.add_row(*map(said, row))
    return Group(table, said(summed(calls)))


def summed(calls: Sequence[Beginning]) -> str:
    later = calls[1:]
    tokens, held = sum(one.tokens for one in later), sum(one.cacheable for one in later)
    if not tokens:
        return "there is no second call yet that could begin like the first"
    return f"cacheable after the first call: {held:,} of {tokens:,} tokens, {held / tokens:.0%}"
