"""How OpenAI-compatible servers differ from OpenAI and from each other."""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from afresh.models.providers.connection import Provider, find_by_longest_prefix

NEW_LIMIT_FIELD = "max_completion_tokens"
OLD_LIMIT_FIELD = "max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIDialect:
    """What a server knows of the protocol. What it turns out not to know is left out from then on: see `drop_dialect_part`."""

    name: str
    """The part of a model's spec before the colon."""
    provider: Provider
    base_url: str = ""
    """The usual address; the SDK knows OpenAI's."""
    needs_key: bool = True
    window: int = 128_000
    """Window of an unknown model."""
    limit: str = OLD_LIMIT_FIELD
    """The name of the reply's longest length."""
    usage: bool = True
    """Whether it can report the usage at the end of a stream."""
    tools: bool = True
    schema: bool = True
    """Whether it can hold a reply to a JSON schema."""
    reads_schema: bool = False
    """Whether the schema is put before the model, and so counts."""
    effort: bool = False
    """Whether the effort of thinking is set by a word."""
    budget: bool = False
    """Whether a budget for thinking can be set, in tokens."""
    echo: str = ""
    """The field under which a model's thinking goes back to it while it uses tools, where the server asks for that."""
    marked: tuple[str, ...] = ()
    """Models that cache only what is marked, by how their names begin."""
    cache_key: bool = False
    """Whether calls with the same beginning can be sent the same way, for the sake of its cache."""
    template: bool = False
    """Whether it reports its context window, whether its model knows tools, and the tokens of a request."""


OPENAI = OpenAIDialect(
    name="openai",
    provider=Provider("OpenAI", "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    limit=NEW_LIMIT_FIELD,
    reads_schema=True,
    effort=True,
    cache_key=True,
)
OPENROUTER = OpenAIDialect(
    name="openrouter",
    provider=Provider("OpenRouter", "openai", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
    base_url="https://openrouter.ai/api/v1",
    reads_schema=True,
    budget=True,
    echo="reasoning_details",
    marked=("anthropic/",),
)
OLLAMA = OpenAIDialect(
    name="ollama",
    provider=Provider("Ollama", "openai", "OLLAMA_API_KEY", "OLLAMA_BASE_URL"),
    base_url="http://localhost:11434/v1",
    needs_key=False,
    window=32_768,
    effort=True,
)
VLLM = OpenAIDialect(
    name="vllm",
    provider=Provider("vLLM", "openai", "VLLM_API_KEY", "VLLM_BASE_URL"),
    base_url="http://localhost:8000/v1",
    needs_key=False,
    window=32_768,
    effort=True,
)
LLAMACPP = OpenAIDialect(
    name="llamacpp",
    provider=Provider("llama.cpp", "openai", "LLAMACPP_API_KEY", "LLAMACPP_BASE_URL"),
    base_url="http://localhost:8080/v1",
    needs_key=False,
    window=32_768,
    template=True,
)
PLAIN_SERVER = replace(OPENAI, limit=OLD_LIMIT_FIELD, reads_schema=False, effort=False, cache_key=False, window=32_768)
"""A server of which only the address is known."""
DEEPSEEK = replace(PLAIN_SERVER, schema=False, echo="reasoning_content")

DIALECTS = {dialect.name: dialect for dialect in (OPENAI, OPENROUTER, OLLAMA, VLLM, LLAMACPP)}
"""Dialects by the part of a model's name before the colon."""
DIALECT_OF_HOST = {"openai.com": OPENAI, "openai.azure.com": OPENAI, "openrouter.ai": OPENROUTER, "deepseek.com": DEEPSEEK}
DIALECT_OF_PORT = {("localhost", 11434): OLLAMA, ("127.0.0.1", 11434): OLLAMA}


def dialect_at_address(base_url: str, dialect: OpenAIDialect = OPENAI) -> OpenAIDialect:
    """`openai:NAME` at the user's own address: the dialect of that server, under the name that the user typed."""
    if dialect is not OPENAI or not base_url:
        return dialect
    try:
        at = urlsplit(base_url)
        host, port = at.hostname or "", at.port
    except ValueError:
        return replace(PLAIN_SERVER, base_url=base_url)
    near = [held for known, held in DIALECT_OF_HOST.items() if host == known or host.endswith(f".{known}")]
    found = near[0] if near else DIALECT_OF_PORT.get((host, port or 0), PLAIN_SERVER)
    return replace(found, name=dialect.name, provider=dialect.provider, base_url=base_url)


def drop_dialect_part(dialect: OpenAIDialect, part: str) -> OpenAIDialect:
    """The same dialect without the part that the server has refused."""
    if part == "limit":
        return replace(dialect, limit=OLD_LIMIT_FIELD if dialect.limit == NEW_LIMIT_FIELD else NEW_LIMIT_FIELD)
    return replace(dialect, **{part: False})


OPENAI_WINDOW_TOKENS = {
    "gpt-5": 272_000,
    "gpt-4.1": 1_000_000,
    "gpt-4o": 128_000,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-3.5": 16_385,
}
OPENAI_WINDOW_TOKENS |= {"o1": 200_000, "o3": 200_000, "o4": 200_000, "claude-": 200_000}
OPENAI_FRAMING_TOKENS = 12
"""Tokens around two messages and before the reply. Tools are turned into declarations that are shorter than their JSON, so that
our count of the JSON covers what is put around them."""


def find_openai_window(model: str, dialect: OpenAIDialect = OPENAI) -> int:
    """What may be sent where that is published apart (gpt-5: 272,000 of 400,000), otherwise all that the model can take."""
    return find_by_longest_prefix(model.rpartition("/")[2] if dialect.marked else model, OPENAI_WINDOW_TOKENS, dialect.window)
