"""The user level uses only what the user has written, with its meaning."""

from afresh.code.project_profile.profile import describe_user
from afresh.code.project_profile.traits import fit_statements

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


def test_what_is_wanted_and_what_is_not_are_told_apart():
    text = told(RULES)
    assert "speak of: Python, Rust; pytest, hypothesis, ruff, uv\n" in text
    assert "and against: unittest, black, pip\n" in text


def test_words_that_are_also_tools_do_not_count_as_tools():
    assert not any(word in told("- Go home and make it just work.").partition("words")[0] for word in ("Go", "make", "just"))


def test_examples_are_no_statements():
    assert "docker" not in told(RULES)


def test_rules_stand_in_the_users_words():
    assert told("Whole words for names.") == "in the user's words: Whole words for names"


def test_who_has_written_nothing_has_no_fingerprint():
    assert describe_user(()) == [] and describe_user(("", "\n")) == []
