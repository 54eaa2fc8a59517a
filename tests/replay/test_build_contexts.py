"""How a recorded action ended is told where its output says so, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.replay import contexts
from afresh.replay.build_contexts import detect_outcome, find_written_file

LONG = "some line that is printed again and again\n" * 400


@pytest.mark.parametrize(
    ("observation", "word"),
    [
        ("<returncode>0</returncode>\n<output>\n</output>", "ok"),
        ("<returncode>1</returncode>\n<output>\nfalse\n</output>", "exit 1"),
        ("Exit code 127\n/bin/sh: python: not found", "exit 127"),
        ("Exit code: 0\nWall time: 1 s", "ok"),
        ("Chunk ID: 1\nProcess exited with code 2\nOutput:\nx", "exit 2"),
        (f"{LONG}[The command completed with exit code 1.]", "exit 1"),
        ("<tool_use_error>String to replace not found</tool_use_error>", "failed"),
        ("EXECUTION RESULT of [str_replace_editor]:\nERROR:\nNo such file", "failed"),
        ("The user doesn't want to proceed with this tool use.", "refused"),
        ("[Request interrupted by user for tool use]", "stopped"),
        ("The file src/a.py has been updated. All good.", "ok"),
        ("File created successfully at: a.py", "ok"),
        ("total 12\n-rw-r--r-- a.py", ""),
        ("FAILED tests/test_a.py", ""),
        ("it says Exit code 1 in the middle", ""),
        (f"{LONG}Exit code 1\n{LONG}", ""),
        ("", ""),
    ],
)
def test_what_the_output_says_and_no_more(observation, word):
    assert detect_outcome(observation) == word


@given(st.text())
def test_any_output_can_be_looked_at(observation):
    assert len(detect_outcome(observation)) < 30


def test_the_context_of_a_recorded_run_tells_it_with_the_action():
    steps = [
        {"action": {"tool": "bash", "text": f"python run_part_{number}.py"}, "observation": f"<returncode>{number}</returncode>"}
        for number in (0, 1, 2, 3)
    ]
    last = list(contexts({"id": "r", "task": "look", "steps": steps}, 2_000, lambda text: len(text) // 4 + 1))[-1]
    assert "\n1 ok> python run_part_0.py" in last and "\n2 exit 1> python run_part_1.py" in last


@pytest.mark.parametrize(
    ("observation", "path"),
    [
        ("The file /home/me/src/a.py has been updated successfully.", "/home/me/src/a.py"),
        ("File created successfully at: src/b.go (file state is current)", "src/b.go"),
        ("cat: The file a.py: no such file", ""),
        ("", ""),
    ],
)
def test_a_report_of_a_change_names_the_file_where_the_action_holds_only_its_text(observation, path):
    assert find_written_file(observation) == path
