import json
import sys
import warnings
from itertools import chain, islice
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from programs import behaviours, programs, random_program

from afresh.code.python_source import parse_python
from afresh.code.refactoring.extract_function import NO_SCORE_LIMIT, suggest_extractions
from afresh.code.refactoring.suggest_refactorings import iterate_all_suggestions

MOST = 12


def check(text: str) -> int:
    """Try the suggestions for each function of a program, and return how many there were."""
    source = parse_python("program.py", text)
    if source is None or not compiles(text):
        return 0
    expected = {sends: behaviours(text, sends) for sends in (False, True)}
    checked = 0
    for function in source.functions:
        every = islice(suggest_extractions(source, function, frozenset(), NO_SCORE_LIMIT), MOST)
        others = islice(iterate_all_suggestions(source, function, frozenset()), MOST)
        for suggestion, sends in chain(((one, True) for one in every), ((one, False) for one in others)):
            checked += 1
            changed = applied(text, suggestion.text)
            assert behaviours(changed, sends) == expected[sends], f"{suggestion.head}\n{text}\n-----\n{changed}"
    return checked


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
@settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs)
def test_every_suggestion_keeps_what_a_random_program_does(text):
    check(text)


if __name__ == "__main__":
    # to search longer: python tests/code/refactoring/test_behaviour_kept.py FIRST_SEED COUNT
    warnings.simplefilter("ignore")
    first, count = map(int, sys.argv[1:3])
    print(sum(check(random_program(Random(seed))) for seed in range(first, first + count)), "suggestions kept behaviour")
