"""Reports an error to a person or a script: what happened, what is safe, what to do next."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import click

from afresh.cli.exit_codes import choose_error_code
from afresh.cli.output import echo_wrapped
from afresh.errors import Broken, NeedsPerson, TryAgain

JOURNAL_KEPT = "Everything reported as done is saved in the journal."
BUG_ADVICE = "This is a bug in afresh; please report it. Run the command with AFRESH_DEBUG=1 for a traceback."


@dataclass(frozen=True, slots=True)
class ErrorReport:
    kind: str
    what: str
    safe: str
    next: str
    code: int

    def text(self) -> str:
        from afresh.core.text import escape_hidden

        safe_and_next = [line for line in (self.safe, self.next) if line]
        return escape_hidden("\n  ".join([f"afresh: {self.what}", *safe_and_next]))

    def as_json(self) -> str:
        from afresh.core.text import to_visible_json

        return to_visible_json({"error": asdict(self)})


def describe_error(error: BaseException) -> ErrorReport:
    kind, code = type(error).__name__, choose_error_code(error)
    task = getattr(error, "task", "") or getattr(error.__cause__, "task", "")
    match error:
        case click.Abort() | KeyboardInterrupt():
            if task:
                return ErrorReport("Interrupted", "interrupted", JOURNAL_KEPT, advise_to_resume(task), code)
            return ErrorReport("Interrupted", "interrupted", "", "`afresh status` shows what there is", code)
        case click.ClickException():
            where = getattr(error, "ctx", None)
            path = where.command_path if where else "afresh"
            return ErrorReport("Usage", error.format_message(), "", f"See '{path} --help'.", code)
        case NeedsPerson():
            return ErrorReport(kind, error.what, error.safe, join_advice(error.next, error), code)
        case TryAgain() | OSError():
            advice = join_advice(f"once that is fixed, {advise_to_resume(task) if task else 'give the command again'}", error)
            return ErrorReport(kind, _say_what_failed(error), JOURNAL_KEPT, advice, code)
        case Broken():
            return ErrorReport(kind, str(error), JOURNAL_KEPT, BUG_ADVICE, code)
        case _:
            return ErrorReport(kind, f"{kind}: {error}", JOURNAL_KEPT, BUG_ADVICE, code)


def advise_to_resume(task: str) -> str:
    from afresh.views.task_list import name_briefly

    return f"`afresh resume {name_briefly(task)}` continues after the last finished step"


@contextmanager
def name_interrupted_task(task: str) -> Iterator[None]:
    """Add to an error that stops the command which task can be resumed."""
    try:
        yield
    except (KeyboardInterrupt, TryAgain, OSError) as error:
        error.task = task  # pyright: ignore[reportAttributeAccessIssue]
        raise


def _say_what_failed(error: BaseException) -> str:
    """The file first, without the number of the error."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def join_advice(advice: str, error: BaseException) -> str:
    """Add when the task is tried again by itself, if it is."""
    again = getattr(error, "retry_at", 0.0)
    if not again:
        return advice
    from afresh.views.task_facts import format_time

    return f"{advice.rstrip('.')}. A worker (`afresh work`) tries it again by itself from {format_time(again)} on."


def wants_json(args: Sequence[str]) -> bool:
    """Look for --json in the raw arguments, because the command line may not be parseable."""
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options


def report_error(error: BaseException, as_json: bool) -> int:
    """Write the error to stderr and return the exit code."""
    if os.environ.get("AFRESH_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    failure = describe_error(error)
    if as_json:
        print(failure.as_json(), file=sys.stderr)
    else:
        echo_wrapped(failure.text(), err=True)
    return failure.code
