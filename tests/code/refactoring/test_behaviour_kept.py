import json
import os
import sys
import warnings
from collections.abc import Iterator
from itertools import chain, count, islice
from random import Random

import pytest
from hypothesis import given, settings
from programs import INPUTS, behaviours, program, programs, random_program

from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring import plan_extraction
from afresh.code.refactoring.extract_function import NO_SCORE_LIMIT, suggest_extractions
from afresh.code.refactoring.project_facts import NO_PROJECT
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.suggest_refactorings import REWRITES, iterate_all_suggestions
from afresh.code.refactoring.suggestion import apply_splices

MOST = 12


def check(text: str) -> int:
    """Try the suggestions for each function of a program, and return how many there were."""
    source = parse_python("program.py", text)
    if source is None or not compiles(text):
        return 0
    expected = {sends: behaviours(text, sends) for sends in (False, True)}
    checked = 0
    for function in source.functions:
        every = islice(suggest_extractions(source, function, NO_PROJECT, NO_SCORE_LIMIT), MOST)
        others = islice(iterate_all_suggestions(source, function, NO_PROJECT), MOST)
        cut = ((one.head, applied(text, one.text), True) for one in every)
        planned = ((one.head, applied(text, one.text), False) for one in others)
        for head, changed, sends in chain(cut, planned, rewritten(source, function)):
            checked += 1
            assert behaviours(changed, sends) == expected[sends], f"{head}\n{text}\n-----\n{changed}"
    return checked


def rewritten(source: PythonSource, function: PythonFunction) -> Iterator[tuple[str, str, bool]]:
    """Yield the program after each single rewrite, whether it would be offered or not."""
    scene = RewriteTarget(source, function, NO_PROJECT)
    for change in islice(chain.from_iterable(rewrite(scene) for rewrite in REWRITES), MOST):
        changed = apply_splices(source, list(change.splices))
        if compiles(changed):
            yield change.head, changed, False


def applied(text: str, suggestion: str) -> str:
    for edit in json.loads(suggestion.partition("\n")[2]):
        assert text.count(edit["old"]) == 1
        text = text.replace(edit["old"], edit["new"])
    return text


def compiles(text: str) -> bool:
    try:
        compile(text, "program", "exec")
    except SyntaxError:
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@settings(print_blob=False)
@given(programs)
def test_every_suggestion_keeps_what_a_random_program_does(text):
    check(text)


@pytest.mark.filterwarnings("ignore")
def test_changes_of_seeded_programs_keep_what_these_do():
    assert search(first=0, runs=200) >= 200


@pytest.mark.filterwarnings("ignore")
def test_the_search_notices_when_a_guard_is_off(monkeypatch):
    text = program(["if a:", "    if b:", "        blame('a')", "note(a)"], "plain")
    check(text)
    monkeypatch.setattr(plan_extraction, "calls_any_of", lambda roots, names: False)
    with pytest.raises(AssertionError):
        check(text)


@pytest.mark.torture
@pytest.mark.filterwarnings("ignore")
def test_changes_of_very_many_programs_keep_what_these_do():
    runs = int(os.environ.get("FUZZ", "100000"))
    assert search(first=1_000, runs=runs) >= runs


def search(first: int, runs: int) -> int:
    """Run programs with these seeds before and after each change, until there were so many runs of both; return how many."""
    done = 0
    for seed in count(first):
        done += check(random_program(Random(seed))) * len(INPUTS)
        if done >= runs:
            return done
    raise AssertionError


if __name__ == "__main__":
    # to search elsewhere: python tests/code/refactoring/test_behaviour_kept.py FIRST_SEED RUNS
    warnings.simplefilter("ignore")
    print(search(int(sys.argv[1]), int(sys.argv[2])), "runs before and after a change were the same")
