"""The loop and the pace of a type, and the page that tells of them."""

from pathlib import Path

import pytest

from afresh.config.templates.load_template import list_task_types, load_template

PAGE = (Path(__file__).parents[3] / "docs" / "task-types.md").read_text("utf-8")


@pytest.mark.parametrize("type", list_task_types())
def test_the_page_tells_the_loop_and_the_steps_of_each_type(type: str) -> None:
    made = load_template(type)
    steps = ", ".join(f"{phase.name} {phase.steps}" for phase in made.phases)
    assert f"| `{type}` | {made.loop} | {steps} |" in PAGE


def test_the_page_tells_the_pace_that_is_shipped() -> None:
    pace = load_template("fix_bug").pace
    assert f"pace: {{item_steps: {pace.item_steps}, replans: {pace.replans}, grace: {pace.grace}}}" in PAGE
