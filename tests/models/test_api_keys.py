"""Keys come from the environment or the keyring, go only where they belong, and show nowhere."""

import pytest

from afresh.core.redaction import redact_secrets
from afresh.errors import NeedsPerson
from afresh.models.api_keys import find_api_key, store_api_key
from afresh.models.choose_model import endpoint_of_provider
from afresh.models.model_settings import ModelSettings, NamedModel
from afresh.models.providers.connection import find_route, require_route

KEY = "sk-canary-51f0aa"
OPENAI, OLLAMA = endpoint_of_provider("openai"), endpoint_of_provider("ollama")


def table(**more) -> ModelSettings:
    named = NamedModel(provider="openai", model="x", **more)
    return ModelSettings(named={"mine": named}, name="mine", chosen=named)


def test_the_provider_s_own_variable_is_looked_at_first(ring: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store_api_key("openai", "sk-of-the-ring")
    assert find_route(OPENAI, ModelSettings()).key.where == "keyring, as openai"
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    found = find_route(OPENAI, ModelSettings()).key
    assert (found.secret, found.where) == (KEY, "OPENAI_API_KEY")


def test_a_key_that_was_looked_up_is_redacted_whatever_its_variable_is_called(
    ring: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "qW3eR5tY7uI9" + "oP1a", "zX2cV4bN6mK8" + "lJ0h"
    monkeypatch.setenv("MINE", first)
    store_api_key("openai", second)
    assert redact_secrets(f"{first} {second}") == f"{first} {second}"
    find_route(OPENAI, table(key="MINE"))
    find_route(OPENAI, table(key="keyring"))
    assert redact_secrets(f"{first} {second}") == "[redacted] [redacted]"


def test_a_table_says_where_its_key_is(ring: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    monkeypatch.setenv("MINE", KEY)
    assert find_route(OPENAI, table(key="MINE")).key.secret == KEY
    assert "no key for mine is in the keyring" in find_route(OPENAI, table(key="keyring")).problem
    store_api_key("openai", "sk-for-all")
    assert find_route(OPENAI, table(key="keyring")).key.where == "keyring, as openai"
    store_api_key("mine", "sk-for-mine")
    assert find_route(OPENAI, table(key="keyring")).key.secret == "sk-for-mine"
    store_api_key("mine", "")
    assert find_route(OPENAI, table(key="keyring")).key.secret == "sk-for-all"


def test_the_provider_s_key_does_not_go_to_an_address_that_a_table_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    elsewhere = find_route(OPENAI, table(base_url="https://models.example/v1"))
    assert (elsewhere.key.secret, elsewhere.host, elsewhere.problem) == ("", "models.example", "")
    assert find_route(OPENAI, table(base_url="https://api.openai.com/v1")).key.secret == KEY, "that is where it belongs"
    named = find_route(OPENAI, table(base_url="https://models.example/v1", key="OPENAI_API_KEY"))
    assert named.key.secret == KEY, "unless the table says so"


@pytest.mark.parametrize("address", ["http://models.example/v1", "http://10.0.0.7:8000/v1", "http://localhost.example/v1"])
def test_a_key_does_not_go_over_the_network_unencrypted(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", KEY)
    with pytest.raises(NeedsPerson, match="unencrypted") as caught:
        require_route(OPENAI, table(base_url=address, key="MINE"))
    assert "insecure = true" in caught.value.next and KEY not in caught.value.what + caught.value.next
    assert require_route(OPENAI, table(base_url=address, key="MINE", insecure=True)).key.secret == KEY
    assert require_route(OPENAI, table(base_url=address)).base_url == address, (
        "without a key there is nothing to lose but the code"
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    assert "unencrypted" in find_route(OPENAI, ModelSettings()).problem


def test_addresses_of_the_user_s_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert find_route(OPENAI, ModelSettings()).host == "gateway.example"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:pass@gateway.example/v1")
    found = find_route(OPENAI, ModelSettings())
    assert "OPENAI_BASE_URL holds a name, a password" in found.problem and "me:pass" not in found.problem


def test_a_server_of_one_s_own_needs_no_key() -> None:
    found = find_route(OLLAMA, ModelSettings())
    assert (found.base_url, found.problem, found.host) == ("http://localhost:11434/v1", "", "")


@pytest.mark.parametrize("bad", ["sk-a b", "“sk-quoted”", "sk-a\nb", "sk-a\x07"])
def test_what_can_t_be_a_key_is_refused_without_being_shown(bad: str, ring: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", bad)
    for wrong in (lambda: find_api_key("MINE", "", []), lambda: store_api_key("openai", bad)):
        with pytest.raises(NeedsPerson, match="does not contain a valid key") as caught:
            wrong()
        assert "sk-" not in str(caught.value) + caught.value.next


def test_without_the_package_one_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afresh.models.api_keys.has_keyring", lambda: False)
    for wrong in (lambda: store_api_key("openai", KEY), lambda: find_route(OPENAI, table(key="keyring"))):
        with pytest.raises(NeedsPerson, match="keyring is not installed") as caught:
            wrong()
        assert "pip install" in caught.value.next and "[keyring]'" in caught.value.next
    assert "OPENAI_API_KEY is not set" in find_route(OPENAI, ModelSettings()).problem, "nobody said that it is there"


def test_a_locked_keyring_says_so_and_nothing_of_its_content(ring: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_LOCKED", "1")
    with pytest.raises(NeedsPerson, match="KeyringLocked") as caught:
        find_route(OPENAI, table(key="keyring"))
    assert "sk-locked-away" not in str(caught.value)
    assert "OPENAI_API_KEY is not set" in find_route(OPENAI, ModelSettings()).problem


@pytest.mark.parametrize(
    "key", ["sk-ant-api03-abc", "gsk_4f5e6d", "AKIAIOSFODNN7EXAMPLE", "two words", "Bearer X", "hf_abcdefgh", "x" * 90]
)
def test_a_key_in_place_of_its_name_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ValueError, match="looks like a key") as caught:
        NamedModel(provider="openai", model="x", key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "base_url", ["models.example", "ftp://models.example", "http://", "https://u:secret@models.example", "http://[", "http://a:b"]
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(base_url: str) -> None:
    with pytest.raises(ValueError, match="base_url") as caught:
        NamedModel(provider="openai", model="x", base_url=base_url)
    assert "secret" not in str(caught.value).replace("nothing secret", "")
