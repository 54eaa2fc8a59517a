"""`afresh mailbox`: answers model requests by hand. DIR is the folder after `mailbox:` in --model."""

import sys

import click

from afresh.cli.output import wants_json
from afresh.views.page import Page


@click.command("mailbox")
@click.argument("folder", metavar="DIR")
@click.argument("call", nargs=-1, metavar="[TOOL [ARGUMENT=VALUE]...]")
@click.option("--list", "-l", "lists", is_flag=True, help="List the open requests instead.")
@click.option("--request", "-r", "name", default="", metavar="NAME", help="Which request (default: the next).")
@click.option("--wait", default=0.0, type=float, metavar="S", help="Wait up to S seconds for a request.")
@click.option("--thought", "-t", default="", metavar="TEXT", help="The reasoning to send along with a TOOL call.")
def command(folder: str, call: tuple[str, ...], lists: bool, name: str, wait: float, thought: str) -> Page:
    """Play the model by hand: show the next request in DIR, or answer it with a TOOL call.

    `-` in place of TOOL reads a whole reply, as JSON, from standard input. NAME is the beginning of a request's name, its
    number or its task. An invalid reply is refused with a list of everything to fix.
    """
    import json
    import time

    from afresh.app.dialogue import answer_mailbox as mailbox
    from afresh.cli.render.models import build_open_requests, request_to_json
    from afresh.core.text import escape_hidden

    box = mailbox.find_mailbox_folder(folder)
    if wait:
        mailbox.await_request(box, wait)
    if lists:
        return build_open_requests(mailbox.list_mailbox_requests(box), time.time())
    post = mailbox.pick_request(box, name)
    if not call:
        if post.posted.problem and not wants_json():
            click.secho(escape_hidden(post.posted.problem), fg="yellow", err=True)
        return Page(request_to_json(post), escape_hidden(post.page))
    tool_reply = mailbox.build_tool_reply(post, call[0], call[1:], thought) if call != ("-",) else None
    text = json.dumps(tool_reply, ensure_ascii=False, indent=1) if tool_reply else sys.stdin.read()
    tools = [action.tool for action in mailbox.post_reply(box, post, text).actions]
    text = f"{post.posted.stem}: {', '.join(tools) or 'text without a tool call'}"
    return Page({"request": post.posted.stem, "tools": tools}, text)
