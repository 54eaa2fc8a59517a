"""Section `coverage`: what of the change no test speaks of."""

from collections.abc import Iterator

from afresh.domain.fact import Look
from afresh.insight.looks.scene import Scene, listed

TOLD = 12


def coverage(scene: Scene) -> Iterator[Look]:
    """By name alone: what a test reaches without naming it counts as not spoken of, and the text says so."""
    code = scene.code
    bare, held = list[str](), list[str]()
    for target in scene.changed:
        tests = [path for path in code.mentioning(target.symbol.short) if code.is_test(path)]
        (held if tests else bare).append(f"{target.symbol.name} ({target.place})")
    if bare:
        yield Look("coverage", "changed, in no test", f"no test names: {listed(bare, TOLD)}")
    if held:
        yield Look("coverage", "changed, named in tests", f"named in tests: {listed(held, TOLD)}")
