"""Each kind of error and each status of a task has one exit code, and every class of errors.py has a row here."""

import inspect

import click
import pytest

from afresh import errors
from afresh.cli.exit_codes import CODES_BY_ERROR, CODES_BY_STATUS, ExitCode, choose_error_code, choose_status_code
from afresh.cli.main import EXIT_CODES_HELP, run_command_line
from afresh.cli.report_error import describe_error
from afresh.core.task import TaskStatus

EXPECTED = {
    errors.AfreshError("x"): 1,
    errors.ModelMistake("x"): 1,
    errors.UnreadableTree("x"): 1,
    errors.Broken("x"): 1,
    errors.Conflict("x"): 1,
    errors.LeaseLost("x"): 1,
    errors.NotPossible("x"): 1,
    ValueError("x"): 1,
    errors.BadInput("x"): 2,
    errors.BadInstructions("x"): 2,
    click.UsageError("x"): 2,
    errors.NeedsAnswer("x"): 3,
    errors.OverLimit("x"): 3,
    errors.OverCeiling("x"): 3,
    errors.NeedsPerson("x"): 4,
    errors.NoSandbox("x"): 4,
    errors.Damaged("x"): 4,
    errors.DiskFault("x"): 4,
    errors.TryAgain("x"): 4,
    OSError("x"): 4,
    errors.Cancelled("x"): 130,
    errors.StopRequested("x", None): 130,
    KeyboardInterrupt(): 130,
    click.Abort(): 130,
}


def test_an_error_has_the_code_of_its_nearest_class():
    for error, code in EXPECTED.items():
        assert choose_error_code(error) == describe_error(error).code == code, error


def test_every_class_of_errors_is_expected_here():
    raised = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.AfreshError)}
    assert raised <= {type(error) for error in EXPECTED}


def test_no_class_hides_behind_a_more_general_one():
    """A class that has the code of its parent needs no row of its own."""
    for kind, code in CODES_BY_ERROR.items():
        above = [CODES_BY_ERROR[parent] for parent in kind.__mro__[1:] if parent in CODES_BY_ERROR]
        assert not above or above[0] is not code, kind


def test_every_status_has_a_code():
    assert set(TaskStatus) <= CODES_BY_STATUS.keys()


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((), 0),
        (("done", "applied"), 0),
        (("failed",), 1),
        (("done", "blocked"), 3),
        (("ready",), 3),
        (("blocked", "failed", "done"), 1),
    ],
)
def test_a_failure_outweighs_a_question(statuses: tuple[str, ...], code: int):
    assert choose_status_code(TaskStatus(status) for status in statuses) == code


def test_the_help_names_every_code(capsys: pytest.CaptureFixture[str]):
    assert run_command_line(["--help"]) == 0
    assert "Exit codes:" in capsys.readouterr().out
    assert all(str(code.value) in EXIT_CODES_HELP for code in ExitCode)
