"""`afresh graph`: what waits for what."""

import click

from afresh.cli.options import json_option, read_current_tasks


@click.command("graph")
@click.argument("task", required=False)
@click.option("--dot", is_flag=True, help="Print DOT for Graphviz.")
@click.option("--mermaid", is_flag=True, help="Print Mermaid, as Markdown pages show it.")
@json_option
def command(task: str | None, dot: bool, mermaid: bool, as_json: bool) -> None:
    """Show which tasks wait for which: each above those it waits for. With TASK, only what has to do with it."""
    from afresh.app.queue.read_tasks import find_task_id
    from afresh.cli.output import measure_width, print_json
    from afresh.views.task_graph import draw_graph_lines, graph_to_json, read_task_graph, render_dot, render_mermaid

    if dot + mermaid + as_json > 1:
        raise click.UsageError("give one of --dot, --mermaid and --json")
    project = read_current_tasks()
    graph = read_task_graph(project.queue, find_task_id(project.queue, project.export_folder, task) if task else "")
    if as_json:
        return print_json(graph_to_json(graph))
    if dot or mermaid:
        return click.echo(render_dot(graph) if dot else render_mermaid(graph))
    for line in draw_graph_lines(graph, measure_width()) or ["no task waits for another"]:
        click.echo(line)
    if not graph.is_whole:
        click.echo("There are more open tasks: name one to see what has to do with it.", err=True)
    return None
