"""`afresh context`: what the model was sent, to the byte."""

from pathlib import Path

import click

from afresh.cli.options import json_option, open_current_project, silent_option
from afresh.cli.output import print_json, print_rendered

step_option = click.option("--step", type=int, default=None, metavar="N", help="Step of the call (default: the last).")


@click.group()
def command() -> None:
    """Show, compare, explain and verify the calls of a task."""


@command.command()
@click.argument("task", required=False)
@step_option
@click.option("--omitted", is_flag=True, help="Show only sizes and what was left out.")
@json_option
def show(task: str | None, step: int | None, omitted: bool, as_json: bool) -> None:
    """Show one call: sections, tokens and the exact text."""
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
@click.option("--step", type=int, default=None, metavar="N", help="Compare this step with the one before it.")
@json_option
def diff(task: str | None, first: int | None, second: int | None, step: int | None, as_json: bool) -> None:
    """Compare the calls of two steps (default: the last two)."""
    from afresh.app.inspect.inspect_calls import load_call
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context import render_call_diff
    from afresh.views.model_calls import call_diff_to_json

    project = open_current_project()
    name = find_task(project, task)
    other = load_call(project, name, second or step)
    one = load_call(project, name, first or other.step - 1)
    steps = (one.step, other.step)
    if as_json:
        return print_json(call_diff_to_json(one.sections, other.sections, steps))
    return print_rendered(render_call_diff(one.sections, other.sections, steps))


@command.command()
@click.argument("task", required=False)
@json_option
def cache(task: str | None, as_json: bool) -> None:
    """Show tokens sent, paid and cacheable, call by call."""
    from afresh.app.inspect.measure_calls import list_call_prices
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.provider_usage import call_price_to_json, render_call_prices

    project = open_current_project()
    prices = list_call_prices(project, find_task(project, task))
    return print_json([call_price_to_json(one) for one in prices]) if as_json else print_rendered(render_call_prices(prices))


@command.command("yield")
@click.argument("task", required=False)
@click.option("--steps", is_flag=True, help="Show each call.")
@json_option
def yield_command(task: str | None, steps: bool, as_json: bool) -> None:
    """Show how much of what was sent the replies drew on, by section."""
    from afresh.app.inspect.measure_calls import measure_task_yield
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.context_yield import render_yield, yield_to_json

    project = open_current_project()
    calls = measure_task_yield(project, find_task(project, task))
    return print_json(yield_to_json(calls)) if as_json else print_rendered(render_yield(calls, steps))


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
@click.argument("id")
@click.option("--lines", "span", default="", metavar="A-B", help="Show only these lines.")
@json_option
def block(id: str, span: str, as_json: bool) -> None:
    """Show an archived output or section.

    The first six characters of the ID are enough.
    """
    from afresh.app.inspect.inspect_calls import read_block_text
    from afresh.core.text import escape_hidden

    text = read_block_text(open_current_project(), id, span)
    return print_json({"block": id, "text": text}) if as_json else click.echo(escape_hidden(text))


@command.command("write")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("task", required=False)
@step_option
@json_option
def write_files(folder: Path, task: str | None, step: int | None, as_json: bool) -> None:
    """Write audit and thinking of each call into FOLDER.

    The files are step_N.json and, where the provider tells it, step_N.thinking.md.
    """
    from afresh.app.inspect.inspect_calls import write_call_files
    from afresh.app.orders.tasks import find_task
    from afresh.core.text import format_count

    project = open_current_project()
    made = write_call_files(project, find_task(project, task), folder, step)
    if as_json:
        return print_json({"folder": str(folder), "files": sorted(map(str, made))})
    return click.echo(f"wrote {format_count(len(made), 'file')} to {folder}")


@command.command()
@click.argument("task", required=False)
@click.option("--step", type=int, default=None, metavar="N", help="Only the calls of this step (default: all).")
@silent_option
@json_option
def verify(task: str | None, step: int | None, as_json: bool) -> None:
    """Rebuild every call from the journal and compare."""
    from afresh.app.inspect.inspect_calls import verify_calls as rebuild
    from afresh.app.orders.tasks import find_task
    from afresh.cli.render.activity import show_activity_line

    project = open_current_project()
    name = find_task(project, task)
    with show_activity_line("rebuilding the calls"):
        calls = [one for one in rebuild(project, name) if step in (None, one.step)]
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
