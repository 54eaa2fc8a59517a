"""Lists the user's models: where their keys are, their context windows and prices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.app.settings import Settings
from afresh.core.states.ceiling_state import MODEL_WINDOW_DIVISOR
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, BadInput, NeedsPerson, suggest_reinstall
from afresh.models.api_keys import ApiKey, store_api_key
from afresh.models.choose_model import (
    LOCAL_PROVIDERS,
    PAID_PROVIDERS,
    PROVIDERS,
    ChosenModel,
    choose_model,
    endpoint_of_provider,
    find_context_window,
    is_paid,
    settings_for_model,
    split_mailbox_spec,
)
from afresh.models.model_settings import KEYRING, ModelSettings, NamedModel
from afresh.models.providers.connection import ProviderRoute, find_import_fault, find_route
from afresh.models.providers.openai_chat import OfferedModel, list_offered_models
from afresh.spending.price_list import FREE_PRICE, Price, PriceTable


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model from the user's settings."""

    name: str
    """The name for --model."""
    spec: str
    window: int
    price: Price | None
    """None if the price is unknown."""
    key: str = ""
    """Where the key was found; empty if there is none."""
    host: str = ""
    """Address of the server, if not the provider's own."""
    problem: str = ""
    remedy: str = ""
    default: bool = False
    tools: bool = True
    timeout: float = 0.0

    @property
    def ceiling(self) -> int:
        """The highest ceiling that the model allows."""
        return self.window // MODEL_WINDOW_DIVISOR


@dataclass(frozen=True, slots=True)
class UsableProvider:
    """A provider whose models can be used as `provider:NAME`."""

    provider: str
    title: str
    key: str
    host: str = ""
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """The models of a local server, or why it did not answer."""

    server: str
    address: str
    models: Sequence[OfferedModel] = ()
    problem: str = ""


SDK_PACKAGES = ("anthropic", "openai")
PLAIN_INSTALL_PACKAGES = (*SDK_PACKAGES, "genai_prices", "tree_sitter")
"""Packages that every install brings and that are imported late, so that nothing else notices if one is missing."""


def find_package_faults() -> dict[str, str]:
    """Import what a plain install brings; return what is wrong, by package."""
    faults = {package: find_import_fault(package) for package in PLAIN_INSTALL_PACKAGES}
    return {package: fault for package, fault in faults.items() if fault}


def list_configured_models(own: Settings) -> Sequence[ConfiguredModel]:
    """Return the models in the user's settings, and the default model even if it has no table."""
    names = [*own.models, *([own.model] if own.model and own.model not in own.models else [])]
    prices = PriceTable(own.prices)
    return [_describe_configured_model(name, own, prices) for name in names]


def list_usable_providers(own: Settings) -> Sequence[UsableProvider]:
    return [_describe_provider(kind, own) for kind in PROVIDERS]


def ask_own_servers(own: Settings) -> Iterator[ServerOffer]:
    """Ask each local server once, at its default address and at those in the settings."""
    seen: set[str] = set()
    tables: list[tuple[str, NamedModel | None, str]] = [(kind, None, kind) for kind in LOCAL_PROVIDERS]
    tables += [
        (model.provider, model, name) for name, model in own.models.items() if model.provider in LOCAL_PROVIDERS or model.base_url
    ]
    for kind, table, name in tables:
        if kind == "anthropic":
            continue
        with_table = ModelSettings(named=own.models, name=name if table else "", chosen=table)
        route = _find_route(kind, with_table)
        if route.base_url in seen:
            continue
        seen.add(route.base_url)
        try:
            yield ServerOffer(name, route.base_url, list_offered_models(endpoint_of_provider(kind), with_table))
        except AfreshError as fault:
            yield ServerOffer(name, route.base_url, problem=str(fault))


def store_model_key(own: Settings, name: str, secret: str) -> str:
    """Store a key in the keyring for a model or a provider; an empty key deletes it. Returns a message."""
    if name not in own.models and name not in PROVIDERS:
        may = ", ".join((*own.models, *PROVIDERS))
        raise BadInput(f"no such model or provider: {name!r}", next=f"use one of: {may}")
    store_api_key(name, secret)
    if not secret:
        return f"removed the key for {name} from the keyring"
    table = own.models.get(name)
    if table and table.key != KEYRING:
        return f'stored the key for {name} in the keyring; to use it, set key = "keyring" in [models.{name}]'
    return f"stored the key for {name} in the keyring"


def _describe_configured_model(name: str, own: Settings, prices: PriceTable) -> ConfiguredModel:
    try:
        chosen = choose_model(name, own.models)
    except BadInput as fault:
        return ConfiguredModel(name, "", 0, None, problem=fault.what, remedy=fault.next, default=name == own.model)
    table, default = chosen.table, name == own.model
    price = prices.of(chosen.spec) if is_paid(name, own.models, own.prices) else FREE_PRICE
    window, tools = find_context_window(name, own.models), not (table and table.tools is False)
    if not chosen.is_provider:
        waits = _find_timeout(chosen)
        return ConfiguredModel(name, chosen.spec, window, FREE_PRICE, default=default, timeout=waits)
    route = _find_route(chosen.kind, settings_for_model(chosen, ModelSettings(named=own.models)))
    return ConfiguredModel(
        name, chosen.spec, window, price, route.key.where, route.host, route.problem, route.remedy, default, tools,
        table.timeout if table else 0.0,
    )  # fmt: skip


def _find_timeout(chosen: ChosenModel) -> float:
    told = split_mailbox_spec(chosen.argument)[1] if chosen.kind == "mailbox" else 0.0
    return told or (chosen.table.timeout if chosen.table else 0.0)


def _describe_provider(kind: str, own: Settings) -> UsableProvider:
    about, route = endpoint_of_provider(kind), _find_route(kind, ModelSettings(named=own.models))
    return UsableProvider(
        kind,
        about.title,
        route.key.where,
        route.host or ("" if kind in PAID_PROVIDERS else route.base_url),
        route.problem,
        route.remedy,
    )


def _find_route(kind: str, settings: ModelSettings) -> ProviderRoute:
    """Return the route of a model; a missing package or a keyring error is reported for that model only."""
    if fault := find_import_fault("anthropic" if kind == "anthropic" else "openai"):
        return ProviderRoute(ApiKey(), problem=fault, remedy=suggest_reinstall())
    try:
        return find_route(endpoint_of_provider(kind), settings)
    except NeedsPerson as fault:
        return ProviderRoute(ApiKey(), problem=to_one_line(fault.what), remedy=fault.next)
