"""The index of archived outputs in a window: each once, none that stands elsewhere, and observations within their place."""

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.core.action import Action, Observation
from afresh.core.archived_block import BlockIndexLine, block_id_from_text
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.step_history import Passage, PassageVoice
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun
from afresh.memory.gathered_context import GatheredContext, TraceCache
from support.states import replace_in_parts

TEXTS = [
    f"$ run {n}\nexit 0\n" + "\n".join(f"value_{n}_{line} = module_{n}.compute_{line}()" for line in range(10)) for n in range(30)
]
STATE = State(
    task=Task(id="t", goal="goal", checks=(Check("pytest"),)),
    workspace=WorkspaceState(first_snapshot="s", snapshot="s"),
    verification=VerificationState(baseline=Baseline((CheckRun("pytest", 0, passed=3),))),
    work=WorkState(step=31),
)


def window(budget=4_000, **fields):
    chosen, state = load_template("implement_feature"), replace_in_parts(STATE, **fields)
    trace = TraceCache().of(state.memory.passages, {block_id_from_text(text): text for text in TEXTS}.__getitem__)
    return build_prompt(
        GatheredContext(state, (), trace),
        chosen,
        select_offered_tools(chosen.at(state.phase), TOOLS),
        budget,
        EstimatingCounter(),
    )


def texts(made):
    return {section.name: section.text for section in made.sections}


def lines(numbers):
    return tuple(
        BlockIndexLine(block_id_from_text(TEXTS[n]), "run", f"run {n}", len(TEXTS[n]), f"result {n}", n + 1) for n in numbers
    )


def passages(numbers):
    return tuple(Passage(n + 1, PassageVoice.OUTPUT, block_id_from_text(TEXTS[n]), len(TEXTS[n]), f"run {n}") for n in numbers)


def test_archived_outputs_are_listed_after_a_recovery_alone_else_the_steps_name_them():
    assert "archive" not in texts(window(index=lines(range(30)), passages=passages(range(15, 30))))
    seen = {
        n: Observation(Action("run", {"command": f"run {n}"}), True, "x", block_id_from_text(TEXTS[n]), 900)
        for n in range(24, 30)
    }
    recent = tuple(StepRecord(n + 1, "", (seen[n],), f"run run {n}", True) for n in seen)
    made = texts(window(index=lines(range(30)), recent=recent, step=30))
    assert f"\n29> run run 28 [{block_id_from_text(TEXTS[28])[:8]}]" in made["work"]
    assert block_id_from_text(TEXTS[23])[:8] in made["archive"]


def test_the_index_stays_within_its_share_and_is_newest_first():
    made = window(index=lines(range(30)))
    archive = next(section for section in made.sections if section.name == "archive")
    assert archive.tokens <= 0.15 * 4_000
    listed = [n for n in range(30) if block_id_from_text(TEXTS[n])[:8] in archive.text]
    assert {27, 28, 29} <= set(listed) and len(listed) < 30
    assert [(gone.what, gone.reason) for gone in made.omissions] == [("index lines of archived outputs", "no room left")]
    assert made.unmet == 0, "nobody has asked for a line of the index"


def test_errors_of_outputs_are_told_with_the_checks_marked_when_files_have_changed_since_and_not_when_that_was_long_ago():
    facts = (
        Fact(FactKind.OBSERVED, "tests/test_a.py::test_a", "AssertionError: 0", 0.95, step=3),
        Fact(FactKind.OBSERVED, "tests/test_a.py::test_b", "AssertionError: 1", 0.95, step=25),
        Fact(FactKind.OBSERVED, "ruff", "E501", 0.9, step=29), Fact(FactKind.OBSERVED, "grep", "3 hits", 0.6, step=29),
        Fact(FactKind.NOTE, "parser", "keeps tabs", 0.8, step=1),
    )  # fmt: skip
    made = texts(window(facts=facts, last_change=27))
    assert "failed" not in made, "what an ordinary run said is no failed approach"
    assert made["known"].splitlines()[1:] == ["- parser: keeps tabs"]
    assert made["verification"].splitlines()[-3:] == [
        "Seen in outputs, and not yet passed since:",
        "- step 25, before the last change: tests/test_a.py::test_b: AssertionError: 1", "- step 29: ruff: E501",
    ]  # fmt: skip


def test_observations_give_way_to_notes():
    notes = tuple(Fact(FactKind.NOTE, f"subject {n}", "a note of some length " * 8, step=n) for n in range(8))
    seen = tuple(Fact(FactKind.OBSERVED, f"place {n}", "something " * 12, 0.9, step=n) for n in range(30))
    made = texts(window(3_200, facts=(*notes, *seen)))
    assert all(note.subject in made["known"] for note in notes) and made["known"].count("place") <= 8


def test_the_footer_counts_what_can_be_recalled():
    assert "7 archived outputs: `read` @index" in texts(window(archived=7))["footer"]
