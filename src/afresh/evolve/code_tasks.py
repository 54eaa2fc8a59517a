"""Tasks that would make a Python project's code better: which functions to simplify, and which to make faster. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

MIN_TIME_SHARE = 0.1
"""Of a profile: a function that takes less is not worth a task."""
MAX_TASKS = 5
REFACTORING = "fix_violation"
PERFORMANCE = "refactor"


@dataclass(frozen=True, slots=True)
class ComplexFunction:
    path: str
    function: str
    line: int
    complexity: int
    limit: int


@dataclass(frozen=True, slots=True)
class SlowFunction:
    path: str
    function: str
    line: int
    seconds: float
    share: float
    """Of all time in the profile that was spent in code of the project."""


@dataclass(frozen=True, slots=True)
class CodeTask:
    goal: str
    type: str
    checks: tuple[str, ...]
    why: str
    priority: int = 0


def plan_code_tasks(
    complex_ones: Sequence[ComplexFunction],
    slow_ones: Sequence[SlowFunction],
    changes_by_path: Mapping[str, int],
    checks: Sequence[str],
    benchmark: str = "",
    most: int = MAX_TASKS,
) -> list[CodeTask]:
    """The most worthwhile first: what is slow, then what is complex in the files that tasks changed and had undone most often."""
    slow = sorted(slow_ones, key=lambda one: -one.share)
    tangled = sorted(complex_ones, key=lambda one: (-changes_by_path.get(one.path, 0), one.limit - one.complexity, one.path))
    return [*_speed_up(slow, checks, benchmark), *_simplify(tangled, changes_by_path, checks, benchmark)][:most]


def _speed_up(slow: Iterable[SlowFunction], checks: Sequence[str], benchmark: str) -> Iterator[CodeTask]:
    for one in slow:
        if one.share >= MIN_TIME_SHARE and benchmark:
            why = f"{one.share:.0%} of the profile's time, {one.seconds:.2f} s"
            goal = (
                f"Make {one.function} in {one.path} faster without changing what it does: it takes {one.share:.0%} of the "
                f"profile's time. All tests stay green, and the benchmark must not get slower: {benchmark}"
            )
            yield CodeTask(goal, PERFORMANCE, (*checks, benchmark), why, priority=1)


def _simplify(
    tangled: Iterable[ComplexFunction], changes_by_path: Mapping[str, int], checks: Sequence[str], benchmark: str
) -> Iterator[CodeTask]:
    for one in tangled:
        times = changes_by_path.get(one.path, 0)
        touched = f"; tasks changed the file {times} times" if times else ""
        why = f"complexity {one.complexity}, the limit is {one.limit}{touched}"
        goal = f"Bring {one.function} in {one.path} down to a complexity of {one.limit}; it has {one.complexity}"
        yield CodeTask(goal, REFACTORING, (*checks, *([benchmark] if benchmark else [])), why)
