"""A secret that the process holds is found in every common form; what could be a word of a program is not taken for one."""

from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.known_secrets import is_secret_value, remember_environment_secrets, remember_secrets
from afresh.core.redaction import REDACTED, may_contain_secret, redact_secrets

KEY = "zQ8v+R2m/K7pL4xW9t"
SHAPED = "ghp_" + "9aZ0bY1cX2dW3eV4fU5gT6hS7iR8jQ9kP0lO"


@given(st.binary(max_size=7), st.binary(max_size=7), st.sampled_from([b64encode, urlsafe_b64encode]))
def test_it_is_found_anywhere_in_base64(before: bytes, after: bytes, encode) -> None:
    remember_secrets([KEY])
    text = encode(before + KEY.encode() + after).decode()
    assert may_contain_secret(text) and redact_secrets(f"x {text} y") == f"x {REDACTED} y"


@given(st.sampled_from([b"", b"KEY=", b"user:", b"a\n"]), st.sampled_from([b64encode, urlsafe_b64encode]))
def test_a_well_known_shape_is_found_in_base64_too(before: bytes, encode) -> None:
    text = encode(before + SHAPED.encode()).decode()
    assert may_contain_secret(text) and redact_secrets(f"x {text} y") == f"x {REDACTED} y"


@pytest.mark.parametrize("form", [KEY, quote(KEY, safe=""), KEY.encode().hex(), KEY.encode().hex().upper()])
def test_it_is_found_plain_in_an_address_and_as_digits(form: str) -> None:
    assert redact_secrets(form) == form
    remember_secrets([KEY])
    assert redact_secrets(f"a={form}&b\n") == f"a={REDACTED}&b\n"
    assert redact_secrets(REDACTED) == REDACTED


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("DEPLOY_TOKEN", "abcdef123456", True),
        ("OPENAI_API_KEY", "abcdef123456", True),
        ("SECRET_KEY_BASE", "abcdef123456", True),
        ("db_password", "abcdef123456", True),
        ("PGPASSWORD", "abcdef123456", True),
        ("GITHUB_PAT", "abcdef123456", True),
        ("DEPLOY_TOKEN", "short1", False),
        ("DEPLOY_TOKEN", "development", False),
        ("DEPLOY_TOKEN", "aaaaaaaaaaa1", False),
        ("SSH_KEY", "/home/me/.ssh/id_ed25519", False),
        ("KEY_SERVER", "https://keys.example.org/1", False),
        ("PASSWORD_PROMPT", "enter your 1st password", False),
        ("PWD", "abcdef123456", False),
        ("KEYBOARD", "abcdef123456", False),
        ("LANG", "abcdef123456", False),
    ],
)
def test_variables_that_are_named_as_keys_and_look_like_keys_are_secrets(name: str, value: str, is_secret: bool) -> None:
    remember_environment_secrets({name: value})
    assert (REDACTED in redact_secrets(f"x {value} y")) is is_secret


@given(st.text(max_size=60))
def test_text_without_the_secret_stays_as_it_is(text: str) -> None:
    before = redact_secrets(text)
    remember_secrets([KEY])
    assert redact_secrets(text) == before
    assert is_secret_value(KEY)
