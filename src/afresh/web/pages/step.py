"""A step: its result with the reason, and the exact prompt that it began with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from afresh.app.inspect.inspect_calls import RecordedCall, load_call, load_sections, read_block_text, render_thinking
from afresh.app.inspect.measure_calls import price_recorded_call
from afresh.app.inspect.read_steps import list_step_changes, read_step_page
from afresh.app.project import Project
from afresh.core.change import Change
from afresh.core.codec import to_plain_value
from afresh.core.prompt import Section
from afresh.core.state import State
from afresh.core.text import to_visible_json_lines
from afresh.errors import BadInput, NotPossible
from afresh.views.model_calls import call_diff_to_json, name_sections
from afresh.views.section_yield import is_sent_first, share_drawn_on
from afresh.web.pages.task import load_task_head
from afresh.web.visit import PageRoute, Visit


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A section of the prompt."""

    name: str
    section: Section
    start: int
    """Tokens before it."""
    drawn: float | None
    """Share of it that replies drew on; None as long as there is no reply."""
    compared: dict[str, Any]
    """The difference from the prompt of the step before."""


def show_step(visit: Visit) -> Response:
    head = load_task_head(visit, "steps")
    state, number = head.state, read_step_number(visit)
    page = read_step_page(visit.project, state.task.id, number, number)
    step = next((one for one in page.steps if one.step == number), None)
    if step is None:
        raise BadInput(f"task {state.task.id} has no step {number}", next=f"it has steps 1 to {state.work.step}")
    call = load_call(visit.project, state.task.id, number)
    before = load_sections_before(visit.project, state, number)
    diff = call_diff_to_json(before, call.sections, (number - 1, number))
    changes, why = list_changes_of_step(visit.project, state, step)
    return visit.show(
        "step.html",
        head=head,
        one=step,
        call=call,
        price=price_recorded_call(call),
        rows=list_prompt_rows(call, diff["sections"]),
        gone=[row for row in diff["sections"] if row["compared"] == "removed"],
        first=not before,
        changes=changes,
        why_no_changes=why,
        thinking=render_thinking(call.reply) if call.reply and call.reply.thinking else "",
        arguments=render_arguments,
        is_sent_first=is_sent_first,
        lines=[line for line in page.lines if line["step"] == number and line["kind"] != "settled"],
    )


def read_step_number(visit: Visit) -> int:
    text = visit.get_part("step")
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10):
        raise BadInput(f"{text!r} is not a step", next="use the links of the task")
    return int(text)


def load_sections_before(project: Project, state: State, number: int) -> Sequence[Section]:
    """Return the prompt of the step before; empty for the first one."""
    steps = read_step_page(project, state.task.id, number - 1, number - 1).steps if number > 1 else ()
    return load_sections(project, steps[-1].call) if steps else ()


def list_prompt_rows(call: RecordedCall, diff: Sequence[dict[str, Any]]) -> list[PromptRow]:
    compared = {row["name"]: row for row in diff}
    rows, start = list[PromptRow](), 0
    shares = [share_drawn_on(section_yield) for section_yield in call.drawn] or [None] * len(call.sections)
    for (name, section), share in zip(name_sections(call.sections).items(), shares, strict=True):
        rows.append(PromptRow(name, section, start, share, compared[name]))
        start += section.tokens
    return rows


def list_changes_of_step(project: Project, state: State, value: Any) -> tuple[Sequence[Change], str]:
    try:
        return list_step_changes(project.paths.root, state, value), ""
    except NotPossible as fault:
        return (), fault.what


def render_arguments(arguments: Any) -> list[tuple[str, str]]:
    """Return the arguments of an action as text: words as they are, anything else as JSON."""
    plain = to_plain_value(arguments)
    return [(name, value if isinstance(value, str) else to_visible_json_lines({name: value})) for name, value in plain.items()]


def show_block(visit: Visit) -> Response:
    block = visit.get_part("block")
    return visit.show("block.html", block=block, text=read_block_text(visit.project, block))


ROUTES = [PageRoute("/tasks/{task}/steps/{step}", show_step), PageRoute("/blocks/{block}", show_block)]
