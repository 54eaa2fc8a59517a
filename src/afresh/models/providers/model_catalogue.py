"""What a server that speaks like OpenAI has to offer. Asked only when the user wants it, since that uses the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from afresh.core.truncate import to_one_line
from afresh.errors import NeedsPerson, TryAgain
from afresh.models.model_settings import ModelSettings
from afresh.models.providers.connection import ProviderEndpoint, require_route

LISTING_TIMEOUT_SECONDS = 5.0
MAX_LISTED_MODELS = 200


@dataclass(frozen=True, slots=True)
class OfferedModel:
    model: str
    window: int = 0
    """As the server reports it; 0: it does not."""


def list_offered_models(target: ProviderEndpoint, settings: ModelSettings) -> Sequence[OfferedModel]:
    """TryAgain if nobody is there, NeedsPerson if the key is not accepted."""
    from importlib.util import find_spec

    if find_spec("openai") is None:
        raise NeedsPerson("the package openai is not installed", next="pip install 'afresh[models]'")
    import openai

    way = require_route(target, settings)
    client = openai.OpenAI(
        api_key=way.key.secret or "none",
        base_url=way.base_url or None,
        timeout=LISTING_TIMEOUT_SECONDS,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(follow_redirects=False),
    )
    try:
        found = client.get("/models", cast_to=object)
    except openai.APIStatusError as error:
        what = f"{target.title} at {way.base_url} does not tell what it has ({error.status_code})"
        raise NeedsPerson(what, next="check its address and key") from None
    except (openai.OpenAIError, ValueError):
        raise TryAgain(f"no {target.title} answers at {way.base_url}") from None
    listed: Any = found.get("data") if isinstance(found, dict) else None
    held = [
        one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict) and isinstance(one.get("id"), str)
    ][:MAX_LISTED_MODELS]
    return sorted(
        (OfferedModel(to_one_line(one["id"], 120), _read_window_tokens(one)) for one in held), key=lambda offer: offer.model
    )


def _read_window_tokens(told: dict[str, Any]) -> int:
    """vLLM calls it max_model_len, OpenRouter context_length; llama.cpp reports the context size of the training."""
    meta = told.get("meta")
    places = (told.get("max_model_len"), told.get("context_length"), meta.get("n_ctx_train") if isinstance(meta, dict) else 0)
    return next((value for value in places if type(value) is int and value > 0), 0)
