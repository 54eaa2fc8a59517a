"""Each rule by which a name is resolved, on the smallest possible tree."""

import pytest
from asked import callers, code, told

from afresh.code.search_hit import UseKind

LIB = "def f(x=0):\n    return x\n\ndef other():\n    pass\n"

IMPORTED = {
    "by its name": "from lib import f\ndef use():\n    f()\n",
    "under another name": "from lib import f as g\ndef use():\n    g()\n",
    "as a part of its module": "import lib\ndef use():\n    lib.f()\n",
    "as a part of a module with another name": "import lib as l\ndef use():\n    l.f()\n",
    "within the function": "def use():\n    from lib import f\n    f()\n",
    "with everything": "from lib import *\ndef use():\n    f()\n",
    "as one of two": "try:\n    from lib import f\nexcept ImportError:\n    f = None\ndef use():\n    f()\n",
}


@pytest.mark.parametrize("source", IMPORTED.values(), ids=IMPORTED)
def test_a_function_that_is_imported(source: str):
    assert "user use call" in told(callers(code(lib=LIB, user=source), "f", "lib.py"))


ELSEWHERE = {
    "another import of that name": "from outer import f\ndef use():\n    f()\n",
    "its own function of that name": "def f():\n    pass\ndef use():\n    f()\n",
    "a parameter of that name": "from lib import f\ndef use(f):\n    f()\n",
    "a method of a text": "def use():\n    return ''.f()\n",
    "an attribute of a module from outside": "import os\ndef use():\n    os.f()\n",
    "an attribute of what somebody else has made": "import json\ndef use():\n    json.loads('1').f()\n",
}


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_somebody_else_of_the_same_name(source: str):
    found = told(callers(code(lib=LIB, user=source), "f", "lib.py"))
    assert not [line for line in found if "call" in line]


def test_what_a_package_passes_on_is_followed():
    tree = code(
        pkg__init="from .inner import f as shown\nfrom .star import *\n",
        pkg__inner=LIB,
        pkg__star="def g():\n    pass\n",
        user="from pkg import shown, g\nimport pkg\ndef use():\n    shown()\ndef all():\n    pkg.g()\n    pkg.inner.f()\n",
    )
    assert told(callers(tree, "f")) == ["user all call", "user use call"]
    assert told(callers(tree, "g")) == ["user all call"]


def test_relative_imports_and_modules_of_packages_are_followed():
    tree = code(
        pkg__init="",
        pkg__low__init="",
        pkg__low__lib=LIB,
        pkg__low__near="from . import lib\ndef use():\n    lib.f()\n",
        pkg__high="from .low.lib import f\nfrom pkg.low import lib as l\ndef use():\n    f(); l.f()\n",
        src__app__init="",
        src__app__main="import pkg.low.lib\ndef use():\n    pkg.low.lib.f()\n",
    )
    assert told(callers(tree, "f")) == ["pkg/high use call", "pkg/low/near use call", "src/app/main use call"]


def test_the_nearest_of_several_modules_of_a_name_is_meant():
    one = {f"{folder}__shared": LIB for folder in ("a", "b")}
    tree = code(**one, a__use="from shared import f\ndef use():\n    f()\n", b__use="from shared import f\nf()\n")
    assert told(callers(tree, "f", "a/shared.py")) == ["a/use use call"]
    assert told(callers(tree, "f", "b/shared.py")) == ["b/use call"]


CLASSES = """
class Base:
    def m(self):
        return self.step()
    def step(self):
        pass
    @classmethod
    def make(cls):
        return cls()
    @staticmethod
    def plain(x):
        return x
    @property
    def size(self):
        return 1
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass

class Child(Base):
    def __init__(self, n):
        self.n = n
    def m(self):
        return super().m()
    def use(self):
        self.step()
"""


def test_methods_are_found_through_classes_above():
    tree = code(lib=CLASSES)
    assert told(callers(tree, "Base.step")) == ["lib Base.m call", "lib Child.use call"]
    assert told(callers(tree, "Base.m")) == ["lib Child.m call"]


def test_a_method_that_takes_the_place_of_another_may_be_meant():
    tree = code(lib=CLASSES, user="from lib import Base\ndef use(x: Base):\n    x.m()\n")
    assert "user use call" in told(callers(tree, "Base.m"))
    assert told(callers(tree, "Child.m")) == ["user use call?"]


RECEIVERS = {
    "made in the same function": "x = Child(1)\n    x.use()",
    "made and used at once": "Child(1).use()",
    "of a with": "with Child(1) as x:\n        x.use()",
    "chosen": "x = Child(1) if input() else None\n    x.use()",
    "named on the way": "if (x := Child(1)):\n        x.use()",
    "called on the class": "Child.use(Child(1))",
    "given back by a function": "make().use()",
    "given back with an annotation": "noted().use()",
    "kept by another": "Holder().held.use()",
    "kept by another in a field": "Holder().field.use()",
    "by way of a property": "Holder().one.use()",
    "by way of a method that gives itself": "Child(1).__enter__().use()",
    "annotated": "x: 'Child | None' = None\n    x.use()",
    "bound to arguments": "from functools import partial\n    run = partial(Child(1).use)\n    run()",
}
HELD_RECEIVERS = {
    "in a list": "for x in [Child(1)]:\n        x.use()",
    "in a comprehension": "return [x.use() for x in (Child(1), Child(2))]",
    "one of a pair": "x, y = Child(1), 2\n    x.use()",
    "in a dictionary": "for k, x in {'a': Child(1)}.items():\n        x.use()",
    "yielded": "for x in yielded():\n        x.use()",
    "kept by another in a list": "for x in Holder().many:\n        x.use()",
    "of a context": "with context() as x:\n        x.use()",
}
"""What a container or a generator gives is not followed."""
AROUND = """
from __future__ import annotations
from contextlib import contextmanager
from typing import Optional
from lib import Child

def make():
    return Child(1)

def noted() -> Optional[Child]:
    ...

def yielded():
    yield Child(1)

@contextmanager
def context():
    yield Child(1)

class Holder:
    field: Child
    def __init__(self):
        self.held = Child(1)
        self.many: list[Child] = []
    @property
    def one(self):
        return self.held

def use():
    """


@pytest.mark.parametrize("body", RECEIVERS.values(), ids=RECEIVERS)
def test_the_class_of_a_receiver_is_known(body: str):
    found = callers(code(lib=CLASSES, user=AROUND + body + "\n"), "Child.use")
    assert [call.sure for call in found if call.within == "use" and call.kind in (UseKind.CALL, UseKind.PASSED)][:1] == [True]


@pytest.mark.parametrize("body", HELD_RECEIVERS.values(), ids=HELD_RECEIVERS)
def test_a_receiver_that_comes_out_of_a_container_is_told_by_name(body: str):
    found = callers(code(lib=CLASSES, user=AROUND + body + "\n"), "Child.use")
    assert [call.sure for call in found if call.within == "use" and call.kind is UseKind.CALL] == [False]


NOT_RECEIVERS = {
    "of another class": "class Other:\n    def use(self): pass\ndef go(x: Other):\n    x.use()\n",
    "of another class as far as is known": "class Other:\n    def use(self): ...\ndef go(x=Other()):\n    x.use()\n",
    "of a class without it": "class Other:\n    pass\ndef go():\n    Other().use()\n",
    "a field of that name": "class Other:\n    use: int\n    def go(self):\n        self.use()\n",
    "with too many arguments": "def go(x):\n    x.use(1, 2)\n",
    "with a keyword it does not have": "def go(x):\n    x.use(loud=True)\n",
    "a function of that name": "def use(): pass\ndef go():\n    use()\n",
}


@pytest.mark.parametrize("source", NOT_RECEIVERS.values(), ids=NOT_RECEIVERS)
def test_a_receiver_that_can_not_be_meant(source: str):
    assert not [line for line in told(callers(code(lib=CLASSES, user=source), "Child.use")) if line.startswith("user")]


def test_an_unknown_receiver_is_told_by_name():
    tree = code(lib=CLASSES, user="def go(x):\n    x.use()\n")
    assert told(callers(tree, "Child.use")) == ["user go call?"]


def test_making_an_instance_calls_the_class_and_its_constructor():
    tree = code(
        lib=CLASSES, user="import lib\ndef use():\n    return lib.Child(1)\nclass Deep(lib.Child):\n    pass\ndeep = Deep(2)\n"
    )
    assert told(callers(tree, "Child.__init__")) == ["user call", "user use call"]
    assert told(callers(tree, "Child")) == ["user use call"]
    assert told(callers(tree, "Base")) == ["lib Base.make call"]


def test_properties_classmethods_and_static_methods():
    user = "from lib import Base\ndef use():\n    b = Base.make()\n    print(b.size)\n    return b.plain(Base.plain(1))\n"
    tree = code(lib=CLASSES, user=user)
    for name in ("Base.make", "Base.size", "Base.plain"):
        assert told(callers(tree, name)) == ["user use call"], name


def test_what_is_handed_on_is_no_call():
    user = """
        from functools import partial
        import lib
        def use(pool):
            pool.submit(lib.f)
            return partial(lib.f, 1), sorted([], key=lib.f)
        TABLE = {"f": lib.f}
        """
    assert told(callers(code(lib=LIB, user=user), "f")) == ["user passed", "user use passed"]


def test_decorators_are_told_as_such():
    user = "import lib\n@lib.f\ndef one(): ...\n@lib.f(1)\ndef two(): ...\nclass A:\n    @lib.f\n    def m(self): ...\n"
    assert told(callers(code(lib=LIB, user=user), "f")) == ["user A decorator", "user decorator"]


def test_what_a_decorator_makes_of_a_function_is_asked_by_name():
    lib = "class Command:\n    def run(self): ...\ndef command(name): ...\n"
    user = "from lib import command\n@command('x')\ndef go(): ...\ndef use():\n    go.run()\n"
    assert told(callers(code(lib=lib, user=user), "Command.run")) == ["user use call?"]


GIVEN_ANOTHER_NAME = {
    "at the top": "from lib import f\ng = f\ndef use():\n    g()\n",
    "within": "from lib import f\ndef use():\n    g = f\n    g(1)\n",
    "as a default": "from lib import f\ndef use(g=f):\n    g()\n",
}


@pytest.mark.parametrize("source", GIVEN_ANOTHER_NAME.values(), ids=GIVEN_ANOTHER_NAME)
def test_a_function_that_is_given_another_name_is_told_where_that_happens(source: str):
    assert [line for line in told(callers(code(lib=LIB, user=source), "f", "lib.py")) if "passed" in line]


def test_imports_are_listed_with_their_line():
    found = callers(code(lib=LIB, user="import os\nfrom lib import other, f\n"), "f")
    assert [(call.path, call.line, call.kind, call.text) for call in found] == [
        ("user.py", 2, UseKind.IMPORT, "from lib import other, f")
    ]


def test_nested_functions_are_called_where_they_are_seen():
    source = """
        def outer():
            def inner():
                return 1
            def twin():
                return inner()
            return inner() + twin()
        def other():
            def inner():
                return 2
            return inner()
        """
    assert told(callers(code(a=source), "outer.inner")) == ["a outer call", "a outer.twin call"]
    assert told(callers(code(a=source), "other.inner")) == ["a other call"]


def test_names_of_a_class_are_not_seen_within_its_methods():
    tree = code(a="def f(): ...\nclass A:\n    def f(self): ...\n    def g(self):\n        f()\n")
    assert told(callers(tree, "f")) == ["a A.g call"]
    assert told(callers(tree, "A.f")) == []


def test_members_of_an_enum_are_its_instances():
    tree = code(
        lib="from enum import Enum\nclass Colour(Enum):\n    RED = 1\n    def shade(self): ...\n",
        user="from lib import Colour\ndef use():\n    Colour.RED.shade()\n",
    )
    assert told(callers(tree, "Colour.shade")) == ["user use call"]


def test_sure_ones_come_first():
    tree = code(lib=CLASSES, a="def go(x):\n    x.use()\n", b="from lib import Child\nChild(1).use()\n")
    assert [(call.path, call.sure) for call in callers(tree, "Child.use") if call.kind is UseKind.CALL] == [
        ("b.py", True),
        ("a.py", False),
    ]
