from pathlib import Path

import pytest

from afresh.code.python_source import parse_python
from afresh.code.ruff import find_violations
from afresh.errors import BadInput

BRANCHES = "".join(f"    if a == {number}:\n        return {number}\n" for number in range(12))


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_ruffs_own_count_and_limits(tmp_path):
    write(tmp_path, "m.py", f"def f(a, b, c, d, e, g):\n{BRANCHES}")
    found = {one.code: (one.value, one.limit) for one in find_violations(tmp_path, ["."])}
    assert found["C901"] == (13, 10) and found["PLR0911"] == (12, 6) and found["PLR0913"] == (6, 5)


def test_the_projects_own_settings_are_kept(tmp_path):
    write(tmp_path, "m.py", f"def f(a):\n{BRANCHES}")
    write(tmp_path, "ruff.toml", "lint.mccabe.max-complexity = 13\n")
    assert "C901" not in {one.code for one in find_violations(tmp_path, ["."])}


def test_afresh_counts_as_ruff_does(tmp_path):
    here = Path(__file__).parents[2] / "src" / "afresh" / "code"
    write(tmp_path, "ruff.toml", "lint.mccabe.max-complexity = 0\n")
    for file in here.glob("*.py"):
        write(tmp_path, file.name, file.read_text())
    ruffs = {(one.path, one.line): one.value for one in find_violations(tmp_path, ["."]) if one.code == "C901"}
    ours = {
        (file.name, function.node.lineno): function.complexity
        for file in here.glob("*.py")
        if (source := parse_python(file.name, file.read_text())) is not None
        for function in source.functions
    }
    assert ours == ruffs


def test_settings_that_ruff_cannot_read_are_said(tmp_path):
    write(tmp_path, "ruff.toml", "lint.mccabe.max-complexity = 'many'\n")
    write(tmp_path, "m.py", "a = 1\n")
    with pytest.raises(BadInput, match="ruff failed"):
        find_violations(tmp_path, ["."])
