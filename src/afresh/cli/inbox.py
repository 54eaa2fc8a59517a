"""`afresh inbox` and `answer`: questions that need a person."""

import click

from afresh.cli.options import add_run_options, json_option, model_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.command("inbox")
@json_option
def inbox_command(as_json: bool) -> None:
    """List open questions, oldest first, and how to answer them."""
    from afresh.app.dialogue.answer_question import list_open_questions
    from afresh.cli.render.questions import render_inbox as drawn
    from afresh.views.tasks import open_questions_to_json

    project = open_current_project()
    waiting = list_open_questions(project)
    if as_json:
        return print_json(open_questions_to_json(waiting))
    return print_rendered(drawn(waiting, project.clock.now()))


@click.command("answer")
@click.argument("words", nargs=-1, required=True, metavar="[TASK] ANSWER")
@click.option("--resume", is_flag=True, help="Resume the task right away.")
@model_option
@add_run_options
def answer_command(words: tuple[str, ...], resume: bool, as_json: bool, **way) -> None:
    """Answer a task's question with the number of an option or your own words.

    TASK may be omitted if only one task has a question. `afresh inbox` lists them.
    """
    from afresh.app.dialogue.answer_question import answer_question, find_addressed_task
    from afresh.cli.render.questions import describe_answer
    from afresh.cli.run import RunFlags, run_and_report
    from afresh.views.tasks import answer_to_json

    if len(words) > 2:
        raise click.UsageError(f'put the answer in quotes: afresh answer {words[0]} "{" ".join(words[1:])}"')
    project = open_current_project()
    task, text = find_addressed_task(project, words)
    before, state = project.store.load(task), answer_question(project, task, text)
    if not as_json:
        click.echo(describe_answer(before, state))
    elif not resume or state.status.over:
        print_json(answer_to_json(before, state))
    if resume and not state.status.over:
        run_and_report(project, task, RunFlags(as_json=as_json, **way))
