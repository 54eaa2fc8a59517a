"""`afresh context`: what the model was sent, to the byte."""

from pathlib import Path

import click

from afresh.app.inspect.inspect_calls import (
    explain_name_in_call,
    load_call,
    read_block_text,
    verify_calls,
    write_call_files,
)
from afresh.app.inspect.inspect_instructions import preview_instructions
from afresh.app.inspect.measure_calls import list_call_prices, measure_task_yield, price_recorded_call
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.cli.options import TypeOption, with_project, with_task
from afresh.cli.render import context as views
from afresh.cli.render.activity import show_activity_line
from afresh.cli.render.context_yield import build_yield
from afresh.cli.render.project import build_instructions_preview
from afresh.cli.render.provider_usage import build_call_prices, list_usage_blocks, provider_usage_to_json
from afresh.core.text import escape_hidden, format_count
from afresh.views.page import Page

task_argument = click.argument("task", required=False)
step_option = click.option("--step", type=int, default=None, metavar="N", help="Step of the call (default: the last).")


@click.group()
def command() -> None:
    """Show, compare, explain and verify the calls of a task; show which instructions it gets."""


@command.command()
@task_argument
@step_option
@click.option("--omitted", is_flag=True, help="Show only sizes and what was left out.")
@click.option(
    "--block", "id", default="", metavar="ID", help="Show an archived output or section instead; six characters are enough."
)
@click.option("--lines", "span", default="", metavar="A-B", help="With --block: only these lines.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write audit and thinking of each call to DIR instead.",
)
@with_project
def show(project: Project, task: str | None, step: int | None, omitted: bool, id: str, span: str, out: Path | None) -> Page:
    """Show one call: sections, tokens and the exact text."""
    if id:
        text = read_block_text(project, id, span)
        return Page({"block": id, "text": text}, escape_hidden(text))
    name = find_task(project, task)
    if out:
        files = write_call_files(project, name, out, step)
        wrote = f"wrote {format_count(len(files), 'file')} to {out}"
        return Page({"folder": str(out), "files": sorted(map(str, files))}, wrote)
    call = load_call(project, name, step)
    usage = call.audit, price_recorded_call(call), call.reply
    page = views.build_call(call.audit, call.sections, call.audit.omissions, call.step, call.reported, call.drawn)
    texts = views.list_section_texts(() if omitted else call.sections)
    assert isinstance(page.blocks, list)
    blocks = [*views.describe_origin(call.step, call.origin), *page.blocks, *list_usage_blocks(*usage), *texts]
    origin = {"base": call.origin.base, "why": call.origin.why}
    return Page(page.data | origin | provider_usage_to_json(*usage), blocks)


@command.command()
@task_argument
@click.argument("first", type=int, required=False)
@click.argument("second", type=int, required=False)
@with_task
def diff(project: Project, task: str, first: int | None, second: int | None) -> Page:
    """Compare the calls of two steps (default: the last two)."""
    other = load_call(project, task, second)
    call = load_call(project, task, first or other.step - 1)
    return views.build_call_diff(call.sections, other.sections, (call.step, other.step))


@command.command()
@task_argument
@click.option("--sections", is_flag=True, help="Show how much of each section the replies used instead.")
@with_task
def cost(project: Project, task: str, sections: bool) -> Page:
    """Show tokens sent, paid and cacheable, call by call."""
    if sections:
        return build_yield(measure_task_yield(project, task))
    return build_call_prices(list_call_prices(project, task))


@command.command()
@click.argument("name")
@task_argument
@step_option
@with_task
def why(project: Project, task: str, name: str, step: int | None) -> Page:
    """Explain why NAME is, or is not, in a call.

    NAME is an identifier, a path or any text. If it was dropped, this shows when, why and how to get it back.
    """
    return views.build_name_explanation(explain_name_in_call(project, task, name, step))


@command.command()
@task_argument
@with_task
def verify(project: Project, task: str) -> Page:
    """Rebuild every call from the journal and compare."""
    with show_activity_line("rebuilding the calls"):
        calls = list(verify_calls(project, task))
    lines = list[str]()
    for call in calls:
        if not call.same:
            archived = "archived text is what was sent" if call.is_intact else "archived text differs, too"
            lines.append(f"step {call.step}: recorded {call.recorded[:16]}, rebuilt {call.hash[:16]}: DIFFERENT ({archived})")
    wrong = len(lines)
    lines.append(f"{len(calls) - wrong} of {len(calls)} calls of {task} rebuilt byte for byte")
    if wrong:
        lines.append("Calls made by another version of afresh differ: each version builds prompts by its own rules.")
    data = [
        {"step": call.step, "recorded": call.recorded, "rebuilt": call.hash, "same": call.same, "intact": call.is_intact}
        for call in calls
    ]
    return Page(data, "\n".join(lines), int(bool(wrong)))


@command.command("instructions")
@click.argument("path", default="", metavar="[PATH]")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
def show_instructions(path: str, type_: str) -> Page:
    """Show the instructions for work on PATH.

    They come from AGENT.md, CLAUDE.md and the like; each is shown with its file.
    """
    return build_instructions_preview(preview_instructions(Path.cwd(), path, type_))
