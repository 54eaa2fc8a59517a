"""Base classes, subclasses and overrides."""

from asked import callers, code, place

from afresh.code.graph import calls

LIB = """
def low(): ...
def given(f): ...

class Base:
    def __init__(self, n): ...
    def m(self): ...
    @property
    def size(self): ...

class Child(Base):
    def m(self): ...

class Plain: ...

class Grand(Child):
    def m(self): ...
"""


def test_classes_above_and_below_across_files():
    tree = code(
        lib=LIB,
        more="from lib import Child as Kid\nimport lib\nclass Far(Kid): ...\nclass Other(lib.Plain): ...\n",
        apart="class Child: ...\nclass Nobody(Child): ...\n",
    )
    assert [each.symbol.name for each in calls.find_base_classes(tree, place(tree, "Far"))] == ["Child", "Base"]
    assert [each.symbol.name for each in calls.find_subclasses(tree, place(tree, "Base"))] == ["Child", "Grand", "Far"]
    assert [each.symbol.name for each in calls.find_overrides(tree, place(tree, "Base.m"))] == ["Child.m", "Grand.m"]


def test_the_order_of_bases_is_pythons():
    tree = code(a="class A: ...\nclass B(A): ...\nclass C(A): ...\nclass D(B, C): ...\n")
    assert [each.symbol.name for each in calls.find_base_classes(tree, place(tree, "D"))] == ["B", "C", "A"]


def test_classes_that_extend_each_other_do_no_harm():
    tree = code(a="class A(B): ...\nclass B(A): ...\ndef use(a: A):\n    a.x()\n")
    assert calls.find_base_classes(tree, place(tree, "A"))
    assert not callers(tree, "B")
