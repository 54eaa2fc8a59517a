"""Prices from the list that genai-prices carries, where it is installed."""

import importlib.util

import pytest

from afresh.spending import price_list as prices
from afresh.spending.price_list import find_price, has_price_list

needs_list = pytest.mark.skipif(importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed")


@needs_list
def test_a_cached_token_is_cheaper_than_a_new_one():
    price = find_price("claude-sonnet-4-20250514")
    assert price
    assert (price.input, price.cached, price.source) == (3.0, 0.3, "Claude Sonnet 4")


@needs_list
def test_a_provider_before_a_slash_does_not_matter():
    assert find_price("anthropic/claude-sonnet-4-20250514") == find_price("claude-sonnet-4-20250514")
    assert find_price("openrouter/openai/gpt-5") == find_price("gpt-5") is not None


@pytest.mark.parametrize("model", ["", "?", "<synthetic>", "my-own-model", "/"])
def test_an_unknown_model_has_no_price(model: str):
    assert find_price(model) is None


def test_without_the_list_nothing_has_a_price(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not has_price_list()
    assert prices.find_price("claude-sonnet-4-20250514") is None
