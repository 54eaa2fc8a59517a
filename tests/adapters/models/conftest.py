import pytest


@pytest.fixture(autouse=True)
def only_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, key or address of whoever runs the tests takes part in them."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for provider in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS"):
            monkeypatch.delenv(f"{provider}_{name}", raising=False)
