"""The user level uses only what the user has written, with its meaning."""

from afresh.code.project_profile.profile import describe_user
from afresh.code.project_profile.statements import fit_statements

RULES = """\
# How I work

- Use pytest and hypothesis, never unittest.
- Format with `black`? No: ruff format instead of black.
- Prefer uv to pip.
- I write Python and Rust.
- Go to the docs first; just ask when in doubt.

```sh
docker compose up   # an example
```
"""


def told(*texts: str) -> str:
    return fit_statements(describe_user(texts), 1000, len)


def test_short_rules_are_quoted_and_examples_are_no_rules():
    assert told(RULES).startswith("in the user's words: Use pytest and hypothesis, never unittest; Format with `black`? No: ruff")
    assert "docker" not in told(RULES)


def test_rules_stand_in_the_users_words():
    assert told("Whole words for names.") == "in the user's words: Whole words for names"


def test_who_has_written_nothing_has_no_fingerprint():
    assert describe_user(()) == [] and describe_user(("", "\n")) == []
