"""`afresh setup`: asks once for provider, key and model, tries one call, and writes the user's config.toml."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option
from afresh.cli.output import print_json

if TYPE_CHECKING:
    from afresh.app.set_up_model import ModelChoice
    from afresh.app.settings import Settings

PROVIDER_NAMES = ("anthropic", "openai", "openrouter", "ollama", "vllm", "llamacpp", "compatible")


@click.command("setup")
@click.option("--provider", type=click.Choice(PROVIDER_NAMES), help="compatible: another server with OpenAI's protocol.")
@click.option("--model", "-m", default="", metavar="NAME", help="The model's name at the provider.")
@click.option("--base-url", default="", metavar="URL", help="Address of your own server.")
@click.option("--key-env", default="", metavar="VARIABLE", help="Variable with the key, or keyring. Never the key itself.")
@click.option("--no-try", is_flag=True, help="Write the settings without a test call.")
@json_option
def command(provider: str | None, model: str, base_url: str, key_env: str, no_try: bool, as_json: bool) -> None:
    """Choose the model for all tasks, try it with one small call, and write it into your config.toml.

    Asks for what the options leave out. Keys stay in the environment or the keyring; none is written to a file.
    """
    from afresh.app.set_up_model import ModelChoice, refuse_bad_choice, require_key, write_choice
    from afresh.app.settings import load_user_settings

    own, asks = load_user_settings(), sys.stdin.isatty() and sys.stderr.isatty()
    if not asks:
        refuse_missing_options(provider, model)
    choice = ModelChoice(provider=provider or ask_provider(own), model=model, base_url=base_url, key=key_env)
    if asks:
        choice = complete_choice(own, choice)
    refuse_bad_choice(choice)
    if no_try:
        warn_of_missing_key(own, choice)
    else:
        require_key(own, choice)
        try_model(own, choice, asks)
    written = write_choice(choice)
    if as_json:
        return print_json({"written": written, "provider": choice.provider, "model": choice.model})
    click.echo(written)
    click.echo('next, in your repository: afresh init, then afresh run "GOAL"')


def refuse_missing_options(provider: str | None, model: str) -> None:
    from afresh.errors import BadInput

    if not provider or not model:
        raise BadInput(
            "afresh setup asks questions, and there is no terminal",
            next="pass the answers: afresh setup --provider NAME --model NAME, and --base-url or --key-env where needed",
            safe="nothing was written",
        )


def ask_provider(own: "Settings") -> str:
    """Ask which provider; those whose key was found are marked, and the first of them is the default."""
    from afresh.app.list_models import list_usable_providers

    found = {one.provider: f" (key found: {one.key})" for one in list_usable_providers(own) if one.key}
    for number, name in enumerate(PROVIDER_NAMES, 1):
        about = " (another server with OpenAI's protocol)" if name == "compatible" else found.get(name, "")
        click.echo(f"  {number} {name}{about}", err=True)
    numbers = [str(number) for number in range(1, len(PROVIDER_NAMES) + 1)]
    default = PROVIDER_NAMES.index(next(iter(found), PROVIDER_NAMES[0])) + 1
    said = click.prompt(
        "Provider", type=click.Choice((*numbers, *PROVIDER_NAMES)), default=str(default), err=True, show_choices=False
    )
    return PROVIDER_NAMES[int(said) - 1] if said.isdigit() else said


def complete_choice(own: "Settings", choice: "ModelChoice") -> "ModelChoice":
    """Ask for what is missing: the address of a server, where the key is, and the model."""
    from afresh.app.set_up_model import find_choice_route, suggest_models

    if choice.provider == "compatible" and not choice.base_url:
        address = click.prompt("Address", default="http://localhost:8000/v1", err=True)
        variable = click.prompt("Variable that holds its key (empty: none)", default="", show_default=False, err=True)
        choice = replace(choice, base_url=address, key=choice.key or variable.strip())
    found = find_choice_route(own, choice)
    if not found.key.secret and found.problem and not choice.key:
        choice = ask_key(choice, found.problem)
    if not choice.model:
        names = suggest_models(own, choice)
        if names:
            click.echo(f"  {', '.join(names)}", err=True)
        choice = replace(choice, model=click.prompt("Model", default=names[0] if names else None, err=True).strip())
    return choice


def ask_key(choice: "ModelChoice", problem: str) -> "ModelChoice":
    """Ask in which variable the key is, or store it in the keyring."""
    from afresh.app.set_up_model import can_store_key, store_choice_key

    click.echo(f"  {problem}", err=True)
    more = ", or keyring to store it there now" if can_store_key() else ""
    place = click.prompt(f"Name of the variable that holds the key{more}", err=True).strip()
    if place == "keyring":
        store_choice_key(choice, click.prompt("Key", hide_input=True, err=True))
        return choice
    return replace(choice, key=place)


def warn_of_missing_key(own: "Settings", choice: "ModelChoice") -> None:
    from afresh.app.set_up_model import find_choice_route

    if problem := find_choice_route(own, choice).problem:
        click.secho(problem, fg="yellow", err=True)


def try_model(own: "Settings", choice: "ModelChoice", asks: bool) -> None:
    """Make one small call. Raises NeedsPerson if it fails: then nothing is written."""
    from pathlib import Path

    from afresh.app.doctor import prepare_model_trial, run_model_trial
    from afresh.app.set_up_model import NOTHING_WRITTEN, add_to_settings
    from afresh.cli.output import print_rendered
    from afresh.cli.render.models import warn_of_call_cost
    from afresh.cli.render.project import render_findings
    from afresh.errors import NeedsPerson

    trial = prepare_model_trial(choice.name, add_to_settings(own, choice), Path.cwd())
    if costs := warn_of_call_cost(trial):
        click.secho(costs, dim=True, err=True)
        if asks:
            click.confirm("Make the call?", default=True, abort=True, err=True)
    findings = run_model_trial(trial)
    print_rendered(render_findings(findings))
    if wrong := next((one for one in findings if one.level == "fail"), None):
        remedy = wrong.remedy or "choose another model"
        raise NeedsPerson(
            f"{choice.name} can't be used: {wrong.detail}", next=f"{remedy}; --no-try writes it anyway", safe=NOTHING_WRITTEN
        )
