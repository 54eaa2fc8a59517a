"""A command that succeeds is remembered for what it answered, and for nothing else."""

import pytest

from afresh.core.command_output import output_from_text
from afresh.core.context_policy import MemoryPolicy
from afresh.memory.answers_in_outputs import ANSWER_CONFIDENCE, MAX_ASKED_LINES, facts_from_answer
from afresh.outputs.read_output import read_output

LONG = "".join(f"row_{number} = {number * number}\n" for number in range(200))
PYTEST = "....  [100%]\n==== 29 passed in 0.31s ====\n"


def answers(command: str, printed: str, thought: str = "", exit: int = 0) -> list[tuple[str, str, tuple[int, int]]]:
    text = f"$ {command}\nexit {exit}\n{printed}"
    found = facts_from_answer(output_from_text(text, command), read_output(command, text), thought, command, "b1", 3)
    return [(fact.subject, fact.text, fact.lines) for fact in found]


def test_a_value_that_a_script_printed_is_kept_with_its_line() -> None:
    assert answers("python --version", "Python 3.11.7\n") == [("python --version", "Python 3.11.7", (3, 3))]
    assert answers("python count.py", "42\n\n7\n") == [("python count.py", "42; 7", (3, 5))]


def test_a_test_run_is_kept_as_its_count() -> None:
    assert answers("pytest -q", PYTEST) == [("pytest -q", "29 passed", (4, 4))]


def test_of_a_long_output_only_lines_that_the_thought_asks_about_are_kept() -> None:
    assert answers("python table.py", LONG) == []
    asked = answers("python table.py", LONG, "What is row_17 now? And row_5, row_9, row_11?")
    assert asked[0] == ("row_17 in python table.py", "row_17 = 289", (20, 20)) and len(asked) == MAX_ASKED_LINES
    everywhere = LONG.replace("row_", "row_value ")
    assert answers("python table.py", everywhere, "row_value") == [], "a name on every line answers nothing"


@pytest.mark.parametrize(
    ("command", "printed", "exit"),
    [
        ("sleep 20; echo slept", "slept\n", 0),
        ("cat a.py", "x = 1\n", 0),
        ("ls", "a\n", 0),
        ("python x.py", "no\n", 1),
        ("make", "", 0),
    ],
)
def test_what_waits_looks_or_fails_answers_nothing(command: str, printed: str, exit: int) -> None:
    assert answers(command, printed, "x", exit) == []


def test_answers_take_no_room_in_prompts() -> None:
    assert MemoryPolicy().min_confidence > ANSWER_CONFIDENCE
