"""`afresh answer`: a person decides, the task goes on."""

import click

from afresh.cli.common import model_option, run_options


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[TASK] ANSWER")
@click.option("--resume", is_flag=True, help="Go on with the task at once.")
@model_option
@run_options
def command(words: tuple[str, ...], resume: bool, as_json: bool, **way) -> None:
    """Answer what TASK asks, in your own words or by an option's number.

    TASK may be left out when only one task asks. `afresh inbox` shows the questions.
    """
    from afresh.app.asking import addressed, answer
    from afresh.cli.common import desk, print_json
    from afresh.cli.views.inbox import answered_json, answered_words
    from afresh.cli.working import Way, work_and_tell

    if len(words) > 2:
        raise click.UsageError(f'put the answer in quotes: afresh answer {words[0]} "{" ".join(words[1:])}"')
    here = desk()
    task, text = addressed(here, words)
    before, state = here.store.load(task), answer(here, task, text)
    if not as_json:
        click.echo(answered_words(before, state))
    elif not resume:
        print_json(answered_json(before, state))
    if resume:
        work_and_tell(here, task, Way(as_json=as_json, **way))
