"""Which files and folders a goal names."""

import pytest

from afresh.code.names_in_text import find_named_paths

PATHS = ["mako/ast.py", "mako/ext/lint.py", "tools/toxnox.py", "setup.py", "test/test_ast.py"]


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("Bring every function of mako down to a complexity of 10", ["mako"]),
        ("Simplify what is in the folder mako", ["mako"]),
        ("Simplify mako/", ["mako"]),
        ("Simplify mako/ext and setup.py", ["mako/ext", "setup.py"]),
        ("Simplify lint.py", ["mako/ext/lint.py"]),
        ("Simplify `lint.py:12` and ext/", ["mako/ext/lint.py"]),
        ("Bring every function down to a complexity of 10", []),
        ("Make the tools simpler and test them", []),
    ],
)
def test_a_goal_is_about_what_it_names(goal: str, found: list[str]) -> None:
    assert sorted(find_named_paths(goal, PATHS)) == sorted(found)
