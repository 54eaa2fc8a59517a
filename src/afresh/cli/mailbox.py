"""`afresh mailbox`: being the model by hand. DIR is what stands after `mailbox:` in --model."""

import sys

import click

from afresh.cli.common import json_option

which = click.argument("name", required=False, default="")
wait_option = click.option(
    "--wait", default=0.0, type=click.FloatRange(min=0), metavar="S", help="Seconds to wait for a request."
)


@click.group()
def command() -> None:
    """Be the model: see what a mailbox asks, and answer it."""


@command.command("list")
@click.argument("folder", metavar="DIR")
@json_option
def list_(folder: str, as_json: bool) -> None:
    """List the requests in DIR that nobody has answered yet."""
    import time

    from afresh.app.mailbox import folder_of, posts
    from afresh.cli.common import print_json, show
    from afresh.cli.views.mailbox import open_posts, open_posts_json

    found = posts(folder_of(folder))
    return print_json(open_posts_json(found)) if as_json else show(open_posts(found, time.time()))


@command.command()
@click.argument("folder", metavar="DIR")
@which
@wait_option
@json_option
def read(folder: str, name: str, wait: float, as_json: bool) -> None:
    """Show the next request in DIR, or the one whose name, number or task begins with NAME."""
    from afresh.app.mailbox import await_one, folder_of, pick
    from afresh.cli.common import print_json
    from afresh.cli.views.mailbox import post_json
    from afresh.domain.text import visible

    box = folder_of(folder)
    if wait:
        await_one(box, wait)
    post = pick(box, name)
    if as_json:
        return print_json(post_json(post))
    if post.posted.problem:
        click.secho(visible(post.posted.problem), fg="yellow", err=True)
    return click.echo(visible(post.page))


@command.command()
@click.argument("folder", metavar="DIR")
@click.argument("call", nargs=-1, metavar="[TOOL ARGUMENT=VALUE ...]")
@click.option("--to", "name", default="", metavar="NAME", help="Which request, if not the next: its name, number or task.")
@click.option("--thought", "-m", default="", help="Why, in a sentence or two; with a TOOL.")
@click.option("--file", "-f", "file", type=click.File(), default=None, help="Take the reply's JSON from a file.")
def reply(folder: str, call: tuple[str, ...], name: str, thought: str, file) -> None:
    """Answer the next request in DIR: with one call of a TOOL, or with the JSON on standard input.

    A reply that could not be used is refused at once, with all that has to be mended.
    """
    import json

    from afresh.app.mailbox import folder_of, pick, reply_to, with_call

    box = folder_of(folder)
    post = pick(box, name)
    if call:
        text = json.dumps(with_call(post, call[0], call[1:], thought), ensure_ascii=False, indent=1)
    else:
        text = (file or sys.stdin).read()
    taken = reply_to(box, post, text)
    click.echo(f"{post.posted.stem}: {', '.join(action.tool for action in taken.actions) or 'words, and no call'}")
