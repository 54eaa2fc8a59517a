"""Does a policy that was tuned on half of the tasks raise the yield of the other half, at no loss of recall?

    python bench/evolve_journals.py STATE_FOLDER … [--seed 1]
    python bench/evolve_journals.py --script GIT_DIR WORK_FOLDER [--tasks 24] [--seed 1]

STATE_FOLDER is the folder `.afresh/state` of a project, or a copy; the tasks that ended as done in all of them are pooled and
split by turns. With --script, GIT_DIR is a clone of a Python repository, and each task is one of its commits: the tree is set to
the commit before, and a script plays the model: it reads the lines that the commit changes, makes the change, and completes. So
prompts and changes are real, the way of working is not. Tasks that WORK_FOLDER has already are used again. A policy is tuned on
each half and judged on the other; "both ways" pools the judged tasks.
"""

import argparse
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from afresh.app.compose import RunTerms, run_task
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.app.queue.read_tasks import SystemClock
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.task import TaskStatus, TicketQuery
from afresh.evolve.compare_scores import compare_scores
from afresh.evolve.policy_change import apply_changes
from afresh.evolve.prove_proposal import describe_proof
from afresh.evolve.score_journal import TaskRecording, load_recording, score_recording
from afresh.evolve.score_runs import RunScore
from afresh.evolve.search_policy import OWN_TASK_SETTINGS, SearchResult, search_policy
from afresh.ports.storage import JournalStore
from afresh.storage.sqlite.storage import open_sqlite_storage

RESULTS = Path(__file__).parent / "results" / "evolve_journals.json"
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
Recorded = tuple[TaskRecording, JournalStore]


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


def load_states(folders: Sequence[Path], scratch: Path) -> Iterator[Recorded]:
    for folder in folders:
        storage = open_sqlite_storage(folder, scratch, SystemClock())
        for ticket in storage.queue.tickets(TicketQuery((TaskStatus.DONE,))):
            yield load_recording(storage.journal.journal(ticket.task), storage.journal), storage.journal


def score(tasks: Sequence[Recorded], policy: ContextPolicy) -> list[RunScore]:
    return [score_recording(recording, policy, store) for recording, store in tasks]


def tune(tasks: Sequence[Recorded], seed: int) -> SearchResult:
    return search_policy(DEFAULT_CONTEXT_POLICY, lambda policy: score(tasks, policy), OWN_TASK_SETTINGS, seed)


def judge(tasks: Sequence[Recorded], result: SearchResult) -> tuple[list[RunScore], list[RunScore]]:
    before = score(tasks, DEFAULT_CONTEXT_POLICY)
    return before, score(tasks, apply_changes(DEFAULT_CONTEXT_POLICY, result.changes)) if result.changes else before


def show(name: str, before: Sequence[RunScore], after: Sequence[RunScore], tuned: Sequence[SearchResult], seed: int) -> Any:
    found = compare_scores(before, after, seed)
    changes = [[str(change) for change in one.changes] for one in tuned]
    print(f"{name} ({found.runs} tasks, {found.before.steps} prompts): {describe_proof(found)}: {found.verdict}")
    print("  " + " / ".join("; ".join(one) or "nothing" for one in changes), flush=True)
    return {"comparison": asdict(found), "verdict": found.verdict, "changes": changes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--tasks", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        os.environ |= {"XDG_DATA_HOME": f"{scratch}/data", "XDG_CONFIG_HOME": f"{scratch}/config"}
        if given.script:
            source, folder = given.folders
            folder.mkdir(parents=True, exist_ok=True)
            project, names = run_tasks(source.resolve(), folder.resolve(), given.tasks)
            loaded = [(load_recording(project.store.journal(task), project.store), project.store) for task in names]
        else:
            loaded = list(load_states(given.folders, Path(scratch)))
        tasks = [one for one in loaded if one[0].calls]
        first, second = tasks[::2], tasks[1::2]
        tuned, swapped = tune(first, given.seed), tune(second, given.seed)
        (one, other), (two, another) = judge(second, tuned), judge(first, swapped)
        kind = "scripts" if given.script else "readers"
        rows = {
            f"{kind}, second half": show("second half", one, other, [tuned], given.seed),
            f"{kind}, first half": show("first half", two, another, [swapped], given.seed),
            f"{kind}, both ways": show("both ways", [*two, *one], [*another, *other], [swapped, tuned], given.seed),
        }
    held = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(held | rows, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
