"""What the rewrites produce, and what each of them refuses. Each refusal here once would have changed what a program does."""

from textwrap import dedent

import pytest
from test_shapes_kept import done

from afresh.code.python_source import parse_python
from afresh.code.refactoring.project_facts import NO_PROJECT
from afresh.code.refactoring.rewrite_target import RewriteTarget
from afresh.code.refactoring.suggest_refactorings import (
    PREPARING_REWRITES,
    REWRITES,
    suggest_plans,
    suggest_prepared_extractions,
)
from afresh.code.refactoring.suggestion import apply_splices


def made(text: str, *kinds: str) -> list[str]:
    """Return the texts that the rewrites of these kinds produce."""
    text = dedent(text).lstrip("\n")
    source = parse_python("m.py", text)
    assert source is not None
    scenes = [RewriteTarget(source, function, NO_PROJECT) for function in source.functions]
    changes = [change for scene in scenes for kind in (*REWRITES, *PREPARING_REWRITES) for change in kind(scene)]
    return [apply_splices(source, list(change.splices)) for change in changes if change.kind in kinds]


def one(text: str, *kinds: str) -> str:
    [found] = made(text, *kinds)
    return found


MERGED = ("merge nested conditions", "merge branches that do the same", "merge conditions that lead to the same")


def test_nested_conditions_become_one():
    assert one(
        """
        def f(a, b):
            if a:
                if b or a > 1:
                    print(a)  # it
        """,
        *MERGED,
    ) == dedent("""\
        def f(a, b):
            if a and (b or a > 1):
                print(a)  # it
        """)


@pytest.mark.parametrize(
    "body",
    [
        "if a:\n    if b:\n        print(a)\n    else:\n        print(b)",
        "if a:\n    if b:\n        print(a)\nelse:\n    print(b)",
        "if a:\n    if b:\n        print(a)\n    print(b)",
        "if a:  # why\n    if b:\n        print(a)",
        "if a:\n    # only then\n    if b:\n        print(a)",
        "if a:\n    if b: print(a)",
    ],
)
def test_nested_conditions_stay_apart_where_one_has_more_to_say(body):
    assert not made("def f(a, b):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n", *MERGED)


def test_guards_with_the_same_end_become_one():
    new = one(
        """
        def f(a, b):
            if not a:
                return None
            if b > 2:
                return None
            return a
        """,
        *MERGED,
    )
    assert "    if not a or b > 2:\n        return None\n    return a\n" in new


@pytest.mark.parametrize(
    "second", ["    if b:\n        return 2", "    # why\n    if b:\n        return 1", "    if b:\n        print(1)"]
)
def test_guards_stay_apart_where_they_end_differently_or_are_explained(second):
    assert not made(f"def f(a, b):\n    if a:\n        return 1\n{second}\n    return a\n", *MERGED)


def test_a_loop_that_searches_becomes_any():
    new = one(
        """
        def f(xs, y):
            for x in xs:
                if x.name == y:
                    return True
            return False
        """,
        "search",
    )
    assert new == "def f(xs, y):\n    return any(x.name == y for x in xs)\n"


def test_a_loop_that_looks_for_a_counterexample_becomes_all():
    new = one("def f(xs):\n    for x in xs:\n        if not x:\n            return False\n    return True\n", "search")
    assert new == "def f(xs):\n    return all(x for x in xs)\n"


@pytest.mark.parametrize(
    "body",
    [
        "for x in xs:\n    if next(x):\n        return True\nreturn False",
        "for x in xs:\n    if (y := x):\n        return True\nreturn False",
        "for x in xs:\n    if x:\n        return 1\nreturn False",
        "for x in xs:\n    if x:\n        return True\n    print(x)\nreturn False",
        "found = False\nfor x in xs:\n    if x:\n        found = True\n        break\nreturn found, x",
        "found = False\nfor x in xs:\n    if x and found is False:\n        found = True\n        break\nreturn found",
        "any = all\nfor x in xs:\n    if x:\n        return True\nreturn False",
        "if xs:\n    late = 1\nfor x in xs:\n    if x > late:\n        return True\nreturn False",
        "x = 0\npeek = lambda: x\nfor x in xs:\n    if peek():\n        return True\nreturn False",
        "x = 0\nfound = False\nfor x in xs:\n    if x:\n        found = True\n        break\nreturn found, x",
    ],
)
def test_a_loop_that_does_more_than_search_stays(body):
    assert not made("def f(xs):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n", "search")


def test_a_loop_that_collects_becomes_a_comprehension():
    new = one(
        """
        def f(xs):
            names: list[str] = []
            for x in xs:
                if x is None:
                    continue
                names.append(x.name)
            return names
        """,
        "comprehension",
    )
    assert new == "def f(xs):\n    names: list[str] = [x.name for x in xs if x is not None]\n    return names\n"


@pytest.mark.parametrize(
    "body",
    [
        "out = []\nfor x in xs:\n    out.append(len(out))\nreturn out",
        "out = []\nfor x in xs:\n    out.append(x)\nreturn out, x",
        "out = []\nfor x in xs:\n    out.append(lambda: x)\nreturn out",
        "out = []\nseen = lambda: out\nfor x in xs:\n    out.append(g())\nreturn seen",
        "out = {}\nfor x in xs:\n    out[g(x)] = h(x)\nreturn out",
        "out = {}\nfor x in xs:\n    out[g(x)] = missing\nreturn out",
        "out = [1]\nfor x in xs:\n    out.append(x)\nreturn out",
        "a = 1\nfor y in xs:\n    del a\nout = []\nfor x in xs:\n    out.append(x * a)\nreturn out",
        "out = []\nprint(out)\nfor x in xs:\n    out.append(x)\nreturn out",
        "out = []\nfor x in xs:\n    if x:\n        out.append(x)\n    else:\n        out.append(1)\nreturn out",
    ],
)
def test_a_loop_that_does_more_than_collect_stays(body):
    assert not made("def f(xs):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n", "comprehension")


def test_what_a_handler_would_see_half_collected_stays_a_loop():
    assert not made(
        """
        def f(xs):
            try:
                out = []
                for x in xs:
                    out.append(1 / x)
            except ZeroDivisionError:
                return out
            return out
        """,
        "comprehension",
    )


def test_a_coroutine_waits_in_its_loop():
    text = "async def f(xs):\n    out = []\n    for x in xs:\n        out.append(await x)\n    return out\n"
    assert not made(text, "comprehension")


def test_a_plain_dict_is_asked():
    text = """
        def f(key, **options):
            if key not in options:
                options[key] = 1
            known = {}
            try:
                value = known[key]
            except KeyError:
                value = None
            return value
        """
    first, second = made(text, "ask the dict")
    assert "    options.setdefault(key, 1)\n" in first
    assert "    value = known.get(key)\n" in second


@pytest.mark.parametrize(
    "body",
    [
        "if key not in given:\n    given[key] = 1",
        "own = {}\nif key not in own:\n    own[key] = g()",
        "own = {}\nif key() not in own:\n    own[key()] = 1",
        "own = defaultdict(list)\ntry:\n    value = own[key]\nexcept KeyError:\n    value = 1",
        "own = {}\ntry:\n    value = own[key]\nexcept LookupError:\n    value = 1",
        "own = {}\nown = given\nif key not in own:\n    own[key] = 1",
    ],
)
def test_what_may_not_be_a_plain_dict_or_not_a_plain_value_is_not_asked(body):
    assert not made("def f(key, given):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n", "ask the dict")


PASSING = "def f(xs) -> Iterator[int]:\n    for x in xs:\n        yield x\n"


def test_a_loop_that_passes_on_becomes_yield_from():
    assert one(PASSING, "pass on") == "def f(xs) -> Iterator[int]:\n    yield from xs\n"


@pytest.mark.parametrize(
    "text",
    [
        "@contextmanager\n" + PASSING,
        PASSING + "f(1).send(2)\n",
        PASSING + "    return x\n",
        PASSING.replace("Iterator[int]", "Generator[int, int, None]"),
        PASSING.replace(" -> Iterator[int]", ""),
        PASSING.replace("def", "async def"),
    ],
)
def test_a_generator_that_may_be_spoken_to_keeps_its_loop(text):
    assert not made(text, "pass on")


def test_every_change_made_here_compiles_and_keeps_the_inputs_behaviour():
    text = "def f(a, b, xs):\n    for x in xs:\n        if x > a:\n            return True\n    return False\n"
    assert done(one(text, "search")) == done(text)


def test_small_changes_are_offered_together_only_where_they_reach_the_limit():
    ifs = "".join(f"    if a == {n}:\n        print({n}, b)\n" for n in range(9))
    nested = "    if b:\n        if a:\n            print(b)\n"
    source = parse_python("m.py", f"def f(a, b):\n{ifs}{nested}{nested.replace('b', 'c', 1)}    return a\n".replace("c", "a"))
    assert source is not None
    [function] = source.functions
    assert function.complexity == 14
    assert not [one for one in suggest_plans(source, function, NO_PROJECT)]


def test_a_chain_of_alike_cases_is_not_split_in_half():
    branches = "".join(f"    {'elif' if n else 'if'} kind == 'k{n}':\n        out.note{n}(value)\n" for n in range(12))
    source = parse_python("m.py", f"def show(kind, value, out):\n{branches}")
    assert source is not None
    [function] = source.functions
    assert not list(suggest_prepared_extractions(source, function, NO_PROJECT))
