"""The bench of small tasks: its tasks can be solved and are not solved before, and it tells a true claim from a false one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import tasks
from tasking.problem import CHECK, Problem, problems

ALL = problems(tasks.PROBLEMS)
MANY_PROCESSES = ("inventory", "undo")
"""Their tests start Python hundreds of times."""


def passes(tree: Path, problem: Problem) -> bool:
    for path, text in {**problem.tests(), **problem.hidden()}.items():
        (tree / path).write_text(text)
    command = CHECK.replace("python3", sys.executable).split()
    return subprocess.run(command, cwd=tree, capture_output=True).returncode == 0


def apply(script: Path, tree: Path) -> None:
    for line in script.read_text().splitlines():
        for action in json.loads(line)["actions"]:
            args = action["args"]
            if action["tool"] == "edit" and "old" not in args:
                (tree / args["path"]).write_text(args["new"])
            elif action["tool"] == "edit":
                text = (tree / args["path"]).read_text()
                assert text.count(args["old"]) == 1
                (tree / args["path"]).write_text(text.replace(args["old"], args["new"]))


def test_there_are_ten() -> None:
    assert len(ALL) == 10 and len({problem.goal for problem in ALL}) == 10


@pytest.mark.parametrize(
    "problem",
    [pytest.param(one, id=one.name, marks=[pytest.mark.torture] if one.name in MANY_PROCESSES else []) for one in ALL],
)
def test_a_task_is_unsolved_as_it_is_given_and_solved_by_its_solution(problem: Problem, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(problem.folder / "project", tree)
    assert not passes(tree, problem)
    apply(problem.script, tree)
    assert passes(tree, problem)


def run(tmp_path: Path, *more: str) -> dict:
    out = tmp_path / "out.json"
    tasks.main(["--out", str(out), *more])
    return json.loads(out.read_text())


def test_both_arms_solve_a_task_by_its_script(tmp_path: Path, requires_sandbox, capsys) -> None:
    requires_sandbox()
    found = run(tmp_path, "--only", "months")
    assert [(row["arm"], row["solved"], row["false_claims"], row["over_ceiling"]) for row in found["arms"]] == [
        ("afresh", 1, 0, 0), ("plain", 1, 0, 0),
    ]  # fmt: skip
    assert all(row["tokens_in"] > 0 and row["steps"] == 2 for row in found["arms"])
    assert "1 of 1" in capsys.readouterr().out


def test_a_claim_that_the_hidden_tests_refute_is_a_false_one(tmp_path: Path, requires_sandbox) -> None:
    """Half of the work, with all visible tests passing."""
    requires_sandbox()
    held = tmp_path / "problems" / "cache"
    shutil.copytree(tasks.PROBLEMS / "cache", held)
    whole = json.loads((held / "solution.jsonl").read_text())
    half = {**whole, "actions": [whole["actions"][0], whole["actions"][-1]]}
    (held / "solution.jsonl").write_text(json.dumps(half) + "\n")
    found = run(tmp_path, "--problems", str(held.parent))
    assert [row["false_claims"] for row in found["arms"]] == [1, 1]


def test_a_claim_without_any_work_is_believed_only_by_the_plain_loop(tmp_path: Path, requires_sandbox) -> None:
    requires_sandbox()
    held = tmp_path / "problems" / "paging"
    shutil.copytree(tasks.PROBLEMS / "paging", held)
    whole = json.loads((held / "solution.jsonl").read_text())
    (held / "solution.jsonl").write_text(json.dumps({**whole, "actions": whole["actions"][-1:]}) + "\n")
    found = run(tmp_path, "--problems", str(held.parent))
    assert [(row["claimed"], row["false_claims"]) for row in found["arms"]] == [(0, 0), (1, 1)]
