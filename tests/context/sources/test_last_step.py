"""What a prompt tells of the last step."""

from item_samples import excerpt

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.sources.last_step import draft_last_step
from afresh.core.action import Action, Observation
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.work_state import WorkState
from afresh.core.step_record import StepRecord
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext

READ = Observation(
    Action("read", {"path": "a.py", "start": 1, "lines": 1_000}), True, "a.py: lines 1-1000 of 1000", "r" * 32, 24, 1_000,
    (Region("a.py", 1, 1_000, 7),),
)  # fmt: skip
EDIT = Observation(
    Action("edit", {"path": "a.py", "old": "x"}), True, "a.py: line 3 replaced (now line 3)\n- x\n+ y", "e" * 32, 44
)


def after(*seen: Observation, kept: bool = True, shown: int = 1_000) -> GatheredContext:
    regions = tuple(region for one in seen for region in one.regions)
    memory = MemoryState(recent=(StepRecord(7, "", seen, "", kept),), regions=regions)
    state = State(task=Task(id="t", goal="g"), work=WorkState(step=7), memory=memory)
    parts = [
        excerpt("a.py", first, "\n".join(f"value_{first + n} = compute()" for n in range(20))) for first in range(1, shown, 20)
    ]
    return GatheredContext(state, tuple(parts))


def sections(memory: GatheredContext, budget: int) -> dict[str, list[str]]:
    template = load_template("fix_bug")
    window = build_prompt(memory, template, select_offered_tools(template.at("understand"), TOOLS), budget, EstimatingCounter())
    return {section.name: section.text.splitlines() for section in window.sections}


def test_a_read_is_told_in_one_line():
    assert sections(after(READ), 40_000)["last"][1:] == ["You did: read: a.py: lines 1-1000 of 1000"]


def test_a_read_whose_lines_have_no_room_says_which_are_hidden():
    shown = sections(after(READ), 4_000)
    lines = [int(line.split()[0]) for line in shown["files"] if "compute()" in line]
    assert lines == [*range(1, len(lines) + 1)] and len(lines) < 1_000
    hidden = f"(not shown: a.py {len(lines) + 1}-1000; `read` these when needed)"
    assert shown["last"][1] == f"You did: read: a.py: lines 1-1000 of 1000 {hidden}"


def test_a_change_that_was_reverted_names_its_file():
    [piece, _] = draft_last_step(after(EDIT, kept=False)).pieces
    assert piece.text == "You did: edit: a.py: line 3 replaced (now line 3) (reverted with the whole reply)"
