"""Prices from the list that genai-prices carries."""

import sys

import pytest

from afresh.core.cache_rates import DEFAULT_CACHE_RATES, CacheRates
from afresh.spending import price_list as prices
from afresh.spending.price_list import FREE_PRICE, Price, derive_cache_rates, find_price, has_price_list


def test_a_cached_token_is_cheaper_than_a_new_one():
    price = find_price("claude-sonnet-4-20250514")
    assert price
    assert (price.input, price.cached, price.source) == (3.0, 0.3, "Claude Sonnet 4")


def test_a_provider_before_a_slash_does_not_matter():
    assert find_price("anthropic/claude-sonnet-4-20250514") == find_price("claude-sonnet-4-20250514")
    assert find_price("openrouter/openai/gpt-5") == find_price("gpt-5") is not None


@pytest.mark.parametrize("model", ["", "?", "<synthetic>", "my-own-model", "/"])
def test_an_unknown_model_has_no_price(model: str):
    assert find_price(model) is None


def test_without_the_list_nothing_has_a_price(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert not has_price_list()
    assert prices.find_price("claude-sonnet-4-20250514") is None


@pytest.mark.parametrize(
    ("price", "read", "write"),
    [(Price(3.0, 0.3, written=3.75), 0.1, 1.25), (Price(2.0, 0.5), 0.25, 1.0), (Price(2.5, 2.5, written=2.5), 1.0, 1.0)],
)
def test_rates_of_a_cache_follow_from_the_prices(price: Price, read: float, write: float):
    assert derive_cache_rates("openai:gpt", price) == CacheRates(read, write)


@pytest.mark.parametrize("price", [None, FREE_PRICE])
def test_where_no_price_is_known_the_usual_rates_apply(price: Price | None):
    assert derive_cache_rates("mailbox", price) == DEFAULT_CACHE_RATES


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("anthropic:claude-sonnet-4-5", 1_024),
        ("anthropic:claude-haiku-4-5-20251001", 4_096),
        ("openrouter:anthropic/claude-opus-4.5", 4_096),
        ("anthropic:claude-3-5-haiku-latest", 2_048),
    ],
)
def test_some_models_cache_only_longer_prefixes(model: str, minimum: int):
    assert derive_cache_rates(model, None).minimum == minimum
