"""Chooses the user's default model: provider, key and name, and what to write into the user's config.toml."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.app.settings import Settings
from afresh.config.edit_settings import SettingChange, change_settings_file
from afresh.config.instructions.find_instructions import shorten_home_path
from afresh.config.settings_file import find_user_config
from afresh.errors import AfreshError, BadInput, NeedsPerson
from afresh.models.api_keys import has_keyring, store_api_key
from afresh.models.choose_model import PAID_PROVIDERS, endpoint_of_provider, is_key_text, make_key_as_model_error
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
MODEL_EXAMPLES = {"ollama": "qwen3:8b", "vllm": "Qwen/Qwen3-Coder-30B-A3B-Instruct", "llamacpp": "qwen3"}
COMPATIBLE_ADDRESS = "http://localhost:8000/v1"
UNCHOSEN = "any"
"""Stands for the model until one is chosen."""
NOTHING_WRITTEN = "nothing was written"
MAX_OFFERED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The user's choice of a model."""

    provider: str
    model: str = ""
    base_url: str = ""
    key: str = ""
    """The variable that holds the key, or `keyring`; empty: the provider's own."""
    window: int = 0
    """The context that the server gives the model; 0: it did not say."""

    @property
    def kind(self) -> str:
        """The provider in the settings. A server without a key costs nothing; behind one with a key somebody may be paid."""
        if self.provider != COMPATIBLE:
            return self.provider
        return "openai" if self.key else "vllm"

    @property
    def name(self) -> str:
        """What --model says: a table of its own only where there is more to know than provider and model."""
        return f"my-{self.provider}" if self.has_table else f"{self.kind}:{self.model}"

    @property
    def has_table(self) -> bool:
        return bool(self.base_url or self.key or self.window)

    @property
    def table(self) -> NamedModel | None:
        if not self.has_table:
            return None
        model = self.model or UNCHOSEN
        return NamedModel(provider=self.kind, model=model, base_url=self.base_url, key=self.key, window=self.window)


def refuse_bad_choice(choice: ModelChoice) -> None:
    """Raise BadInput for an address or a place of a key that can't be meant. What may be a key is not repeated."""
    if choice.base_url and (wrong := find_address_fault(choice.base_url)):
        raise BadInput(f"--base-url {wrong}", next="pass --base-url http://HOST:PORT/v1", safe=NOTHING_WRITTEN)
    if wrong := find_key_place_fault(choice.key):
        raise BadInput(f"--key-env {wrong}", next="export MY_KEY=…, then pass --key-env MY_KEY", safe=NOTHING_WRITTEN)
    if is_key_text(choice.model):
        raise make_key_as_model_error(NOTHING_WRITTEN)


def find_key_place_fault(key: str) -> str:
    """What is wrong with the answer where the key is; what may be a key is not repeated."""
    if not key or is_key_location(key):
        return ""
    return "takes the name of an environment variable, such as MY_KEY, never the key itself. If you have typed a key, revoke it"


def find_choice_route(own: Settings, choice: ModelChoice) -> ProviderRoute:
    """Return the way to the chosen provider, with what is missing."""
    table = choice.table
    settings = ModelSettings(named=own.models, name=choice.name if table else "", chosen=table)
    return find_route(endpoint_of_provider(choice.kind), settings)


def find_usual_address(own: Settings, choice: ModelChoice) -> str:
    """Where a server of the user's own is usually found; empty for a provider with an address of its own."""
    if choice.provider in PAID_PROVIDERS:
        return ""
    return COMPATIBLE_ADDRESS if choice.provider == COMPATIBLE else find_choice_route(own, replace(choice, base_url="")).base_url


def require_key(own: Settings, choice: ModelChoice) -> None:
    """Raise NeedsPerson if no call could be made."""
    choice_route = find_choice_route(own, choice)
    if choice_route.problem:
        raise NeedsPerson(choice_route.problem, next=f"{choice_route.remedy}, then run afresh setup again", safe=NOTHING_WRITTEN)


def suggest_models(own: Settings, choice: ModelChoice) -> tuple[Sequence[str], str]:
    """Return names to choose from: known ones of a provider, or what a server of the user's own offers; and why it has none."""
    if choice.provider in PAID_PROVIDERS:
        return SUGGESTED_MODELS[choice.provider], ""
    table = NamedModel(provider=choice.kind, model=UNCHOSEN, base_url=choice.base_url, key=choice.key)
    settings = ModelSettings(named=own.models, name=choice.name, chosen=table)
    try:
        return [model.model for model in list_offered_models(endpoint_of_provider(choice.kind), settings)][:MAX_OFFERED], ""
    except AfreshError as fault:
        return (), str(fault)


def can_store_key() -> bool:
    return has_keyring()


def store_choice_key(choice: ModelChoice, secret: str) -> None:
    """Store the key in the keyring of the system, where calls look for it: a server of the user's own has no provider's key."""
    store_api_key(choice.name if choice.base_url else choice.kind, secret)


def write_choice(choice: ModelChoice) -> str:
    """Write the choice into the user's config.toml; return what was done."""
    path = find_user_config()
    changed = change_settings_file(path, list_setting_changes(choice))
    return f'{"wrote" if changed else "kept"} model = "{choice.name}" in {shorten_home_path(path)}'


def list_setting_changes(choice: ModelChoice) -> list[SettingChange]:
    """Return what goes into the config.toml; never a key. What it says of an earlier server goes: its key is not for this one."""
    changes = [SettingChange("", "model", choice.name)]
    if choice.table:
        values = {"provider": choice.kind, "model": choice.model, "base_url": choice.base_url, "key": choice.key}
        values |= {"window": choice.window}
        changes += [SettingChange(f"models.{choice.name}", key, value or None) for key, value in values.items()]
    return changes


def add_to_settings(own: Settings, choice: ModelChoice) -> Settings:
    """Return the settings as they will be, for the test call."""
    named = {**own.models, **({choice.name: choice.table} if choice.table else {})}
    return replace(own, model=choice.name, models=named)
