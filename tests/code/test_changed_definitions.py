"""What a change is called after: the definitions whose own text differs."""

import pytest

from afresh.code.changed_definitions import find_changed_definitions

OPS = "def half(x):\n    return x / 2\n\n\ndef double(x):\n    return x * 2\n"
TRIPLE = "def triple(x):\n    return x * 3\n"
SHAPE = "class Shape:\n    sides = 3\n\n    def area(self):\n        return 1\n\n    def name(self):\n        return 'a'\n"


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (OPS, OPS.replace("\n\n\n", f"\n\n\n{TRIPLE}\n\n"), ("triple",)),
        (OPS, f"{TRIPLE}\n\n{OPS}", ("triple",)),
        (OPS, OPS.replace("x * 2", "2 * x"), ("double",)),
        (OPS, OPS.partition("\n\n\n")[0] + "\n", ("double",)),
        (SHAPE, SHAPE.replace("return 1", "return 2"), ("Shape.area",)),
        (SHAPE, SHAPE.replace("sides = 3", "sides = 4"), ("Shape.sides",)),
        (SHAPE, SHAPE.replace("Shape:", "Shape(Base):"), ("Shape",)),
        (OPS, "import os\n\n\n" + OPS, ()),
        ("", OPS, ("half", "double")),
        (OPS, OPS + "\ndef broken(:\n", ()),
    ],
)
def test_only_what_differs_is_named(before: str, after: str, names: tuple[str, ...]) -> None:
    assert find_changed_definitions("ops.py", before, after) == names


def test_a_file_that_is_no_code_has_no_names() -> None:
    assert find_changed_definitions("notes.md", "a", "def b(): pass") == ()
