"""Does the first window lead to the right files? Goals whose files are known, asked of the tree before anything was changed.

    python bench/aim.py [REPOSITORY] [--until COMMIT] [--commits 20] [--half tune|held_out] [--cases] [--json]

REPOSITORY is the path of any git repository with its history (this one, if none is given). The goal is a commit's subject with
the first lines of its body, the tree is that of its parent, and wanted are the files of the product that it changed and that were
there. In this repository also orders as people write them, of the tree as it is (bench/aiming/goals.json). Weights are tuned on
one half of the cases; the other is only looked at.
"""

import argparse
import json
import os
import platform
import re
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from statistics import mean
from types import SimpleNamespace
from typing import Any

from afresh.actions.tools.registry import TOOLS
from afresh.code.code_insight import CodeInsight
from afresh.code.context_items.work_focus import build_work_focus
from afresh.code.index.code_index import refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.gather import gather_context
from afresh.core.commit import CommitFiles, CommitHistory
from afresh.core.prompt import Prompt
from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from afresh.testing.states import make_runtime
from aiming.cases import Case, Tree, from_history, from_orders, repository_at, tree
from localizing.commits import TRAILER, Repository

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "aim.json"
CEILINGS, COMMITS, HISTORY = (4_000, 8_000), 20, 2_000
TYPE = "implement_feature"
SHOWN = re.compile(r"^([\w./-]+):\d+-\d+ [\w.]+, ", re.MULTILINE)
SOURCE = ("target", "similar", "files", "beginning")
Scores = dict[str, Any]


def begun(case: Case, ceiling: int) -> State:
    return State(
        task=Task(id="t", goal=case.goal, type=TYPE, budget=ceiling),
        workspace=WorkspaceState(base=case.before, first_snapshot="o"),
        work=WorkState(limit=60),
    )


def opening(case: Case, files: Tree, insight: CodeInsight, ceiling: int) -> Prompt:
    """The first window of a task with this goal, built as the engine builds it."""
    state, chosen = begun(case, ceiling), load_template(TYPE)
    store: Any = SimpleNamespace(read=str)
    runtime = make_runtime(files=files, code=insight, store=store, template=chosen, tools=TOOLS, counter=EstimatingCounter())
    memory: GatheredContext = gather_context(state, runtime)
    return build_prompt(memory, chosen, select_offered_tools(chosen, TOOLS), ceiling, EstimatingCounter())


def scored(case: Case, window: Prompt) -> Scores:
    """What the window names and shows of the files that are wanted, and how much of what it is said to be about is of these."""
    sections = {section.name: section.text for section in window.sections}
    told = "\n".join(text for name, text in sections.items() if name not in ("system", "tools", "task"))
    source = "\n".join(sections.get(name, "") for name in SOURCE)
    folders = {str(PurePosixPath(path).parent) for path in case.wanted}
    near = SHOWN.findall(sections.get("similar", ""))
    return {
        "named": mean(path in told for path in case.wanted),
        "shown": mean(path in source for path in case.wanted),
        "about": [path in case.wanted for path in SHOWN.findall(sections.get("target", ""))],
        "nearest": [str(PurePosixPath(path).parent) in folders for path in near],
    }


def played(cases: Sequence[Case], repository: Repository) -> dict[str, Scores]:
    """The oldest tree first: what two have in common is read once."""
    store, found, order = MemoryCodeStore(), dict[str, Scores](), list(repository.commits)
    for case in sorted(cases, key=lambda case: -order.index(case.before)):
        files = tree(repository, case.before)
        past = [
            CommitFiles(TRAILER.sub("", one.message), one.paths, one.when) for one in repository.history(case.before, HISTORY)
        ]
        history = CommitHistory(case.before, tuple(past))
        insight = CodeInsight(store, history=lambda base, history=history: history)
        ranked = [
            one.path
            for one in build_work_focus(refresh_code_index(files, "tree", store), begun(case, CEILINGS[0]), (), history).ranked
        ]
        best = {f"top{most}": mean(path in ranked[:most] for path in case.wanted) for most in (5, 10)}
        found[case.name] = best | {str(size): scored(case, opening(case, files, insight, size)) for size in CEILINGS}
    return found


def figures(found: Sequence[Scores]) -> Scores:
    result: Scores = {"cases": len(found), **{name: share([one[name] for one in found]) for name in ("top5", "top10")}}
    for size in map(str, CEILINGS):
        result[size] = {name: share([one[size][name] for one in found]) for name in ("named", "shown")}
        for name in ("about", "nearest"):
            held = [hit for one in found for hit in one[size][name]]
            result[size] |= {name: share(held), f"{name}_pieces": len(held)}
    return result


def share(values: Sequence[float]) -> float | None:
    return round(mean(values), 3) if values else None


def table(groups: dict[str, Scores]) -> str:
    lines = ["| goals | cases | top 5 | top 10 | named | shown | about | nearest |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, one in groups.items():
        cells = [" / ".join(percent(one[str(size)][key]) for size in CEILINGS) for key in ("named", "shown", "about", "nearest")]
        lines.append(f"| {name} | {one['cases']} | {percent(one['top5'])} | {percent(one['top10'])} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Two figures: windows of {' and '.join(f'{size:,}' for size in CEILINGS)} tokens."])


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repository", nargs="?", type=Path, default=HERE.parent)
    parser.add_argument("--commits", type=int, default=COMMITS, help="of each half")
    parser.add_argument("--until", default="HEAD", help="the newest commit that is looked at")
    parser.add_argument("--half", choices=("tune", "held_out"), help="only this one")
    parser.add_argument("--cases", action="store_true", help="print each case")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args(words)
    began, repository = time.time(), repository_at(given.repository)
    cases = [*from_history(repository, given.commits, given.until), *from_orders(repository, given.until)]
    cases = [case for case in cases if given.half is None or case.held_out is (given.half == "held_out")]
    found = played(cases, repository)
    repository.close()
    groups = {
        f"{kind}, {'held out' if held else 'tuned on'}": figures([found[case.name] for case in some])
        for kind, start in (("commits", False), ("orders", True))
        for held in (False, True)
        if (some := [case for case in cases if case.held_out is held and case.name.startswith("order") is start])
    }
    result = {
        "command": f"python bench/aim.py --until {repository.git('rev-parse', '--short', given.until).strip()}",
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "seconds": round(time.time() - began),
        "groups": groups,
        "cases": [{"name": case.name, "goal": case.goal, "wanted": case.wanted, **found[case.name]} for case in cases],
    }
    if given.repository == HERE.parent and given.commits == COMMITS and given.half is None:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    for case in cases if given.cases else ():
        print(case.name, case.goal.partition("\n")[0][:90], *case.wanted, json.dumps(found[case.name]), sep="\n  ")
    print(json.dumps(result, indent=1) if given.json else table(groups))


if __name__ == "__main__":
    main()
