import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ring import install


@pytest.fixture(autouse=True)
def only_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, key or address of whoever runs the tests takes part in them."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for provider in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS"):
            monkeypatch.delenv(f"{provider}_{name}", raising=False)


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A keyring of the test's own."""
    monkeypatch.syspath_prepend(install(tmp_path))
    monkeypatch.setenv("STAND_IN_RING", str(tmp_path / "ring.json"))
    for name in ("keyring", "keyring.errors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in ("keyring", "keyring.errors"):
        sys.modules.pop(name, None)
