"""Python files that do not compile fail before any test is run."""

import shlex
import warnings
from collections.abc import Sequence

from afresh.core.recognise_test_files import is_in_test_folder, is_pytest_file
from afresh.core.rewrite_check_command import find_interpreter
from afresh.core.verdict import CheckRun, FailedTest
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import read_text

_COMPILE_SCRIPT = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec', dont_inherit=True)"


def check_changed_files_compile(context: ToolContext, changed: Sequence[str]) -> CheckRun | None:
    """A run that stands for the files that are no Python; None when all compile."""
    failures = [fault for path in changed if _is_python_source(path) for fault in _find_syntax_errors(context, path)]
    if not failures:
        return None
    return CheckRun(command="compile", exit=1, scope="changed files", failed=len(failures), failures=tuple(failures))


def _is_python_source(path: str) -> bool:
    """Samples among the tests may be broken on purpose."""
    return path.endswith(".py") and (is_pytest_file(path) or not is_in_test_folder(path))


def _find_syntax_errors(context: ToolContext, path: str) -> list[FailedTest]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(read_text(context.files, path) or "", path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return [] if _compiles_in_sandbox(context, path) else [_failure_from_error(path, error)]
    except (RecursionError, MemoryError):
        return []
    return []


def _compiles_in_sandbox(context: ToolContext, path: str) -> bool:
    """The project's Python may be newer than ours."""
    checks = context.state.task.checks
    python = find_interpreter(checks[0].command) if checks else "python3"
    return context.sandbox.run(shlex.join([python, "-c", _COMPILE_SCRIPT, path]), 30).exit == 0


def _failure_from_error(path: str, error: SyntaxError | ValueError) -> FailedTest:
    if not isinstance(error, SyntaxError):
        return FailedTest(path, f"{type(error).__name__}: {error}")
    line = f"line {error.lineno}: {(error.text or '').strip()}"
    return FailedTest(path, f"{type(error).__name__}: {error.msg} ({path}, line {error.lineno})", line)
