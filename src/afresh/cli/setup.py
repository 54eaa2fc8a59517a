"""`afresh setup`: asks for provider, key and model, tries one call, writes the user's config.toml, and sets up the repository."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from afresh.app.doctor import prepare_model_trial, run_model_trial
from afresh.app.list_models import list_usable_providers
from afresh.app.project import init_project, open_project
from afresh.app.set_up_model import (
    COMPATIBLE,
    MODEL_EXAMPLES,
    NOTHING_WRITTEN,
    ModelChoice,
    add_to_settings,
    can_store_key,
    find_choice_route,
    find_key_place_fault,
    find_usual_address,
    is_key_text,
    refuse_bad_choice,
    require_key,
    store_choice_key,
    suggest_models,
    write_choice,
)
from afresh.app.set_up_model import find_address_fault as find_fault
from afresh.app.settings import Settings, load_user_settings
from afresh.cli.output import echo_wrapped, print_blocks, wants_json
from afresh.cli.render.activity import show_activity_line
from afresh.cli.render.models import warn_of_call_cost
from afresh.cli.render.project import build_findings
from afresh.errors import BadInput, NeedsPerson
from afresh.views.page import Page

PROVIDER_NAMES = ("anthropic", "openai", "openrouter", "ollama", "vllm", "llamacpp", "compatible")


@click.command("setup")
@click.option("--provider", type=click.Choice(PROVIDER_NAMES), help="compatible: another server with OpenAI's protocol.")
@click.option("--model", "-m", default="", metavar="NAME", help="The model's name at the provider.")
@click.option("--base-url", default="", metavar="URL", help="Address of your own server.")
@click.option("--key-env", default="", metavar="VARIABLE", help="Variable with the key, or keyring. Never the key itself.")
@click.option("--no-try", is_flag=True, help="Write the settings without a test call.")
def command(provider: str | None, model: str, base_url: str, key_env: str, no_try: bool) -> Page:
    """Choose the model for all tasks, try it with one small call, and write it into your config.toml.

    Asks for what the options leave out. Keys stay in the environment or the keyring; none is written to a file.
    In a repository it then does what `afresh init` does.
    """

    own, asks = load_user_settings(), sys.stdin.isatty() and sys.stderr.isatty()
    model_choice = ModelChoice(provider=provider or "", model=model, base_url=base_url, key=key_env)
    if not asks:
        refuse_missing_options(model_choice)
    refuse_bad_choice(model_choice)
    choice = choose_and_try(own, model_choice, asks, no_try) if asks else try_choice(own, model_choice, asks, no_try)
    written = write_choice(choice)
    if not wants_json():
        click.echo(written)
    done = set_up_repository()
    data = {"written": written, "provider": choice.provider, "model": choice.model, "done": list(done)}
    return Page(data, "\n".join(done) or 'next, in your repository: afresh init, then afresh run "GOAL"')


def refuse_missing_options(choice: ModelChoice) -> None:
    if choice.provider == COMPATIBLE and not choice.base_url:
        raise BadInput(
            "a compatible server needs its address", next="pass --base-url http://HOST:PORT/v1", safe="nothing was written"
        )
    if not choice.provider or not choice.model:
        raise BadInput(
            "afresh setup asks questions, and there is no terminal",
            next="pass the answers: afresh setup --provider NAME --model NAME, and --base-url or --key-env where needed",
            safe="nothing was written",
        )


def set_up_repository() -> Sequence[str]:
    """Do what `afresh init` does; nothing where there is no repository with a commit."""

    try:
        project = open_project(Path.cwd())
    except NeedsPerson:
        return ()
    with show_activity_line("looking for the test command and trying it"):
        return init_project(project)


def choose_and_try(own: Settings, model_choice: ModelChoice, asks: bool, no_try: bool) -> ModelChoice:
    """Ask, and ask again with the answers as defaults until the model answers or the person gives up."""
    last = model_choice
    while True:
        provider = model_choice.provider or ask_provider(own, last.provider)
        choice = complete_choice(
            own, replace(model_choice, provider=provider), last if last.provider == provider else model_choice
        )
        try:
            return try_choice(own, choice, asks, no_try)
        except NeedsPerson as fault:
            echo_wrapped(f"{fault.what}\n  {fault.next}", err=True, fg="yellow")
            if not click.confirm("Answer again?", default=True, err=True):
                raise
        last = choice


def try_choice(own: Settings, choice: ModelChoice, asks: bool, no_try: bool) -> ModelChoice:
    """The choice, with what the server has told. Raises NeedsPerson if no call can be made."""
    refuse_bad_choice(choice)
    if not no_try:
        require_key(own, choice)
        return replace(choice, window=try_model(own, choice, asks))
    if problem := find_choice_route(own, choice).problem:
        click.secho(problem, fg="yellow", err=True)
    return choice


def ask_provider(own: Settings, last: str) -> str:
    """Ask which provider; those whose key was found are marked, and the first of them is the default."""
    usable = {usable_provider.provider: usable_provider for usable_provider in list_usable_providers(own)}
    for number, name in enumerate(PROVIDER_NAMES, 1):
        provider = usable.get(name)
        about = "another server with OpenAI's protocol" if not provider else provider.title
        about += (
            f" (key found: {provider.key})"
            if provider and provider.key
            else f" at {provider.host}"
            if provider and provider.host
            else ""
        )
        click.echo(f"  {number} {name:<11} {about}", err=True)
    default = PROVIDER_NAMES.index(last or next((name for name, one in usable.items() if one.key), PROVIDER_NAMES[0])) + 1

    def find_fault(said: str) -> str:
        if said.isdigit():
            return "" if 0 < int(said) <= len(PROVIDER_NAMES) else f"there are {len(PROVIDER_NAMES)}"
        return "" if said in PROVIDER_NAMES else f"{said} is none of them"

    text = ask_until_valid("Provider, a number or a name", find_fault, str(default))
    return PROVIDER_NAMES[int(text) - 1] if text.isdigit() else text


def ask_until_valid(question: str, find_fault: Callable[[str], str], default: str | None) -> str:
    """Ask, and say what is wrong with the answer, until nothing is."""
    while True:
        text = click.prompt(question, default=default, show_default=bool(default), err=True).strip()
        if not (fault := find_fault(text)):
            return text
        echo_wrapped(f"  {fault}", err=True, fg="yellow")


def complete_choice(own: Settings, choice: ModelChoice, last: ModelChoice) -> ModelChoice:
    """Ask for what is missing: the address of a server, where the key is, and the model. `last`: the answers before."""
    usual = find_usual_address(own, choice)
    if usual and not choice.base_url:
        address = ask_until_valid("Address of the server", find_fault, last.base_url or usual)
        choice = replace(choice, base_url=address if address != usual or choice.provider == COMPATIBLE else "")
    if choice.provider == COMPATIBLE and not choice.key:
        question = "Variable that holds its key, such as MY_KEY (Enter: it needs no key)"
        choice = replace(choice, key=ask_until_valid(question, find_key_place_fault, last.key))
    choice_route = find_choice_route(own, choice)
    if not choice_route.key.secret and choice_route.problem:
        choice = ask_key(choice, choice_route.problem)
    return choice if choice.model else replace(choice, model=ask_model(own, choice, last.model))


def ask_model(own: Settings, choice: ModelChoice, last: str) -> str:
    """Ask for the model; what the provider or the server has is listed by number."""
    with show_activity_line("asking which models there are"):
        names, problem = suggest_models(own, choice)
    if problem:
        echo_wrapped(f"  {problem}", err=True, fg="yellow")
    for number, name in enumerate(names, 1):
        click.echo(f"  {number} {name}", err=True)

    def find_fault(said: str) -> str:
        if is_key_text(said):
            return "that looks like a key, not like a model's name. Revoke it if it is one"
        return f"there are {len(names)}" if said.isdigit() and names and not 0 < int(said) <= len(names) else ""

    question = (
        "Model, a number or any other name" if names else f"Model, such as {MODEL_EXAMPLES.get(choice.provider, 'my-model')}"
    )
    text = ask_until_valid(question, find_fault, last or ("1" if names else None))
    return names[int(text) - 1] if text.isdigit() and names else text


def ask_key(choice: ModelChoice, problem: str) -> ModelChoice:
    """Ask in which variable the key is, or store it in the keyring."""
    click.echo(f"  {problem}", err=True)
    more = ", or keyring to store it there now" if can_store_key() else ""
    place = ask_until_valid(f"Name of the variable that holds the key, such as MY_KEY{more}", find_key_place_fault, None)
    if place == "keyring":
        store_choice_key(choice, click.prompt("Key", hide_input=True, err=True))
        return choice
    return replace(choice, key=place)


def try_model(own: Settings, choice: ModelChoice, asks: bool) -> int:
    """Make one small call; return the context that the server gives the model, if it says so. Raises NeedsPerson if it fails."""
    trial = prepare_model_trial(choice.name, add_to_settings(own, choice), Path.cwd())
    if costs := warn_of_call_cost(trial):
        click.secho(costs, dim=True, err=True)
        if asks:
            click.confirm("Make the call?", default=True, abort=True, err=True)
    with show_activity_line(f"calling {trial.label}"):
        findings = run_model_trial(trial)
    table = f"in [models.{choice.name}]"  # which is not written yet
    for setting, option in ((f"base_url {table}", "--base-url"), (f"as key = {table}", "by --key-env"), (f" {table}", "")):
        findings = [replace(finding, remedy=finding.remedy.replace(setting, option)) for finding in findings]
    print_blocks(build_findings(findings).blocks)
    if wrong := next((finding for finding in findings if finding.level == "fail"), None):
        remedy = wrong.remedy or "choose another model"
        raise NeedsPerson(
            f"{trial.label} can't be used: {wrong.detail}", next=f"{remedy}; --no-try writes it anyway", safe=NOTHING_WRITTEN
        )
    return trial.find_given_window()
