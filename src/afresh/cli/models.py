"""`afresh models`: lists usable models, and tests one with a real call."""

import sys

import click

from afresh.cli.output import wants_json
from afresh.views.page import Page


@click.group(invoke_without_command=True)
@click.option("--ask", is_flag=True, help="Query local servers (Ollama, vLLM, llama.cpp) for models.")
@click.pass_context
def command(context: click.Context, ask: bool) -> Page | None:
    """List your models: context window, price and where the key comes from. Sends nothing."""
    if context.invoked_subcommand:
        return None
    from afresh.app import list_models as models
    from afresh.app.settings import find_user_config, load_user_settings
    from afresh.cli.render import models as views
    from afresh.cli.render.activity import show_activity_line

    own = load_user_settings()
    with show_activity_line("asking the servers" if ask else "importing the packages of the providers"):
        overview = views.ModelsOverview(
            models.list_configured_models(own),
            models.list_usable_providers(own),
            [*models.ask_own_servers(own)] if ask else None,
            str(find_user_config()),
            tuple(models.find_package_faults().values()),
        )
    return views.build_models(overview)


@command.command()
@click.argument("name")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation before a paid call.")
def check(name: str, yes: bool) -> Page:
    """Test a model with one small call: key, address, tools, streaming.

    NAME is one of your models, or provider:model. With a paid model this costs a fraction of a cent.
    """
    from pathlib import Path

    from afresh.app.doctor import find_needless_trial, prepare_model_trial, run_model_trial
    from afresh.app.settings import load_user_settings
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.models import warn_of_call_cost
    from afresh.cli.render.project import build_findings

    if findings := find_needless_trial(name):
        return build_findings(findings)
    trial = prepare_model_trial(name, load_user_settings(), Path.cwd())
    if (costs := warn_of_call_cost(trial)) and not wants_json():
        click.secho(costs, dim=True, err=True)
    if costs and not yes and sys.stdin.isatty():
        click.confirm("Make the call?", default=True, abort=True, err=True)
    with show_activity_line(f"calling {trial.label}"):
        return build_findings(run_model_trial(trial))


@command.command()
@click.argument("name")
@click.option("--delete", is_flag=True, help="Remove the key from the keyring.")
def key(name: str, delete: bool) -> Page:
    """Store an API key in the system keyring.

    NAME is one of your models, or a provider (anthropic, openai …). The key is read without echo, or from
    standard input in a script.
    """
    from afresh.app.list_models import store_model_key
    from afresh.app.settings import load_user_settings
    from afresh.errors import BadInput

    own, secret = load_user_settings(), ""
    if not delete:
        prompt = click.prompt(f"Key for {name}", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
        secret = prompt.strip()
        if not secret:
            raise BadInput("no key was given", next=f"afresh models key {name}", safe="nothing was stored")
    done = store_model_key(own, name, secret)
    return Page({"name": name, "what": done}, done)
