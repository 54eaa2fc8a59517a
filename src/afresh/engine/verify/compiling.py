"""Python files that do not compile fail before any test is run."""

import shlex
import warnings
from collections.abc import Sequence

from afresh.domain.paths import in_test_folder, is_named_test
from afresh.domain.verdict import CheckRun, Failure
from afresh.engine.verify.command import interpreter
from afresh.ports import Bench

_PROBE = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec', dont_inherit=True)"


def uncompilable(bench: Bench, changed: Sequence[str]) -> CheckRun | None:
    """A run that stands for the files that are no Python; None when all compile."""
    present = frozenset(bench.files.paths())
    failures = [fault for path in changed if path in present and _is_source(path) for fault in _faults(bench, path)]
    if not failures:
        return None
    return CheckRun(command="compile", exit=1, scope="changed files", failed=len(failures), failures=tuple(failures))


def _is_source(path: str) -> bool:
    """Samples among the tests may be broken on purpose."""
    return path.endswith(".py") and (is_named_test(path) or not in_test_folder(path))


def _faults(bench: Bench, path: str) -> list[Failure]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(bench.files.read(path), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return [] if _compiles_there(bench, path) else [_failure(path, error)]
    except (RecursionError, MemoryError):
        return []
    return []


def _compiles_there(bench: Bench, path: str) -> bool:
    """The project's Python may be newer than ours."""
    checks = bench.state.task.checks
    python = interpreter(checks[0].command) if checks else "python3"
    return bench.sandbox.run(shlex.join([python, "-c", _PROBE, path]), 30).exit == 0


def _failure(path: str, error: SyntaxError | ValueError) -> Failure:
    if not isinstance(error, SyntaxError):
        return Failure(path, f"{type(error).__name__}: {error}")
    line = f"line {error.lineno}: {(error.text or '').strip()}"
    return Failure(path, f"{type(error).__name__}: {error.msg} ({path}, line {error.lineno})", line)
