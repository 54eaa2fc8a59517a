"""What a symbol calls, and its base classes and subclasses."""

from asked import called, code, place

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


def test_calls_of_functions_constructors_methods_and_properties():
    user = """
        import lib
        from lib import Base
        def use(b: Base, x):
            lib.low()
            lib.Plain()
            lib.Child(1)
            lib.given(lib.low)
            b.m()
            print(b.size)
        """
    assert called(code(lib=LIB, user=user), "use") == [
        "Base.__init__ call",
        "Base.m call",
        "Base.size call",
        "Child.m call?",
        "Grand.m call?",
        "Plain call",
        "given call",
        "low call",
        "low passed",
    ]


def test_an_unknown_receiver_is_told_by_name_if_few_can_be_meant():
    tree = code(lib="class A:\n    def shine(self, x): ...\n", user="def use(a):\n    a.shine(1)\n    a.shine()\n    a.glow()\n")
    assert called(tree, "use") == ["A.shine call?"]


def test_a_name_that_many_have_says_nothing():
    many = "".join(f"class A{n}:\n    def go(self): ...\n" for n in range(9))
    assert called(code(lib=many, user="def use(a):\n    a.go()\n"), "use") == []


def test_a_class_calls_what_its_methods_call():
    tree = code(
        lib=LIB, user="import lib\nclass User:\n    def a(self):\n        lib.low()\n    def b(self):\n        lib.Plain()\n"
    )
    assert called(tree, "User") == ["Plain call", "low call"]


def test_calling_an_object_calls_its_call():
    tree = code(a="class F:\n    def __call__(self): ...\ndef use():\n    f = F()\n    f()\n")
    assert called(tree, "use") == ["F call", "F.__call__ call"]


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
    assert called(tree, "use") == []
