"""The first windows of every type of task on a real project: what they show of the code, and that nothing stands twice."""

import re
from collections import Counter as Tally
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import afresh
from afresh.actions.tools.registry import TOOLS
from afresh.code.code_insight import CodeInsight
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.gather import gather_context
from afresh.core.line_region import Region
from afresh.core.prompt import Prompt
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun
from afresh.workspace.files import TreeFiles
from support.states import make_runtime, make_state

SAMPLE = Path(afresh.__file__).parent / "sample"
REPORTS = {"code_review": "REVIEW.md", "discovery": "DISCOVERY.md", "spec_design": "docs/spec.md"}
GOALS = {
    "fix_bug": "billable_weight rounds whole kilograms up",
    "fix_violation": "Bring src/parcel/pricing.py down to a complexity of 10",
    "implement_feature": "Add parse_volume to src/parcel/measures.py: reads `2 l` and `500 ml` like parse_weight",
    "write_tests": "Test src/parcel/tracking.py: lost parcels, and lines that are no events",
    "refactor": "Put what belongs to one country into one small class, used by check_address and render_label",
    "spec_design": "Design insurance that depends on the zone: where quote takes it into account",
    "code_review": "Review src/parcel/pricing.py and src/parcel/tracking.py for faults that a customer would notice",
    "discovery": "How does `quote` find the price of a parcel, and what does the girth have to do with it?",
    "bridge": "Connect src/parcel/customs.py with src/parcel/label.py by an adapter that prints the declaration on the label",
}
SHOWN = {
    "fix_bug": {"target", "callers"},
    "fix_violation": {"suggestions", "files", "tests"},
    "implement_feature": {"similar", "files"},
    "write_tests": {"similar", "tests", "files"},
    "refactor": {"target", "callers", "tests"},
    "spec_design": {"target", "callers"},
    "code_review": {"files", "tests", "callers"},
    "discovery": {"target"},
    "bridge": {"files"},
}


def window(type: str, budget: int = 0, **fields: Any) -> Prompt:
    style = load_template(type)
    limit = budget or style.ceiling
    checks, runs = (Check("python -m pytest -q"),), (CheckRun("python -m pytest -q", 0, passed=82),)
    order = Task(id="t", goal=GOALS[type], type=type, checks=checks, budget=limit, report=REPORTS.get(type, ""))
    state = make_state(order, first_snapshot="tree", limit=60, baseline=Baseline(runs), **fields)
    paths = sorted(str(path.relative_to(SAMPLE)) for path in SAMPLE.rglob("*") if path.suffix in (".py", ".md", ".toml"))
    files, store = TreeFiles(SAMPLE, lambda: paths), SimpleNamespace(read=lambda block: "")
    runtime = make_runtime(files=files, store=store, code=CodeInsight(), template=style, tools=TOOLS, counter=EstimatingCounter())
    return build_prompt(
        gather_context(state, runtime), style, select_offered_tools(style.at(state.phase), TOOLS), limit, EstimatingCounter()
    )


def code(made: Prompt) -> list[tuple[str, str]]:
    """Every numbered line with its file."""
    found: list[tuple[str, str]] = []
    for section in made.sections:
        path = ""
        for line in section.text.splitlines() if section.name in ("target", "similar", "files", "failing") else ():
            if re.match(r"[+ ]\s*\d+ ", line):
                found.append((path, line[1:]))
            elif match := re.match(r"([\w./-]+\.\w+)(?::\d+-\d+ .*)?$", line):
                path = match[1]
    return found


@pytest.mark.parametrize("type", GOALS)
def test_the_first_window_shows_what_such_a_task_needs_within_the_ceiling(type: str):
    made = window(type)
    assert made.tokens + made.request.reserve <= made.budget
    names = {section.name for section in made.sections}
    assert {"fingerprint", "outline"} | SHOWN[type] <= names


@pytest.mark.parametrize("type", GOALS)
@pytest.mark.parametrize("budget", [4_000, 8_000])
def test_no_line_of_code_stands_twice_and_each_is_what_the_file_says(type: str, budget: int):
    lines = code(window(type, budget))
    twice = [line for line, count in Tally(lines).items() if count > 1]
    assert lines and not twice
    for path, line in lines:
        number, text = line[:4].strip(), line[5:]
        assert (SAMPLE / path).read_text().splitlines()[int(number) - 1] == text


def test_what_the_model_has_read_in_part_stands_whole_under_files_and_not_twice():
    touched = window("fix_bug", regions=(Region("src/parcel/pricing.py", 17, 17, 1),), step=1)
    by_name = {section.name: section.text for section in touched.sections}
    assert "def billable_weight" in by_name["files"] and "def billable_weight" not in by_name.get("target", "")


def test_what_the_project_is_stands_before_the_task_and_the_last_step_at_the_end():
    names = [section.name for section in window("refactor").sections]
    order = [
        "system",
        "tools",
        "fingerprint",
        "task",
        "target",
        "callers",
        "outline",
        "verification",
        "footer",
    ]
    assert [name for name in names if name in order] == order
