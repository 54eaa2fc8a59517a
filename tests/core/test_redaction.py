"""What has the shape of a secret is replaced, and names of a program are not."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.redaction import REDACTED, redact_secrets, redact_value

PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + "MIIEowIBAAKCAQEA7v3Zk0Yx\n" * 3 + "c2hvcnQ=\n-----END RSA PRIVATE " + "KEY-----"
SECRETS = {
    "anthropic": "sk-" + "ant-api03-Zx81kfLq0Zx81kfLq0Zx81kfLq0-Zx81kfLq0AA",
    "openai": "sk-" + "T3BlbkFJ9aZ0bY1cX2dW3eV4fU5gT6hS7iR8",
    "openai project": "sk-" + "proj-9aZ0bY1cX2dW3eV4fU5gT6hS7iR8_x",
    "github": "ghp_" + "9aZ0bY1cX2dW3eV4fU5gT6hS7iR8jQ9kP0lO",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "pem": PEM,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "address": "deploy:" + "hunter2hunter2",
}
AROUND = {"aws secret": "aws_secret_access_key = {}\n", "address": "https://{}@host/x"}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_replaced_wherever_it_is(kind: str) -> None:
    for text in ("{}", "key={}\nnext line", "- {}, and more", '"{}"', "x = 1\n{}\ny = 2\n"):
        held = text.format(AROUND.get(kind, "{}").format(SECRETS[kind]))
        shown = redact_secrets(held)
        assert REDACTED in shown and SECRETS[kind] not in shown and shown.count("\n") == held.count("\n")
        assert not any(line in shown for line in SECRETS[kind].splitlines() if len(line) > 8)


@pytest.mark.parametrize("named", ["aws_secret_access_key =\n  ", "Authorization:\n  Bearer "])
def test_lines_stay_where_they_are_if_a_secret_is_on_the_line_below_its_name(named: str) -> None:
    assert redact_secrets(f"{named}{SECRETS['aws secret']}\n") == f"{named}{REDACTED}\n"


@pytest.mark.parametrize("numbered", ["{number:4}  {line}", "{number} | {line}", "+{line}", "    {line}"])
def test_a_key_of_several_lines_is_found_in_numbered_and_changed_lines(numbered: str) -> None:
    text = "\n".join(numbered.format(number=number, line=line) for number, line in enumerate(PEM.splitlines(), 8))
    shown = redact_secrets(text)
    assert "MIIE" not in shown and "c2hvcnQ" not in shown


def test_a_diff_that_begins_in_the_middle_of_a_key_shows_nothing_of_it() -> None:
    lines = [f" {line}" for line in PEM.splitlines()[2:]]
    shown = redact_secrets("\n".join(["@@ -6,4 +6,4 @@ MIIEowIBAAKCAQEA7v3Zk0Yx", *lines, "-LIMIT = 1", "+LIMIT = 2"]))
    assert "MIIE" not in shown and "c2hvcnQ" not in shown and shown.startswith("@@ -6,4 +6,4 @@ [redacted]\n [redacted]\n")
    assert shown.endswith("\n-LIMIT = 1\n+LIMIT = 2")


@pytest.mark.parametrize(
    "text",
    [
        "pk_users_organisation_id_and_name2", ("class='sk-folding-cube-container-1 "
                                              "sk-circle-fade-dot-12'"), "task_list = sketch-of-1",
        "postgres://{user}:{password}@{host}/x", "https://$USER:$TOKEN@host", "https://user:pass@example.org",
        "ftp://USERNAME:PASSWORD@host", "http://localhost:8000/a@b", "mypy:strict@host",
        "if '-----BEGIN RSA PRIVATE KEY-----' in text:\n    return parse(text)\n", "https://example.org/x?y=z", "eyJust.a.name",
        "header = first_line\nend = '-----END RSA PRIVATE KEY-----'\n",
    ],
)  # fmt: skip
def test_names_and_templates_are_left_alone(text: str) -> None:
    assert redact_secrets(text) == text


@given(st.text(max_size=300))
def test_what_was_redacted_once_stays_as_it_is(text: str) -> None:
    assert redact_secrets(redact_secrets(text)) == redact_secrets(text)


@dataclass(frozen=True, slots=True)
class Held:
    name: str
    parts: tuple[str, ...] = ()
    more: object = None


def test_a_value_is_redacted_at_any_depth_and_left_itself_without_need() -> None:
    key = SECRETS["github"]
    assert redact_value(Held(key, ("a", key), [{"k": key, "n": 1}, Held("x")])) == Held(
        REDACTED, ("a", REDACTED), [{"k": REDACTED, "n": 1}, Held("x")]
    )
    plain = Held("x", ("a",), {"b": [1, None]})
    assert redact_value(plain) is plain
