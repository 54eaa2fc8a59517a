"""The workflow in examples/ is what it says: little is allowed, nothing foreign reaches a shell, and it works."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from person import CHECK, COMPLETE, MEND, SOURCE, Person

pytestmark = pytest.mark.reported

WORKFLOW = Path(__file__).parents[2] / "examples" / "github-action.yml"
TOKEN = "secret-token"
GH = """#!/bin/sh
[ "$*" = "issue view 12 --json title,body,number,url" ] || exit 1
printf '%s' '{"title": "double is wrong", "body": "$(touch /tmp/owned) `id`", "number": 12}'
"""


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return yaml.safe_load(WORKFLOW.read_text("utf-8"))


def find_faults(workflow: dict[Any, Any]) -> list[str]:
    """`on` is read as true by YAML 1.1."""
    job = workflow["jobs"]["run"]
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    holders = [step["name"] for step in job["steps"] if "secrets." in json.dumps(step.get("env", {}))]
    tokens = [step["name"] for step in job["steps"] if "github.token" in json.dumps(step)]
    faults = [f"expression in a script: {script}" for script in scripts if "${{" in script]
    faults += [f"trigger {name}" for name in workflow[True] if name not in ("issues", "workflow_dispatch")]
    faults += ["permissions"] if workflow["permissions"] != {} else []
    faults += ["job permissions"] if job["permissions"] != {"contents": "write", "issues": "read"} else []
    faults += ["secrets"] if holders != ["Work"] or "secrets." in json.dumps(job.get("env", {})) else []
    faults += ["token while the model works"] if "Work" in tokens or "github.token" in json.dumps(job.get("env", {})) else []
    checkouts = [step for step in job["steps"] if "checkout" in step.get("uses", "")]
    return faults + ["kept credentials" for step in checkouts if step["with"].get("persist-credentials") is not False]


def test_it_allows_little_and_keeps_foreign_text_out_of_scripts(workflow: dict[Any, Any]) -> None:
    assert find_faults(workflow) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"$NUMBER" --json', '"${{ github.event.issue.title }}" --json'),
        ("  issues:\n    types: [labeled]", "  pull_request_target:"),
        ("permissions: {}", "permissions: write-all"),
        ("      issues: read\n", ""),
        ("          GOAL: ${{ inputs.goal }}", "          GOAL: ${{ inputs.goal }}\n          GH_TOKEN: ${{ github.token }}"),
        ("          persist-credentials: false\n", ""),
    ],
)
def test_a_twin_that_allows_more_is_noticed(old: str, new: str) -> None:
    text = WORKFLOW.read_text("utf-8")
    assert old in text and find_faults(yaml.safe_load(text.replace(old, new)))


def run_step(workflow: dict[Any, Any], name: str, folder: Path, variables: dict[str, str]) -> None:
    """As a runner does it: bash that stops at the first failure."""
    (step,) = [step for step in workflow["jobs"]["run"]["steps"] if step.get("name") == name]
    given = {**step.get("env", {}), **variables}
    environment = {name: value for name, value in given.items() if "${{" not in value}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("by", ["issue", pytest.param("button", marks=pytest.mark.journey)])
def test_its_scripts_leave_a_verified_branch(person: Person, workflow: dict[Any, Any], by: str) -> None:
    person.write(".afresh/config.toml", f'checks = ["{CHECK}"]\ntype = "fix_bug"\n')
    person.commit("settings")
    remote, tools, home = person.folder / "remote.git", person.folder / "tools", person.folder / "home"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    address = f"https://x-access-token:{TOKEN}@github.com/me/project"
    for path, text in (
        (tools / "gh", GH),
        (
            tools / "afresh",
            f'#!/bin/sh\n[ "$1" = run ] && set -- "$@" --no-sandbox\nexec {sys.executable} -m afresh.cli.main "$@"\n',
        ),
        (home / ".gitconfig", f'[url "{remote}"]\n\tinsteadOf = {address}\n[user]\n\tname = t\n\temail = t@t\n'),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    runner = {"HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": SOURCE, "RUNNER_TEMP": str(person.folder)}
    runner |= {"GITHUB_STEP_SUMMARY": str(person.folder / "summary.md"), "MODEL": person.script([MEND], [COMPLETE])}
    run_step(workflow, "Limit the money", person.repo, runner)
    if by == "issue":
        run_step(workflow, "Read the issue", person.repo, runner | {"NUMBER": "12"})
    run_step(workflow, "Work", person.repo, runner | {"GOAL": "" if by == "issue" else 'double "is" $(wrong)'})
    run_step(workflow, "Leave the branch", person.repo, runner | {"GH_TOKEN": TOKEN, "GH_REPO": "me/project"})
    (pushed,) = subprocess.run(["git", "branch", "--list"], cwd=remote, capture_output=True, text=True, check=True).stdout.split()
    assert pushed.startswith("afresh/double-is-wrong") and TOKEN not in (person.repo / ".git/config").read_text()
    summary = (person.folder / "summary.md").read_text()
    assert "unittest -v: 2 passed" in summary and ("Closes #12" in summary) is (by == "issue")
