"""Which blocks can be extracted, and how they return. Each refusal here once would have changed what a program does."""

import re
from textwrap import dedent

import pytest
from cuts import list_cuts

from afresh.code.python_source import parse_python


def offers(text: str, function: str | None = None) -> list[tuple[str, str]]:
    """Return header and resulting text of every suggestion."""
    text = dedent(text)
    source = parse_python("m.py", text)
    assert source is not None
    found = [one for one in source.functions if function in (None, one.name)]
    return [cut for one in found for cut in list_cuts(source, one)]


def results(text: str, holding: str, function: str | None = None) -> list[str]:
    """Return the texts in which the unique line `holding` has been moved out of its function."""
    indent = next(line for line in dedent(text).splitlines() if holding in line)
    return [new for _, new in offers(text, function) if indent not in new.splitlines()]


WORK = """
        if a:
            a += 1
        if a > 2:
            a += 2
"""


def test_parameters_are_what_is_read_and_results_what_is_needed_later():
    [_, *_] = found = offers("""
        def f(a, b, c):
            total = 0
            for x in a:
                if x > b:
                    total += x
            if c:
                total += 1
            return total
        """)
    heads = [head for head, _ in found]
    assert any("(a, b, total) -> total" in head for head in heads)
    assert any("(a, b) -> total" in head for head in heads)


def test_a_returning_tail_becomes_a_return():
    new = offers("""
        def f(a, b):
            if a:
                b += 1
            while b:
                if b > 3:
                    return b
                b -= 1
            if a:
                return 2
        """)
    assert any("return _" in text and "-> return" in head for head, text in new)


def test_continue_becomes_return_when_the_rest_of_a_loop_body_leaves():
    new = results(
        """
        def f(xs, out):
            for x in xs:
                x += 1
                if x == 2:
                    continue
                if x > 3:
                    out.append(x)
                else:
                    out.append(-x)
            if out:
                out.append(0)
        """,
        "if x == 2:",
    )
    assert any("        return\n    if x > 3:" in text for text in new)


@pytest.mark.parametrize(
    "line",
    [
        "global g",
        "del a",
        "x = locals()",
        "return eval('a')",
        "break",
        "a = vars()",
        "warn(x, stacklevel=2)",
        "x = sys._getframe(1)",
    ],
)
def test_code_that_only_means_something_in_its_own_function_stays(line):
    text = f"""
        def f(a, xs):
            for x in xs:
                if a:
                    if x:
                        {line}
                if x:
                    print(x)
            if a:
                print(a)
            if xs:
                return a
        """
    whole_loops = [new for new in results(text, "if a:") if line == "break"]
    assert results(text, line) == [] or whole_loops


def test_a_name_that_may_be_unbound_is_not_handed_over():
    assert not results(
        """
        def f(a, b):
            if a:
                c = 1
            if b:
                if a:
                    print(c)
                if b > 1:
                    print(b, c)
            return 1
        """,
        "print(b, c)",
    )


def test_what_a_handler_would_see_half_done_stays_in_its_try():
    text = """
        def f(a, b):
            n = 0
            try:
                if a:
                    n = 1
                if b:
                    n = 1 // b
            except ZeroDivisionError:
                return n
            if a:
                n += 1
            return n
        """
    assert not [new for new in results(text, "n = 1 // b") if "except" in new.split("def f")[1]]


def test_what_frees_a_value_stays():
    text = """
        def f(a, b, xs):
            held = a
            if held:
                xs.append(1)

            if b:
                held = None
                if a:
                    if a > 2:
                        xs.clear()
                    elif a > 1:
                        xs.append(2)
                for x in xs:
                    if x:
                        print(x)

            return xs
        """
    assert not results(text, "held = None")
    assert results(text.replace("held = None", "print(1)"), "print(1)")


def test_a_closure_keeps_its_variable():
    text = """
        def f(a, xs):
            out = []
            for x in xs:
                if a:
                    out.append(lambda: a)
                if x:
                    out.append(x)
            a = 7
            if xs:
                a = 8
            return out
        """
    assert not results(text, "out.append(lambda: a)")


def test_await_makes_the_new_function_async():
    new = results(
        """
        async def f(a, xs):
            if a:
                async for x in xs:
                    if x:
                        await x
            if xs:
                return a
            return xs
        """,
        "await x",
    )
    assert new
    assert all("async def _" in text and "await _" in text for text in new)


def test_methods_stay_beside_their_method_and_functions_go_before():
    new = results(
        """
        class K:
            def f(self, a):
                if a:
                    if self.b:
                        self.c = super().d + self.__e
                    if self.c:
                        self.f(0)
                if a > 1:
                    return a

            def g(self):
                pass
        """,
        "self.c = super().d + self.__e",
    )
    assert new
    for text in new:
        assert "        self._" in text
        assert text.index("def f(") < text.index("def _") < text.index("def g(")


def test_a_private_name_does_not_leave_its_class():
    text = """
        class K:
            def f(self, a):
                if a:
                    if a.__b:
                        a.c = a.__b
                    if a.c:
                        a.f(0)
                if self:
                    return a
        """
    assert not results(text, "a.c = a.__b")


def test_a_static_or_class_method_is_called_the_right_way():
    text = """
        class K:
            @classmethod
            def f(cls, a):
                if a:
                    if cls.b:
                        cls.c = a
                    if cls.c:
                        cls.f(0)
                if a > 1:
                    return a
        """
    new = results(text, "cls.c = a")
    assert new
    assert all("    @classmethod\n    def _" in one and "cls._" in one for one in new)


def test_strings_comments_and_line_ends_are_kept():
    text = dedent('''
        def f(a, b):
            if b:
                # Print the banner
                if a:
                    # why: because
                    print("""
            deep
        """)
                if a > 1:
                    print(a)  # twice
            if b > 2:
                return b
            return a
        ''').replace("\n", "\r\n")
    found = [new for head, new in offers(text) if "_print_banner(a)" in head]
    assert found
    for new in found:
        assert "\n" not in new.replace("\r\n", "")
        assert 'print("""\r\n    deep\r\n""")' in new
        assert "print(a)  # twice" in new


def test_tabs_stay_tabs():
    text = "def f(a, b):\n\tif b:\n\t\tif a:\n\t\t\tprint(a)\n\t\tif a > 1:\n\t\t\tprint(b)\n\tif b > 2:\n\t\treturn b\n"
    found = [new for _, new in offers(text)]
    assert found
    assert all("    " not in new for new in found)


def test_overloads_and_comments_are_not_torn_from_their_function():
    text = """
        from typing import overload

        @overload
        def f(a: int) -> int: ...
        @overload
        def f(a: str) -> str: ...
        def f(a):
            if a:
                if a > 1:
                    print(a)
                if a > 2:
                    print(a)
            if a > 3:
                return a
            return a
        """
    found = [new for _, new in offers(text)]
    assert found
    assert all(new.index("def _") < new.index("@overload") for new in found)


def test_names_come_from_the_code():
    heads = " ".join(
        head
        for head, _ in offers("""
            def render(a, parts):
                # Collect the open parts
                found = []
                for part in parts:
                    if part.open:
                        found.append(part)

                if a.fragile:
                    if a.heavy:
                        parts.append("both hands")
                    parts.append("fragile")
                if not a.name:
                    raise ValueError
                return found
            """)
    )
    assert "_collect_open_parts(parts) -> found" in heads
    assert "_render_fragile(a, parts)" in heads, "the function's name, and the first word of the test"


def test_a_generator_passes_on_what_the_new_one_yields():
    new = results(
        """
        def f(rows):
            total = 0
            for row in rows:
                if row:
                    total += 1
                    yield row
                elif total:
                    yield None
            if total > 3:
                yield total
        """,
        "yield row",
    )
    assert any("total = yield from " in text for text in new) and all("yield from" in text for text in new)


def test_an_async_generator_cannot_pass_on():
    assert not results(
        """
        async def f(rows):
            for row in rows:
                if row:
                    yield row
                elif rows:
                    yield None
            if rows:
                yield 1
        """,
        "yield row",
    )


@pytest.mark.parametrize(
    ("head", "new"),
    [
        ("a: int, parts: list[str], deep: bool = False", "(parts: list[str]) -> list[str]:"),
        ("a, parts, deep=False", "(parts):"),
        ("a: int, parts: list[str] | None, deep: bool = False", "(parts) -> list[str]:"),
    ],
)
def test_the_new_function_has_the_types_that_annotations_state(head, new):
    text = f"""
        def render({head}):
            if deep:
                return parts or []
            found{": list[str]" if ":" in head else ""} = []
            for part in parts:
                if part:
                    found.append(part)
            return found if a else []
        """
    assert any(re.search(rf"def _render_\w+{re.escape(new)}", after) for _, after in offers(text))
