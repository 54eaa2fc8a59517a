"""What README.md and SECURITY.md promise: the test that shows it is marked with the first words of the row or the point."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NO_PROMISES = {"the problem", "attacker", "To uninstall"}
"""Heads of tables, and an instruction."""


def list_promises() -> set[str]:
    readme, security = ((ROOT / name).read_text("utf-8") for name in ("README.md", "SECURITY.md"))
    rows = (
        readme.partition("## What it does")[2].partition("##")[0]
        + security.partition("## What is defended")[2].partition("##")[0]
    )
    cells = {re.sub(r"\[(.*?)\]\(.*?\)", r"\1", cell) for cell in re.findall(r"^\| (.+?) \|", rows, re.MULTILINE)}
    points = re.findall(r"^- \*\*(.+?)\*\*", readme.partition("## What to know before you trust it")[2], re.MULTILINE)
    return (cells | set(points)) - NO_PROMISES


def list_marks() -> dict[str, list[str]]:
    """Tests by the promise that they are marked with."""
    marks: dict[str, list[str]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        if ".promise(" not in (text := path.read_text("utf-8")):
            continue
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.promise":
                    marks.setdefault(ast.literal_eval(decorator.args[0]), []).append(function.name)
    return marks


def test_each_promise_has_a_test_and_each_mark_a_promise() -> None:
    assert list_promises() == set(list_marks()) and len(list_promises()) > 25
