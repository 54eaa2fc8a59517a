"""Requests that wait for whoever is the model."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.app.mailbox import Post, Posted
from afresh.cli.views.inbox import ago
from afresh.cli.views.parts import listing, said
from afresh.domain.codec import encode
from afresh.projections.standing import iso

if TYPE_CHECKING:
    from rich.console import RenderableType


def open_posts_json(found: Sequence[Posted]) -> list[dict[str, Any]]:
    return [asdict(one) | {"since": iso(one.since)} for one in found]


def post_json(post: Post) -> dict[str, Any]:
    return {"name": post.posted.stem, "task": post.posted.task, "number": post.posted.number, "problem": post.posted.problem,
            "request": encode(post.request)}  # fmt: skip


def open_posts(found: Sequence[Posted], now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not found:
        return Text("No request waits for an answer.")
    table = listing(">call", "task", "asked", "")
    for one in found:
        state = said("waits" if one.waited else "nobody waits now; taken when the task is resumed", "" if one.waited else "dim")
        if one.problem:
            state.append_text(said(f"\nlast reply: {one.problem.splitlines()[0]}", "yellow"))
        table.add_row(str(one.number), said(one.task or one.stem), ago(now - one.since), state)
    first = Text.assemble(
        ("afresh mailbox read DIR", "cyan"), " shows the first of them, ", ("afresh mailbox reply DIR", "cyan"), " answers it."
    )
    return Group(table, first)
