"""`afresh context`: what the model was sent, to the byte."""

from pathlib import Path

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

step_option = click.option("--step", type=int, default=None, metavar="N", help="Step of the call (default: the last).")


@click.group()
def command() -> None:
    """Show, compare, explain and verify the calls of a task."""


@command.command()
@click.argument("task", required=False)
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
@json_option
def show(task: str | None, step: int | None, omitted: bool, id: str, span: str, out: Path | None, as_json: bool) -> None:
    """Show one call: sections, tokens and the exact text."""
    if id:
        return show_block(id, span, as_json)
    if out:
        return write_calls(task, out, step, as_json)
    from afresh.app.inspect.inspect_calls import load_call
    from afresh.app.inspect.measure_calls import price_recorded_call
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context import render_call, render_prompt_origin, render_section_texts
    from afresh.cli.render.provider_usage import provider_usage_to_json, render_provider_usage
    from afresh.views.model_calls import call_to_json

    project = open_current_project()
    one = load_call(project, find_task(project, task), step)
    given = one.audit, price_recorded_call(one), one.reply
    if as_json:
        shown = call_to_json(one.audit, one.sections, one.audit.omissions, one.step, one.reported, one.drawn)
        return print_json({**shown, "base": one.origin.base, "why": one.origin.why, **provider_usage_to_json(*given)})
    print_rendered(render_prompt_origin(one.step, one.origin))
    print_rendered(render_call(one.audit, one.sections, one.audit.omissions, one.step, one.reported, one.drawn))
    print_rendered(render_provider_usage(*given))
    return print_rendered(render_section_texts(() if omitted else one.sections))


@command.command()
@click.argument("task", required=False)
@click.argument("first", type=int, required=False)
@click.argument("second", type=int, required=False)
@json_option
def diff(task: str | None, first: int | None, second: int | None, as_json: bool) -> None:
    """Compare the calls of two steps (default: the last two)."""
    from afresh.app.inspect.inspect_calls import load_call
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context import render_call_diff
    from afresh.views.model_calls import call_diff_to_json

    project = open_current_project()
    name = find_task(project, task)
    other = load_call(project, name, second)
    one = load_call(project, name, first or other.step - 1)
    steps = (one.step, other.step)
    if as_json:
        return print_json(call_diff_to_json(one.sections, other.sections, steps))
    return print_rendered(render_call_diff(one.sections, other.sections, steps))


@command.command()
@click.argument("task", required=False)
@click.option("--sections", is_flag=True, help="Show how much of each section the replies drew on instead.")
@json_option
def cost(task: str | None, sections: bool, as_json: bool) -> None:
    """Show tokens sent, paid and cacheable, call by call."""
    from afresh.app.inspect.measure_calls import list_call_prices, measure_task_yield
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context_yield import render_yield, yield_to_json
    from afresh.cli.render.provider_usage import call_price_to_json, render_call_prices

    project = open_current_project()
    name = find_task(project, task)
    if sections:
        calls = measure_task_yield(project, name)
        return print_json(yield_to_json(calls)) if as_json else print_rendered(render_yield(calls))
    prices = list_call_prices(project, name)
    return print_json([call_price_to_json(one) for one in prices]) if as_json else print_rendered(render_call_prices(prices))


@command.command()
@click.argument("name")
@click.argument("task", required=False)
@step_option
@json_option
def why(name: str, task: str | None, step: int | None, as_json: bool) -> None:
    """Explain why NAME is, or is not, in a call.

    NAME is an identifier, a path or any text. If it was dropped, this shows when, why and how to get it back.
    """
    from afresh.app.inspect.inspect_calls import explain_name_in_call as explain
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context import name_explanation_to_json, render_name_explanation

    project = open_current_project()
    told = explain(project, find_task(project, task), name, step)
    if as_json:
        return print_json(name_explanation_to_json(told))
    return print_rendered(render_name_explanation(told))


@command.command()
@click.argument("task", required=False)
@json_option
def verify(task: str | None, as_json: bool) -> None:
    """Rebuild every call from the journal and compare."""
    from afresh.app.inspect.inspect_calls import verify_calls as rebuild
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.activity import show_activity_line

    project = open_current_project()
    name = find_task(project, task)
    with show_activity_line("rebuilding the calls"):
        calls = list(rebuild(project, name))
    wrong = [one for one in calls if not one.same]
    if as_json:
        print_json(
            [
                {"step": one.step, "recorded": one.recorded, "rebuilt": one.hash, "same": one.same, "intact": one.is_intact}
                for one in calls
            ]
        )
    else:
        for one in wrong:
            archived = "archived text is what was sent" if one.is_intact else "archived text differs, too"
            click.echo(f"step {one.step}: recorded {one.recorded[:16]}, rebuilt {one.hash[:16]}: DIFFERENT ({archived})")
        click.echo(f"{len(calls) - len(wrong)} of {len(calls)} calls of {name} rebuilt byte for byte")
        if wrong:
            click.echo("Calls made by another version of afresh differ: each version builds prompts by its own rules.")
    if wrong:
        raise SystemExit(1)


def show_block(id: str, span: str, as_json: bool) -> None:
    from afresh.app.inspect.inspect_calls import read_block_text
    from afresh.core.text import escape_hidden

    text = read_block_text(open_current_project(), id, span)
    return print_json({"block": id, "text": text}) if as_json else click.echo(escape_hidden(text))


def write_calls(task: str | None, folder: Path, step: int | None, as_json: bool) -> None:
    """The files are step_N.json and, where the provider tells it, step_N.thinking.md."""
    from afresh.app.inspect.inspect_calls import write_call_files
    from afresh.app.orders.tasks import find_task
    from afresh.core.text import format_count

    project = open_current_project()
    made = write_call_files(project, find_task(project, task), folder, step)
    if as_json:
        return print_json({"folder": str(folder), "files": sorted(map(str, made))})
    return click.echo(f"wrote {format_count(len(made), 'file')} to {folder}")
