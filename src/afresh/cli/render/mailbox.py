"""Requests that wait for whoever is the model."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.app.answer_mailbox import LoadedRequest
from afresh.cli.render.widgets import make_table, render_text
from afresh.core.codec import to_plain_value
from afresh.models.mailbox_files import OpenRequest
from afresh.views.task_status import describe_age, format_time

if TYPE_CHECKING:
    from rich.console import RenderableType


def open_requests_to_json(found: Sequence[OpenRequest]) -> list[dict[str, Any]]:
    return [asdict(one) | {"since": format_time(one.since)} for one in found]


def request_to_json(post: LoadedRequest) -> dict[str, Any]:
    return {"name": post.posted.stem, "task": post.posted.task, "number": post.posted.number, "problem": post.posted.problem,
            "request": to_plain_value(post.request)}  # fmt: skip


def render_open_requests(found: Sequence[OpenRequest], now: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not found:
        return Text("No open requests.")
    table = make_table(">call", "task", "asked", "")
    for one in found:
        state = render_text(
            "waiting" if one.waited else "paused; the reply is used when the task is resumed", "" if one.waited else "dim"
        )
        if one.problem:
            state.append_text(render_text(f"\nlast reply: {one.problem.splitlines()[0]}", "yellow"))
        table.add_row(str(one.number), render_text(one.task or one.stem), describe_age(now - one.since), state)
    first = Text.assemble(
        ("afresh mailbox read DIR", "cyan"), " shows the first, ", ("afresh mailbox reply DIR", "cyan"), " answers it."
    )
    return Group(table, first)
