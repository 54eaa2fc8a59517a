"""Section `coverage`: what of the change, or of what is to be tested, no test speaks of."""

from collections.abc import Iterator

from afresh.domain.fact import Look
from afresh.insight.looks.scene import Scene, listed
from afresh.insight.looks.targets import WORDS, Target

TOLD = 12


def coverage(scene: Scene) -> Iterator[Look]:
    """By name alone: what a test reaches without naming it counts as not spoken of, and the text says so."""
    code = scene.code
    bare, held = list[str](), list[str]()
    for target in concerned(scene):
        tests = [path for path in code.mentioning(target.symbol.short) if code.is_test(path)]
        (held if tests else bare).append(f"{target.symbol.name} ({target.place})")
    if bare:
        yield Look("coverage", "in no test", f"no test names: {listed(bare, TOLD)}")
    if held:
        yield Look("coverage", "named in tests", f"named in tests: {listed(held, TOLD)}")


def concerned(scene: Scene) -> list[Target]:
    """What was changed; of a task that is to write tests, or that looks at code, what it is about."""
    if scene.state.task.judged_as in ("write_tests", "code_review"):
        return [one for one in scene.targets if one.why != WORDS]
    return scene.changed
