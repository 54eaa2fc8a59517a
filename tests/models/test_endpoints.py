"""Where a key really goes, seen from the other end of the wire."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from afresh.errors import AfreshError, NeedsPerson, TryAgain
from afresh.models.choose_model import endpoint_of_provider, make_model
from afresh.models.model_settings import ModelSettings, NamedModel
from afresh.models.providers.openai_chat import list_offered_models
from support.model_contract import make_sample_request

KEY = "sk-canary-51f0aa"


@contextmanager
def listening(status: int, headers: dict[str, str], body: bytes = b"") -> Iterator[tuple[str, list[str]]]:
    """A server that answers everything alike: its address, and all that it was told."""
    heard: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            heard.append(f"{self.path}\n{self.headers}")
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()


def table(provider: str, address: str, key: str = "") -> ModelSettings:
    return ModelSettings(
        named={"mine": NamedModel(provider=provider, model="some", base_url=address, key=key, retries=1, timeout=600)}
    )


@pytest.mark.parametrize("provider", ["anthropic", "openai", "vllm"])
@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_key_follows_no_redirect(provider: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", KEY)
    with (
        listening(200, {}) as (thief, stolen),
        listening(status, {"location": f"{thief}/v1/messages"}) as (address, heard),
        pytest.raises(AfreshError) as caught,
    ):
        make_model("mine", 0, table(provider, address, "MINE")).propose(make_sample_request())
    assert heard and KEY in heard[0] and not stolen and KEY not in str(caught.value)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openrouter"])
def test_an_address_of_a_table_gets_no_key_that_it_does_not_name(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with listening(401, {}) as (address, heard), pytest.raises(NeedsPerson):
        make_model("mine", 0, table(provider, address)).propose(make_sample_request())
    assert heard and KEY not in heard[0]


def test_a_server_tells_what_it_has() -> None:
    body = b'{"data": [{"id": "b", "max_model_len": 4096}, {"id": "a", "meta": {"n_ctx_train": 8}}, {"id": 3}, "x"]}'
    with listening(200, {"content-type": "application/json"}, body) as (address, _):
        named = NamedModel(provider="vllm", model="x", base_url=f"{address}/v1")
        found = list_offered_models(endpoint_of_provider("vllm"), ModelSettings(name="mine", chosen=named))
    assert [(one.model, one.window) for one in found] == [("a", 8), ("b", 4096)]
    with pytest.raises(TryAgain, match=r"the server at http.*/v1 does not answer"):
        list_offered_models(endpoint_of_provider("vllm"), ModelSettings(name="mine", chosen=named))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"data": 3}', b'{"data": null}'])
def test_a_server_that_tells_nonsense_has_nothing(body: bytes) -> None:
    with listening(200, {"content-type": "application/json"}, body) as (address, _):
        named = NamedModel(provider="vllm", model="x", base_url=address)
        try:
            assert not list_offered_models(endpoint_of_provider("vllm"), ModelSettings(name="mine", chosen=named))
        except TryAgain:
            return
