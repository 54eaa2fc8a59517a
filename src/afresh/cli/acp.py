"""`afresh acp`: lets an editor drive afresh by the Agent Client Protocol."""

import sys

import click

from afresh.cli.options import TypeOption, model_option, no_sandbox_option


@click.command("acp")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--check", "-c", "checks", multiple=True, metavar="COMMAND", help="Command that must exit 0. Repeatable.")
@click.option("--with-changes", is_flag=True, help="Include the uncommitted changes of your checkout.")
@model_option
@no_sandbox_option
def command(type_: str, checks: tuple[str, ...], with_changes: bool, model: str, no_sandbox: bool) -> None:
    """Serve an editor over standard input and output (Agent Client Protocol).

    Your editor starts this command. In its settings, name `afresh` with the argument `acp` as an agent.
    """
    from importlib.util import find_spec

    from afresh.errors import BadInput, NeedsPerson, suggest_extra

    if find_spec("acp") is None:
        raise NeedsPerson("the package agent-client-protocol is not installed", next=suggest_extra("acp"))
    if sys.stdin.isatty():
        raise BadInput(
            "`afresh acp` is started by an editor", next="name `afresh acp` as an agent in its settings; `afresh chat` talks here"
        )
    from afresh.acp.serve import serve_editor
    from afresh.acp.session import EditorOptions
    from afresh.app.dialogue.conversation import ConversationOrder

    serve_editor(EditorOptions(ConversationOrder(type_, checks, with_changes), model, no_sandbox))
