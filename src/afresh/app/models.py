"""Which models can be used from here: what the user has set up, where keys are found, what a call may hold and costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.adapters.models import is_paid, known_window
from afresh.adapters.models.catalogue import Offer, offers
from afresh.adapters.models.choose import OWN, PAID, PROVIDERS, Chosen, choose, patience, settings_of, target
from afresh.adapters.models.keys import Key, store_key
from afresh.adapters.models.route import Route, route
from afresh.adapters.models.settings import KEYRING, Named
from afresh.adapters.models.settings import Settings as ModelSettings
from afresh.adapters.prices import PriceTable
from afresh.app.settings import Settings, read_settings, users_config
from afresh.domain.price import FREE, Price
from afresh.domain.text import one_line
from afresh.engine.budget import SHARE_OF_WINDOW
from afresh.errors import AfreshError, BadInput, NeedsPerson

__all__ = ["Listed", "Offered", "Ready", "asked", "keep_key", "listed", "ready", "users_settings"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that the user has set up."""

    name: str
    """As --model takes it."""
    spec: str
    window: int
    price: Price | None
    """None: nobody knows it."""
    key: str = ""
    """Where it is; empty if there is none."""
    host: str = ""
    """Where it is asked, if not at its provider's own address."""
    problem: str = ""
    remedy: str = ""
    default: bool = False
    tools: bool = True
    timeout: float = 0.0

    @property
    def ceiling(self) -> int:
        """The most that a call may hold."""
        return self.window // SHARE_OF_WINDOW


@dataclass(frozen=True, slots=True)
class Ready:
    """A provider that can be asked for any of its models, as `provider:NAME`."""

    provider: str
    title: str
    key: str
    host: str = ""
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """What a server of the user's own has, or why it does not tell."""

    server: str
    address: str
    models: Sequence[Offer] = ()
    problem: str = ""


def users_settings() -> Settings:
    """The user's alone: no repository has a say in models, keys and addresses."""
    return Settings(**read_settings(users_config(), Settings))


def listed(own: Settings) -> Sequence[Listed]:
    """The user's tables, and the model that is set for all tasks, even if it has no table."""
    names = [*own.models, *([own.model] if own.model and own.model not in own.models else [])]
    prices = PriceTable(own.prices)
    return [_listed(name, own, prices) for name in names]


def ready(own: Settings) -> Sequence[Ready]:
    return [_ready(kind, own) for kind in PROVIDERS]


def asked(own: Settings) -> Iterator[Offered]:
    """Every server of the user's own, at its usual address and at those that the tables name, is asked once."""
    seen: set[str] = set()
    tables: list[tuple[str, Named | None, str]] = [(kind, None, kind) for kind in OWN]
    tables += [(one.provider, one, name) for name, one in own.models.items() if one.provider in OWN or one.base_url]
    for kind, table, name in tables:
        if kind == "anthropic":
            continue
        with_table = ModelSettings(named=own.models, name=name if table else "", chosen=table)
        way = _way(kind, with_table)
        if way.base_url in seen:
            continue
        seen.add(way.base_url)
        try:
            yield Offered(name, way.base_url, offers(target(kind), with_table))
        except AfreshError as fault:
            yield Offered(name, way.base_url, problem=str(fault))


def keep_key(own: Settings, name: str, secret: str) -> str:
    """Into the keyring, for a table or a whole provider; an empty one is taken out. What is now the case, in words."""
    if name not in own.models and name not in PROVIDERS:
        may = ", ".join((*own.models, *PROVIDERS))
        raise BadInput(f"there is no model or provider {name!r} to keep a key for", next=f"name one of: {may}")
    store_key(name, secret)
    if not secret:
        return f"the keyring has no key for {name} any more"
    table = own.models.get(name)
    if table and table.key != KEYRING:
        return f'the key for {name} is in the keyring; put key = "keyring" into [models.{name}] so that it is used'
    return f"the key for {name} is in the keyring"


def _listed(name: str, own: Settings, prices: PriceTable) -> Listed:
    try:
        chosen = choose(name, own.models)
    except BadInput as fault:
        return Listed(name, "", 0, None, problem=fault.what, remedy=fault.next, default=name == own.model)
    table, default = chosen.table, name == own.model
    price = prices.of(chosen.spec) if is_paid(name, own.models, own.prices) else FREE
    window, tools = known_window(name, own.models), not (table and table.tools is False)
    if not chosen.is_provider:
        waits = _waits(chosen)
        return Listed(name, chosen.spec, window, FREE, default=default, timeout=waits)
    way = _way(chosen.kind, settings_of(chosen, ModelSettings(named=own.models)))
    return Listed(
        name, chosen.spec, window, price, way.key.where, way.host, way.problem, way.remedy, default, tools,
        table.timeout if table else 0.0,
    )  # fmt: skip


def _waits(chosen: Chosen) -> float:
    told = patience(chosen.argument)[1] if chosen.kind == "mailbox" else 0.0
    return told or (chosen.table.timeout if chosen.table else 0.0)


def _ready(kind: str, own: Settings) -> Ready:
    about, way = target(kind), _way(kind, ModelSettings(named=own.models))
    return Ready(kind, about.title, way.key.where, way.host or ("" if kind in PAID else way.base_url), way.problem, way.remedy)


def _way(kind: str, settings: ModelSettings) -> Route:
    """A keyring that can't be asked is a problem of that model alone."""
    try:
        return route(target(kind), settings)
    except NeedsPerson as fault:
        return Route(Key(), problem=one_line(fault.what), remedy=fault.next)
