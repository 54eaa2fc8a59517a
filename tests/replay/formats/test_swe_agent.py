from typing import Any

import pytest

from afresh.replay.formats import swe_agent
from afresh.replay.run import RecordedRun


@pytest.fixture
def read(entries_of):
    def run(steps: list[Any], **more: Any) -> RecordedRun:
        [found] = swe_agent.read(entries_of([{"trajectory": steps, "info": {}, **more}]), "x/mill-7.traj")
        return found

    return run


def step(action: str, **more: Any) -> dict[str, Any]:
    return {"action": action, "observation": "seen", "thought": "why", "response": "all of it", **more}


def test_a_whole_trajectory(shipped):
    run = shipped("swe_agent.traj")
    assert (run.id, run.agent, run.model, run.task) == ("swe_agent", "SWE-agent", "gpt-4o", "ISSUE:\nThe wheel divides by zero.")
    assert [step.tool for step in run.steps] == ["find_file", "open", "edit", "bash", "submit"]
    assert run.steps[2].action == "edit 12:12\n    return flow / self.teeth\nend_of_edit"
    assert run.steps[2].thought == "It divides by nothing. The teeth are meant."
    assert run.steps[3].observation == "4 passed"
    assert not any(step.same_call for step in run.steps)
    assert run.problems == ()


def test_without_a_thought_the_whole_reply_is_it(read):
    assert read([step("ls", thought="")]).steps[0].thought == "all of it"


def test_a_reply_without_an_action_is_a_step(read):
    [found] = read([step("")]).steps
    assert (found.tool, found.action, found.observation) == ("bash", "", "seen")


def test_steps_of_a_wrong_shape_are_named(read):
    run = read([step("ls"), "odd", step("pwd", observation=None, thought=7)], history="none", replay_config="{broken")
    assert [found.action for found in run.steps] == ["ls", "pwd"]
    assert run.problems == ("step 2: not an object, left out",)


def test_demonstrations_alone_are_no_run():
    assert not swe_agent.knows({"history": [{"role": "system", "content": "x"}]})
