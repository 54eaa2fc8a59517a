"""`afresh answer`: questions that need a person."""

import click

from afresh.cli.options import no_sandbox_option, open_current_project
from afresh.cli.output import print_page, wants_json
from afresh.views.page import Page


@click.command("answer")
@click.argument("words", nargs=-1, metavar="[TASK] [ANSWER]")
@click.option("--resume", is_flag=True, help="Resume the task right away.")
@no_sandbox_option
def command(words: tuple[str, ...], resume: bool, no_sandbox: bool) -> Page | int:
    """Answer a task's question with the number of an option or your own words; without words, list all open questions.

    TASK may be omitted if only one task has a question.
    """
    from afresh.app.dialogue.answer_question import answer_question, find_addressed_task, list_open_questions
    from afresh.cli.render.questions import build_inbox, describe_answer
    from afresh.cli.run import RunFlags, run_and_report
    from afresh.views.tasks import answer_to_json

    if len(words) > 2:
        raise click.UsageError(f'put the answer in quotes: afresh answer {words[0]} "{" ".join(words[1:])}"')
    project = open_current_project()
    if not words:
        return build_inbox(list_open_questions(project), project.clock.now())
    task, text = find_addressed_task(project, words)
    before, state = project.store.load(task), answer_question(project, task, text)
    answered = Page(answer_to_json(before, state), describe_answer(before, state))
    if not resume or state.status.over:
        return answered
    if not wants_json():
        print_page(answered)
    return run_and_report(project, task, RunFlags(no_sandbox=no_sandbox))
