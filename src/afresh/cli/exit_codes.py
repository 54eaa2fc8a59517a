"""Exit codes: what a script learns from a command, whichever it was."""

from collections.abc import Iterable
from enum import IntEnum

import click

from afresh import errors
from afresh.core.task import TaskStatus


class ExitCode(IntEnum):
    DONE = 0
    """Verified, or done."""
    NOT_DONE = 1
    """Not verified, or an operation that did not succeed."""
    WRONG_INPUT = 2
    NEEDS_ANSWER = 3
    SETUP = 4
    """The provider or the set-up: key, package, network, sandbox, git, disk."""
    INTERRUPTED = 130


CODES_BY_ERROR: dict[type[BaseException], ExitCode] = {
    click.Abort: ExitCode.INTERRUPTED,
    KeyboardInterrupt: ExitCode.INTERRUPTED,
    errors.Cancelled: ExitCode.INTERRUPTED,
    click.ClickException: ExitCode.WRONG_INPUT,
    errors.BadInput: ExitCode.WRONG_INPUT,
    errors.NotPossible: ExitCode.NOT_DONE,
    errors.NeedsAnswer: ExitCode.NEEDS_ANSWER,
    errors.OverLimit: ExitCode.NEEDS_ANSWER,
    errors.OverCeiling: ExitCode.NEEDS_ANSWER,
    errors.NeedsPerson: ExitCode.SETUP,
    errors.TryAgain: ExitCode.SETUP,
    errors.LeaseLost: ExitCode.NOT_DONE,
    OSError: ExitCode.SETUP,
    BaseException: ExitCode.NOT_DONE,
}
"""The nearest class counts. What is not listed is a bug: not done."""

CODES_BY_STATUS = {
    TaskStatus.DONE: ExitCode.DONE,
    TaskStatus.APPLIED: ExitCode.DONE,
    TaskStatus.UNCHANGED: ExitCode.DONE,
    TaskStatus.FAILED: ExitCode.NOT_DONE,
    TaskStatus.DISCARDED: ExitCode.NOT_DONE,
    TaskStatus.BLOCKED: ExitCode.NEEDS_ANSWER,
    TaskStatus.READY: ExitCode.NEEDS_ANSWER,
    TaskStatus.RUNNING: ExitCode.NEEDS_ANSWER,
}
"""The code for a task whose run has ended. Ready and running: it paused for a person; `afresh resume` continues it."""


def choose_error_code(error: BaseException) -> ExitCode:
    return choose_error_class_code(type(error))


def choose_error_class_code(error: type[BaseException]) -> ExitCode:
    return next(CODES_BY_ERROR[kind] for kind in error.__mro__ if kind in CODES_BY_ERROR)


def choose_status_code(statuses: Iterable[TaskStatus]) -> ExitCode:
    """The code of a run over these tasks. A failed task outweighs a waiting one."""
    codes = {CODES_BY_STATUS[status] for status in statuses}
    return next((code for code in (ExitCode.NOT_DONE, ExitCode.NEEDS_ANSWER) if code in codes), ExitCode.DONE)
