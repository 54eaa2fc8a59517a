"""`afresh mailbox`: answers model requests by hand. DIR is the folder after `mailbox:` in --model."""

import sys

import click

from afresh.cli.options import json_option
from afresh.cli.output import print_json, print_rendered

request_argument = click.argument("name", required=False, default="")
wait_option = click.option(
    "--wait", default=0.0, type=click.FloatRange(min=0), metavar="S", help="Wait up to S seconds for a request."
)


@click.group()
def command() -> None:
    """Play the model by hand: list, read and answer requests."""


@command.command("list")
@click.argument("folder", metavar="DIR")
@json_option
def list_command(folder: str, as_json: bool) -> None:
    """List the unanswered requests in DIR."""
    import time

    from afresh.app.dialogue.answer_mailbox import find_mailbox_folder, list_mailbox_requests
    from afresh.cli.render.models import open_requests_to_json, render_open_requests

    found = list_mailbox_requests(find_mailbox_folder(folder))
    return print_json(open_requests_to_json(found)) if as_json else print_rendered(render_open_requests(found, time.time()))


@command.command()
@click.argument("folder", metavar="DIR")
@request_argument
@wait_option
@json_option
def read(folder: str, name: str, wait: float, as_json: bool) -> None:
    """Show the next request in DIR, or the one called NAME.

    NAME is the beginning of a request's name, number or task.
    """
    from afresh.app.dialogue.answer_mailbox import await_request, find_mailbox_folder, pick_request
    from afresh.cli.render.models import request_to_json
    from afresh.core.text import escape_hidden

    box = find_mailbox_folder(folder)
    if wait:
        await_request(box, wait)
    post = pick_request(box, name)
    if as_json:
        return print_json(request_to_json(post))
    if post.posted.problem:
        click.secho(escape_hidden(post.posted.problem), fg="yellow", err=True)
    return click.echo(escape_hidden(post.page))


@command.command()
@click.argument("folder", metavar="DIR")
@click.argument("call", nargs=-1, metavar="[TOOL ARGUMENT=VALUE ...]")
@click.option("--to", "name", default="", metavar="NAME", help="Request to answer: name, number or task (default: the next).")
@click.option("--thought", "-m", default="", help="The reasoning to send along with a TOOL call.")
@click.option("--file", "-f", "file", type=click.File(), default=None, help="Read the JSON reply from a file.")
@json_option
def reply(folder: str, call: tuple[str, ...], name: str, thought: str, file, as_json: bool) -> None:
    """Answer the next request in DIR.

    Give a TOOL call, or JSON on standard input.

    An invalid reply is rejected with a list of everything to fix.
    """
    import json

    from afresh.app.dialogue.answer_mailbox import build_tool_reply, find_mailbox_folder, pick_request, post_reply

    box = find_mailbox_folder(folder)
    post = pick_request(box, name)
    text = (
        json.dumps(build_tool_reply(post, call[0], call[1:], thought), ensure_ascii=False, indent=1)
        if call
        else (file or sys.stdin).read()
    )
    tools = [action.tool for action in post_reply(box, post, text).actions]
    if as_json:
        return print_json({"request": post.posted.stem, "tools": tools})
    return click.echo(f"{post.posted.stem}: {', '.join(tools) or 'text without a tool call'}")
