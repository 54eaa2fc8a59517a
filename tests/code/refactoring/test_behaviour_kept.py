import os
import sys
import warnings
from itertools import chain, count, islice
from random import Random

import pytest
from cuts import list_cuts
from hypothesis import given, settings
from programs import INPUTS, behaviours, program, programs, random_program

from afresh.code.python_source import parse_python
from afresh.code.refactoring.suggest_extractions import NO_PROJECT, suggest_refactorings

MOST = 12


def check(text: str) -> int:
    """Try the suggestions for each function of a program, and return how many there were."""
    source = parse_python("program.py", text)
    if source is None or not compiles(text):
        return 0
    expected = behaviours(text, True)
    checked = 0
    for function in source.functions:
        planned = ((one.head, str(one.applied(text))) for one in suggest_refactorings(source, function, NO_PROJECT))
        for head, changed in chain(islice(list_cuts(source, function), MOST), planned):
            checked += 1
            assert behaviours(changed, True) == expected, f"{head}\n{text}\n-----\n{changed}"
    return checked


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
def test_a_call_that_names_its_line_is_kept_where_it_is():
    check(program(["if a:", "    if b:", "        blame('a')", "note(a)"], "plain"))


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
