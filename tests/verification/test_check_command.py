import subprocess

import pytest

from afresh.core.rewrite_check_command import find_interpreter, instrument_command, is_single_pytest_session, narrow_to_tests

ONE = ["tests/test_x.py"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest", "pytest tests/test_x.py"),
        ("pytest -q --cov", "pytest tests/test_x.py -q --cov"),
        ("python -m pytest -q", "python -m pytest tests/test_x.py -q"),
        (".venv/bin/python3.12 -X dev -m pytest -n 2", ".venv/bin/python3.12 -X dev -m pytest tests/test_x.py -n 2"),
        ("uv run pytest -k 'not slow and (a or b)'", "uv run pytest tests/test_x.py -k 'not slow and (a or b)'"),
        ("coverage run --branch -m pytest", "coverage run --branch -m pytest tests/test_x.py"),
        ("A=1 timeout 60 pytest -x", "A=1 timeout 60 pytest tests/test_x.py -x"),
        ("pytest tests", "pytest tests/test_x.py"),
        ("pytest ./tests/ -q", "pytest tests/test_x.py -q"),
        ("pytest . --maxfail 1", "pytest tests/test_x.py --maxfail 1"),
    ],
)
def test_a_plain_pytest_command_is_narrowed(command: str, expected: str) -> None:
    assert narrow_to_tests(command, ONE) == expected


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_y.py",
        "pytest tests/test_y.py::test_a",
        "pytest other",
        "pytest --unknown tests",
        "cd sub && pytest",
        "pytest | tee log",
        "pytest > log",
        "pytest $ARGS",
        "pytest --rootdir=$PWD",
        "pytest -k `cat expression`",
        "pytest --ignore=tests/slow*",
        "pytest --ignore=~/tests",
        "pytest tests/*",
        "pytest `echo -q`",
        "tox -e pytest",
        "pip install pytest",
        "make test",
        "A='b c' pytest",
        "pytest 'unclosed",
        "",
    ],
)
def test_any_other_command_runs_whole(command: str) -> None:
    assert narrow_to_tests(command, ONE) is None


def test_a_file_name_can_not_break_out_of_the_command() -> None:
    assert narrow_to_tests("pytest", ["tests/test_$(rm x); y.py"]) == "pytest 'tests/test_$(rm x); y.py'"


@pytest.mark.parametrize("command", ["true", "false", "exit 3", "true && sh -c 'exit 4'", "false || exit 5"])
def test_the_exit_code_is_the_commands_own(command: str) -> None:
    mine, plain = (subprocess.run(["sh", "-c", text], check=False).returncode for text in (instrument_command(command), command))
    assert mine == plain


def test_the_whole_of_a_compound_command_sees_the_options() -> None:
    done = subprocess.run(
        ["sh", "-c", instrument_command("true && echo $PYTEST_ADDOPTS")], capture_output=True, text=True, check=True
    )
    assert "-rfEsxXp" in done.stdout and "--tb=short" in done.stdout


def test_what_the_user_asked_pytest_to_report_does_not_hide_the_outcomes() -> None:
    assert instrument_command("pytest -ra").endswith("pytest -ra -rfEsxXp --tb=short --color=no")
    assert instrument_command("pytest -q").endswith("\npytest -q")
    assert instrument_command("python -m unittest").endswith("python -m unittest -v")
    assert instrument_command("python -m unittest -v").endswith("python -m unittest -v")


def test_sessions_and_interpreters() -> None:
    assert is_single_pytest_session("python -m pytest -q") and not is_single_pytest_session("pytest a && pytest b")
    assert find_interpreter(".venv/bin/python -m pytest") == ".venv/bin/python"
    assert find_interpreter("pytest") == "python3"
