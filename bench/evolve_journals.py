"""Does a policy that was tuned on half of the tasks of a project raise the yield of the other half, at no loss of recall?

    python bench/evolve_journals.py GIT_DIR WORK_FOLDER [--tasks 24] [--trials 30] [--seed 1]

GIT_DIR is a clone of a Python repository. Each task is one of its commits: the tree is set to the commit before, and a script
plays the model: it reads the lines that the commit changes, makes the change, and completes. So prompts and changes are real, the
way of working is not. The older half is tuned on, the newer is judged. Tasks that WORK_FOLDER has already are used again.
"""

import argparse
import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import Project, open_project
from afresh.app.tasks import TaskOrder, add_task
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve.compare_scores import Comparison, compare_scores
from afresh.evolve.find_proposals import find_proposals
from afresh.evolve.policy_change import apply_changes
from afresh.evolve.prove_proposal import describe_proof
from afresh.evolve.score_journal import TaskRecording, load_recording, score_recordings
from afresh.evolve.search_policy import SearchedSetting, choose_search, drop_useless_changes, to_changes
from afresh.evolve.task_use import collect_task_use
from afresh.evolve.use_report import add_up_use

RESULTS = Path(__file__).parent / "results" / "evolve_journals.json"
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
SETTINGS = (
    SearchedSetting("allocation.caps.outline", 0.02, 0.3),
    SearchedSetting("allocation.caps.fingerprint", 0.02, 0.2),
    SearchedSetting("allocation.caps.callers", 0.0, 0.2),
    SearchedSetting("allocation.caps.similar", 0.0, 0.15),
    SearchedSetting("allocation.caps.history", 0.0, 0.15),
)
"""Descriptions of the project."""
CODE_SETTINGS = (
    SearchedSetting("allocation.worth.step_tokens", 50, 900),
    SearchedSetting("allocation.caps.target", 0.05, 1.0),
    SearchedSetting("history.live.max_tokens", 100, 1_000),
)
"""What decides which code is shown."""
LOSS_PRICE = 50.0


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def list_commits(source: Path, most: int) -> list[str]:
    """The latest that change one to three Python files by a few hunks, oldest first."""
    found = list[str]()
    for commit in git(source, "log", "--no-merges", "--format=%H", "-600").split():
        rows = [line.split("\t") for line in git(source, "show", "--numstat", "--format=", commit).splitlines() if line]
        code = [row for row in rows if row[2].endswith(".py") and "test" not in row[2]]
        small = all(row[0].isdigit() and 0 < int(row[0]) + int(row[1]) <= 40 for row in code)
        if 1 <= len(code) <= 3 and small and all("=>" not in row[2] for row in rows):
            found.append(commit)
        if len(found) == most:
            break
    return found[::-1]


def write_script(repo: Path, commit: str, path: Path) -> None:
    names = git(repo, "diff", "--name-only", f"{commit}^", commit, "--", "*.py").split()
    names = [name for name in names if "test" not in name]
    replies = list[list[dict[str, Any]]]([[], []])
    for name in names:
        for hunk in HUNK.finditer(git(repo, "diff", "-U6", f"{commit}^", commit, "--", name)):
            read = {"path": name, "start": int(hunk[1]), "lines": int(hunk[2] or 1) + 4}
            replies[0].append({"tool": "read", "args": read})
        patch = git(repo, "diff", "-U3", f"{commit}^", commit, "--", name)
        for part in re.split(r"^@@.*$\n?", patch, flags=re.MULTILINE)[1:]:
            lines = [line for line in part.splitlines() if not line.startswith("\\")]
            old = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
            new = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+"))
            replies[1].append({"tool": "edit", "args": {"path": name, "old": old, "new": new}})
    replies.append([{"tool": "run", "args": {"command": "git diff --stat"}}])
    replies.append([{"tool": "complete", "args": {"summary": "Make the change\n\nAs asked."}}])
    path.write_text("".join(json.dumps({"thought": "", "actions": actions}) + "\n" for actions in replies if actions))


def run_tasks(source: Path, folder: Path, most: int) -> tuple[Project, list[str]]:
    repo = folder / "repo"
    if not repo.exists():
        subprocess.run(["git", "clone", "-q", str(source), str(repo)], check=True)
    project, tasks = open_project(repo), list[str]()
    if known := [ticket.task for ticket in project.queue.tickets()]:
        return project, known
    commits = list_commits(repo, most)
    for number, commit in enumerate(commits):
        git(repo, "reset", "-q", "--hard", f"{commit}^")
        script = folder / f"{number}.jsonl"
        write_script(repo, commit, script)
        goal = git(repo, "log", "-1", "--format=%B", commit).strip() or "Make the change"
        order = TaskOrder(goal, "implement_feature", ("python -m compileall -q .",), model=f"scripted:{script}")
        task = add_task(project, order).task.id
        try:
            run_task(project, task, RunTerms(no_sandbox=True, baseline="once"))
        except Exception as fault:  # a script that does not fit leaves a shorter journal
            print(f"  {commit[:8]}: {str(fault)[:90]}")
        tasks.append(task)
    return project, tasks


def tune(
    older: list[TaskRecording], project: Project, settings: Sequence[SearchedSetting], trials: int, seed: int
) -> dict[str, float]:
    before = score_recordings(older, DEFAULT_CONTEXT_POLICY, project.store)

    def rate(values: Any) -> float:
        policy = apply_changes(DEFAULT_CONTEXT_POLICY, to_changes(DEFAULT_CONTEXT_POLICY, values))
        found = compare_scores(before, score_recordings(older, policy, project.store), seed, 200)
        return -found.drawn.low + LOSS_PRICE * max(0.0, -found.recall.low)

    return drop_useless_changes(*choose_search(settings, rate, trials, seed)[:2], rate)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", type=int, default=24)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"XDG_DATA_HOME": str(given.folder / "data"), "XDG_CONFIG_HOME": str(given.folder / "config")}
    project, tasks = run_tasks(given.source.resolve(), given.folder.resolve(), given.tasks)
    all_recorded = [load_recording(project.store.journal(task), project.store) for task in tasks]
    recordings = [one for one in all_recorded if one.calls]
    older, newer = recordings[: len(recordings) // 2], recordings[len(recordings) // 2 :]
    print(f"{len(recordings)} tasks, {sum(len(one.calls) for one in recordings)} prompts that were built anew")
    used = [collect_task_use(project.store.journal(one.task), project.store.read) for one in older]
    suggested = find_proposals(add_up_use([one for one in used if one]), DEFAULT_CONTEXT_POLICY)
    policies = {
        "proposed": [change for one in suggested for change in one.changes],
    }
    for name, settings in (("tuned", SETTINGS), ("tuned, code too", SETTINGS + CODE_SETTINGS)):
        values = tune(older, project, settings, given.trials, given.seed)
        policies[name] = to_changes(DEFAULT_CONTEXT_POLICY, values)
    rows: dict[str, Any] = {"tasks": len(recordings)}
    for name, changes in policies.items():
        candidate = apply_changes(DEFAULT_CONTEXT_POLICY, changes)
        before, after = (score_recordings(newer, one, project.store) for one in (DEFAULT_CONTEXT_POLICY, candidate))
        found: Comparison = compare_scores(before, after, given.seed)
        print(f"{name}: {describe_proof(found)}: {found.verdict}\n  {'; '.join(map(str, changes))}", flush=True)
        rows[name] = {"comparison": asdict(found), "verdict": found.verdict, "changes": [str(one) for one in changes]}
    RESULTS.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
    project.storage.close()


if __name__ == "__main__":
    main()
