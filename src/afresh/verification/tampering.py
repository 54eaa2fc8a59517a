"""Files that a task may not leave behind: they would take the place of what judges it, or act without being asked."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from afresh.core.change import Change
from afresh.core.recognise_test_files import is_test_code
from afresh.core.state import State
from afresh.core.steering_files import (
    describe_steering_files,
    is_file_asked_for,
    list_persons_words,
    list_unasked_steering_files,
)
from afresh.core.verdict import Baseline, Ruling, Verdict, list_first_names
from afresh.ports.tool import ToolContext

_IMPORT_ROOTS = frozenset({"", "src", "lib", "test", "tests"})
"""Folders that Python may import from; those with test files are, too."""
_RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "pygments", "xdist", "execnet",
     "unittest", "doctest", "pdb", "coverage", "ruff", "tox", "nox", "sitecustomize", "usercustomize"}
)  # fmt: skip
"""What test runners and other tools import, also late."""
_STANDARD_MODULES = sys.stdlib_module_names - {"test"}
_ENTRY_POINT_SUFFIXES = (".dist-info", ".egg-info")
_MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")
_LINK_MODE = "new file mode 120000"


def refuse_tampering(context: ToolContext, changes: Sequence[Change], measure: int) -> Verdict | None:
    """The files are put back as they were; all else stays."""
    words = list_persons_words(context.state)
    planted = dict(find_planted_files(context, changes, words))
    steering = list_unasked_steering_files([change.path for change in changes], context.state)
    told = describe_steering_files(steering, context.state.workspace.obeyed)
    if not planted and not steering:
        return None
    said = [
        f"files that would take part in judging were added, so they are removed: {list_first_names(planted.values(), 5)}",
        f"what was not asked for and {told} is put back",
    ]
    reason = "; ".join(one for one, found in zip(said, (planted, steering), strict=True) if found)
    return Verdict(Ruling.FAIL, reason, final=True, measure=measure, weakened=(*planted, *steering))


def find_planted_files(context: ToolContext, changes: Sequence[Change], words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """New files that Python would load in place of a runner's module, or that give a runner plugins, and what each would do."""
    baseline = context.state.verification.baseline or Baseline()
    loaded = frozenset(name for run in baseline.runs for name in run.evidence.modules)
    names = _RUNNER_MODULES | (loaded or _STANDARD_MODULES)
    roots = _IMPORT_ROOTS | {path.rpartition("/")[0] for path in context.files.paths() if is_test_code(path)}
    for change in changes:
        if change.kind != "added" or is_file_asked_for(change.path, words):
            continue
        if any(part.endswith(_ENTRY_POINT_SUFFIXES) for part in change.path.split("/")):
            yield change.path, f"{change.path} can declare plugins of the test runner"
        elif (name := _find_module_name(change, roots)) in names:
            yield change.path, f"{change.path} would be loaded in place of {name}"


def _find_module_name(change: Change, roots: frozenset[str]) -> str:
    """The top-level module that a file is, or makes a folder to; empty if it is inside a package or no module."""
    path = PurePosixPath(change.path)
    if path.stem.partition(".")[0] == "__init__":
        path = path.parent
    elif path.suffix not in _MODULE_SUFFIXES and _LINK_MODE not in change.patch:
        return ""
    folder = "" if str(path.parent) == "." else str(path.parent)
    return path.name.partition(".")[0] if folder in roots else ""


def name_steering_changes(verdict: Verdict, changes: Sequence[Change], state: State) -> str:
    """The verdict's reason, and what of the result acts unasked: a person wanted it, and it is named all the same."""
    told = describe_steering_files([change.path for change in changes], state.workspace.obeyed)
    return f"{verdict.reason}; changes what {told}" if told else verdict.reason
