"""Moved functions, lookup tables, guard clauses and split loops: what they produce, and what each of them refuses."""

from textwrap import dedent

import pytest
from test_shapes import made, one

HOST = """
    def f(a, b):
        factor = a.factor

        {definition}

        if a:
            b = {call}
        return b
    """


def host(definition: str, call: str = "enlarge(b)") -> str:
    return HOST.format(definition=definition.replace("\n", "\n        "), call=call)


PLAIN = "def enlarge(x):\n    if x:\n        return x * factor\n    return 0"


def test_a_nested_function_moves_out_with_what_it_closed_over():
    assert one(host("# twice\n" + PLAIN), "move function") == dedent("""\
        # twice
        def _enlarge(factor, x):
            if x:
                return x * factor
            return 0


        def f(a, b):
            factor = a.factor

            if a:
                b = _enlarge(factor, b)
            return b
        """)


def test_a_nested_function_that_uses_the_object_becomes_a_method():
    new = one(
        """
        class K:
            def price(self, a: int) -> int:
                def doubled(x: int) -> int:
                    if x:
                        x *= 2
                    return self.rate * x * a
                if a:
                    return doubled(a)
                return doubled(1)
        """,
        "move function",
    )
    assert "        return self._doubled(a, 1)\n\n    def _doubled(self, a: int, x: int) -> int:\n        if x:" in new


def test_a_call_over_several_lines_and_a_docstring_keep_their_form():
    new = one(
        '''
        def f(a, b):
            def scaled(
                x,
                y,
            ):
                """Scale.

                Much.
                """
                if y:
                    return y
                return x * a
            return scaled(
                b,
                1,
            )
        ''',
        "move function",
    )
    assert 'def _scaled(\n    a,\n    x,\n    y,\n):\n    """Scale.\n\n    Much.\n    """\n' in new
    assert "    return _scaled(\n        a,\n        b,\n        1,\n    )\n" in new


def test_a_nested_function_that_calls_itself_goes_on_doing_so():
    new = one(host("def enlarge(x):\n    if x:\n        return enlarge(x - factor)\n    return x"), "move function")
    assert "        return _enlarge(factor, x - factor)\n" in new


@pytest.mark.parametrize(
    "definition, call",
    [
        ("@cache\n" + PLAIN, "enlarge(b)"),
        ("def enlarge(x):\n    nonlocal b\n    b = x * factor\n    return b", "enlarge(b)"),
        ("def enlarge(x=[]):\n    x.append(1)\n    return x", "enlarge()"),
        ("def enlarge(x=a):\n    return x", "enlarge()"),
        ("def enlarge(x: a):\n    return x", "enlarge(b)"),
        (PLAIN, "enlarge"),
        (PLAIN, "call(enlarge)"),
        (PLAIN, "sorted(b, key=enlarge)"),
        (PLAIN, "[enlarge(b) for factor in b]"),
        (PLAIN, "enlarge(factor := 3)"),
        (PLAIN, "(lambda factor: enlarge(b))(3)"),
        (PLAIN + "\nenlarge = str", "enlarge(b)"),
        ("def enlarge(x):\n    return x * later", "enlarge(b)\n            later = 1"),
        ("def enlarge(x):\n    yield x * factor\nfactor = 4", "list(enlarge(b))"),
    ],
)
def test_a_nested_function_stays_where_moving_it_would_show(definition, call):
    assert not made(host(definition, call), "move function")


def test_a_nested_function_is_not_handed_another_one_which_moves_first():
    text = host("def other(x):\n    if x:\n        return 1\n    return x\n" + PLAIN.replace("x *", "other(x) *"))
    assert "def _other(x):" in one(text, "move function")


def test_a_nested_function_without_a_closure_may_be_given_to_what_only_calls_it():
    new = one(host("def order(x):\n    if x:\n        return -x\n    return 0", "sorted(b, key=order)"), "move function")
    assert "b = sorted(b, key=_order)" in new


@pytest.mark.parametrize(
    ("old", "new"),
    [("a.factor", "2"), ("enlarge", "fetch"), ("        if x:", "        x = x or"), ("(x)", "(x: int) -> int")],
    ids=["a constant would be passed", "a vague name", "nothing is decided", "a type is not known"],
)
def test_a_nested_function_stays_where_it_would_not_be_clear_outside(old, new):
    text = host(PLAIN)
    assert made(text, "move function")
    assert not made(text.replace(old, new).replace("x or\n                return", "x or"), "move function")


def test_a_function_that_looks_at_its_own_variables_keeps_them():
    assert not made(host(PLAIN, "enlarge(b), locals()"), "move function")


CASES = """
    def suffix(kind{type}):
        if kind == "list":
            found = "s"
        elif kind in ("set", "list"):
            found = "es"
        elif kind == "one":
            found = ""{comment}
        else:
            found = None
        return found
    """


def test_cases_of_text_become_a_table_named_by_both_sides():
    assert one(CASES.format(type=": str", comment=""), "table") == dedent("""\
        _FOUND_BY_KIND = {
            "list": "s",
            "set": "es",
            "one": "",
        }


        def suffix(kind: str):
            found = _FOUND_BY_KIND.get(kind)
            return found
        """)


def test_cases_without_another_case_ask_the_table_first():
    text = (
        CASES.format(type=": str", comment="")
        .replace("        else:\n            found = None\n", "")
        .replace("found =", "return")
    )
    new = one(text, "table")
    assert "    if kind in _SUFFIX_BY_KIND:\n        return _SUFFIX_BY_KIND[kind]\n" in new


@pytest.mark.parametrize(
    "text",
    [
        CASES.format(type="", comment=""),
        CASES.format(type=": list", comment=""),
        CASES.format(type=": str", comment="  # just one"),
        CASES.format(type=": str", comment="").replace('"one"', "1"),
        CASES.format(type=": str", comment="").replace('found = ""', "found = g()"),
        CASES.format(type=": str", comment="").replace('found = ""', "found = []"),
        CASES.format(type=": str", comment="").replace('found = ""', 'other = ""'),
        CASES.format(type=": str", comment="").replace('kind == "one"', 'other == "one"'),
        CASES.format(type=": str", comment="").replace('kind == "one"', 'kind != "one"'),
        CASES.format(type=": str", comment="").replace("found = None", "found = g(kind)"),
    ],
)
def test_cases_stay_where_a_table_could_not_answer_for_them(text):
    assert not made(text, "table")


def test_the_rest_of_a_function_under_one_condition_gets_a_guard():
    new = one(
        """
        def f(a, b):
            b += 1
            if a is None:
                print(1)
                # two
                print('''
            three''')
                print(4)
        """,
        "guard clause",
    )
    assert new.endswith(
        "    if a is not None:\n        return\n    print(1)\n    # two\n    print('''\n    three''')\n    print(4)\n"
    )


def test_in_a_loop_a_guard_goes_on_with_the_next():
    text = "def f(xs):\n    for x in xs:\n        if x == 1:\n" + "            print(x)\n" * 4 + "    return xs\n"
    assert "        if x != 1:\n            continue\n        print(x)\n" in one(text, "guard clause")


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    if a:\n" + "        print(a)\n" * 4 + "    return a\n",
        "def f(a):\n    try:\n        print(a)\n    finally:\n        if a:\n" + "            print(a)\n" * 4,
        "def f(a):\n    if a:\n" + "        print(a)\n" * 4 + "    else:\n        print(2)\n",
        "def f(a):\n    if a:  # why\n" + "        print(a)\n" * 4,
    ],
)
def test_no_guard_where_something_follows(text):
    assert not made(text, "guard clause")


def test_a_guard_keeps_comparisons_whose_opposite_is_not_sure():
    text = "def f(a, b):\n    if {}:\n" + "        print(a)\n" * 4
    assert "    if not (a < b):\n        return\n" in one(text.format("a < b"), "guard clause")
    assert "    if not (a == b):\n        return\n" in one(text.format("a == b"), "guard clause")


def test_else_goes_after_a_branch_that_has_left():
    new = one("def f(a):\n    if a:\n        return 1\n    else:\n        # other\n        b = 2\n    return b\n", "early return")
    assert new == "def f(a):\n    if a:\n        return 1\n    # other\n    b = 2\n    return b\n"


def test_else_with_a_remark_stays():
    assert not made(
        "def f(a):\n    if a:\n        return 1\n    else:  # pragma: no cover\n        b = 2\n    return b\n", "early return"
    )


SPLIT = """
    def f(xs):
        rows, low, high = 0, [], []
        low = []
        high = []
        rows = [x for x in xs]
        for row in rows:
            if row:
                if row < 3:
                    low.append(row)
            # the others
            if row > 5:
                if row < {limit}:
                    high.append({value})
        return low, high
    """.replace("        rows, low, high = 0, [], []\n", "")


def test_a_loop_that_does_two_things_becomes_two():
    new = one(SPLIT.format(limit=9, value="row"), "split loop")
    assert "            low.append(row)\n    for row in rows:\n        # the others\n        if row > 5:\n" in new.replace(
        "    " * 4, "    " * 3
    )


@pytest.mark.parametrize(
    "text",
    [
        SPLIT.format(limit="len(low)", value="row"),
        SPLIT.format(limit=9, value="g(row)"),
        SPLIT.format(limit=9, value="row").replace("rows = [x for x in xs]", "rows = iter(xs)"),
        SPLIT.format(limit=9, value="row").replace("rows = [x for x in xs]", "rows = xs"),
        SPLIT.format(limit=9, value="row").replace("return low, high", "return low, high, lambda: low"),
        SPLIT.format(limit=9, value="rows.pop()"),
        SPLIT.format(limit=9, value="row").replace("high.append(row)", "break"),
        SPLIT.format(limit=9, value="row").replace("if row:", "row = row + 1\n            if row:"),
    ],
)
def test_a_loop_stays_one_where_its_halves_or_what_it_walks_could_tell(text):
    assert not made(text, "split loop")
