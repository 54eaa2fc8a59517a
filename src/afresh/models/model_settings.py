"""The user's settings for models."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from afresh.models.reply_checks import CountTokens, estimate_tokens

KEYRING = "keyring"
_VARIABLE_PATTERN = re.compile(r"[A-Z_][A-Z0-9_]{1,79}")
_KEY_LIKE_PATTERN = re.compile(r"(?=.*\d)[A-Z0-9]{16,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A table [models.NAME] of the user's own config.toml: a model under a name, for --model NAME."""

    provider: str = ""
    model: str = ""
    """The provider's name of it; for a mailbox the folder, for a script the file."""
    base_url: str = ""
    """The user's own address; empty: the provider's."""
    window: int = 0
    """The context window in tokens; 0: the known one."""
    key: str = ""
    """The name of an environment variable, or "keyring". Never the key."""
    timeout: float = 0.0
    """Seconds for one call; 0: ten minutes for a provider, for ever for a mailbox."""
    retries: int | None = None
    """How often a call is repeated after a temporary error. Default: six times, or twice if a reply had begun."""
    tools: bool | None = None
    """Whether it can call tools; false: its actions are read from its text. Default: as the provider does."""
    thinking: bool | None = None
    """Whether it can think before it answers. Default: as is known for the model."""
    insecure: bool = False
    """Whether the key may go over the network unencrypted, to an http:// address that is not this machine."""

    def __post_init__(self) -> None:
        """ValueError for what can't be meant. What may be a key is never repeated."""
        if not self.provider or not self.model:
            raise ValueError('needs provider and model, such as provider = "ollama" and model = "qwen3:8b"')
        if self.key and not is_key_location(self.key):
            raise ValueError(
                'key should be the name of an environment variable, in capitals, or "keyring". The value looks like a '
                "key, and keys don't belong in files. If it was one, revoke it and create another"
            )
        if wrong := find_address_fault(self.base_url):
            raise ValueError(f"base_url {wrong}")


def is_key_location(key: str) -> bool:
    """Whether this says where a key is, and is none itself."""
    return key == KEYRING or bool(_VARIABLE_PATTERN.fullmatch(key) and not _KEY_LIKE_PATTERN.fullmatch(key))


def find_address_fault(base_url: str) -> str:
    """What is wrong with the address, without repeating a password in it; empty if nothing is."""
    try:
        parts = urlsplit(base_url)
        host, named = parts.hostname, parts.username is not None or parts.password is not None
        _ = parts.port
    except ValueError:
        return "is not a valid address: it begins with http:// or https://, such as http://localhost:8000/v1"
    if base_url and (parts.scheme not in ("http", "https") or not host):
        return "is not a valid address: it begins with http:// or https://, such as http://localhost:8000/v1"
    if named or parts.query or parts.fragment:
        return "holds a name, a password or a query: an address is shown, so nothing secret may stand in it"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What the user set. Never filled from a repository: a base URL there could lead keys and code away."""

    window: int = 0
    """0: as is known for the model."""
    base_urls: Mapping[str, str] = field(default_factory=dict[str, str])
    """By provider: anthropic, openai."""
    timeout: float = 0.0
    """Seconds for one call; 0: ten minutes for a provider, for ever for a mailbox."""
    count: CountTokens = estimate_tokens
    named: Mapping[str, NamedModel] = field(default_factory=dict[str, NamedModel])
    """All tables [models.NAME]."""
    task: str = ""
    """Whose calls these are."""
    reviews: int = 0
    """Calls that it has bought before for reviews of changed tests: a script answers them beside its steps."""
    name: str = ""
    """The name of the chosen table, which is the next field."""
    chosen: NamedModel | None = None
    retries: int | None = None
    """Overrides how often a call is repeated after a temporary error."""
    check_cancelled: Callable[[], None] = lambda: None
    """Raises if the worker must stop: a reply that costs nothing and is still there later is not waited for."""
