import json
from dataclasses import replace

from full_states import states, words
from hypothesis import given

from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task, TaskStatus
from afresh.core.usage import Usage
from afresh.views.tasks import render_task_file


@given(states(), words)
def test_it_is_under_a_kilobyte_whatever_the_state(state: State, name: str) -> None:
    order = replace(state.task, id="make-the-parser-accept-tabs-3f2a", type=name)
    full = replace(
        state,
        task=order,
        workspace=replace(state.workspace, branch=f"afresh/{name}", kept=10**6, reverted=10**6),
        spending=replace(state.spending, usage=Usage(10**9, 10**8), calls=10**6),
    )
    text = render_task_file(full)
    assert len(text.encode()) < 1_024 and json.loads(text)["step"] == full.work.step


def test_words_of_usual_length_are_not_cut() -> None:
    goal = "Make the parser accept tabs between the fields of a header, and keep the line numbers of errors right."
    state = State(
        task=Task(id="make-the-parser-accept-tabs-3f2a", goal=goal), status=TaskStatus.RUNNING, work=WorkState(step=7, limit=60)
    )
    text = render_task_file(
        replace(
            state,
            work=replace(state.work, outcome="edit src/parser.py: kept; 41 passed"),
            workspace=replace(state.workspace, branch="afresh/make-the-parser-accept-tabs-3f2a"),
        )
    )
    assert json.loads(text)["goal"] == goal and len(text) < 800
