import ast
import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from ruff.__main__ import find_ruff_bin

from afresh.code.complexity import FunctionNode, measure_complexity
from afresh.code.python_source import parse_python

PARTS = ("asyncio", "email", "importlib")


@pytest.mark.parametrize(
    ("names", "functions"), [("[a-d]*.py", 1_500), pytest.param("[a-t]*.py", 4_000, marks=pytest.mark.torture)]
)
def test_the_count_is_ruffs_count_all_over_the_standard_library(names: str, functions: int):
    root = Path(sysconfig.get_paths()["stdlib"])
    paths = [*root.glob(names), *(path for part in PARTS for path in (root / part).rglob("*.py"))]
    command = [
        find_ruff_bin(),
        "check",
        "--isolated",
        "--no-cache",
        "--ignore-noqa",
        "--select",
        "C901",
        "--output-format",
        "json",
    ]
    done = subprocess.run(
        [*command, "--config", "lint.mccabe.max-complexity=0", *map(str, paths)], capture_output=True, text=True, check=False
    )
    theirs = {(one["filename"], one["location"]["row"]): one["message"] for one in json.loads(done.stdout)}
    ours = {
        (str(path), node.lineno): f"`{node.name}` is too complex ({measure_complexity(node)} > 0)"
        for path in paths
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, FunctionNode)
    }
    assert len(ours) > functions
    assert ours == theirs


def test_match_and_nested_functions_count_as_ruff_counts_them():
    text = (
        "def f(x):\n    match x:\n        case 1: pass\n        case [a, *b] if a: pass\n        case _: pass\n"
        "    def g():\n        return 1 if x else 2\n    return [y for y in x if y]\n"
    )
    source = parse_python("a.py", text)
    assert source is not None
    assert {one.name: one.complexity for one in source.functions} == {"f": 4, "f.g": 1}


def test_a_silenced_function_is_no_violation():
    head = "def f(x):  # noqa: C901\n"
    body = "".join(f"    if x == {number}: return {number}\n" for number in range(12))
    loud, quiet = parse_python("a.py", head.replace("  # noqa: C901", "") + body), parse_python("a.py", head + body)
    assert loud is not None and quiet is not None
    assert (len(loud.violations), len(quiet.violations)) == (1, 0)
