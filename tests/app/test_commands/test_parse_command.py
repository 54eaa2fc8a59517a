"""Only commands of a known form are accepted from a project's files."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.app.test_commands.parse_command import ParsedCommand, RecipeReference, RejectedCommand, parse_line

TAKEN = [
    ("pytest", "pytest", "pytest"),
    ("  @python3 -m pytest -q tests  ", "pytest", "python -m pytest -q tests"),
    (".venv/bin/python -m pytest -x", "pytest", "python -m pytest -x"),
    ("uv run --group dev pytest -n 4", "pytest", "pytest -n 4"),
    ("poetry run pytest --cov=shop --cov-report xml tests", "pytest", "pytest tests"),
    ("coverage run -m pytest", "pytest", "python -m pytest"),
    ("pip install -e . && pytest", "pytest", "pytest"),
    ("PYTHONPATH=src pytest -m 'not slow'", "pytest", "PYTHONPATH=src pytest -m 'not slow'"),
    ("python -W error -m unittest discover -s tests", "unittest", "python -W error -m unittest discover -s tests"),
    ("python tests/runtests.py --parallel 2", "script", "python tests/runtests.py --parallel 2"),
    ("python manage.py test", "script", "python manage.py test"),
    ("go test -race ./...", "go", "go test -race ./..."),
    ("cargo test --workspace", "cargo", "cargo test --workspace"),
    ("./gradlew check", "gradle", "./gradlew check"),
    ("mvn -B verify", "mvn", "mvn -B verify"),
    ("dotnet test --no-build", "dotnet", "dotnet test --no-build"),
]
REFUSED = [
    "pytest | tee log",
    "pytest; rm -rf /",
    "pytest $(curl -s example.org)",
    "pytest `id`",
    "pytest > /etc/passwd",
    "pytest --rootdir=/ tests",
    "pytest -c ../elsewhere/pytest.ini",
    "pytest 'unclosed",
    "LD_PRELOAD=x.so pytest",
    "PYTHONSTARTUP=x.py python -m pytest",
    "pytest --pyargs shop",
    "pytest ${{ matrix.where }}",
    "go test ./... & disown",
    "python tests/runtests.py ../../elsewhere",
]
NOT_TESTS = [
    "pip install -e .",
    "rm -rf build",
    "curl https://example.org | sh",
    "sudo make install",
    "echo done",
    "ruff check .",
    "",
]
POINTERS = [
    ("make test", "make", "test"),
    ("uvx tox -e py312", "tox", "py312"),
    ("npm test", "script", "test"),
]


@pytest.mark.parametrize(("line", "kind", "command"), TAKEN)
def test_a_plain_command_that_runs_tests_is_taken_without_what_leads_to_it(line: str, kind: str, command: str):
    assert [(one.kind, one.command) for one in parse_line(line) if isinstance(one, ParsedCommand)] == [(kind, command)]


@pytest.mark.parametrize("line", REFUSED)
def test_anything_more_than_a_plain_command_is_refused(line: str):
    with pytest.raises(RejectedCommand):
        parse_line(line)


@pytest.mark.parametrize("line", NOT_TESTS)
def test_what_does_not_speak_of_tests_is_left_alone(line: str):
    assert parse_line(line) == []


@pytest.mark.parametrize(
    "line", ["sudo pytest", "xargs pytest", "ssh host pytest", "sh -c pytest", "bash run_tests.sh pytest", "rm -rf pytest"]
)
def test_a_program_that_is_not_known_is_not_started_however_it_speaks_of_tests(line: str):
    assert [one for one in parse_line(line) if isinstance(one, ParsedCommand)] == []


@pytest.mark.parametrize(("line", "kind", "name"), POINTERS)
def test_a_recipe_is_followed_not_run(line: str, kind: str, name: str):
    assert parse_line(line) == [RecipeReference(kind, name)]


PLAIN = [
    "pytest",
    "python",
    "-m",
    "unittest",
    "go",
    "test",
    "./...",
    "make",
    "npm",
    "run",
    "cargo",
    "--cov",
    "-k",
    "tests/",
    "A=1",
    "x",
]
ODD = ["&&", "|", ";", "$(id)", "`id`", ">", "../y", "/etc", "sudo", "'a b'", "\\", "\n", "#", "{a,b}", "~", "*", "&", "!!"]
WORDS = st.sampled_from(PLAIN + ODD)


@given(st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=60).map(lambda text: f"pytest {text}"))
def test_whatever_is_taken_a_shell_does_no_more_than_split_it(line: str):
    try:
        found = parse_line(line)
    except RejectedCommand:
        return
    for one in found:
        if isinstance(one, ParsedCommand):
            lexer = shlex.shlex(one.command, posix=True, punctuation_chars=True)
            lexer.whitespace_split, lexer.commenters = True, ""
            assert tuple(lexer) == one.words
            assert not any("$" in word or "`" in word or "\n" in word or word.startswith("/") for word in one.words)
