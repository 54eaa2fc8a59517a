import ast
from random import Random

from programs import random_program

from afresh.code.complexity import count_decisions_by_keyword, measure_complexity, measure_nesting_depth


def functions(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_decisions_by_keyword_add_up_to_the_complexity():
    for seed in range(60):
        for function in functions(random_program(Random(seed))):
            assert 1 + sum(count_decisions_by_keyword(function).values()) == measure_complexity(function)


def test_each_decision_is_counted_under_its_own_word():
    [function] = functions("""
def f(a):
    for x in a:
        while x:
            try:
                x = g(x)
            except (ValueError, KeyError):
                return 1
            except OSError:
                return 2
            else:
                x -= 1
    match a:
        case 1:
            return 3
        case _:
            return 4
""")
    assert count_decisions_by_keyword(function) == {"for": 1, "while": 1, "except": 2, "else": 1, "case": 1}
    assert measure_nesting_depth(function.body) == 3


def test_an_elif_is_no_deeper_than_its_if():
    [function] = functions("def f(a):\n    if a:\n        b()\n    elif a > 1:\n        c()\n    else:\n        d()\n")
    assert measure_nesting_depth(function.body) == 1
