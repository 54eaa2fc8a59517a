"""Queries about any source get an answer, with bounded work and the same result each time."""

import ast

import pytest
from asked import callers, code, place, told
from hypothesis import given
from hypothesis import strategies as st

from afresh.code.graph import calls, inference
from afresh.core.symbol import SymbolPlace

NAMES = st.sampled_from(["f", "g", "A", "B", "x", "self", "m"])


def wrapped(parts: list[str]) -> str:
    return "\n".join(parts) + "\n"


EXPRESSIONS = st.recursive(
    NAMES | st.sampled_from(["1", "'s'", "None", "[]", "{}"]),
    lambda inner: st.one_of(
        st.tuples(inner, NAMES).map(lambda pair: f"({pair[0]}).{pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]})({pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"[{pair[0]} for x in {pair[1]}]"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} if {pair[1]} else {pair[0]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}, {pair[1]})[0]"),
        inner.map(lambda one: f"(lambda x: {one})"),
        inner.map(lambda one: f"super().{one}" if one.isidentifier() else one),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.tuples(NAMES, EXPRESSIONS).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda pair: f"def {pair[0]}(x=None, *a, m: A = 1):\n    return {pair[1]}"),
    st.tuples(NAMES, EXPRESSIONS, EXPRESSIONS).map(
        lambda three: (
            f"class {three[0]}({three[1]}):\n    x: B\n    def m(self):\n        self.x = {three[2]}\n        return self.m()"
        )
    ),
    st.tuples(NAMES, EXPRESSIONS).map(lambda pair: f"with {pair[1]} as {pair[0]}:\n    {pair[0]}.m()"),
    st.sampled_from(["from b import *", "from a import f as g", "import b as A", "from . import a", "import a.b.c"]),
    EXPRESSIONS,
)


def valid(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


@given(st.lists(STATEMENTS, max_size=8).map(wrapped).filter(valid), st.lists(STATEMENTS, max_size=8).map(wrapped).filter(valid))
def test_whatever_is_written_every_symbol_has_an_answer(one: str, other: str):
    tree = code(a=one, b=other)
    for path in tree.files:
        for symbol in tree.reading(path).symbols:
            where = SymbolPlace(path, symbol)
            first, second = calls.find_callers(tree, where), calls.find_callers(tree, where)
            assert first == second
            assert all(call.text == tree.text(call.path).split("\n")[call.line - 1].strip() for call in first)
            calls.find_base_classes(tree, where), calls.find_subclasses(tree, where)


def test_more_files_than_one_question_may_read_are_counted():
    users = {f"u{n:02}": "from lib import f\nf()\n" for n in range(12)}
    tree = code(lib="def f(): ...\n", **users)
    found = calls.find_callers(tree, place(tree, "f"), most=5)
    assert found.unread == 8
    assert {call.path for call in found} == {"u00.py", "u01.py", "u02.py", "u03.py"}


def test_work_that_takes_too_long_is_cut_and_said(monkeypatch: pytest.MonkeyPatch):
    tree = code(a="class A:\n    def m(self): ...\n" + "".join(f"def f{n}(x=A()):\n    x.m()\n" for n in range(40)))
    assert not callers(tree, "A.m").cut
    monkeypatch.setattr(inference, "MAX_EVALUATED_EXPRESSIONS", 20)
    found = callers(tree, "A.m")
    assert found.cut
    assert len({call.within for call in found}) == 40


def test_files_that_are_let_go_are_read_again_when_they_are_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(inference, "MAX_OPEN_FILES", 1)
    users = {f"u{n}": f"from lib import A\ndef use{n}():\n    A().m()\n" for n in range(6)}
    tree = code(lib="from base import B\nclass A(B): ...\n", base="class B:\n    def m(self): ...\n", **users)
    assert told(callers(tree, "B.m")) == [f"u{n} use{n} call" for n in range(6)]


def test_a_change_on_disk_is_seen_by_the_next_question():
    tree = code(lib="def f(): ...\n", user="import lib\nlib.f()\n")
    assert [call.line for call in callers(tree, "f")] == [2]
    tree._files.write("user.py", "import lib\n\n\nlib.f()\n")  # type: ignore[attr-defined]
    assert [call.line for call in callers(tree, "f")] == [4]


def test_a_file_that_does_not_parse_is_passed_over():
    tree = code(lib="def f(): ...\n", broken="from lib import f\nf(\n", user="from lib import f\nf()\n")
    assert told(callers(tree, "f")) == ["user call"]
