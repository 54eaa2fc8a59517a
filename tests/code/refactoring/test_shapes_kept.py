import re
import sys
import warnings
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from programs import behaviours
from shaped import shaped_program, shaped_programs
from test_behaviour_kept import compiles

from afresh.code.python_source import parse_python
from afresh.code.refactoring.project_facts import NO_PROJECT
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.suggest_refactorings import PREPARING_REWRITES, REWRITES, splices_from_difference, suggest_plans
from afresh.code.refactoring.suggestion import apply_edits, apply_splices, edits_from_splices

KINDS = {
    "merge nested conditions", "merge branches that do the same", "merge conditions that lead to the same",
    "search", "comprehension", "ask the dict", "move function", "table",
    "guard clause", "early return",
}  # fmt: skip
"""`pass on` needs a declared type, `split loop` a rare shape; they have tests of their own."""


def done(text: str) -> list[tuple[str, list[str]]]:
    """Return how the program behaves, without the addresses and names of functions and generators."""

    def plain(text: str) -> str:
        return re.sub(r"<\w+ .*? at 0x\w+>", "<>", text)

    return [(plain(end), list(map(plain, trace))) for end, trace in behaviours(text)]


def check(text: str) -> Counter[str]:
    """Apply each rewrite alone, and return how many of each kind there were."""
    source = parse_python("program.py", text)
    if source is None or not compiles(text):
        return Counter()
    expected, made = done(text), Counter[str]()
    for function in source.functions:
        scene = RewriteTarget(source, function, NO_PROJECT)
        for change in (one for kind in (*REWRITES, *PREPARING_REWRITES) for one in kind(scene)):
            made[change.kind] += 1
            changed = apply_splices(source, list(change.splices))
            assert compiles(changed), f"{change.head}\n{text}\n-----\n{changed}"
            assert done(changed) == expected, f"{change.head}\n{text}\n-----\n{changed}"
            result = parse_python("program.py", changed)
            assert result is not None
            assert apply_edits(text, edits_from_splices(source, list(splices_from_difference(source, result)))) == changed
    return made


@pytest.mark.filterwarnings("ignore")
@settings(print_blob=False)
@given(shaped_programs)
def test_every_change_keeps_what_a_random_program_does(text):
    check(text)


@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_change_occurs_in_the_random_programs():
    found = Counter[str]()
    for seed in (0, 1, 3, 4, 7, 8, 16, 18, 24, 33, 41, 441):
        found += check(shaped_program(Random(seed)))
    assert set(found) >= KINDS, KINDS - set(found)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=settings.default.max_examples * 3 // 4, print_blob=False)
@given(shaped_programs)
def test_changes_in_combination_keep_what_a_random_program_does(text):
    source = parse_python("program.py", text)
    if source is None or not compiles(text):
        return
    for function in source.functions:
        for suggestion in suggest_plans(source, function, NO_PROJECT):
            changed = suggestion.applied(text)
            assert changed != text
            assert done(changed) == done(text), f"{suggestion.head}\n{text}\n-----\n{changed}"


if __name__ == "__main__":
    # to search longer: python tests/code/refactoring/test_shapes_kept.py FIRST_SEED COUNT
    warnings.simplefilter("ignore")
    first, count = map(int, sys.argv[1:3])
    print(sum((check(shaped_program(Random(seed))) for seed in range(first, first + count)), Counter[str]()))
