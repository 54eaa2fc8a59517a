"""Chooses the user's default model: provider, key and name, and what to write into the user's config.toml."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.app.settings import Settings
from afresh.config.edit_settings import SettingChange, change_settings_file
from afresh.config.instructions.find_instructions import shorten_home_path
from afresh.config.settings_file import find_user_config
from afresh.errors import AfreshError, BadInput, NeedsPerson
from afresh.models.api_keys import has_keyring, store_api_key
from afresh.models.choose_model import PAID_PROVIDERS, endpoint_of_provider
from afresh.models.model_settings import ModelSettings, NamedModel, find_address_fault, is_key_location
from afresh.models.providers.connection import ProviderRoute, find_route
from afresh.models.providers.openai_chat import list_offered_models

COMPATIBLE = "compatible"
"""Any other server that speaks OpenAI's protocol, at an address of the user's."""
SUGGESTED_MODELS = {
    "anthropic": ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
    "openai": ("gpt-5.5", "gpt-5-mini"),
    "openrouter": ("anthropic/claude-sonnet-4.5", "openai/gpt-5"),
}
UNCHOSEN = "any"
"""Stands for the model until one is chosen."""
NOTHING_WRITTEN = "nothing was written"
MAX_OFFERED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What the user has chosen."""

    provider: str
    model: str = ""
    base_url: str = ""
    key: str = ""
    """The variable that holds the key, or `keyring`; empty: the provider's own."""

    @property
    def kind(self) -> str:
        """The provider in the settings. A server without a key costs nothing; behind one with a key somebody may be paid."""
        if self.provider != COMPATIBLE:
            return self.provider
        return "openai" if self.key else "vllm"

    @property
    def name(self) -> str:
        """What --model says: a table of its own only where there is more to know than provider and model."""
        return f"my-{self.provider}" if self.base_url or self.key else f"{self.kind}:{self.model}"

    @property
    def table(self) -> NamedModel | None:
        if not (self.base_url or self.key):
            return None
        return NamedModel(provider=self.kind, model=self.model or UNCHOSEN, base_url=self.base_url, key=self.key)


def refuse_bad_choice(choice: ModelChoice) -> None:
    """Raise BadInput for an address or a place of a key that can't be meant. What may be a key is not repeated."""
    if choice.provider == COMPATIBLE and not choice.base_url:
        raise BadInput(
            "a compatible server needs its address",
            next="pass --base-url, such as http://localhost:8000/v1",
            safe=NOTHING_WRITTEN,
        )
    if choice.base_url and (wrong := find_address_fault(choice.base_url)):
        raise BadInput(f"--base-url {wrong}", next="pass an address such as http://localhost:8000/v1", safe=NOTHING_WRITTEN)
    if choice.key and not is_key_location(choice.key):
        raise BadInput(
            "--key-env takes the name of an environment variable in capitals, or keyring, never the key itself",
            next="export MY_KEY=…, then pass --key-env MY_KEY. If you have typed a key, revoke it",
            safe=NOTHING_WRITTEN,
        )


def find_choice_route(own: Settings, choice: ModelChoice) -> ProviderRoute:
    """Return the way to the chosen provider, with what is missing."""
    table = choice.table
    settings = ModelSettings(named=own.models, name=choice.name if table else "", chosen=table)
    return find_route(endpoint_of_provider(choice.kind), settings)


def require_key(own: Settings, choice: ModelChoice) -> None:
    """Raise NeedsPerson if no call could be made."""
    found = find_choice_route(own, choice)
    if found.problem:
        raise NeedsPerson(found.problem, next=f"{found.remedy}, then run afresh setup again", safe=NOTHING_WRITTEN)


def suggest_models(own: Settings, choice: ModelChoice) -> Sequence[str]:
    """Return names to choose from: known ones of a provider, or what a server of the user's own offers."""
    if choice.provider in PAID_PROVIDERS:
        return SUGGESTED_MODELS[choice.provider]
    table = NamedModel(provider=choice.kind, model=UNCHOSEN, base_url=choice.base_url, key=choice.key)
    settings = ModelSettings(named=own.models, name=choice.name, chosen=table)
    try:
        return [one.model for one in list_offered_models(endpoint_of_provider(choice.kind), settings)][:MAX_OFFERED]
    except AfreshError:
        return ()


def can_store_key() -> bool:
    return has_keyring()


def store_choice_key(choice: ModelChoice, secret: str) -> None:
    """Store the provider's key in the keyring of the system."""
    store_api_key(choice.kind, secret)


def write_choice(choice: ModelChoice) -> str:
    """Write the choice into the user's config.toml; return what was done."""
    path = find_user_config()
    changed = change_settings_file(path, list_setting_changes(choice))
    return f'{"wrote" if changed else "kept"} model = "{choice.name}" in {shorten_home_path(path)}'


def list_setting_changes(choice: ModelChoice) -> list[SettingChange]:
    """Return what goes into the config.toml; never a key."""
    changes = [SettingChange("", "model", choice.name)]
    if choice.table:
        values = {"provider": choice.kind, "model": choice.model, "base_url": choice.base_url, "key": choice.key}
        changes += [SettingChange(f"models.{choice.name}", key, value) for key, value in values.items() if value]
    return changes


def add_to_settings(own: Settings, choice: ModelChoice) -> Settings:
    """Return the settings as they will be, for the test call."""
    named = {**own.models, **({choice.name: choice.table} if choice.table else {})}
    return replace(own, model=choice.name, models=named)
