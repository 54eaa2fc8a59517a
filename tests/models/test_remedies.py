"""What a person is told to mend is what was really looked at."""

import pytest

from afresh.errors import NeedsPerson
from afresh.models.api_keys import store_api_key
from afresh.models.choose_model import make_model
from afresh.models.model_settings import ModelSettings, NamedModel
from support.model_contract import make_sample_request
from support.model_server import ModelServer
from support.provider_faults import HttpFault

KEY = "sk-canary-7d20"


def refused(status: int, named: dict[str, NamedModel], spec: str = "mine") -> NeedsPerson:
    """How the first call ends at a server that answers with this status."""
    with ModelServer([HttpFault(status, "no")]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        patch.setenv("OPENAI_BASE_URL", server.openai_url)
        at = {name: NamedModel(provider=one.provider, model=one.model, key=one.key, base_url=one.base_url and server.openai_url)
              for name, one in named.items()}  # fmt: skip
        with pytest.raises(NeedsPerson) as caught:
            make_model(spec, 0, ModelSettings(named=at)).propose(make_sample_request())
    return caught.value


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_refused_key_is_named_by_the_variable_of_the_table(provider: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORK_KEY", KEY)
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-another")
    fault = refused(status, {"mine": NamedModel(provider=provider, model="m", key="WORK_KEY")})
    assert fault.next.startswith("check WORK_KEY and what it may use; or pass another --model")
    assert f"{provider.upper()}_API_KEY" not in fault.next and KEY not in str(fault) + fault.next


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_without_a_table_it_is_the_provider_s_own(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    assert refused(401, {}, f"{provider}:m").next.startswith(f"check {provider.upper()}_API_KEY and what it may use; or pass")


def test_a_key_of_the_keyring_is_to_be_set_there(ring: None) -> None:
    store_api_key("mine", KEY)
    fault = refused(401, {"mine": NamedModel(provider="openai", model="m", key="keyring")})
    assert "check the key in the keyring (`afresh models key mine` sets another)" in fault.next
    assert "OPENAI_API_KEY" not in fault.next


def test_where_no_key_was_sent_the_table_has_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fault = refused(401, {"mine": NamedModel(provider="openai", model="m", base_url="http://localhost:1")})
    assert fault.next.startswith("no key was sent: name the variable that holds one as key = in [models.mine]")


def test_a_model_that_is_not_there_is_looked_for_where_it_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    table = NamedModel(provider="openai", model="m", base_url="http://localhost:1")
    assert str(refused(404, {"mine": table})).startswith("the server at http://")
    assert refused(404, {"mine": table}).next == "check the model's name in [models.mine], and base_url in [models.mine]"
    assert refused(404, {}, "openai:m").next == "check the model's name after --model, and OPENAI_BASE_URL"
