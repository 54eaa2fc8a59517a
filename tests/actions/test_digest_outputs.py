"""From deeds to facts: each with the block and the lines that it comes from."""

import pytest

from afresh.actions.digest_outputs import digest_step
from afresh.core import event as happened
from afresh.core.action import Action
from afresh.core.event import JournalHead
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.step_result import ActionResult, StepResult, ToolOutcome
from afresh.core.task import Task

RAISED = 'Traceback (most recent call last):\n  File "a.py", line 3, in main\nValueError: boom'


def ran(command, printed, code):
    first, *more = command.splitlines()
    echo = f"{first} … and {len(more)} more lines" if more else first
    return ActionResult(Action("run", {"command": command}), ToolOutcome(f"$ {echo}\nexit {code}\n{printed}", ok=code == 0))


@pytest.fixture
def state():
    return State(task=Task(id="t", goal="g"))


def after(state, *done):
    events = [*digest_step(state, StepResult(done, "s")).events, happened.StepFinished(state.work.step + 1, "")]
    return fold_entries(state, link_events("t", state.head or JournalHead(), 1.0, events))


def digest(state, *done):
    """What is remembered of the outputs, and the texts that the archive gets."""
    step = digest_step(state, StepResult(done, "s"))
    [digested] = [event for event in step.events if isinstance(event, happened.OutputDigested)]
    return digested, {block.id: block.text for block in step.blocks}


def test_a_fact_names_its_block_and_the_lines_in_it(state):
    deed = ran("python a.py", f"starting\n{RAISED}", 1)
    digested, texts = digest(state, deed)
    [fact] = digested.facts
    lines = texts[fact.block].splitlines()
    assert fact.lines == (4, 6) and lines[5] == "ValueError: boom"


def test_a_script_does_not_take_back_what_another_that_begins_alike_has_said(state):
    failed, other = "python - <<'E'\nfirst()\nE", "python - <<'E'\nother()\nE"
    told = after(state, ran(failed, RAISED, 1))
    assert [fact.text for fact in told.memory.facts] == ["ValueError: boom at a.py:3 in main"]
    assert after(told, ran(other, "fine", 0)).memory.facts[:1] == told.memory.facts
    assert after(told, ran(failed, "fine", 0)).memory.facts == ()


def test_a_whole_script_tells_what_was_looked_at_though_its_echo_is_one_line(state):
    command = "cd src\nsed -n '1,9p' a.py\ncat b.py"
    digested, _ = digest(state, ran(command, "x = 1\n" * 80, 0))
    assert digested.index[0].phrase == "prints a.py lines 1-9; b.py" and not digested.facts


def test_of_a_script_that_ended_well_memory_keeps_its_first_line_and_its_result(state):
    command = "python - <<'E'\nimport shop_tools\nprint(shop_tools.total_price())\nE"
    for code, kept in ((0, "run python - <<'E' … and 3 more lines"), (1, f"run {command}")):
        digested, texts = digest(state, ran(command, "14 euros", code))
        [action, output] = [texts[passage.block] for passage in digested.passages]
        assert action == kept and output.endswith("14 euros")


def test_equal_actions_of_a_reply_are_remembered_once(state):
    reads = [
        ActionResult(Action("read", {"path": path, "start": start}), ToolOutcome("", ok=True))
        for path, start in zip("aab", (1, 9, 1), strict=True)
    ]
    digested, texts = digest(state, *reads)
    assert [texts[passage.block] for passage in digested.passages] == ["read a\nread b"]


def test_files_that_a_script_names_are_what_it_is_about(state):
    digested, _ = digest(state, ran("python - <<'E'\nopen('src/prices.toml')\nE", "x", 0))
    assert all("prices.toml" in passage.about for passage in digested.passages)
